"""The command line can be configured where uPlot is missing; CMake then says what reports lack.

Usage: configure_without_uplot.py CMAKE GENERATOR CXX_COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main():
    cmake, generator, compiler = sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="topwork_no_uplot_") as build:
        done = subprocess.run(
            [cmake, "-S", ROOT, "-B", build, "-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}",
             f"-DCMAKE_IGNORE_PATH={ROOT / 'build' / 'third_party' / 'uplot'}",
             "-DTOPWORK_TOOLS=ON", "-DTOPWORK_TESTS=OFF"], capture_output=True, text=True)
        targets = subprocess.run([cmake, "--build", build, "--target", "help"],
                                 capture_output=True, text=True).stdout
    problems = []
    if done.returncode != 0:
        problems.append("CMake failed:\n" + done.stderr)
    if "reports will have no plots" not in done.stdout:
        problems.append("CMake does not say that reports will have no plots:\n" + done.stdout)
    if "topwork_cli" not in targets:
        problems.append("there is no target topwork_cli")
    print("\n".join(problems) or "ok")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
