"""20 uses and more of the versions that came with a feature: layers with weights.

Versions without a feature of their own (no rule in versions.py writes them) are uses of the least
version that does the same, under that number: CONV_2D 4 and DEPTHWISE_CONV_2D 5 for int16 (meant
for int16 weights, which LiteRT 2.3 reads as bytes),
DEPTHWISE_CONV_2D 4 for one scale of all channels, which LiteRT refuses, TRANSPOSE_CONV 5 for int16
(the converter's rule looks at the wrong input).
"""

from cases import Table
from ops_quant_conv import KINDS, Kind, Sheet
from sheets import Sheet as Rows

FLOAT = Kind("float32", "float32", "float32", "float32", False, "CDF")
KIND = {kind.name: kind for kind in KINDS}
KIND["float32"] = FLOAT
INT16 = Kind("int16_int16", "int16", "int16", "int64", True, "F")
INT16_SINGLE = Kind("int16_int16_bias32", "int16", "int16", "int32", False, "F")
INT4_16 = Kind("int16_int4", "int16", "int4", "int64", True, "F")


def _sheet(table, op, kind, name):
    """A sheet that the caller fills; its case is added by _done()."""
    sheet = Sheet(op, Kind(**{**kind.__dict__, "name": f"{op.lower()}_{kind.name}_{name}"}))
    sheet.table = table
    return sheet


def _done(sheet):
    sheet.table.append(sheet.case())


# input, units
FULL = (((2, 1, 3), 2), ((1, 2, 5), 3), ((5,), 4), ((2, 7), 1), ((1, 2, 2, 3), 5), ((3, 1), 2),
        ((1, 1), 1), ((2, 2, 4), 4), ((1, 17), 1), ((0, 3), 2), ((2, 1, 1, 3), 2), ((4, 1), 3),
        ((1, 1, 6), 2), ((2, 1), 5), ((3, 1, 2), 3), ((1, 9), 2), ((2, 0, 3), 2), ((1, 2, 1, 2), 2),
        ((5, 2), 2), ((1, 2), 9))


def _full():
    t = Table("SWEEP_VERSION_FULL")
    for name in ("float32", "int8_per_tensor", "uint8", "int16_per_tensor"):
        more = dict(quantized_bias_type=0) if name == "int16_per_tensor" else {}
        for label, bias, keep in (("keep", True, True), ("no_bias", None, False)):
            sheet = _sheet(t, "FULLY_CONNECTED", KIND[name], label)
            for k, (shape, units) in enumerate(FULL):
                sheet.add(shape, (units, shape[-1]), 0, shape[-1], bias,
                          keep_num_dims=keep or k % 4 == 3, **more)
            _done(sheet)
    for name in ("hybrid_per_tensor", "hybrid_asymmetric_per_tensor"):
        sheet = _sheet(t, "FULLY_CONNECTED", KIND[name], "few")
        for shape, units in FULL[5:8]:
            sheet.add(shape, (units, shape[-1]), 0, shape[-1], len(shape) > 2,
                      asymmetric_quantize_inputs=KIND[name].asymmetric)
        _done(sheet)
    for kind, label, more in ((INT4_16, "int4", {}),
                              (KIND["int16"], "plain", dict(quantized_bias_type=0)),
                              (INT16, "wide", {}), (INT16_SINGLE, "wide", {})):
        sheet = _sheet(t, "FULLY_CONNECTED", kind, label)
        for shape, units in FULL:
            sheet.add(shape, (units, shape[-1]), 0, shape[-1], len(shape) != 3, **more)
        _done(sheet)
    return t


