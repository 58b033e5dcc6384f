"""Runs Topwork's tests on a device, benchmarks there, re-trains a network there, and brings the results back.

Examples:
  toolchains/run_on_device.sh                                      the tests of build/release on this machine
  toolchains/run_on_device.sh --qemu cortex-a53 --filter "[base]"
  toolchains/run_on_device.sh --ssh user@jetson --build jetson-zig --benchmark model.tflite --personalise
  toolchains/run_on_device.sh --adb 0A1B2C3D --build android-arm64-v8a
  toolchains/run_on_device.sh --stage aarch64.max --stage x86_64.musl      as toolchains/stages.toml declares them

Results lie in build/device/<stage or place>: unity.txt (lines of the Unity framework), junit.xml, tests.log, summary.json
(counts, peak memory, temperatures and clocks before and after), benchmark-*.json and personalise.json. Of models with
equal names, the second writes benchmark-NAME-2.json.
Exit code: 0 all passed; 1 a test or a command failed, or something is missing; 2 wrong usage; 3 the device stayed lost;
with --skip-code, that number where tests were skipped and none failed.
"""
import argparse
import contextlib
import fcntl
import json
import pathlib
import sys
import time

import jobs
import places
import results as unity
import runner
import sensors
import stages

ROOT = places.ROOT


class WrongUse(Exception):
    """What the command line asks for cannot be."""


def parse_arguments():
    parser = argparse.ArgumentParser(prog="run_on_device.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--qemu", metavar="CPU", help="aarch64 under qemu with this processor, e.g. cortex-a53 or max")
    where.add_argument("--adb", metavar="SERIAL", help="an Android device (adb devices lists them)")
    where.add_argument("--ssh", metavar="HOST", help="a host that ssh reaches without a password")
    where.add_argument("--root", choices=["arm64"], help="Debian for aarch64 with OpenCL, under qemu (arm64_root.sh)")
    where.add_argument("--stage", action="append", metavar="NAME", help="a stage of stages.toml, or all; may be repeated")
    parser.add_argument("--build", help="preset below build/, or a folder (default: the place's)")
    parser.add_argument("--filter", help="Catch2's filter of tests, e.g. [ops] or conv_2d*")
    parser.add_argument("--long", action="store_true", help="all tests of the stages")
    parser.add_argument("--resume", action="store_true", help="keep results that an earlier run of the same program left")
    parser.add_argument("--benchmark", nargs="+", metavar="MODEL", default=[], help="time these models there")
    parser.add_argument("--personalise", action="store_true", help="teach a network to tell faces from other pictures there")
    parser.add_argument("--no-tests", action="store_true", help="only --benchmark and --personalise")
    parser.add_argument("--folder", help="folder on the device (default: /data/local/tmp/topwork, or topwork-device by ssh)")
    parser.add_argument("--ssh-config", metavar="FILE", help="configuration file for ssh")
    parser.add_argument("--wait", type=float, default=3, metavar="SECONDS", help="before a lost connection is made again (3)")
    parser.add_argument("--output", type=pathlib.Path, help="folder for the results (default: build/device/...)")
    parser.add_argument("--skip-code", type=int, default=0, help="exit code where tests were skipped and none failed")
    arguments = parser.parse_args()
    if arguments.no_tests and not (arguments.benchmark or arguments.personalise):
        parser.error("--no-tests leaves nothing to do: add --benchmark MODEL or --personalise")
    return arguments


def given_stage(arguments):
    """A stage made of the command line's options."""
    stage = {"tests": stages.PLAIN if arguments.qemu else stages.FAST, "build": "release"}
    name = "host"
    if arguments.qemu:
        name, stage = f"qemu-{arguments.qemu}", {**stage, "build": "jetson", "qemu": "aarch64-linux-gnu",
                                                 "processor": arguments.qemu}
    elif arguments.root:
        name, stage = "root-arm64", {**stage, "build": "jetson", "root": "arm64-opencl"}
    elif arguments.ssh:
        name, stage = "ssh-" + arguments.ssh.replace("/", "_"), {**stage, "build": "jetson-zig"}
    elif arguments.adb:
        name, stage = f"adb-{arguments.adb}", {**stage, "build": "android-arm64-v8a"}
    return name, {**stage, "all_tests": stage["tests"]}


def chosen_stages(arguments):
    """[(name, stage)]"""
    if not arguments.stage:
        return [given_stage(arguments)]
    declared = stages.load()
    names = list(declared) if arguments.stage == ["all"] else arguments.stage
    unknown = [name for name in names if name not in declared]
    if unknown:
        raise WrongUse(f"--stage: stages.toml has no stage {' '.join(unknown)}; it has {' '.join(declared)}")
    return [(name, declared[name]) for name in names]


