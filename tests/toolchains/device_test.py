"""run_on_device.sh, from outside: on this machine, by a stand-in for adb that loses connections, by ssh for real.

Usage: device_test.py {local|adb|ssh} BUILD     BUILD has topwork_tests and perhaps topwork
"""
import contextlib
import fcntl
import getpass
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

FOLDER = pathlib.Path(__file__).resolve().parent
SCRIPT = FOLDER.parents[1] / "toolchains" / "run_on_device.sh"
SKIP = 77
# Hidden tests of the reporter, one of each kind (tests/meta), among others.
SAMPLES = "sample*"
N_SAMPLES = {"passed": 1, "failed": 4, "skipped": 1}


def run(build, output, *options, **environment):
    command = [SCRIPT, "--build", build, "--output", output, "--wait", 0, *options]
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    print(done.stdout[-3000:])
    return done


def results(output, stage):
    folder = output / stage
    return json.loads((folder / "summary.json").read_text()), (folder / "unity.txt").read_text(), folder


def n_tests(build, tests):
    done = subprocess.run([build / "topwork_tests", "--list-test-names-only", tests], stdout=subprocess.PIPE, text=True)
    return len(done.stdout.splitlines())


def check_files(output, stage, n):
    """Unity's summary, JUnit's and the JSON tell the same."""
    summary, unity, folder = results(output, stage)
    tests, failures, ignored = map(int, re.search(r"^(\d+) Tests (\d+) Failures (\d+) Ignored $", unity, re.MULTILINE).groups())
    junit = xml.parse(folder / "junit.xml").getroot()
    assert tests == n == len(junit) == summary["passed"] + summary["failed"] + summary["skipped"], (tests, n, summary)
    assert failures == summary["failed"] == len(junit.findall("testcase/failure")), summary
    assert ignored == summary["skipped"] == len(junit.findall("testcase/skipped")), summary
    assert len(re.findall(r":(?:PASS|FAIL|IGNORE)\b", unity)) == n, unity
    return summary


VANISHES = """#!/bin/sh
case "$*" in *--list-test-names-only*) printf 'a\\nb, "c" [d]\\ne\\n'; exit 0 ;; esac
case "$*" in *-f*) sed 's/^"//; s/"$//; s/\\\\//g' names >chosen ;; *) printf 'a\\nb, "c" [d]\\ne\\n' >chosen ;; esac
while read -r name; do
  echo "RUN $name"
  case "$name" in b*) kill -9 $$ ;; esac
  echo "x.cc:1:$name:PASS"
done <chosen
"""


def vanish(output):
    """A program that ends in the middle of a test without a word: that test failed, those behind it run."""
    build = output / "vanishing"
    build.mkdir()
    (build / "topwork_tests").write_text(VANISHES)
    (build / "topwork_tests").chmod(0o755)
    assert run(build, output).returncode == 1
    lines = results(output, "host")[1].splitlines()[:3]
    assert lines == ["x.cc:1:a:PASS", 'device:0:b, "c" [d]:FAIL: the program ended here with exit code 137', "x.cc:1:e:PASS"], lines