def _shuffled():
    """uint8 data with int16 results: plain weights, and weights in shuffled blocks (1 or 4 rows)."""
    t = Table("SWEEP_VERSION_SHUFFLED")
    for shuffled in (False, True):
        sheet = Rows("FULLY_CONNECTED", "shuffled" if shuffled else "plain")
        for k in range(20):
            rows = (1, 4)[k % 2] if shuffled else 1 + k % 3
            units, depth = ((4, 16), (8, 16), (4, 32), (12, 16), (4, 48))[k % 5]
            units, depth = (units, depth) if shuffled else (units - k % 3, depth // 4 + k % 2)
            zeros = (128, 128) if shuffled else (0 if k % 4 == 3 else 100 + k, 128 - 3 * k)
            weights = sheet.c((units, depth), "uint8", 0.02 * (1 + k % 3), zeros[1])
            inputs = [sheet.x((rows, depth), "uint8", 0.01, zeros[0]), weights,
                      sheet.c((units,), "int32", 0.0002 * (1 + k % 3), lo=-9000, hi=9000)]
            scale = (0.0005, 0.00003, 0.01)[k % 3]
            act = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")[k % 4]
            if not shuffled:
                sheet.add(inputs, "int16", scale, 0, act=act)
                continue
            result, work = sheet.graph.op("FULLY_CONNECTED", inputs, ("int16", "uint8"),
                                          quantization=((scale,), (0,), 0), weights_format=1,
                                          fused_activation_function=act)
            sheet.graph.outputs.append(result)
            sheet.graph.tensors[work].shape, sheet.graph.tensors[work].computed = (rows * depth,), False
        t.append(sheet.case())
    return t


# image, output channels, filter size, stride, padding; three groups where they fit, else two
CONVS = (((1, 2, 2, 2), 2, (1, 1), 1, "SAME"), ((1, 3, 2, 2), 4, (2, 2), 1, "SAME"),
         ((1, 3, 3, 3), 3, (3, 3), 1, "SAME"), ((2, 2, 2, 4), 2, (2, 1), 1, "VALID"),
         ((1, 4, 4, 2), 2, (3, 3), 2, "SAME"), ((1, 3, 4, 3), 6, (1, 2), 1, "VALID"),
         ((1, 1, 1, 6), 3, (1, 1), 1, "SAME"), ((1, 5, 1, 2), 2, (3, 1), 2, "SAME"),
         ((1, 2, 3, 4), 6, (2, 3), 1, "SAME"), ((1, 1, 5, 6), 3, (1, 3), 1, "SAME"))


def _convolutions():
    t = Table("SWEEP_VERSION_CONV")
    for name, n in (("float32", 7), ("int8_per_channel", 8), ("uint8", 16), ("int16_per_tensor", 20)):
        more = dict(quantized_bias_type=0) if name == "int16_per_tensor" else {}
        sheet = _sheet(t, "CONV_2D", KIND[name], "groups")
        for image, out, size, stride, padding in (CONVS * 2)[:n]:
            depth = image[3] // (3 if image[3] % 3 == 0 else 2)
            sheet.add(image, (out, *size, depth), 0, size[0] * size[1] * depth, padding=padding,
                      stride_h=stride, stride_w=stride, **more)
        _done(sheet)
    for label, version in (("plain", None), ("number", 4)):
        sheet = _sheet(t, "CONV_2D", KIND["int16"], label)
        for k, (image, out, size, stride, padding) in enumerate(CONVS * 2):
            sheet.add(image, (out, *size, image[3]), 0, size[0] * size[1] * image[3],
                      padding=padding, stride_h=stride, stride_w=stride, quantized_bias_type=0,
                      dilation_w_factor=1 + k // 10, version=version)
        _done(sheet)
    return t


def _depthwise():
    t = Table("SWEEP_VERSION_DEPTHWISE")
    for name, label, version, n in (("float32", "dilated", None, 16), ("int16", "dilated", None, 14),
                                    ("uint8", "dilated", None, 20), ("int16", "number", 5, 20),
                                    ("float32", "number", 4, 20)):
        sheet = _sheet(t, "DEPTHWISE_CONV_2D", KIND[name], label)
        for k, (image, _, size, stride, padding) in enumerate((CONVS * 2)[:n]):
            multiplier = 1 + k % 2
            sheet.add(image, (1, *size, image[3] * multiplier), 3, size[0] * size[1],
                      padding=padding, stride_h=1, stride_w=1, depth_multiplier=multiplier,
                      dilation_h_factor=2 - k % 2, dilation_w_factor=1 + (k + 1) // 2 % 3 if k % 2
                      else 1 + k % 3, version=version)
        _done(sheet)
    sheet = _sheet(t, "DEPTHWISE_CONV_2D", KIND["uint8"], "few")
    sheet.add((1, 2, 3, 2), (1, 2, 2, 2), 3, 4, padding="SAME", stride_h=1, stride_w=1,
              depth_multiplier=1)
    _done(sheet)
    return t


# image, output (h, w, channels), filter size, stride, padding
TRANSPOSED = (((1, 2, 2, 2), (2, 2, 3), (3, 3), 1, "SAME"), ((1, 2, 2, 1), (4, 4, 2), (2, 2), 2, "SAME"),
              ((1, 1, 3, 2), (1, 6, 1), (1, 3), 2, "SAME"), ((2, 1, 1, 3), (2, 2, 2), (2, 2), 1, "VALID"),
              ((1, 3, 1, 1), (3, 1, 5), (3, 1), 1, "SAME"), ((1, 2, 2, 2), (5, 5, 1), (3, 3), 2, "VALID"),
              ((1, 2, 3, 1), (3, 5, 1), (2, 2), 2, "SAME"), ((1, 1, 1, 5), (1, 1, 3), (1, 1), 1, "SAME"),
              ((1, 2, 1, 3), (6, 3, 2), (2, 3), 3, "SAME"), ((1, 1, 2, 2), (3, 4, 1), (3, 3), 1, "VALID"))

# How many are needed beside those of the other tables.
FLOAT_COUNTS = {"plain": 6, "bias": 9, "act": 17}
COUNTS = {"plain": 17, "bias": 13, "act": 10, "bias_type": 10}


def _transposed():
    t = Table("SWEEP_VERSION_TRANSPOSED")
    acts = ("RELU", "RELU6", "RELU_N1_TO_1")
    ways = (("plain", False, ("NONE",), {}), ("bias", True, ("NONE",), {}), ("act", True, acts, {}),
            ("bias_type", True, ("NONE",) + acts, dict(quantized_bias_type=4, version=5)))
    for name in ("float32", "int8_per_channel", "uint8", "int16", "int16_bias32"):
        for label, bias, act, more in ways:
            wide = name.startswith("int16")
            if label == "bias_type" and not wide or label != "bias_type" and name == "int16_bias32":
                continue
            if name == "int16_bias32":
                more = dict(quantized_bias_type=2, version=5)
            sheet = _sheet(t, "TRANSPOSE_CONV", KIND[name], label)
            counts = FLOAT_COUNTS if name == "float32" else COUNTS
            for k, (image, out, size, stride, padding) in enumerate((TRANSPOSED * 2)[:counts[label]]):
                sheet.add(image, (out[2], *size, image[3]), 0, size[0] * size[1] * image[3], bias,
                          first=[image[0], *out], padding=padding, stride_h=stride,
                          stride_w=stride, act=act[k % len(act)], **more)
            _done(sheet)
    return t


def tables():
    return [_full(), _shuffled(), _convolutions(), _depthwise(), _transposed()]
