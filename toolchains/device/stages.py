"""The stages of toolchains/stages.toml.

Usage: stages.py cmake [--long]            prints a line `name cost` for each stage that CTest runs
       stages.py files PRESET [--long]     prints TOPWORK_TEST_FILES of a build; nothing: it has all tests
"""
import pathlib
import platform
import sys
import tomllib

FILE = pathlib.Path(__file__).resolve().parents[1] / "stages.toml"
KEYS = {"about", "build", "qemu", "processor", "root", "tests", "all_tests", "long", "cost", "host", "in_ctest"}
BUILD_KEYS = {"files", "all_files"}
FAST = "~[shared]~[.]"  # tests of large models run in the release build alone
PLAIN = FAST + "~[opencl]"


def read(path, part):
    return tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8")).get(part, {})


def test_files(build, long, path=FILE):
    """TOPWORK_TEST_FILES of a preset; "": all tests; None: all, whatever is asked for."""
    table = read(path, "build").get(build)
    if table is None:
        return None
    if set(table) - BUILD_KEYS or "files" not in table:
        raise SystemExit(f"{path}: build {build}: unknown {sorted(set(table) - BUILD_KEYS)}, or files is missing")
    return table.get("all_files", table["files"]) if long else table["files"]


def load(path=FILE):
    """{name: stage}; every stage has `tests` and `all_tests` as filters of Catch2."""
    stages = read(path, "stage")
    for name, stage in stages.items():
        unknown = set(stage) - KEYS
        if unknown or not {"about", "build", "tests"} <= set(stage):
            raise SystemExit(f"{path}: stage {name}: unknown {sorted(unknown)}, or about, build or tests is missing")
        stage.setdefault("all_tests", stage["tests"])
        for key in ("tests", "all_tests"):
            stage[key] = stage[key].replace("{fast}", FAST).replace("{plain}", PLAIN)
    return stages


def main():
    if sys.argv[1:2] == ["files"] and len(sys.argv) > 2:
        print(test_files(sys.argv[2], "--long" in sys.argv) or "")
        return
    if sys.argv[1:2] != ["cmake"]:
        sys.exit(__doc__)
    for name, stage in load().items():
        is_here = stage.get("host", platform.machine()) == platform.machine()
        if stage.get("in_ctest", True) and is_here and ("--long" in sys.argv or not stage.get("long")):
            print(name, stage.get("cost", 100))


if __name__ == "__main__":
    main()
