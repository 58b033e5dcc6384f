"""Rare types of common operators, operators left from StableHLO, and custom operators."""

import numpy as np
from flatbuffers import flexbuffers

from cases import Table
from dtypes import TYPES
from sheets import Sheet

N = 20
SHAPES = (((2, 3, 5), (2, 3, 5)), ((), ()), ((3, 7), (1,)), ((1,), (3, 7)), ((2, 3, 4), (4,)),
          ((4,), (2, 3, 4)), ((3, 1), (3, 4)), ((2, 1, 3, 1), (1, 4, 1, 5)), ((0, 3), (0, 3)),
          ((131,), (131,)))
PLAIN = ((3, 5), (17,), (1, 2, 3, 2), (1,), (), (2, 0, 3))
# LiteRT computes with float16; so far apart may results be that were rounded once.
HALF = 2e-3


def _draw(sheet, dtype, shape, lo=-9, hi=9):
    """A run-time input with values from lo to hi; of unsigned types from 0."""
    kind = np.dtype(TYPES[dtype][1])
    if kind.kind == "b":
        values = sheet.rng.randint(0, 2, shape)
    elif kind.kind in "iu":
        values = sheet.rng.randint(max(lo, 0) if kind.kind == "u" else lo, hi + 1, shape)
    elif kind.kind == "c":
        values = sheet.rng.uniform(lo, hi, shape) + 1j * sheet.rng.uniform(lo, hi, shape)
    else:
        values = sheet.rng.uniform(lo, hi, shape)
    return sheet.x(None, dtype, values=values)


def _case(table, sheet, dtype):
    case = sheet.case()
    case.rtol = HALF if dtype == "float16" else 1e-6
    table.append(case)


def _binary():
    table = Table("TYPES_BINARY")
    for op, dtypes in (("ADD", ("float16", "int16")),
                       ("MUL", ("float16", "int16", "uint32", "complex64")),
                       ("MAXIMUM", ("float16", "int16")), ("MINIMUM", ("float16", "int16")),
                       ("FLOOR_DIV", ("int8", "int16")), ("FLOOR_MOD", ("int8", "int16"))):
        for dtype in dtypes:
            sheet = Sheet(op, dtype)
            for index in range(N):
                left, right = SHAPES[index % len(SHAPES)]
                low = 1 if op.startswith("FLOOR") else -9
                args = [_draw(sheet, dtype, left), _draw(sheet, dtype, right, low)]
                sheet.add(args, dtype)
            sheet.name = f"{op.lower()}_{dtype}"
            _case(table, sheet, dtype)
    for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        sheet = Sheet(op, "float16")
        for index in range(N):
            left, right = SHAPES[index % len(SHAPES)]
            sheet.add([_draw(sheet, "float16", left, -1, 1), _draw(sheet, "float16", right, -1, 1)],
                      "bool")
        sheet.name = f"{op.lower()}_float16"
        _case(table, sheet, "float16")
    for dtype in ("float16", "float64"):  # LiteRT's ATAN2 does not broadcast
        sheet = Sheet("ATAN2", dtype)
        for index in range(N):
            shape = PLAIN[index % len(PLAIN)]
            sheet.add([_draw(sheet, dtype, shape), _draw(sheet, dtype, shape)], dtype)
        sheet.name = f"atan2_{dtype}"
        _case(table, sheet, dtype)
    return table


def _unary():
    table = Table("TYPES_UNARY")
    for op in ("NEG", "SIN", "COS", "FLOOR", "ROUND", "GELU", "LOGISTIC", "TANH", "SOFTMAX", "SIGN"):
        dtype = "float64" if op == "SIGN" else "float16"
        sheet = Sheet(op, dtype)
        for index in range(N):
            shape = PLAIN[index % len(PLAIN)]
            if op == "SOFTMAX":
                shape = ((3, 5), (2, 17), (1, 2, 3, 2), (4, 1))[index % 4]
            sheet.add([_draw(sheet, dtype, shape)], dtype, **({"beta": 1.0} if op == "SOFTMAX" else {}))
        sheet.name = f"{op.lower()}_{dtype}"
        _case(table, sheet, dtype)
    for dtype in ("float32", "float16", "int32", "bool", "int8", "complex64"):
        sheet = Sheet("CAST", dtype)
        for index in range(N):
            out = "complex64" if dtype != "complex64" else ("float32", "int32", "int16")[index % 3]
            sheet.add([_draw(sheet, dtype, PLAIN[index % len(PLAIN)])], out,
                      in_data_type=TYPES[dtype][0], out_data_type=TYPES[out][0])
        sheet.name = f"cast_{dtype}"
        _case(table, sheet, dtype)
    for op in ("SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"):
        sheet = Sheet(op, "bool")
        for index in range(N):
            shape, axes = (((2, 3, 4), (0, 2)), ((5,), (0,)), ((3, 1), (-1,)), ((2, 2, 2, 2), (1,)),
                           ((1, 7), (0,)))[index % 5]
            sheet.add([_draw(sheet, "bool", shape), sheet.ints(axes)], "bool",
                      keep_dims=index % 2 == 0)
        sheet.name = f"{op.lower()}_bool"
        _case(table, sheet, "bool")
    return table


