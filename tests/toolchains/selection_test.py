"""A build with a selection: the same answers as the whole build, training, and a name for what it lacks.

Usage: selection_test.py WHOLE SELECTED
WHOLE and SELECTED are the command lines of both builds. tests/run.sh makes SELECTED (preset `selected`) of
digits_cnn_f32, its int8 forms and efficientnet_lite0_fp16, and of the functions that two examples call.
"""
import importlib.util
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ports" / "cli"))
from cli_support import DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, ROOT, ZOO, Checks, read_npy, run

SAME_LOOPS = {"TOPWORK_ISA": "avx2"}  # both builds have them
# What must be in the whole build's code and in no part of the selection's.
LEFT_OUT = ["Svdf", "Lstm", "HashTable", "TransposeConvQuantized", "TensorList", "FindUnique", "NonMaxSuppression",
            "QuantizeModel", "PruneModel", "VerifySparsity", "SparseGemmKernels", "RecurrentKernels", "ResizeKernels",
            "ModelToJson", "SolveRidge", "TailNetwork", "ApplyDraw", "ExportWithActivationMap",
            "HeadSelector", "LogisticFitter", "RidgePath", "MetricsCollector::Finish", "ScoreJudge::Finish",
            "FindNearDuplicates", "DecodeCheckpoint", "DecodeHead", "VerifyCalls", "ResolveLists",
            "Inliner::", "ReadFlexOptions", "AddBytes<true", "MulBytes", "Strip<true", "ReadAppendedZip", "AppendZip",
            "ReadTensorNotes", "ReplaceLabels", "MixedGradient", "AddSmote", "ImprintFresh", "ImprintAll", "JoinGroup",
            "GroupSplit", "NeighbourAt", "ConvertKey", "IterateLbfgs", "HeadAfter", "AppendHead",
            "OpenClTuner", "TuneTable::Keep", "LoadClBlast", "MeasureDeviceCost", "EstimatePlan",
            r"topwork::\(anonymous namespace\)::TimeRuns", "FirstAnswer::Check", "NanosOfProducts", "DeviceProducts::Run"]
# OpenCL files: those of operators that the selection has, and of others.
KERNEL_FILES = {"gemm": True, "pool": True, "head_steps": True, "gather": False, "resize": False, "square": False}

# What TOPWORK_TRAIN=PLAIN lacks, as the command line calls it, and its options.
PLAIN_LACKS = {"another optimizer than sgd, adam and adamw": ["--optimizer", "lbfgs"], "init": ["--init", "imprint"],
               "--mixup": ["--mixup", "0.2"], "--label-smoothing": ["--label-smoothing", "0.1"],
               "--balance": ["--balance"], "append": ["--append-head"], "patience": ["--patience", "2"], "--clip-norm": ["--clip-norm", "1"]}


def answers(tool, model, folder):
    result = run(tool, "run", model, "--device", "cpu", "--output", folder, env=SAME_LOOPS)
    assert result.returncode == 0, result.stderr
    return [read_npy(path) for path in sorted(folder.glob("output_*.npy"))]


def as_uint8(path):
    """tests/data/cli/quantized.tflite with uint8 where it has int8."""
    spec = importlib.util.spec_from_file_location("topwork_select", ROOT / "toolchains" / "select.py")
    select = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(select)
    data = bytearray((ROOT / "tests" / "data" / "cli" / "quantized.tflite").read_bytes())
    int8, uint8 = map(select.type_names().index, ("int8", "uint8"))
    for graph in select.Table(data, data[0] | data[1] << 8).tables(2):
        for tensor in graph.tables(0):
            if tensor.scalar(1, "b") == int8:
                data[tensor.place(1)] = uint8
    path.write_bytes(data)
    return path


def check_refusals(checks, tool, here):
    mlp = run(tool, "run", ZOO / "digits_mlp_f32.tflite").stderr
    checks.expect("TANH (left out of this build: add it to the selection" in mlp and "select.py" in mlp, mlp)
    typed = run(tool, "run", as_uint8(here / "uint8.tflite")).stderr
    checks.expect("DEQUANTIZE uint8 (left out of this build" in typed, typed)
    for arguments, option in [
            (["quantize", DIGITS_CNN, "--to", "int8", "--data", DIGITS_8X8 / "train", "--output", here / "q.tflite"],
             "TOPWORK_QUANTIZER=ON"),
            (["prune", DIGITS_CNN, "--sparsity", "0.5", "--output", here / "p.tflite"], "TOPWORK_QUANTIZER=ON"),
            (["train", DIGITS_CNN, "--data", DIGITS_8X8 / "train", "--layers", "2", "--output", here / "t.tflite"],
             "TOPWORK_TRAIN=ON"),
            (["train", DIGITS_CNN, "--data", DIGITS_8X8 / "train", "--epochs", "1", "--checkpoint", here / "c.ckpt",
              "--output", here / "t.tflite"], "TOPWORK_CHECKPOINTS=ON"),
            *((["train", DIGITS_CNN, "--data", DIGITS_8X8 / "train", "--epochs", "1", "--reject", "0", *more, "--output",
                here / "t.tflite"], f"{name}: this library was built with TOPWORK_TRAIN=PLAIN")
              for name, more in PLAIN_LACKS.items()),
            (["train", DIGITS_CNN, "--data", DIGITS_8X8 / "train", "--epochs", "1", "--calibrate", "--output",
              here / "t.tflite"], "TOPWORK_JUDGE=ON"),
            (["evaluate", DIGITS_CNN, "--data", DIGITS_8X8 / "test"], "TOPWORK_JUDGE=ON"),
            (["run", DIGITS_CNN, "--check-first-answer"], "TOPWORK_TRIALS=ON"),
            (["info", DIGITS_CNN], "TOPWORK_DESCRIBE=ON")]:
        result = run(tool, *arguments)
        checks.expect(result.returncode != 0 and option in result.stderr,
                      f"{arguments[0]}: {result.returncode} {result.stderr}")


