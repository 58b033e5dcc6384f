#!/usr/bin/env python3
"""Makes the data of models/zoo from PyPI packages: digits, faces, the photograph and the ImageNet names.

  make_zoo.py          writes the files and manifest.json's checksums
  make_zoo.py --check  fails when a file differs from its checksum in manifest.json

Writing needs: numpy pillow scikit-learn scikit-image torchvision (torchvision for the class names
alone). --check needs only Python. The models are not made here; manifest.json says where they come from.
"""
import argparse
import hashlib
import json
import pathlib
import shutil
import sys

ZOO = pathlib.Path(__file__).resolve().parent
TRAIN_PER_CLASS, TEST_PER_CLASS = 40, 20


def save_images(folder, images, labels, names, train, test):
    from PIL import Image

    for part, count, skip in (("train", train, 0), ("test", test, train)):
        for label, name in enumerate(names):
            target = folder / part / name
            target.mkdir(parents=True)
            chosen = [i for i, y in enumerate(labels) if y == label][skip:skip + count]
            for i in chosen:
                Image.fromarray(images[i]).save(target / f"{i:04d}.png", optimize=True)


def make_digits():
    import numpy as np
    from sklearn.datasets import load_digits

    data = load_digits()
    images = np.round(data.images * 255 / 16).astype(np.uint8)
    names = [f"digit_{d}" for d in range(10)]
    save_images(ZOO / "data/digits", images, data.target, names, TRAIN_PER_CLASS, TEST_PER_CLASS)
    # The same handwriting as arrays, for models of 8 x 8 inputs, in the order and with the split that
    # the digits_* models were trained with: the test part is new to them.
    order = np.random.RandomState(3).permutation(len(data.target))
    x = (data.images / 16).astype(np.float32)[order][..., None]
    y = data.target.astype(np.int64)[order]
    for part, rows in (("train", slice(0, 600)), ("test", slice(1400, 1797))):
        folder = ZOO / "data/digits_8x8" / part
        folder.mkdir(parents=True)
        np.save(folder / "x.npy", x[rows])
        np.save(folder / "y.npy", y[rows])


def make_faces():
    import numpy as np
    from skimage.data import lfw_subset

    images = np.round(lfw_subset() * 255).astype(np.uint8)
    labels = np.repeat([0, 1], 100)
    save_images(ZOO / "data/faces", images, labels, ["face", "no_face"], 70, 30)


def make_photo_and_names():
    import skimage
    from PIL import Image
    from torchvision.models._meta import _IMAGENET_CATEGORIES

    source = pathlib.Path(skimage.__file__).parent / "data/chelsea.png"
    (ZOO / "data").mkdir(exist_ok=True)
    Image.open(source).convert("RGB").save(ZOO / "data/cat.jpg", quality=90)
    (ZOO / "imagenet_labels.txt").write_text("\n".join(_IMAGENET_CATEGORIES) + "\n")


def digest(path):
    """One checksum for a file, or for all files of a folder by name."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    total = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        total.update(f"{file.relative_to(path).as_posix()} {digest(file)}\n".encode())
    return total.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    manifest_path = ZOO / "manifest.json"
    manifest = json.loads(manifest_path.read_text())
    if not arguments.check:
        shutil.rmtree(ZOO / "data", ignore_errors=True)
        make_photo_and_names()
        make_digits()
        make_faces()
        for entry in manifest["files"]:
            entry["sha256"] = digest(ZOO / entry["path"])
        manifest_path.write_text(json.dumps(manifest, indent=2) + "\n")
        return 0
    wrong = [e["path"] for e in manifest["files"] if digest(ZOO / e["path"]) != e["sha256"]]
    listed = {e["path"].split("/")[0] for e in manifest["files"]} | {"data"}
    present = {p.name for p in ZOO.iterdir()} - {"make_zoo.py", "manifest.json", "__pycache__"}
    for path in wrong:
        print(f"models/zoo/{path}: its content is not what manifest.json says")
    for name in sorted(present - listed):
        print(f"models/zoo/{name}: not listed in manifest.json")
    if not wrong and present <= listed:
        print(f"{len(manifest['files'])} entries agree with their checksums")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
