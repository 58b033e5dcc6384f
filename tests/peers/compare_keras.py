"""Makes models for compare.py: networks of keras.applications with random weights, and ONNX files.

  python compare_keras.py make FOLDER NAME_STORAGE...   NAME_STORAGE.tflite, a name of NETWORKS
  python compare_keras.py onnx MODEL.tflite OUT.onnx [--channels-first]

Needs tensorflow-cpu and tf2onnx; compare_setup.py gives it a virtual environment with both. Random
weights serve: they change no time of these networks.
"""
import itertools
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

INPUT = (1, 224, 224, 3)
NETWORKS = {
    "mobilenet_v1": ("MobileNet", {}),
    "mobilenet_v2": ("MobileNetV2", {}),
    "mobilenet_v3": ("MobileNetV3Large", {"include_preprocessing": False}),
    "efficientnet_b0": ("EfficientNetB0", {}),
    "resnet50": ("ResNet50", {}),
}
N_CALIBRATE = 8


def build(name):
    """The network with a batch of 1, as it lies in most applications, and without its softmax, whose
    answers would be nearly equal for random weights."""
    import keras
    keras.utils.set_random_seed(1)
    kind, options = NETWORKS[name]
    model = getattr(keras.applications, kind)(
        weights=None, classifier_activation=None, input_tensor=keras.Input(batch_shape=INPUT), **options)
    keep_size(model)
    return model


def keep_size(model):
    """Draws the weights so that activations neither fade nor grow from layer to layer; with Keras's own
    they fade until every answer of the quantized network is 0."""
    import numpy as np

    random = np.random.default_rng(1)
    for layer in model.layers:
        weights = layer.get_weights()
        if type(layer).__name__ not in ("Conv2D", "DepthwiseConv2D", "Dense") or not weights:
            continue
        shape = weights[0].shape
        inputs = np.prod(shape[:2] if type(layer).__name__ == "DepthwiseConv2D" else shape[:-1])
        weights[0] = random.normal(0, np.sqrt(2 / inputs), shape).astype(np.float32)
        layer.set_weights(weights)


def convert(model, storage):
    import numpy as np
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if storage != "f32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if storage == "fp16":
        converter.target_spec.supported_types = [tf.float16]
    if storage == "int8":
        random = np.random.default_rng(1)
        images = random.random((N_CALIBRATE, *INPUT), np.float32)
        converter.representative_dataset = lambda: ([image] for image in images)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def make(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    for network, options in itertools.groupby(names, lambda name: name.rsplit("_", 1)[0]):
        model = build(network)
        for name in options:
            part = folder / f"{name}.part"
            part.write_bytes(convert(model, name.rsplit("_", 1)[1]))
            part.rename(folder / f"{name}.tflite")


def onnx(source, target, channels_first):
    """The network in ONNX, its batch left open."""
    import onnx as onnx_package
    import tf2onnx

    model, _ = tf2onnx.convert.from_tflite(str(source), opset=17)
    if channels_first:
        names = [value.name for value in model.graph.input]
        model, _ = tf2onnx.convert.from_tflite(str(source), opset=17, inputs_as_nchw=names)
    else:
        for value in [*model.graph.input, *model.graph.output]:
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
        del model.graph.value_info[:]
    onnx_package.save(model, str(target))


def main():
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), sys.argv[3:])
    else:
        onnx(sys.argv[2], sys.argv[3], "--channels-first" in sys.argv)


if __name__ == "__main__":
    main()
