"""Writes tests/data/zoo/NAME.npz: LiteRT's answers (reference kernels) of the float models in models/zoo.

    python tests/models/zoo/make_golden.py

Digits networks get the first 8 images kept for testing, one by one (in_K_0, ref_K_0). EfficientNet-Lite0 gets
an image of integers that golden.cc makes as well (ref_0_0 only): pixel (y, x, c) of 224 x 224 x 3 is
(((y * x * (c + 1)) // 97 + 3 * y + 5 * x) % 256 - 127) / 128.
"""
import os

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

ROOT = os.path.dirname(os.path.abspath(__file__))
ZOO = os.path.join(ROOT, "../../../models/zoo")
OUT = os.path.join(ROOT, "../../data/zoo")


def answer(name, values):
    interpreter = Interpreter(
        os.path.join(ZOO, name + ".tflite"), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    place = interpreter.get_input_details()[0]
    interpreter.set_tensor(place["index"], values.reshape(place["shape"]).astype(np.float32))
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), place["shape"]


def main():
    os.makedirs(OUT, exist_ok=True)
    digits = np.load(os.path.join(ZOO, "data/digits_8x8/test/x.npy")).reshape(-1, 64)[:8]
    for name in ("digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32"):
        arrays = {}
        for k, values in enumerate(digits):
            arrays[f"ref_{k}_0"], shape = answer(name, values)
            arrays[f"in_{k}_0"] = values.reshape(shape).astype(np.float32)
        np.savez(os.path.join(OUT, name + ".npz"), **arrays)
    y, x, c = np.meshgrid(np.arange(224), np.arange(224), np.arange(3), indexing="ij")
    image = ((y * x * (c + 1) // 97 + 3 * y + 5 * x) % 256 - 127) / 128
    scores, _ = answer("efficientnet_lite0_fp16", image)
    top = np.sort(scores[0])[::-1][:2]
    print("efficientnet's two best scores:", top)
    np.savez(os.path.join(OUT, "efficientnet_lite0_fp16.npz"), ref_0_0=scores)


if __name__ == "__main__":
    main()
