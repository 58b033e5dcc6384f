"""Keras's own MobileNetV2, its base frozen and run again in every epoch: seconds of 20 epochs.

  KERAS/bin/python personalise_keras_mobilenet.py IMAGES [--epochs N] [--threads N]

IMAGES holds one folder of images a class; the first 20 of each are used, decoded and resized before
the clock starts. Weights are random, which changes no time. Needs tensorflow-cpu and pillow.
"""
import argparse
import os
import pathlib
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

PER_CLASS, BATCH, SIZE = 20, 32, 224


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("images")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    import numpy
    import tensorflow
    from PIL import Image
    keras = tensorflow.keras
    tensorflow.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    x, y = [], []
    for label, folder in enumerate(sorted(p for p in pathlib.Path(arguments.images).iterdir() if p.is_dir())):
        for path in sorted(folder.iterdir())[:PER_CLASS]:
            x.append(numpy.asarray(Image.open(path).convert("RGB").resize((SIZE, SIZE))))
            y.append(label)
    x, y = numpy.asarray(x, "float32") / 127.5 - 1.0, numpy.asarray(y)
    base = keras.applications.MobileNetV2(weights=None, include_top=False, pooling="avg",
                                          input_shape=(SIZE, SIZE, 3))
    base.trainable = False
    model = keras.Sequential([base, keras.layers.Dense(int(y.max()) + 1, activation="softmax")])
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy")
    start = time.perf_counter()
    model.fit(x, y, batch_size=BATCH, epochs=arguments.epochs, verbose=0)
    seconds = time.perf_counter() - start
    print("%d images, %d epochs: %.1f s, %.2f s an epoch" % (
        len(y), arguments.epochs, seconds, seconds / arguments.epochs))


if __name__ == "__main__":
    main()
