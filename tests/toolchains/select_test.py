"""toolchains/select.py: what it reads out of models, and what it says to files that are none.

Usage: select_test.py
"""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SELECT = ROOT / "toolchains" / "select.py"
ZOO = ROOT / "models" / "zoo"
CNN = """ADD float32
CONV_2D float32
DEPTHWISE_CONV_2D float32
FULLY_CONNECTED float32
MAX_POOL_2D float32
MEAN float32 int32
SOFTMAX float32
"""


def select(*arguments):
    return subprocess.run([sys.executable, "-B", str(SELECT), *map(str, arguments)], capture_output=True, text=True)


def rows(*arguments):
    result = select(*arguments)
    assert result.returncode == 0, result.stderr
    return "".join(line + "\n" for line in result.stdout.splitlines() if not line.startswith("#"))


def check_models():
    cnn, mlp = ZOO / "digits_cnn_f32.tflite", ZOO / "digits_mlp_f32.tflite"
    assert rows(cnn) == CNN, rows(cnn)
    both = rows(cnn, mlp)
    assert both == rows(mlp, cnn) and set(CNN.splitlines()) < set(both.splitlines()), both
    assert "TANH float32\n" in both and "CONV_2D" not in rows(mlp), both
    assert "MEAN float32 int32\n" in rows("--train", mlp), rows("--train", mlp)
    quantized = rows("--quantize", mlp)
    assert "TANH float32 int32 int8\n" in quantized and "QUANTIZE float32 uint8 int8\n" in quantized, quantized
    assert quantized.count("uint8") == 1, quantized
    half = rows(ZOO / "digits_cnn_fp16.tflite")
    assert "DEQUANTIZE float32 float16\n" in half and "CAST float32 float16\n" in half, half
    own = rows(ROOT / "tests" / "data" / "api" / "scale_int8.tflite")
    assert "TopworkScale int8\n" in own, own


def check_damaged():
    """Every cut and many a changed byte end in a list or in one sentence."""
    data = (ZOO / "digits_cnn_f32.tflite").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "damaged.tflite"
        for i in range(24):
            at = len(data) - 1 - i * 173
            damaged = data[:at * i // 24] if i % 2 else data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1:]
            path.write_bytes(damaged)
            result = select(path)
            assert "Traceback" not in result.stderr, result.stderr
            assert result.returncode == 0 or result.stderr.startswith(f"{path}: "), result.stderr
        path.write_bytes(b"no model at all")
        assert "no .tflite model" in select(path).stderr
        assert select(path.with_name("missing")).returncode == 1


def check_functions():
    """--calls lists the functions that an application names, and no word of its comments that is none."""
    source = ROOT / "ports" / "examples" / "train_head.c"
    listed = [line for line in rows("--calls", source, ZOO / "digits_mlp_f32.tflite").splitlines() if line.startswith("tw_")]
    called = set(re.findall(r"\b(tw_\w+)\(", source.read_text()))
    assert listed == sorted(called), (listed, called)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "application.o"
        path.write_bytes(b"\x7fELF\0tw_session_run\0tw_model_open_file\0tw_nothing\0_Ztw_status_name\xff\xfe")
        made = rows("--calls", path, "--calls", source, ZOO / "digits_mlp_f32.tflite")
        assert "\ntw_model_open_file\n" in made and "tw_nothing" not in made and "\ntw_trainer_fit\n" in made, made
        path.write_bytes(b"nothing")
        assert "names no function of the C API" in select("--calls", path, ZOO / "digits_mlp_f32.tflite").stderr
        missing = select("--calls", path.with_name("missing.o"), ZOO / "digits_mlp_f32.tflite")
        assert missing.returncode == 1 and "missing.o: No such file" in missing.stderr, missing.stderr


def check_names():
    """The lists that the script and CMake go by are the sources' own."""
    spec = importlib.util.spec_from_file_location("topwork_select", SELECT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tensor = (ROOT / "runtime" / "tensor" / "tensor.cc").read_text()
    assert module.type_names() == re.findall(r'\{"(\w+)",', tensor), module.type_names()
    names = module.Names()
    for flex, own in [("FlexAddV2", "ADD"), ("FlexCast", "CAST"), ("FlexRealDiv", "DIV"),
                      ("FlexTensorListStack", "TensorListStack"), ("FlexNoSuch", "FlexNoSuch"), ("Mine", "Mine")]:
        assert names.of_custom(flex)[-1] == own, (flex, names.of_custom(flex))


def check_rows():
    """Each family gives its rows as the build has them."""
    for path in sorted((ROOT / "kernels" / "ops").glob("*/*.cc")):
        for body in re.findall(r"Span<const OpDef> \w+Ops\(\) \{(.*)\}", path.read_text()):
            assert body.strip() == "return Selected<kOps>();", f"{path}: write return Selected<kOps>();"


def check_calls():
    """A build counts as one with calls where it has any operator whose options the verifier knows to name subgraphs."""
    verifier = (ROOT / "models" / "format" / "verify_calls.cc").read_text()
    named = set(re.findall(r"builtin_options2?_as_(\w+?)Options\(", verifier))
    header = (ROOT / "kernels" / "contract" / "selection.h").read_text()
    listed = re.findall(r"OpCode::k(\w+)", re.search(r"kHasCalls = .*?\}\)?\(\);", header, re.S)[0])
    assert {name.lower() for name in named} == {name.lower() for name in listed}, (named, listed)


if __name__ == "__main__":
    check_rows()
    check_calls()
    check_models()
    check_damaged()
    check_functions()
    check_names()
    print("lists, damage and names are as they should be")