def beside(build, output):
    """A second run in the same folder is refused, and the first one's results stay."""
    summary = output / "host" / "summary.json"
    before = summary.read_bytes()
    with open(output / "host" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run(build, output, "--filter", "[base]")
    assert done.returncode == 1 and f"another run writes to {output / 'host'}" in done.stdout, done.stdout
    assert summary.read_bytes() == before


SENSORS = """system Linux 5.10 aarch64
board NVIDIA Jetson Orin Nano
memory_kb 7802880
temperature CPU-therm 48500
temperature fan stuck
clock cpu0 1510400
clock cpu1
governor schedutil
power_mode 15W
a line of another program
"""


def parts(build, output):
    """What is read from text: lines of tests, sensors, stages."""
    sys.path.insert(0, str(SCRIPT.parent / "device"))
    import results as unity
    import sensors
    import stages
    assert unity.parse("a/b.cc:12:x; y:FAIL: 1 == 2") == unity.Result("a/b.cc", 12, "x; y", "FAIL", "1 == 2")
    for line in ("RUN x", "SKIP x: why", "a.cc:1:x", "a.cc:x:y:PASS", ": 1:x:PASS"):
        assert unity.parse(line) is None, line
    odd = unity.Result("a.cc", 1, "<&>", "FAIL", "\x01 \ufffe")
    assert xml.fromstring(unity.junit("s", [odd])).find("testcase").get("name") == "<&>"
    read = sensors.parse(SENSORS)
    assert read["temperatures_c"] == {"CPU-therm": 48.5} and read["clocks_khz"] == {"cpu0": 1510400}, read
    assert read["board"] == "NVIDIA Jetson Orin Nano" and read["power_mode"] == "15W" and read["memory_kb"] == 7802880, read
    declared = stages.load()
    assert all("{" not in stage[key] for stage in declared.values() for key in ("tests", "all_tests")), declared
    # Each part of a filter finds tests: of one that finds none, the others hide it.
    for name, stage in declared.items():
        if "root" in stage and n_tests(build, "[opencl]") == 0:
            continue  # a build without OpenCL
        for part in {part for key in ("tests", "all_tests") for part in stage[key].split(",")}:
            assert n_tests(build, part) > 0, f"stage {name}: no test is {part}"
    import jobs
    text = jobs.how_to_build(pathlib.Path("riscv64"), "topwork_tests")
    assert 'cmake --preset riscv64 "-DTOPWORK_TEST_FILES=kernels/cpu/;models/zoo/;support/" && ' in text, text
    assert '"-DTOPWORK_TEST_FILES="' in jobs.how_to_build(pathlib.Path("jetson"), "topwork_tests", long=True)
    assert "FILES" not in jobs.how_to_build(pathlib.Path("jetson"), "topwork_cli")
    assert "FILES" not in jobs.how_to_build(pathlib.Path("armv7"), "topwork_tests")
    wrong = output / "wrong.toml"
    wrong.write_text('[build.x]\nfile = "kernels/"\n')
    try:
        stages.test_files("x", False, wrong)
    except SystemExit as error:
        assert "'file'" in str(error), error
    else:
        raise AssertionError("an unknown key of a build was taken")
    wrong.write_text('[stage.x]\nabout = "a"\nbuild = "b"\ntests = "c"\nqemo = "d"\n')
    try:
        stages.load(wrong)
    except SystemExit as error:
        assert "qemo" in str(error), error
    else:
        raise AssertionError("an unknown key was taken")
    import places
    absent = output / "absent.sh"
    absent.write_text("#!/bin/sh\necho 'SKIP: no root' >&2\nexit 77\n")
    absent.chmod(0o755)
    places.Root.script = str(absent)
    try:
        places.Root(output)
    except places.Absent as error:
        assert "no root" in str(error), error
    else:
        raise AssertionError("a root folder that cannot be was taken")


def command_line(folder, text):
    """A build folder whose command line is this text of a shell."""
    folder.mkdir()
    (folder / "topwork").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "topwork").chmod(0o755)
    return folder


def same_names(output):
    """Models with equal names have one result each."""
    build = command_line(output / "echoing", """echo "{\\"model\\": \\"$(cat "$2")\\"}\"""")
    models = [output / name for name in ("m.tflite", "int8/m.tflite", "m-2.tflite", "fp16/m.tflite")]
    for model in models:
        model.parent.mkdir(exist_ok=True)
        model.write_text(str(model.relative_to(output)))
    assert run(build, output, "--no-tests", "--benchmark", *models).returncode == 0
    for model, name in zip(models, ("m", "m-2", "m-2-2", "m-3")):
        result = json.loads((output / "host" / f"benchmark-{name}.json").read_text())
        assert result["model"] == str(model.relative_to(output)), (name, result)


