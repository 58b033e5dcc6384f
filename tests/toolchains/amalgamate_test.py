"""toolchains/amalgamate.py: the file compiles with the line that its head gives, and answers as the build does.

Usage: amalgamate_test.py BUILD C++-COMPILER C-COMPILER
BUILD is a built folder of CMake. The line's -O2 is -O1 here, which compiles faster.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "toolchains"
EXAMPLES = ROOT / "ports" / "examples"
ZOO = ROOT / "models" / "zoo"
WITHOUT = ["opencl", "checkpoints", "quantizer", "custom_ops", "describe", "sparse"]


def call(*command, folder=None, **options):
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, **options)


def must(*command, folder=None):
    result = call(*command, folder=folder)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def make(build, here, without):
    selection = here / "my.selection"
    selection.write_text(must(sys.executable, TOOLS / "select.py", "--train", ZOO / "digits_cnn_f32.tflite"))
    parts = [word for part in without for word in ("--without", part)]
    must(sys.executable, "-B", TOOLS / "amalgamate.py", "--selection", selection, *parts, "--build", build,
         "--output", here)
    files = {str(path.relative_to(here)) for path in here.rglob("*") if path.is_file()}
    assert files == {"my.selection", "topwork.cc", "topwork/topwork.h", "topwork/topwork.hpp"}, files


def compile_library(compiler, here, *more):
    head = (here / "topwork.cc").read_text().split("#ifndef", maxsplit=1)[0]
    line = re.search(r"^// +g\+\+ (.*-O2.*)$", head, re.M)[1]
    result = must(compiler, *line.replace("-O2", "-O0" if more else "-O1").split(), *more, folder=here)
    assert result == "", result


def answer(build, program, *arguments):
    return call(program, *arguments, env={"LD_LIBRARY_PATH": str(build), "TOPWORK_ISA": "baseline"})


def link_both(here, name, compilers, build):
    """The example with topwork.o, and with the build's library."""
    compiler, cxx = compilers
    must(compiler, "-I.", "-c", EXAMPLES / f"{name}.c", "-o", f"{name}.o", folder=here)
    must(cxx, f"{name}.o", "topwork.o", "-pthread", "-ldl", "-o", f"{name}_amalgamated", folder=here)
    must(cxx, f"{name}.o", f"-L{build}", "-ltopwork", "-o", f"{name}_built", folder=here)
    return here / f"{name}_amalgamated", here / f"{name}_built"


def check_run(here, compilers, build):
    """The example says the same with both libraries, and refuses what the selection lacks."""
    programs = link_both(here, "run_model", compilers, build)
    amalgamated, built = (answer(build, program, ZOO / "digits_cnn_f32.tflite") for program in programs)
    assert amalgamated.returncode == built.returncode == 0, amalgamated.stderr + built.stderr
    assert "class" in built.stdout and amalgamated.stdout == built.stdout, (amalgamated.stdout, built.stdout)
    refused = answer(build, programs[0], ZOO / "digits_mlp_f32.tflite")
    assert refused.returncode != 0 and "TANH (left out of this build" in refused.stderr, refused.stderr


def check_training(here, compilers, build):
    """Both libraries train the same model, to the bit."""
    models = []
    for program in link_both(here, "train_head", compilers, build):
        models.append(here / f"{program.name}.tflite")
        result = answer(build, program, ZOO / "digits_cnn_f32.tflite", models[-1])
        assert result.returncode == 0, result.stderr
    assert models[0].read_bytes() == models[1].read_bytes(), "the two trained models differ"


def check_without_messages(here, compilers, build):
    """Built without export and messages, the example trains; its export has a code and the line of its sentence."""
    here = here / "without_messages"
    here.mkdir()
    make(build, here, [*WITHOUT, "export", "messages"])
    compile_library(compilers[1], here, "-O0")
    program = link_both(here, "train_head", compilers, build)[0]
    result = answer(build, program, ZOO / "digits_cnn_f32.tflite", here / "none.tflite")
    place = re.search(r"UNSUPPORTED: topwork\.cc:(\d+)$", result.stderr, re.M)
    assert result.returncode != 0 and place, result.stderr
    # Compilers name the first or the last line of a sentence.
    lines = (here / "topwork.cc").read_text().split("\n")[int(place[1]) - 4:int(place[1]) + 3]
    assert any("TOPWORK_EXPORT=ON" in line for line in lines), lines


def check_left_out(here, compilers, build):
    """A function that was left out names the part."""
    result = answer(build, link_both(here, "custom_op", compilers, build)[0], ZOO / "digits_cnn_f32.tflite")
    assert result.returncode != 0 and "TOPWORK_CUSTOM_OPS=ON" in result.stderr, result.stderr


def check_kernels(here, build):
    """With OpenCL it has the files of the selected operators, no other's, and those of training."""
    here = here / "opencl"
    here.mkdir()
    make(build, here, [part for part in WITHOUT if part != "opencl"])
    files = set(re.findall(r'^    \{"kernels/[\w/]*?(\w+)\.', (here / "topwork.cc").read_text(), re.M))
    assert {"conv_2d", "pool", "head", "head_steps"} <= files, files
    assert not {"limits", "resize", "gather", "transpose_conv"} & files, files


def check_symbols(here):
    """Nothing but the C API can meet the application's names."""
    symbols = [line.split()[-1] for line in must("nm", "-g", "--defined-only", here / "topwork.o").splitlines()]
    foreign = [name for name in symbols if "topwork" in name and not name.startswith("tw_")]
    assert "tw_session_run" in symbols and "tw_trainer_create" in symbols, symbols
    assert not foreign, foreign


def main():
    build, cxx, compiler = pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:4]
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        make(build, here, WITHOUT)
        compile_library(cxx, here)
        check_run(here, (compiler, cxx), build)
        check_training(here, (compiler, cxx), build)
        check_left_out(here, (compiler, cxx), build)
        check_symbols(here)
        check_kernels(here, build)
        check_without_messages(here, (compiler, cxx), build)
    print("the amalgamation compiles and answers as the build does")


if __name__ == "__main__":
    main()
