"""pytorch.py as its users call it: networks of torchvision with random weights, converted, compared and re-trained. Runs
with the Python of build/.venv-torch (toolchains/install-deps.sh torch), or with this one where it has litert-torch."""
import importlib.util
import pathlib
import subprocess
import sys

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
import topwork  # noqa: E402
from topwork.pictures import examples  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
FACES = ROOT / "models" / "zoo" / "data" / "faces"
OWN = ROOT / "build" / ".venv-torch" / "bin" / "python"
PYTHON = sys.executable if importlib.util.find_spec("litert_torch") else str(OWN)


def version(python):
    done = subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True)
    return done.stdout


if not pathlib.Path(PYTHON).exists():
    pytest.skip("litert-torch is not installed (toolchains/install-deps.sh torch)", allow_module_level=True)
if version(PYTHON) != version(sys.executable):
    pytest.skip("the Python of litert-torch has another version than the package's tests", allow_module_level=True)

# Random weights, but the statistics of normalization are those of pictures: otherwise features vanish with depth.
WEIGHTS = """
import sys, pathlib, numpy, torch, torchvision
from PIL import Image
torch.manual_seed(1)
network = torchvision.models.shufflenet_v2_x0_5(num_classes=7)
paths = sorted(pathlib.Path(sys.argv[1]).glob("*/*.png"))[::4]
pixels = numpy.stack([numpy.asarray(Image.open(path).convert("RGB").resize((64, 64)), numpy.float32) for path in paths])
for layer in network.modules():
    if isinstance(layer, torch.nn.BatchNorm2d):
        layer.momentum = None  # the mean of all batches
network.train()(torch.from_numpy((pixels - 120) / 58).permute(0, 3, 1, 2))
torch.save(network.state_dict(), sys.argv[2])
"""


def run(*arguments):
    return subprocess.run([PYTHON, "-B", *map(str, arguments)], capture_output=True, text=True)


def recipe(*arguments):
    return run(ROOT / "ports/python/recipes/pytorch.py", *arguments)


def test_a_network_of_torchvision_is_converted_and_learns(tmp_path):
    """The weights' file tells the number of classes; the exported file takes pixels by torchvision's scale."""
    done = run("-c", WEIGHTS, FACES / "train", tmp_path / "weights.pt")
    assert done.returncode == 0, done.stderr
    done = recipe("--network", "shufflenet_v2_x0_5", "--weights", tmp_path / "weights.pt", "--data", FACES / "train", "--side", 64,
                  "--output", tmp_path / "new.tflite", "--converted", tmp_path / "old.tflite")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "140 pictures, 2 classes" in done.stdout
    assert topwork.Model.open(tmp_path / "old.tflite").outputs[0].shape == (1, 7)
    model = topwork.Model.open(tmp_path / "new.tflite")
    assert model.labels == ["face", "no_face"] and model.inputs[0].shape == (1, 64, 64, 3)
    session, right = topwork.Session(model), []
    for path in sorted((FACES / "test").glob("*/*.png")):
        value = examples([Image.open(path)], model.inputs[0], model.input_scale)
        right.append(model.labels[int(session.run(value)[0].argmax())] == path.parent.name)
    assert len(right) == 60 and np.mean(right) >= 0.65  # of random features


def test_refusals(tmp_path):
    done = recipe("--network", "no_such_network", "--data", FACES / "train", "--output", tmp_path / "new.tflite")
    assert done.returncode == 1 and "torchvision.models has no function 'no_such_network'" in done.stderr
    done = recipe("--network", "squeezenet1_1", "--side", 64, "--data", FACES / "train", "--output", tmp_path / "new.tflite")
    assert done.returncode == 1 and "does not end in a layer that can be replaced" in done.stderr[-500:]
    assert not (tmp_path / "new.tflite").exists()
