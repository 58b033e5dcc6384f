"""Writes tests/data/flex: TensorFlow's operators as the converter leaves them where no builtin ones are
allowed, and TensorFlow's answers.

  python tests/kernels/contract/make_flex_golden.py

NAME.tflite holds many operators side by side, each with an output of its own; NAME.npz has the inputs
(in_I) and the answers (ref_O). Needs tensorflow.
"""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).resolve().parents[2] / "data/flex"
raw = tf.raw_ops
INT, LONG = np.int32, np.int64


def functions(x, p, c):
    """Of one tensor: x [2, 5], p [2, 5] above 0, c [2, 5] complex."""
    unary = "Abs Ceil Cos Exp Floor Neg Round Sigmoid Sign Sin Square Tanh ZerosLike Atan Erf Sinh Tan"
    return ([getattr(raw, op)(x=x) for op in unary.split()] +
            [getattr(raw, op)(x=p) for op in "Log Rsqrt Sqrt".split()] +
            [getattr(raw, op)(features=x) for op in "Relu Relu6 Softplus".split()] +
            [raw.LeakyRelu(features=x, alpha=0.7), raw.Softmax(logits=x), raw.LogSoftmax(logits=x),
             raw.Identity(input=x), raw.StopGradient(input=x), raw.PreventGradient(input=x),
             raw.EnsureShape(input=x, shape=[2, None]), raw.Real(input=c), raw.Imag(input=c),
             raw.ComplexAbs(x=c), raw.Bitcast(input=x, type=tf.int32),
             raw.Cast(x=x, DstT=tf.int32), raw.Cast(x=x, DstT=tf.float16, Truncate=True)])


def pairs(x, y, z, i, j):
    """Of two tensors: x [2, 5], y [2, 5] above 0, z [1, 5]; integers i [2, 5], j [2, 5] above 0."""
    binary = "Add AddV2 Sub Mul Maximum Minimum SquaredDifference RealDiv FloorDiv FloorMod"
    compare = "Equal NotEqual Less LessEqual Greater GreaterEqual"
    integer = "AddV2 Sub Mul Maximum Minimum SquaredDifference FloorDiv FloorMod TruncateDiv Div BitwiseXor"
    a, b = raw.Greater(x=x, y=z), raw.Less(x=i, y=j)
    return ([getattr(raw, op)(x=x, y=z) for op in (binary + " " + compare).split()] +
            [getattr(raw, op)(x=i, y=j) for op in (integer + " " + compare).split()] +
            [getattr(raw, op)(x=a, y=b) for op in ("LogicalAnd", "LogicalOr")] +
            [raw.LogicalNot(x=a), raw.Div(x=x, y=y), raw.Pow(x=y, y=x), raw.Atan2(y=x, x=z),
             raw.AddN(inputs=[x, y, x]), raw.BiasAdd(value=x, bias=x[0]), raw.RightShift(x=j, y=j),
             raw.Select(condition=a, x=x, y=y), raw.SelectV2(condition=b, t=x, e=z)])


def reductions(x, i, b):
    """x and i [2, 3, 4], b booleans."""
    out = []
    for op in "Sum Mean Max Min Prod".split():
        reduce = getattr(raw, op)
        out += [reduce(input=x, axis=[1], keep_dims=True), reduce(input=i, axis=np.array([0, -1], LONG))]
    for op in (raw.ArgMax, raw.ArgMin):
        out += [op(input=x, dimension=1), op(input=i, dimension=2, output_type=tf.int32)]
    return out + [raw.All(input=b, axis=[1]), raw.Any(input=b, axis=2, keep_dims=True),
                  raw.Cumsum(x=x, axis=1, exclusive=True), raw.Cumsum(x=i, axis=0, reverse=True),
                  raw.TopKV2(input=x, k=3)[0], raw.TopKV2(input=i, k=2)[1]]