def check_training(checks, whole, selected, here):
    models = []
    for tool, name in [(whole, "whole"), (selected, "selected")]:
        models.append(here / f"{name}.tflite")
        result = run(tool, "train", DIGITS_CNN, "--data", DIGITS_8X8 / "train", "--epochs", "2", "--device", "cpu",
                     "--reject", "0", "--output", models[-1], env=SAME_LOOPS)
        checks.expect(result.returncode == 0, f"{name}: {result.stderr}")
        checks.expect(("TOPWORK_METADATA=ON" in result.stderr) == (name == "selected"), f"{name}: {result.stderr}")
    two = [answers(whole, model, here / f"trained_{model.stem}") for model in models]
    checks.expect(two[0] and two[0] == two[1], "the two trained models answer differently")
    labelled = [b"labels.txt" in model.read_bytes() for model in models]
    checks.expect(labelled == [True, False], f"which models have labels, the whole build's and the selected's: {labelled}")


def floats(arrays):
    return [x for _, _, data in arrays for x in struct.unpack(f"<{len(data) // 4}f", data)]


def check_devices(checks, whole, selected, here):
    """`auto` is the CPU; a device that is named computes, where there is one."""
    cpu = answers(selected, DIGITS_CNN, here / "cpu")
    for tool, device in ((selected, "auto"), (whole, "opencl"), (selected, "opencl")):
        folder = here / f"{pathlib.Path(tool).parent.name}_{device}"
        result = run(tool, "run", DIGITS_CNN, "--device", device, "--output", folder,
                     env={**SAME_LOOPS, "TOPWORK_AUTO_DEVICE": "opencl:0"})
        if device == "opencl" and tool == whole and result.returncode != 0:
            return  # there is no device
        checks.expect(result.returncode == 0, f"{device}: {result.stderr}")
        theirs = [read_npy(path) for path in sorted(folder.glob("output_*.npy"))]
        if device == "auto":
            checks.expect(theirs == cpu, "auto is not the CPU")
        else:
            far = [a for a, b in zip(floats(theirs), floats(cpu), strict=True) if abs(a - b) > 1e-4]
            checks.expect(not far, f"{tool} on OpenCL answers otherwise")


def symbols(program):
    nm = os.environ.get("NM") or "nm"
    return subprocess.run([nm, "-C", "--defined-only", str(program)], capture_output=True, text=True,
                          check=True).stdout


def check_symbols(checks, whole, selected):
    has, lacks = symbols(whole), symbols(selected)
    for name in LEFT_OUT:
        checks.expect(re.search(name, has), f"{name} is not in the whole build: correct this list")
        found = [line for line in re.findall(rf".*{name}.*", lacks) if not line.endswith("Ops()")]  # empty tables
        checks.expect(not found, f"{name} is still there: {found[:3]}")


def check_kernel_files(checks, build):
    table = build / "embedded" / "opencl_kernel_table.cc"
    names = set(re.findall(r'^    {"kernels/[\w/]*?(\w+)\.', table.read_text(), re.M)) if table.is_file() else set()
    for name, there in KERNEL_FILES.items():
        checks.expect((name in names) == there, f"{name}.cl: {'is missing' if there else 'is still there'}")


def check_functions(checks, library, here):
    """The library exports what ports/examples/run_model.c and train_head.c call; they run with it."""
    examples = [ROOT / "ports" / "examples" / name for name in ("run_model.c", "train_head.c")]
    called = set(re.findall(r"\b(tw_\w+)\(", "".join(path.read_text() for path in examples)))
    table = subprocess.run([os.environ.get("NM") or "nm", "-D", "--defined-only", str(library)], capture_output=True,
                           text=True, check=True).stdout
    exported = set(re.findall(r" T (\w+)", table))
    checks.expect(exported == called, f"exported and not called, called and not exported: {exported ^ called}")
    program = here / "run_model"
    built = subprocess.run([os.environ.get("CC") or "cc", f"-I{ROOT / 'runtime' / 'include'}", str(examples[0]), "-o",
                            str(program), str(library), f"-Wl,-rpath,{library.parent}"], capture_output=True, text=True)
    checks.expect(built.returncode == 0, built.stderr)
    ran = subprocess.run([str(program), str(DIGITS_CNN)], capture_output=True, text=True)
    checks.expect(ran.returncode == 0, ran.stderr)


def main():
    whole, selected = sys.argv[1:]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        quantized = []
        for io in ("float32", "uint8"):
            quantized.append(here / f"{io}_io.tflite")
            made = run(whole, "quantize", DIGITS_CNN, "--to", "int8", "--io", io, "--data", DIGITS_8X8 / "train",
                       "--output", quantized[-1])
            checks.expect(made.returncode == 0, made.stderr)
        for model in (DIGITS_CNN, *quantized, EFFICIENTNET):
            two = [answers(tool, model, here / f"{model.stem}_{i}") for i, tool in enumerate((whole, selected))]
            checks.expect(two[0] and two[0] == two[1], f"{model.name}: the answers differ")
        check_training(checks, whole, selected, here)
        check_refusals(checks, selected, here)
        check_devices(checks, whole, selected, here)
        check_functions(checks, pathlib.Path(selected).resolve().with_name("libtopwork.so"), here)
    check_kernel_files(checks, pathlib.Path(selected).resolve().parent)
    check_symbols(checks, whole, selected)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
