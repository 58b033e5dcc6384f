"""frigate.py beside Frigate's own training in Keras, folder in and uint8 model out: pictures of the test named rightly, peak
memory of each process, seconds of processors (both sides take turns; the minimum counts) and of the clock (worthless on a
busy machine).

  python frigate.py KERAS_PYTHON [--seeds N] [--folder FOLDER] [--rows FILE]

The Keras side is written from Frigate's description: MobileNetV2 of width 0.35 over 224 x 224, frozen, mean over the map,
dense 128 with ReLU, dropout 0.3, softmax; Adam at 1e-3, batches of 16, 50 epochs with the network in each; int8 with uint8 at
both ends, calibrated on the pictures. Its weights are random here, as none can be had offline, with the statistics of
normalization taken from the pictures; the other side gets the same network as .tflite, and once more without AVX
(TOPWORK_ISA=baseline), where TensorFlow does not start. All networks are made before anything is measured, in FOLDER, where
those of an earlier call are taken as they are. Pictures: faces and other things of
models/zoo, 140 to teach and 60 to judge. KERAS_PYTHON has tensorflow and Pillow; run this by the Python that topwork is
installed in.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = pathlib.Path(__file__).resolve().parents[3]
FACES = ROOT / "models" / "zoo" / "data" / "faces"
SIDE = 224


def pictures(part):
    from PIL import Image
    paths = sorted((FACES / part).glob("*/*.png"))
    pixels = np.stack([np.asarray(Image.open(path).convert("RGB").resize((SIDE, SIDE), 2), np.float32) for path in paths])
    names = sorted({path.parent.name for path in paths})
    return pixels, np.array([names.index(path.parent.name) for path in paths])


def base_of(seed):
    import keras
    keras.utils.set_random_seed(seed)
    base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(SIDE, SIDE, 3), alpha=0.35, pooling="avg")
    for layer in base.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.5
    x, _ = pictures("train")
    for _ in range(12):
        base(x[::5] / 127.5 - 1, training=True)
    return base


def make_base(seed, folder):
    """The network with random classes behind it, as a float .tflite and as Keras keeps it."""
    import keras
    import tensorflow
    base = base_of(seed)
    base.save(folder / "base.keras")
    whole = keras.Sequential([base, keras.layers.Dense(10, activation="softmax")])
    whole.build((None, SIDE, SIDE, 3))
    (folder / "base.tflite").write_bytes(tensorflow.lite.TFLiteConverter.from_keras_model(whole).convert())


def train_keras(seed, folder):
    import keras
    import tensorflow
    keras.utils.set_random_seed(seed)
    base = keras.models.load_model(folder / "base.keras")
    base.trainable = False
    x, y = pictures("train")
    x = x / 127.5 - 1
    layers = keras.layers
    model = keras.Sequential([base, layers.Dense(128, activation="relu"), layers.Dropout(.3), layers.Dense(2, activation="softmax")])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy")
    model.fit(x, y, batch_size=16, epochs=50, verbose=0)
    converter = tensorflow.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([row[None]] for row in x[:300])
    converter.target_spec.supported_ops = [tensorflow.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tensorflow.uint8
    (folder / "keras.tflite").write_bytes(converter.convert())


def measured(command, isa=None):
    """Seconds, peak MB and processor seconds of a program. Its own VmHWM is read while it runs, as it ends without telling.
    `isa` is what Topwork may use; None: what the processor has."""
    start, peak, said = time.perf_counter(), 0, tempfile.TemporaryFile("w+")
    environment = {**os.environ, "TOPWORK_ISA": isa} if isa else None
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env=environment)
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        try:
            text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            peak = max(peak, int(text.split("VmHWM:")[1].split()[0]) / 1024)
        except (OSError, IndexError):
            pass
        time.sleep(0.005)  # what is measured is that much too long
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said.seek(0)
        sys.exit(f"{' '.join(map(str, command))}: {said.read()[-2000:]}")
    return time.perf_counter() - start, peak, used.ru_utime + used.ru_stime


def accuracy(path):
    from topwork.tflite import Interpreter
    run = Interpreter(model_path=str(path))
    run.allocate_tensors()
    into, out = run.get_input_details()[0]["index"], run.get_output_details()[0]["index"]
    x, y = pictures("test")
    right = 0
    for pixels, label in zip(x, y):
        run.set_tensor(into, pixels[None].astype(np.uint8))
        run.invoke()
        right += int(run.get_tensor(out)[0].argmax()) == label
    return 100 * right / len(y)


def compared(options, root):
    """For each side what each seed gave: % named rightly, peak MB, processor seconds, seconds."""
    keras = [options.keras, "-B", __file__, options.keras, "--part"]
    folders = [root / str(seed) for seed in range(1, options.seeds + 1)]
    for folder in folders:
        if not (folder / "base.tflite").exists():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run([*keras, "base", folder.name, str(folder)], check=True, stdout=subprocess.DEVNULL)
    found = {"topwork": [], "without AVX": [], "keras": []}
    for folder in folders:
        recipe = [sys.executable, "-B", str(ROOT / "ports/python/recipes/frigate.py"), "--data", str(FACES / "train"),
                  "--model", str(folder / "base.tflite"), "--output", str(folder), "--mean", "127.5", "--std", "127.5"]
        for side, command, made in (("topwork", recipe, "model.tflite"), ("without AVX", recipe, "model.tflite"),
                                    ("keras", [*keras, "keras", folder.name, str(folder)], "keras.tflite")):
            seconds, peak, used = measured(command, "baseline" if side == "without AVX" else None)
            found[side].append((accuracy(folder / made), peak, used, seconds))
            print(f"seed {folder.name}, {side}: {found[side][-1][0]:.1f} % right, {peak:.0f} MB, {seconds:.1f} s, "
                  f"of processors {used:.1f} s", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keras", help="Python with TensorFlow")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folder", help="where networks and models are kept; default: nowhere")
    parser.add_argument("--part", nargs=3, metavar=("PART", "SEED", "FOLDER"), help=argparse.SUPPRESS)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    if options.part:
        part, seed, folder = options.part
        {"base": make_base, "keras": train_keras}[part](int(seed), pathlib.Path(folder))
        return
    with tempfile.TemporaryDirectory() as name:
        found = compared(options, pathlib.Path(options.folder or name))
    theirs = np.array(found.pop("keras"))
    for side, values in found.items():
        ours, where = np.array(values), "" if side == "topwork" else ", " + side
        for i, what, chosen in ((1, "peak memory, folder to model", np.max), (3, "seconds, folder to model", np.min),
                                (2, "processor seconds, folder to model", np.min),
                                (0, "named rightly, %", np.mean)):
            one, other = chosen(ours[:, i]), chosen(theirs[:, i])
            table.add("MobileNetV2 0.35, 140 pictures", what + where, one, other, other / one if i else None,
                      runs=np.stack([ours[:, i], theirs[:, i]], axis=1).tolist())
            print(f"{what}{where}: {one:.2f} and {other:.2f}")
    table.write(options.rows)


if __name__ == "__main__":
    main()
