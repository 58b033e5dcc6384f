"""The recipes of ports/python/recipes as their users call them, on the pictures of models/zoo."""
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
import topwork.tflite  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECIPES = ROOT / "ports" / "python" / "recipes"
ZOO = ROOT / "models" / "zoo"
EFFICIENTNET = ZOO / "efficientnet_lite0_fp16.tflite"
DIGITS = ZOO / "digits_cnn_f32.tflite"


def recipe(name, *arguments):
    """What the recipe prints; its error where it fails."""
    return subprocess.run([sys.executable, "-B", str(RECIPES / name), *map(str, arguments)], capture_output=True, text=True)


def interpreter(path):
    """LiteRT's, or Topwork's where it is not installed."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        from topwork.tflite import Interpreter
    made = Interpreter(model_path=str(path))
    made.allocate_tensors()
    return made


def test_frigate(tmp_path):
    """The new model, called as Frigate calls it: bytes in, bytes out, no scale but the sum of the answers."""
    done = recipe("frigate.py", "--data", ZOO / "data/faces/train", "--model", EFFICIENTNET, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "140 pictures, 2 classes" in done.stdout
    labels = (tmp_path / "labelmap.txt").read_text().splitlines()
    assert labels == ["face", "no_face"]
    run = interpreter(tmp_path / "model.tflite")
    into, out = run.get_input_details()[0], run.get_output_details()[0]
    assert into["dtype"] == out["dtype"] == np.uint8
    scale, zero = into["quantization"]
    assert abs(scale - 1 / 127.5) < 1e-6 and zero in (127, 128)
    right = []
    for path in sorted((ZOO / "data/faces/test").glob("*/*.png"))[::3]:
        pixels = np.asarray(Image.open(path).convert("RGB").resize((224, 224)))
        run.set_tensor(into["index"], pixels[None])
        run.invoke()
        scores = run.get_tensor(out["index"])[0]
        probabilities = scores / scores.sum(axis=0)
        assert abs(float(scores.sum()) - 256) <= 2
        right.append(labels[int(np.argmax(probabilities))] == path.parent.name)
    assert len(right) == 20 and np.mean(right) >= 0.9


def test_frigate_refuses_what_frigate_cannot_use(tmp_path):
    done = recipe("frigate.py", "--data", ZOO / "data/digits/train", "--model", DIGITS, "--output", tmp_path / "new")
    assert done.returncode == 1 and "224" in done.stderr and not (tmp_path / "new").exists()
    done = recipe("frigate.py", "--data", tmp_path, "--model", EFFICIENTNET, "--output", tmp_path / "new")
    assert done.returncode == 1 and "no folders with pictures" in done.stderr and not (tmp_path / "new").exists()


GREY = ("--model", DIGITS, "--mean", 0, "--std", 255)


def test_faces(tmp_path):
    """Digits stand for people: six are taught, the other four are strangers."""
    people = tmp_path / "people"
    people.mkdir()
    for i in range(6):
        (people / f"digit_{i}").symlink_to(ZOO / f"data/digits/train/digit_{i}", target_is_directory=True)
    new = tmp_path / "people.tflite"
    done = recipe("faces.py", "--data", people, *GREY, "--output", new, "--test", ZOO / "data/digits/test")
    assert done.returncode == 0, done.stderr
    named, refused, confused = map(int, re.search(r"people: (\d+) of 120 named, (\d+) refused, (\d+) confused",
                                                  done.stdout).groups())
    assert named + refused + confused == 120 and named >= 80 and confused <= 2
    assert int(re.search(r"strangers: (\d+) of 80 refused", done.stdout).group(1)) >= 70
    model = topwork.Model.open(new)
    assert model.labels == [f"digit_{i}" for i in range(6)]
    assert [tensor.name for tensor in model.outputs][1] == "rejection"


def test_recommend_is_exact_search(tmp_path):
    items = tmp_path / "items.npz"
    done = recipe("recommend.py", "index", "--data", ZOO / "data/digits/train", *GREY, "--output", items)
    assert done.returncode == 0 and "400 items" in done.stdout, done.stderr
    stored = np.load(items)
    features = stored["features"].astype(np.float64)
    np.testing.assert_allclose((features ** 2).sum(axis=1), 1, atol=1e-5)
    for i in (0, 77, 399):  # an item finds itself, then what the cosines of all items say
        picture = ZOO / "data/digits/train" / stored["names"][i] / stored["files"][i]
        done = recipe("recommend.py", "query", "--items", items, *GREY, "--picture", picture, "--n", 4)
        assert done.returncode == 0, done.stderr
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        cosines = features @ features[i]
        assert [row[2] for row in rows] == [stored["files"][k] for k in np.argsort(-cosines, kind="stable")[:4]]
        np.testing.assert_allclose([float(row[0]) for row in rows], np.sort(cosines)[::-1][:4], atol=1e-4)
        assert rows[0][0] == "1.0000"


def test_recommend_finds_the_same_kind(tmp_path):
    items = tmp_path / "items.npz"
    recipe("recommend.py", "index", "--data", ZOO / "data/digits/train", *GREY, "--output", items)
    right = []
    for picture in sorted((ZOO / "data/digits/test").glob("*/*.png"))[::20]:
        done = recipe("recommend.py", "query", "--items", items, *GREY, "--picture", picture, "--n", 1)
        right.append(done.stdout.split("\t")[1] == picture.parent.name)
    assert len(right) == 10 and np.mean(right) >= 0.8