def _choices():
    table = Table("TYPES_CHOICES")
    for dtype in ("float32", "int8", "uint8", "int16", "int32", "int64"):
        sheet = Sheet("TOPK_V2", dtype)
        for index in range(N):
            shape = ((2, 5), (7,), (1, 2, 9), (3, 1), (4, 33))[index % 5]
            k = np.array(1 + index % shape[-1], (np.int32, np.int16)[index % 2])
            sheet.add([_draw(sheet, dtype, shape, -100, 100), sheet.ints(k, str(k.dtype))],
                      (dtype, "int16"), n_out=2)
        sheet.name = f"topk_v2_{dtype}"
        _case(table, sheet, dtype)
    for dtype in ("float16", "int32", "uint32", "uint16", "bool"):
        sheet = Sheet("RESIZE_NEAREST_NEIGHBOR", dtype)
        for index in range(N):
            shape, size = (((1, 2, 2, 3), (4, 5)), ((2, 3, 4, 1), (2, 2)), ((1, 5, 1, 2), (3, 7)),
                           ((1, 1, 1, 4), (2, 3)))[index % 4]
            sheet.add([_draw(sheet, dtype, shape), sheet.ints(size)], dtype,
                      align_corners=index % 3 == 1, half_pixel_centers=index % 3 == 2)
        sheet.name = f"resize_nearest_neighbor_{dtype}"
        _case(table, sheet, dtype)
    return table


def _stablehlo():
    table = Table("STABLEHLO_BINARY")
    numbers = ("float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
    more = ("float16", "uint64", "bool")
    for op, dtypes in (("ADD", numbers + more), ("MULTIPLY", numbers + more),
                       ("MAXIMUM", numbers + more), ("MINIMUM", numbers + more),
                       ("AND", numbers[2:] + ("bool", "uint64")),
                       ("SHIFT_LEFT", ("int8", "int16", "int32"))):
        for dtype in dtypes:
            sheet = Sheet(f"STABLEHLO_{op}", dtype)
            for index in range(N):
                shape = PLAIN[index % len(PLAIN)]
                high = 6 if op == "SHIFT_LEFT" else 11
                args = [_draw(sheet, dtype, shape, -11, 11),
                        _draw(sheet, dtype, shape, 0 if op == "SHIFT_LEFT" else -11, high)]
                sheet.add(args, dtype)
            sheet.name = f"{op.lower()}_{dtype}"
            _case(table, sheet, dtype)
    return table


def _windows():
    table = Table("REDUCE_WINDOW")
    for dtype in ("float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"):
        sheet = Sheet("REDUCE_WINDOW", dtype)
        for index in range(N):
            shape, window, strides, dilations = (
                ((7,), (3,), (2,), (1,)), ((4, 5), (2, 2), (1, 2), (1, 1)),
                ((3, 4, 2), (1, 2, 2), (1, 1, 1), (1, 2, 1)), ((1, 6), (1, 3), (1, 1), (1, 2)),
                ((2, 3, 3, 2), (1, 2, 2, 1), (1, 1, 1, 1), (1, 1, 1, 1)))[index % 5]
            function = 5 + index % 2 if dtype == "bool" else 1 + index % 4
            start = sheet.c(None, dtype, values=(0, 1, 0, 1)[index % 4] if dtype != "bool" else
                            function == 5)
            lists = [sheet.ints(v, "int64") for v in (window, strides, dilations)]
            sheet.add([_draw(sheet, dtype, shape, -3, 3), start] + lists, dtype,
                      reduce_function=function)
        _case(table, sheet, dtype)
    return table


DETECTION = "CUSTOM:TFLite_Detection_PostProcess"


def _detections():
    table = Table("DETECTION_POST_PROCESS")
    for dtype in ("float32", "uint8"):
        for index in range(N):
            sheet = Sheet(DETECTION, f"{dtype}_{index}")
            n, classes = (6, 20, 3, 40)[index % 4], (2, 5, 1)[index % 3]
            background = index % 2
            regular = index % 5 in (1, 3)
            options = dict(max_detections=(3, 10)[index // 2 % 2],
                           max_classes_per_detection=1 + index % 3, num_classes=classes,
                           nms_score_threshold=(0.0, 0.3)[index % 2],
                           nms_iou_threshold=(0.6, 0.3)[index // 3 % 2], y_scale=10.0, x_scale=10.0,
                           h_scale=5.0, w_scale=5.0, use_regular_nms=regular)
            if index % 4 == 3:
                options["detections_per_class"] = 2
            # All places are used, for LiteRT leaves the others undefined.
            if regular:
                options["max_classes_per_detection"] = 1
            else:
                options.update(max_classes_per_detection=min(options["max_classes_per_detection"],
                                                             classes),
                               max_detections=2 if n >= 20 else 1, nms_score_threshold=0.0)
            anchors = sheet.rng.uniform(0.1, 0.9, (n, 4))
            anchors[:, 2:] = sheet.rng.uniform(0.02, 0.3, (n, 2))
            codes = sheet.rng.uniform(-4, 4, (1, n, 4 + index % 2 * 2))
            scores = sheet.rng.permutation(n * (classes + background)) / (n * (classes + 1.0))
            scores = scores.reshape((1, n, classes + background))
            if dtype == "float32":
                args = [sheet.x(None, dtype, values=v) for v in (codes, scores)]
                args.append(sheet.c(None, dtype, values=anchors))
            else:
                args = [sheet.x(None, dtype, 1 / 16, 128, values=codes * 16 + 128),
                        sheet.x(None, dtype, 1 / 256, 0, values=scores * 255),
                        sheet.c(None, dtype, 1 / 255, 0, values=np.maximum(anchors * 255, 1))]
            sheet.add(args, ("float32",) * 4, n_out=4, custom_options=bytes(flexbuffers.Dumps(options)))
            _case(table, sheet, "float32")
    return table


def tables():
    return [_binary(), _unary(), _choices(), _stablehlo(), _windows(), _detections()]
