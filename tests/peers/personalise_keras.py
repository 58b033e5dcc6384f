"""Keras sides of personalise_peers.py: the same network and weights as a Keras model, frozen.

keras: the images pass through the whole model in every epoch. keras_cached: features once, then the
head alone, then both joined. Both end with a .tflite from TensorFlow's converter.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from PIL import Image  # noqa: E402, F401  (imported before the clock starts)

import personalise_side as side  # noqa: E402

keras = tf.keras


def build(layers, weights, shape):
    first = keras.Input(shape)
    values = {layers[0]["inputs"][0]: first}
    filled = []
    for spec in layers:
        inputs = [values[i] for i in spec["inputs"]]
        if spec["op"] == "conv":
            w = weights[spec["weights"]]
            layer = keras.layers.Conv2D(w.shape[0], w.shape[1], spec["stride"], "same")
            filled.append((layer, w.transpose(1, 2, 3, 0), weights[spec["bias"]]))
        elif spec["op"] == "depthwise":
            w = weights[spec["weights"]]
            layer = keras.layers.DepthwiseConv2D(w.shape[1], spec["stride"], "same")
            filled.append((layer, w.transpose(1, 2, 3, 0), weights[spec["bias"]]))
        elif spec["op"] == "add":
            layer = keras.layers.Add()
        else:
            layer = keras.layers.GlobalAveragePooling2D()
        out = layer(inputs if spec["op"] == "add" else inputs[0])
        if spec.get("activation") == "relu6":
            out = keras.layers.ReLU(6.0)(out)
        values[spec["output"]] = out
    for layer, kernel, bias in filled:
        layer.set_weights([kernel, bias])
    return keras.Model(first, values[layers[-1]["output"]])


def prepare(work):
    layers, weights, shape = side.network(work)
    build(layers, weights, shape).save(work / "base.keras")


def begin(job):
    tf.config.threading.set_intra_op_parallelism_threads(job.threads)
    tf.config.threading.set_inter_op_parallelism_threads(job.threads)
    keras.utils.set_random_seed(1)
    job.start()
    base = keras.models.load_model(job.work / "base.keras", compile=False)
    base.trainable = False
    job.done("open")
    x, y = side.read_images(job.images, base.input_shape[1])
    job.done("images")
    return base, x, y


def compile_and_fit(model, x, y, job):
    model.compile(keras.optimizers.Adam(side.RATE), "sparse_categorical_crossentropy")
    model.fit(x, y, batch_size=side.BATCH, epochs=job.epochs, verbose=0)


def export(model, job):
    model.save(job.output.with_suffix(".keras"))
    job.done("save .keras")
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    job.output.write_bytes(converter.convert())
    job.done("convert to .tflite")


def frozen(job):
    base, x, y = begin(job)
    model = keras.Sequential([base, keras.layers.Dense(int(y.max()) + 1, activation="softmax")])
    compile_and_fit(model, x, y, job)
    job.done("training")
    export(model, job)
    finish(model, x, y, job)


def cached(job):
    base, x, y = begin(job)
    features = base.predict(x, batch_size=side.BATCH, verbose=0)
    job.done("features")
    head = keras.Sequential([keras.Input(features.shape[1:]),
                             keras.layers.Dense(int(y.max()) + 1, activation="softmax")])
    compile_and_fit(head, features, y, job)
    job.done("training")
    model = keras.Model(base.input, head(base.output))
    export(model, job)
    finish(model, x, y, job)


def finish(model, x, y, job):
    scores = model.predict(x, verbose=0)
    job.finish(side.accuracy(np.asarray(scores), y), f"tensorflow {tf.__version__}")


if __name__ == "__main__":
    side.main(prepare, {"keras": frozen, "keras_cached": cached})