def movement(x, i, axis, n):
    """x [2, 3, 4] moved, by integers i [2, 2] below 2, along a computed axis (1), n (6)."""
    y = raw.Reshape(tensor=x, shape=[6, 4])
    images = raw.Reshape(tensor=x, shape=[1, 2, 4, 3])
    rows = raw.Reshape(tensor=i, shape=[4])
    flags = raw.Greater(x=y, y=0.0)
    return [
        raw.ExpandDims(input=x, axis=1), raw.Squeeze(input=images, axis=[0]),
        raw.Transpose(x=x, perm=[2, 0, 1]), raw.Pack(values=[x, x], axis=1),
        raw.Unpack(value=x, num=3, axis=1)[1], raw.ConcatV2(values=[x, x], axis=-1),
        raw.ConcatV2(values=[x, x], axis=axis), raw.GatherV2(params=x, indices=i, axis=axis),
        raw.GatherV2(params=x, indices=i, axis=2, batch_dims=1), raw.GatherNd(params=x, indices=i),
        raw.Slice(input=x, begin=[0, 1, 0], size=[2, -1, 3]), x[::-1, 1:3, tf.newaxis, 3],
        raw.StridedSlice(input=y, begin=np.array([1, 0], LONG), end=np.array([5, 4], LONG),
                         strides=np.array([2, 1], LONG)),
        raw.Tile(input=y, multiples=[2, 3]), raw.Fill(dims=[2, 3], value=y[0, 0]),
        raw.Split(axis=1, value=y, num_split=2)[1],
        raw.SplitV(value=y, size_splits=[1, -1], axis=1, num_split=2)[1],
        raw.ReverseV2(tensor=x, axis=[0, 2]), raw.BroadcastTo(input=y, shape=[2, 6, 4]),
        raw.BroadcastArgs(s0=raw.Shape(input=y), s1=[3, 1, 1]), raw.Shape(input=x, out_type=tf.int64),
        raw.Rank(input=x), raw.Where(condition=flags),
        raw.ReverseSequence(input=y, seq_lengths=[3, 2, 1, 4], seq_dim=0, batch_dim=1),
        raw.ScatterNd(indices=raw.Reshape(tensor=i, shape=[4, 1]), updates=y[:4], shape=[3, 4]),
        raw.OneHot(indices=i, depth=3, on_value=2.0, off_value=-1.0, axis=0),
        raw.Pad(input=y, paddings=[[1, 0], [2, 1]]),
        raw.PadV2(input=y, paddings=[[1, 0], [2, 1]], constant_values=y[0, 0]),
        raw.MirrorPad(input=y, paddings=[[1, 0], [2, 1]], mode="REFLECT"),
        raw.MirrorPad(input=y, paddings=[[1, 0], [2, 1]], mode="SYMMETRIC"),
        raw.SpaceToBatchND(input=images, block_shape=[2, 2], paddings=[[0, 0], [0, 2]]),
        raw.BatchToSpaceND(input=raw.Reshape(tensor=x, shape=[4, 1, 2, 3]), block_shape=[2, 2],
                           crops=[[0, 0], [1, 0]]),
        raw.SpaceToDepth(input=images, block_size=2),
        raw.DepthToSpace(input=raw.Reshape(tensor=x, shape=[1, 1, 2, 12]), block_size=2),
        raw.Unique(x=rows)[0], raw.Unique(x=rows, out_idx=tf.int64)[1],
        raw.SparseToDense(sparse_indices=[1, 3], output_shape=[6], sparse_values=y[0, :2],
                          default_value=0.5),
        raw.Range(start=0, limit=n, delta=2),
        raw.UnsortedSegmentSum(data=y, segment_ids=raw.Range(start=0, limit=n, delta=1) // 4,
                               num_segments=n),
        raw.UnsortedSegmentSum(data=y[:4], segment_ids=tf.cast(rows, tf.int64),
                               num_segments=np.array(3, LONG)),
        raw.UnsortedSegmentMax(data=y[:4], segment_ids=rows, num_segments=3),
        raw.UnsortedSegmentMin(data=y[:4], segment_ids=rows, num_segments=3),
        raw.UnsortedSegmentProd(data=tf.cast(y[:4], tf.int64), segment_ids=rows, num_segments=3),
    ]


