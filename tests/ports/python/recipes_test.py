"""The recipes of ports/python/recipes as their users call them, on the pictures of models/zoo."""
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
import topwork.tflite  # noqa: E402
from topwork import pictures  # noqa: E402

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


@pytest.mark.parametrize("more", [[], ["--hidden", 128]], ids=["best head", "hidden layer"])
def test_frigate(tmp_path, more):
    """The new model, called as Frigate calls it: bytes in, bytes out, no scale but the sum of the answers."""
    done = recipe("frigate.py", "--data", ZOO / "data/faces/train", "--model", EFFICIENTNET, "--output", tmp_path, *more)
    assert done.returncode == 0, done.stderr
    assert "140 pictures, 2 classes" in done.stdout
    labels = (tmp_path / "labelmap.txt").read_text().splitlines()
    assert labels == ["face", "no_face"]
    run = interpreter(tmp_path / "model.tflite")
    into, out = run.get_input_details()[0], run.get_output_details()[0]
    assert into["dtype"] == out["dtype"] == np.uint8
    scale, zero = into["quantization"]
    assert abs(scale - 1 / 127.5) < 1e-6 and zero in (127, 128)
    model = topwork.Model.open(tmp_path / "model.tflite")  # whose scale of pixels leaves every byte as it is
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    np.testing.assert_array_equal(pictures.scaled(pixels, model.inputs[0], model.input_scale), pixels)
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


def test_what_is_wrong_is_said_without_a_traceback(tmp_path):
    """No model, a text under a picture's name, pictures of one class."""
    picture = next((ZOO / "data/faces/train").glob("*/*.png"))
    for name in ("one/a", "text/a", "text/b"):
        (tmp_path / name).mkdir(parents=True)
        for i in range(3):
            (tmp_path / name / f"{i}.png").write_bytes(picture.read_bytes())
    (tmp_path / "text/b/9.png").write_text("no picture")
    for data, model, said in [("one", tmp_path / "absent.tflite", "absent.tflite': No such file"),
                              ("one", EFFICIENTNET, "all examples are of one class"),
                              ("text", EFFICIENTNET, "cannot identify image file"),
                              ("text", tmp_path / "text/b/9.png", "9.png': the file is 10 bytes long")]:
        done = recipe("frigate.py", "--data", tmp_path / data, "--model", model, "--output", tmp_path / "new")
        assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr, done.stderr


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
    assert "all pictures of a person count as one occasion" in done.stdout
    assert int(re.search(r"strangers: (\d+) of 80 refused", done.stdout).group(1)) >= 70
    model = topwork.Model.open(new)
    assert model.labels == [f"digit_{i}" for i in range(6)]
    assert [tensor.name for tensor in model.outputs][1] == "rejection"


def test_faces_learns_how_occasions_differ(tmp_path):
    """The known digits of the test were written by others. The promised rate holds for the taught writers; where folders
    tell them apart, far fewer of other writers' digits are refused, and still all strangers."""
    people = tmp_path / "people"
    for path in (ZOO / "data/digits/train").glob("digit_[0-5]/*.png"):
        writer = people / path.parent.name / f"writer_{int(path.stem) // 135}"  # about as many each wrote in a row
        writer.mkdir(parents=True, exist_ok=True)
        (writer / path.name).symlink_to(path)
    done = recipe("faces.py", "--data", people, *GREY, "--output", tmp_path / "people.tflite", "--test",
                  ZOO / "data/digits/test")
    assert done.returncode == 0 and "one occasion" not in done.stdout, done.stderr
    refused = int(re.search(r"people: \d+ of 120 named, (\d+) refused", done.stdout).group(1))
    assert refused <= 20, done.stdout
    assert int(re.search(r"strangers: (\d+) of 80 refused", done.stdout).group(1)) >= 78


@pytest.mark.parametrize("seed", range(4))
def test_the_promised_rate_holds_for_what_is_like_the_taught(seed):
    """Halves of the same writers' digits, by chance: of the 120 not taught at most 5 % and its spread are refused."""
    features, random = topwork.Features(DIGITS), np.random.default_rng(seed)
    paths = [path for i in range(6) for path in sorted((ZOO / f"data/digits/train/digit_{i}").glob("*.png"))]
    pixels = np.stack([np.asarray(Image.open(path).convert("L"), np.float32) / 255 for path in paths])
    names = np.array([path.parent.name for path in paths])
    taught = np.concatenate([random.permutation(np.flatnonzero(names == name))[:20] for name in np.unique(names)])
    others = np.setdiff1d(np.arange(len(names)), taught)
    rows = features(pixels[..., None])
    made = topwork.Trainer(reject_rate=0.05, seed=seed).fit(rows[taught], names[taught]).export()
    session = topwork.Session(made)
    refused = [session.run(rows[i:i + 1])[1][0, 1] for i in others]
    assert len(refused) == 120 and np.mean(refused) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


def test_folders_of_groups(tmp_path):
    sys.path.insert(0, str(RECIPES))
    import folders
    for name in ("b/1.png", "a/x/1.png", "a/x/2.png", "b/x/3.png", "a/y/1.png", "a/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [path.relative_to(tmp_path).as_posix() for path in folders.files(tmp_path)] == [
        "a/x/1.png", "a/x/2.png", "a/y/1.png", "b/1.png", "b/x/3.png"]
    assert folders.groups(tmp_path) == [0, 0, 1, 2, 0]
    (tmp_path / "c/d").mkdir(parents=True)
    (tmp_path / "c/d/1.png").touch()
    assert folders.groups(tmp_path / "c") is None


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