def make_place(arguments, stage, output):
    if arguments.ssh:
        return places.Ssh(arguments.ssh, arguments.folder or "topwork-device", arguments.ssh_config)
    if arguments.adb:
        return places.Adb(arguments.adb, arguments.folder or "/data/local/tmp/topwork")
    if "root" in stage:
        return places.Root(ROOT / "build" / stage["root"])
    return places.Here(arguments.folder or output / "device", stage.get("qemu"), stage.get("processor"))


def environment(stage):
    """A driver is a must where one was installed: a test that does not find it fails instead of being skipped."""
    with_driver = "root" in stage
    emulated = "qemu" in stage
    variables = {"TOPWORK_CACHE": "cache", "POCL_CACHE_DIR": "pocl"}
    return {**variables, **({"TOPWORK_REQUIRE_OPENCL": str(int(with_driver))} if with_driver or emulated else {})}


def run_tests(connection, arguments, stage, build, output):
    program = build / "topwork_tests"
    files = [(path, path.name) for path in (program, build / "libtopwork_fault_shim.so") if path.exists()]
    if not program.exists():
        raise SystemExit(f"{program} is missing; {jobs.how_to_build(build, program.name, arguments.long)}")
    connection.do(connection.place.push, files)
    connection.do(connection.place.output, "mkdir -p cache pocl")
    tests = arguments.filter or stage["all_tests" if arguments.long else "tests"]
    key = [jobs.sha256(program), tests, arguments.ssh or arguments.adb or ""]
    kept = output / "results.json"
    done = unity.load(kept, key) if arguments.resume else []
    if done:
        print(f"{len(done)} results of an earlier run are kept", flush=True)
    found = list(done)

    def on_result(result):
        found.append(result)
        if result.kind != "PASS":
            print(result.text(), flush=True)
        if len(found) % 20 == 0:
            unity.save(kept, key, found)

    run = runner.TestRun(connection, program.name, environment(stage), output, on_result)
    try:
        found = run.run(tests, done)
    finally:
        unity.save(kept, key, found)
    log = connection.do(connection.place.pull, "tests.log")
    (output / "tests.log").write_text(log or "")
    return found, run.peak_memory_kb()


@contextlib.contextmanager
def alone_in(output):
    """Two runs at a time would write over each other's results."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        lock_file = open(output / "lock", "w", encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"cannot write results to {output}: {error.strerror}; give another folder by --output") from None
    with lock_file as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another run writes to {output}: wait for its end, or give another --output") from None
        yield


def run_stage(arguments, name, stage):
    output = (arguments.output or ROOT / "build" / "device") / name
    with alone_in(output):
        return run_stage_in(output, arguments, name, stage)


def run_stage_in(output, arguments, name, stage):
    build = pathlib.Path(arguments.build or stage["build"])
    build = build if build.is_dir() else ROOT / "build" / build
    start = time.time()
    connection = runner.Connection(make_place(arguments, stage, output))
    connection.place.wait = arguments.wait
    connection.do(connection.place.push, [])
    before = sensors.read(connection)
    found, peak = ([], None) if arguments.no_tests else run_tests(connection, arguments, stage, build, output)
    failed_jobs = jobs.benchmark(connection, build, arguments.benchmark, output)
    failed_jobs += jobs.personalise(connection, build, output) if arguments.personalise else []
    kind = "none" if arguments.no_tests else arguments.filter or ("all" if arguments.long else "by default")
    summary = {"stage": name, "build": build.name, "tests": kind, **unity.counts(found), "failed_jobs": failed_jobs,
               "seconds": round(time.time() - start, 1), "peak_memory_kb": peak, "connections_lost": connection.n_lost,
               "before": before, "after": sensors.read(connection)}
    (output / "unity.txt").write_text(unity.unity(found))
    (output / "junit.xml").write_text(unity.junit(name, found))
    (output / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def report(summaries):
    print(f"\n{'stage':24} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'peak MB':>8}")
    for s in summaries:
        peak = "" if s["peak_memory_kb"] is None else f"{s['peak_memory_kb'] / 1024:.0f}"
        print(f"{s['stage']:24} {s['passed']:7} {s['failed']:7} {s['skipped']:8} {s['seconds']:8} {peak:>8}")
        for job in s["failed_jobs"]:
            print(f"  FAILED: {job}")


def main():
    arguments = parse_arguments()
    try:
        summaries = [run_stage(arguments, name, stage) for name, stage in chosen_stages(arguments)]
    except WrongUse as error:
        print(f"run_on_device.sh: error: {error}", file=sys.stderr)
        return 2
    except places.Lost as error:
        print(f"The device stayed lost: {error}. What was done is kept: --resume goes on.", file=sys.stderr)
        return 3
    except places.Absent as error:
        print(error, file=sys.stderr)
        return arguments.skip_code or 1
    report(summaries)
    if any(s["failed"] or s["failed_jobs"] for s in summaries):
        return 1
    return arguments.skip_code if any(s["skipped"] for s in summaries) else 0


if __name__ == "__main__":
    sys.exit(main())