def products(x, w, images, grid):
    """Products, windows and sizes: x [2, 3, 4], w [4, 5], images [1, 5, 7, 6], grid [2, 4, 8]."""
    pool = dict(ksize=[1, 2, 3, 1], strides=[1, 1, 2, 1])
    out = [
        raw.MatMul(a=x[0], b=w), raw.MatMul(a=x[0], b=x[1], transpose_b=True),
        raw.BatchMatMul(x=x, y=x, adj_y=True), raw.BatchMatMulV2(x=x, y=w),
        raw.MaxPool(input=images, padding="SAME", **pool),
        raw.AvgPool(value=images, padding="VALID", **pool), raw.LRN(input=images),
        raw.LRN(input=images, depth_radius=2, bias=1.5, alpha=0.3, beta=0.7),
        raw.RFFT2D(input=grid, fft_length=[4, 8]),
        raw.RandomUniform(shape=[2, 3], dtype=tf.float32, seed=1, seed2=2),
        raw.RandomStandardNormal(shape=[2, 3], dtype=tf.float32, seed=1, seed2=2),
        raw.Multinomial(logits=x[0], num_samples=7, seed=1, seed2=2),
    ]
    out += [raw.ResizeBilinear(images=tf.cast(tf.abs(images), t), size=[7, 5]) for t in (tf.uint8, tf.int32)]
    for corners, centers in ((False, False), (True, False), (False, True)):
        for op in (raw.ResizeBilinear, raw.ResizeNearestNeighbor):
            out.append(op(images=images, size=[7, 5], align_corners=corners,
                          half_pixel_centers=centers))
    return out


def casts(x, i, b, u):
    """Between types: x float32, i int64, b booleans, u uint8, all [2, 3] and not below 0."""
    types = [tf.float32, tf.float16, tf.float64, tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32,
             tf.uint32, tf.int64, tf.bool, tf.complex64]
    out = [raw.Cast(x=value, DstT=t) for t in types for value in (x, i, b, u) if value.dtype != t]
    wide = [raw.Cast(x=value, DstT=tf.uint64) for value in (i, b, u)]
    return out + [raw.Cast(x=value, DstT=tf.int32) for value in wide] + wide


def write(name, function, *inputs):
    specs = [tf.TensorSpec(x.shape, x.dtype) for x in inputs]
    function = tf.function(function, input_signature=specs)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.SELECT_TF_OPS]
    (OUT / f"{name}.tflite").write_bytes(converter.convert())
    arrays = {f"in_{i}": value for i, value in enumerate(inputs)}
    arrays.update({f"ref_{o}": np.asarray(value) for o, value in enumerate(function(*inputs))})
    np.savez_compressed(OUT / f"{name}.npz", **arrays)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)

    def reals(*shape, lo=-3.0, hi=3.0, dtype=np.float32):
        return rng.uniform(lo, hi, shape).astype(dtype)

    def integers(*shape, lo=-9, hi=9, dtype=INT):
        return rng.integers(lo, hi + 1, shape).astype(dtype)

    write("functions", functions, reals(2, 5), reals(2, 5, lo=0.1),
          (reals(2, 5) + 1j * reals(2, 5)).astype(np.complex64))
    write("pairs", pairs, reals(2, 5), reals(2, 5, lo=0.3), reals(1, 5, lo=0.3), integers(2, 5),
          integers(2, 5, lo=1))
    write("reductions", reductions, reals(2, 3, 4), integers(2, 3, 4), integers(2, 3, 4, lo=0, hi=1, dtype=bool))
    write("movement", movement, reals(2, 3, 4), integers(2, 2, lo=0, hi=1), np.array(1, INT),
          np.array(6, INT))
    write("products", products, reals(2, 3, 4), reals(4, 5), reals(1, 5, 7, 6), reals(2, 4, 8))
    write("casts", casts, reals(2, 3, lo=0.0), integers(2, 3, lo=0, dtype=LONG),
          integers(2, 3, lo=0, hi=1, dtype=bool), integers(2, 3, lo=0, dtype=np.uint8))


main()
