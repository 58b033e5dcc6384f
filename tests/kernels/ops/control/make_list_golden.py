"""Writes tests/data/lists: models whose loops keep lists of tensors, and TensorFlow's answers.

  python tests/kernels/ops/control/make_list_golden.py

NAME.tflite is converted by TensorFlow; NAME.npz has the inputs (in_K_I: run K, input I) and the
answers (ref_K_O). masked: Keras' LSTM and bidirectional GRU with a mask, Select TF operators.
convolution: Keras' ConvLSTM2D, the same operators without "Flex". Both run with one example and with
two. functions, parts: every way to use a list that tf.TensorArray and tf.raw_ops have. Needs tensorflow.
"""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
import tensorflow as tf
from keras import layers

OUT = pathlib.Path(__file__).resolve().parents[3] / "data/lists"
OPS = tf.lite.OpsSet


def masked():
    x = keras.Input((5, 3))
    y = layers.LSTM(3, return_sequences=True)(layers.Masking(0.0)(x))
    return keras.Model(x, layers.Dense(2)(layers.Bidirectional(layers.GRU(2))(y)))


def convolution():
    x = keras.Input((4, 5, 5, 2))
    return keras.Model(x, layers.ConvLSTM2D(3, 3, padding="same", return_sequences=True)(x))


def loop(times, body, *variables):
    return tf.while_loop(lambda i, *_: i < times, lambda i, *v: (i + 1, *body(i, *v)),
                         [0, *variables])[1:]


def array(size, shape=None, **options):
    return tf.TensorArray(tf.float32, size=size, element_shape=shape, **options)


@tf.function(input_signature=[tf.TensorSpec((4, 3)), tf.TensorSpec((), tf.int32)])
def functions(x, n):
    raw = tf.raw_ops
    grown, = loop(4, lambda i, a: (a.write(i, x[i] * 2.0),), array(0, dynamic_size=True))
    counted, = loop(n, lambda i, a: (a.write(i, x * tf.cast(i, tf.float32)),), array(n, (4, 3)))
    inner, = loop(4, lambda i, a: loop(3, lambda j, b: (b.write(3 * i + j, x[i, j]),), a),
                  array(12, ()))
    some, = loop(4, lambda i, a: (tf.cond(i % 2 == 0, lambda: a.write(i, x[i]), lambda: a),),
                 array(4, (3,)))
    first = array(4, (3,), clear_after_read=False).write(0, x[0])
    own, = loop(3, lambda i, a: (a.write(i + 1, a.read(i) * 0.5 + x[i]),), first)
    rows = array(4, (3,), clear_after_read=False).unstack(x)
    pairs = array(2, (2, 3)).unstack(tf.reshape(x, (2, 2, 3)))
    pushed = raw.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float32)
    pushed, = loop(4, lambda i, h: (raw.TensorListPushBack(input_handle=h, tensor=x[i]),), pushed)
    pushed, last = raw.TensorListPopBack(input_handle=pushed, element_shape=[3],
                                         element_dtype=tf.float32)
    longer = raw.TensorListResize(input_handle=pushed, size=5)
    item = raw.TensorListGetItem(input_handle=longer, index=4, element_shape=[3],
                                 element_dtype=tf.float32)
    return (grown.stack(), counted.stack(), inner.stack(), some.stack(), own.stack(),
            rows.gather([2, 0, 3]), pairs.concat(), array(5, (3,)).scatter([4, 0, 2, 1], x).stack(),
            last, raw.TensorListStack(input_handle=longer, element_shape=[3],
                                      element_dtype=tf.float32),
            item, raw.TensorListLength(input_handle=longer),
            raw.TensorListElementShape(input_handle=longer, shape_type=tf.int32))


@tf.function(input_signature=[tf.TensorSpec((4, 3)), tf.TensorSpec((), tf.int32)])
def parts(x, n):
    raw = tf.raw_ops
    untyped, = loop(4, lambda i, a: (a.write(i, x[i]),), array(4, infer_shape=False))
    halves = array(2, infer_shape=False, clear_after_read=False).split(x, [2, 2])
    scattered = raw.TensorListScatterV2(tensor=x, indices=[4, 0, 2, 1], element_shape=[3],
                                        num_elements=-1)
    said, = tf.while_loop(lambda i, a: tf.logical_and(i < n, x[i % 4, 0] < 9.0),
                          lambda i, a: (i + 1, a.write(i, x[i % 4])),
                          [0, array(0, (3,), dynamic_size=True)])[1:]
    return (untyped.stack(), halves.read(n % 2), halves.concat(), said.stack(),
            raw.TensorListStack(input_handle=scattered, element_shape=[3], element_dtype=tf.float32))


def write(name, converter, runs, answer):
    converter._experimental_lower_tensor_list_ops = False
    (OUT / f"{name}.tflite").write_bytes(converter.convert())
    arrays = {}
    for k, run in enumerate(runs):
        answers = answer(*run)
        answers = answers if isinstance(answers, (list, tuple)) else [answers]
        arrays.update({f"in_{k}_{i}": value for i, value in enumerate(run)})
        arrays.update({f"ref_{k}_{o}": np.asarray(value) for o, value in enumerate(answers)})
    np.savez_compressed(OUT / f"{name}.npz", **arrays)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)

    def random(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    model = masked()
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.target_spec.supported_ops = [OPS.TFLITE_BUILTINS, OPS.SELECT_TF_OPS]
    inputs = [random(1, 5, 3), random(2, 5, 3)]
    inputs[0][:, 3:] = inputs[1][1, 2] = inputs[1][0, 4] = 0.0
    write("masked", converter, [[x] for x in inputs], model)

    model = convolution()
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.allow_custom_ops = True
    write("convolution", converter, [[random(1, 4, 5, 5, 2)], [random(2, 4, 5, 5, 2)]], model)

    for name, function in (("functions", functions), ("parts", parts)):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
        converter.target_spec.supported_ops = [OPS.TFLITE_BUILTINS, OPS.SELECT_TF_OPS]
        write(name, converter,
              [[random(4, 3), np.array(3, np.int32)], [random(4, 3), np.array(1, np.int32)]], function)


main()