def local(build, output):
    """Failures, a crash with tests behind it, skips, exit codes, a run resumed, a benchmark and a personalisation."""
    parts(build, output)
    n = n_tests(build, "[base]")
    assert run(build, output, "--filter", "[base]").returncode == 0
    summary = check_files(output, "host", n)
    assert summary["peak_memory_kb"] > 1000 and "system" in summary["before"] and "system" in summary["after"], summary

    assert run(build, output, "--filter", f"{SAMPLES},[base]").returncode == 1
    summary = check_files(output, "host", n + sum(N_SAMPLES.values()))
    assert summary["failed"] == N_SAMPLES["failed"] and summary["skipped"] == N_SAMPLES["skipped"], summary
    unity = results(output, "host")[1]
    assert "sample crashes:FAIL" in unity, unity
    skips = "sample skips,sample passes"
    assert run(build, output, "--filter", skips, "--skip-code", SKIP).returncode == SKIP
    assert run(build, output, "--filter", "no such test").returncode != 0

    kept = output / "host" / "results.json"
    assert run(build, output, "--filter", "[base]").returncode == 0
    half = json.loads(kept.read_text())
    half["results"] = half["results"][: n // 2]
    kept.write_text(json.dumps(half))
    done = run(build, output, "--filter", "[base]", "--resume")
    assert f"{n // 2} results of an earlier run are kept" in done.stdout, done.stdout
    check_files(output, "host", n)

    same_names(output)
    if (build / "topwork").exists():
        model = FOLDER.parents[1] / "models/zoo/digits_cnn_f32.tflite"
        done = run(build, output, "--no-tests", "--benchmark", "absent.tflite")
        assert done.returncode == 1 and "no such file: absent.tflite" in done.stdout, done.stdout
        assert run(build, output, "--no-tests", "--benchmark", model, "--personalise").returncode == 0
        timing = json.loads((output / "host" / "benchmark-digits_cnn_f32.json").read_text())
        training = json.loads((output / "host" / "personalise.json").read_text())
        # A command may end before anyone looks at its memory; a training does not.
        assert "device_peak_memory_kb" in timing and training["epochs"], (timing, training)
        assert training["device_peak_memory_kb"] > 10000, training["device_peak_memory_kb"]
    assert run(build, output, "--no-tests", "--benchmark", __file__).returncode == 1
    wrong(build, output)
    beside(build, output)
    vanish(output)


def wrong(build, output):
    """Each is told in words, without a trace of Python."""
    nowhere = output / "nowhere"
    for code, said, options in (
            (2, "--no-tests leaves nothing to do", ["--no-tests"]),
            (2, "error: --stage: stages.toml has no stage nope; it has ", ["--stage", "nope"]),
            (2, "error: cannot write results to /dev/null/x/host: Not a directory; give ", ["--output", "/dev/null/x"]),
            (1, "no preset has the name nowhere", ["--build", nowhere]), (1, "the command no-adb is missing", ["--adb", "SERIAL"])):
        done = run(build, output, *options, ADB="no-adb")
        assert done.returncode == code and said in done.stdout and "Traceback" not in done.stdout, done.stdout


def adb(build, output):
    """Connections that break in the middle of the tests, exit codes that never come."""
    n = n_tests(build, "[base]")
    device = output / "device"
    state = output / "faults.json"
    options = ("--adb", "SERIAL", "--folder", device, "--filter", f"[base],{SAMPLES}")
    for drops, lines in ((0, 0), (3, 11), (2, 1)):
        state.write_text(json.dumps({"calls": [], "drop": drops, "lines": lines}))
        assert run(build, output, *options, ADB=str(FOLDER / "fake_adb.py"), FAKE_ADB=str(output)).returncode == 1
        summary = check_files(output, "adb-SERIAL", n + sum(N_SAMPLES.values()))
        assert summary["failed"] == N_SAMPLES["failed"] and summary["connections_lost"] == drops, summary
        calls = json.loads(state.read_text())["calls"]
        assert calls.count("wait-for-device") == drops, calls
    state.write_text(json.dumps({"calls": [], "drop": 100, "lines": 0}))
    done = run(build, output, *options, ADB=str(FOLDER / "fake_adb.py"), FAKE_ADB=str(output))
    assert done.returncode == 3 and "stayed lost" in done.stdout, done.stdout
    away(build, output, options)
    runs_on(output)


# The command line, with a device that is waited for a second alone.
HASTY = """import sys
sys.path.insert(0, sys.argv.pop(1))
import places
places.Adb.patience = 1
import main
sys.exit(main.main())
"""


def away(build, output, options):
    """A device that does not come back in time stays lost."""
    (output / "faults.json").write_text(json.dumps({"calls": [], "drop": 1, "lines": 1, "away": True}))
    command = [sys.executable, "-B", "-c", HASTY, SCRIPT.parent / "device", "--build", build, "--output", output, "--wait", 0]
    done = subprocess.run(list(map(str, [*command, *options])), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "ADB": str(FOLDER / "fake_adb.py"), "FAKE_ADB": str(output)})
    said = "The device stayed lost: no device SERIAL came back within 1 seconds."
    assert done.returncode == 3 and said in done.stdout, done.stdout


# The first one waits for its end; the next one tells whether it is alone.
WAITS = """echo $$ >>started
if [ "$(sed -n '$=' started)" = 1 ]; then
  echo started >&2
  exec sleep 100
fi
if kill -0 "$(sed -n 1p started)" 2>/dev/null; then echo '{"alone": false}'; else echo '{"alone": true}'; fi"""


def runs_on(output):
    """A benchmark that ran on when its connection was lost is ended before it starts again."""
    build = command_line(output / "waiting", WAITS)
    faults = {"calls": [], "drop": 1, "lines": 1, "drop_in": "topwork benchmark ", "runs_on": True}
    (output / "faults.json").write_text(json.dumps(faults))
    done = run(build, output, "--adb", "SERIAL", "--folder", output / "device", "--no-tests", "--benchmark", __file__,
               ADB=str(FOLDER / "fake_adb.py"), FAKE_ADB=str(output))
    assert done.returncode == 0 and "ended with 1: error: closed" in done.stdout, done.stdout
    timing = json.loads((output / "adb-SERIAL" / "benchmark-device_test.json").read_text())
    assert timing["alone"], "the first benchmark ran on beside the second"


@contextlib.contextmanager
def server(folder):
    """An sshd of our own on a free port; yields ssh's configuration file, which calls it `board`."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    os.chmod(folder, 0o700)
    (folder / "banner").write_text("Authorized use only\n")  # ssh shows it on standard error at each connection
    (folder / "sshd").write_text(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
                                 f"Banner {folder}/banner\n"
                                 f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin yes\n")
    (folder / "config").write_text(f"Host board\n HostName 127.0.0.1\n Port {port}\n User {getpass.getuser()}\n"
                                   f" IdentityFile {folder}/user\n IdentitiesOnly yes\n StrictHostKeyChecking no\n"
                                   f" UserKnownHostsFile {folder}/known\n")
    if os.getuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    with open(folder / "log", "w") as log:
        child = subprocess.Popen([shutil.which("sshd", path="/usr/sbin:/usr/local/sbin"), "-D", "-e", "-f", folder / "sshd"],
                                 stderr=log)
        try:
            wait_for(port, child)
            yield folder / "config"
        finally:
            child.terminate()
            child.wait()


def wait_for(port, child):
    while child.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("sshd ended at once")


def ssh(build, output):
    if shutil.which("sshd", path="/usr/sbin:/usr/local/sbin") is None or shutil.which("ssh") is None:
        print("SKIP: sshd or ssh is missing (Debian: apt install openssh-server openssh-client)")
        return SKIP
    keys = output / "keys"
    keys.mkdir()
    n = n_tests(build, "[base]")
    with server(keys) as config:
        options = ("--ssh", "board", "--ssh-config", config, "--folder", output / "device")
        assert run(build, output, *options, "--filter", f"[base],{SAMPLES}").returncode == 1
        summary = check_files(output, "ssh-board", n + sum(N_SAMPLES.values()))
        assert summary["failed"] == N_SAMPLES["failed"] and summary["connections_lost"] == 0, summary
        assert run(build, output, *options, "--filter", "[base]").returncode == 0
        echoing = command_line(output / "echoing", "echo '{}'")
        assert run(echoing, output, *options, "--no-tests", "--benchmark", __file__).returncode == 0
    done = run(build, output, *options, "--filter", "[base]")
    assert done.returncode == 3 and "stayed lost" in done.stdout, done.stdout
    return 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        code = {"local": local, "adb": adb, "ssh": ssh}[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(folder))
    print("SKIPPED" if code else "results came back whole")
    sys.exit(code or 0)


if __name__ == "__main__":
    main()
