"""MediaPipe's custom operators around crops, and Coral's decoder of poses.

LiteRT lacks them: they are answered by their definitions (MediaPipe's util/tflite/operations,
TensorFlow Addons' resampler, posenet.py), which are written here without the kernels' shortcuts.
"""

import numpy as np
from flatbuffers import flexbuffers

import posenet
from cases import Table
from sheets import Sheet

N = 20


class Defined:
    """A Sheet whose operators' results are told by functions of their inputs, in float64."""

    def __init__(self, op, name):
        self.sheet, self.places, self.nodes = Sheet(f"CUSTOM:{op}", f"{op}_{name}"), [], []

    def x(self, shape, dtype="float32", scale=None, zero=0, values=None, lo=None, hi=None):
        self.places.append(self.sheet.x(shape, dtype, scale, zero, lo, hi, values))
        return self.places[-1]

    def add(self, inputs, function, options, version=1, n_out=1):
        data = bytes(flexbuffers.Dumps(options)) if options is not None else b""
        self.sheet.add(inputs, ("float32",) * n_out, version=version, n_out=n_out,
                       custom_options=data)
        self.nodes.append((function, [self.places.index(i) for i in inputs]))

    def case(self, rtol):
        def definition(*arrays):
            out = []
            for function, places in self.nodes:
                answer = function(*(arrays[i] for i in places))
                out += answer if isinstance(answer, list) else [answer]
            return out

        case = self.sheet.case()
        case.rtol, case.definition = rtol, definition
        return case


def _turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _diagonal(x, y, shift_x=0.0, shift_y=0.0):
    return np.array([[x, 0, shift_x], [0, y, shift_y], [0, 0, 1]])


def _box(landmarks, subset, angle):
    """The middle and the size of the box around the subset, turned by the angle."""
    turned = landmarks[subset] @ _turn(angle)[:2, :2].T
    low, high = turned.min(0), turned.max(0)
    return _turn(-angle)[:2, :2] @ ((low + high) / 2), high - low


def _wide(matrix):
    out = np.eye(4)
    out[:2, :2], out[:2, 3] = matrix[:2, :2], matrix[:2, 2]
    return out


def _matrix_v1(landmarks, o):
    left, right = landmarks[o["left_rotation_idx"]], landmarks[o["right_rotation_idx"]]
    angle = -np.arctan((right - left)[1] / (right - left)[0])
    middle, size = _box(landmarks, o["subset"], angle)
    size, range_ = size * o["bbox_size_multiplier"] / o["landmarks_range"], o["landmarks_range"]
    (in_h, in_w), (out_h, out_w) = o["input_hw"], o["output_hw"]
    place = _turn(-angle)
    place[:2, 2] = middle / range_ * 2 - 1
    half_w, half_h = (in_w - 1) / 2, (in_h - 1) / 2
    return _wide(_diagonal(half_w, half_h, half_w, half_h) @ place @ _diagonal(*size) @
                 _diagonal(2 / (out_w - 1), 2 / (out_h - 1), -1, -1))


def _matrix_v2(landmarks, o):
    left, right = landmarks[o["left_rotation_idx"]], landmarks[o["right_rotation_idx"]]
    angle = o["target_rotation_radians"] - np.arctan2(*(right - left)[::-1])
    middle, size = _box(landmarks, o["subset_idxs"], angle)
    w, h = o["output_width"], o["output_height"]
    return _wide(_diagonal(1, 1, *middle) @ _turn(-angle) @
                 _diagonal(o["scale_x"] * size[0] / w, o["scale_y"] * size[1] / h) @
                 _diagonal(1, 1, -w / 2, -h / 2))


def _matrices(version):
    defined = Defined("Landmarks2TransformMatrix", f"v{version}")
    for index in range(N):
        n, batch = (5, 12, 40)[index % 3], 1 + index % 2
        rng = defined.sheet.rng
        subset = [int(k) for k in rng.permutation(n)[:3 + index % 4]]
        left, right = (int(k) for k in rng.permutation(n)[:2])
        options = dict(left_rotation_idx=left, right_rotation_idx=right)
        if version == 1:
            options.update(subset=subset, dimensions=3, landmarks_range=(192, 64)[index % 2],
                           bbox_size_multiplier=1.0 + index % 4 / 4, input_hw=[48, 30 + index],
                           output_hw=[2 + index, 16])
            shape = (batch, 1, 1, 3 * n)
        else:
            options.update(subset_idxs=subset, target_rotation_radians=index % 5 * 0.25,
                           output_height=16, output_width=1 + index, scale_x=1.5,
                           scale_y=1.0 + index % 3 / 4)
            shape = (batch, n, 3)
        one = (_matrix_v1, _matrix_v2)[version - 1]

        def matrices(landmarks, one=one, options=options):
            return np.stack([one(item.reshape(-1, 3)[:, :2], options) for item in landmarks])

        landmarks = defined.x(shape, lo=0, hi=(192, 48)[index % 2])
        defined.add([landmarks], matrices, options, version)
    return defined.case(1e-6)


def _drawn_matrices(defined, n, limit):
    """n matrices that turn, scale and shift a little; columns and rows that no one reads, too."""
    rng = defined.sheet.rng
    out = rng.uniform(-1, 1, (n, 4, 4))
    for item in out:
        size = rng.uniform(0.3, 1.2)
        item[:2] = _wide(_diagonal(size, size, *rng.uniform(-limit / 4, limit / 2, 2)) @
                         _turn(rng.uniform(-1, 1)))[:2]
    return defined.x(None, values=out)


def _points(version):
    defined = Defined("TransformLandmarks", f"v{version}")
    for index in range(N):
        batch, dimensions = 1 + index % 2, 2 + index // 2 % 2
        scale = (1.0, 0.25, -3.0)[index % 3] if version == 1 else 1.0
        shape = (batch, 1 + index, dimensions)
        options = None
        if version == 1:
            shape = (batch, 1 + index % 3, 2, 3 * dimensions)
            options = dict(dimensions=dimensions, scale=scale)

        def moved(landmarks, matrices, dimensions=dimensions, scale=scale):
            out = landmarks.reshape(len(landmarks), -1, dimensions).copy()
            for item, m in zip(out, np.broadcast_to(matrices, (len(out), 4, 4))):
                item[:, :2] = item[:, :2] @ m[:2, :2].T + m[:2, 3] * scale
            return out.reshape(landmarks.shape)

        matrices = _drawn_matrices(defined, (1, batch)[index % 4 // 2], 20)
        defined.add([defined.x(shape), matrices], moved, options, version)
    return defined.case(1e-6)


def _between(image, x, y):
    """The image [h, w, c] at a point; pixels outside count as 0."""
    out, (h, w) = np.zeros(image.shape[2]), image.shape[:2]
    for v in (int(np.floor(y)), int(np.floor(y)) + 1):
        for u in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= v < h and 0 <= u < w:
                out += (1 - abs(x - u)) * (1 - abs(y - v)) * image[v, u]
    return out


def _transforms(name, version):
    defined = Defined(name, f"v{version}")
    for index in range(N):
        h, w, channels, batch = 3 + index % 5, 4 + index % 3, 1 + index % 4, 1 + index % 2
        out_h, out_w = 1 + index % 6, 2 + index % 4
        options = dict(output_height=out_h, output_width=out_w)
        if version == 1:
            options = dict(output_size=[out_h, out_w])
            if index % 2:
                options["mode"] = "bilinear"

        def transformed(images, matrices, size=(out_h, out_w), half=(version - 1) / 2):
            out = np.zeros((len(images),) + size + images.shape[3:])
            for b, row, column in np.ndindex(*out.shape[:3]):
                m = matrices[b % len(matrices)]
                x, y = (m @ [column + half, row + half, 0, 1])[:2] - half
                if 0 <= x <= images.shape[2] - 1 and 0 <= y <= images.shape[1] - 1:
                    out[b, row, column] = _between(images[b], x, y)
            return out

        matrices = _drawn_matrices(defined, (1, batch)[index % 4 // 2], h)
        defined.add([defined.x((batch, h, w, channels)), matrices], transformed, options, version)
    return defined.case(2e-6)


def _resampler():
    defined = Defined("Resampler", "float32")
    for index in range(N):
        h, w, batch = 2 + index % 5, 1 + index % 6, 1 + index % 2
        size = (h, w) if index % 3 else (1 + index % 4, 3)

        def sampled(images, points):
            out = np.zeros(points.shape[:3] + images.shape[3:])
            for at in np.ndindex(*out.shape[:3]):
                out[at] = _between(images[at[0]], *points[at])
            return out

        points = defined.sheet.rng.uniform(-1.5, 1.2 * max(h, w), (batch,) + size + (2,))
        points[0, 0, 0] = (0, h - 1)  # a pixel itself
        defined.add([defined.x((batch, h, w, 1 + index % 4)), defined.x(None, values=points)],
                    sampled, None)
    return defined.case(2e-6)


# Scale and zero point of each map's bytes.
MAPS = ((0.25, 186), (0.8, 134), (1.6, 118), (1.1, 137))


def _poses(dtype, n_people, batch):
    defined = Defined("PosenetDecoderOp", f"{dtype}_{n_people}_{batch}")
    h, w, places = (7, 9, []) if dtype == "float32" else (8, 10, [])
    maps = [posenet.people(defined.sheet.rng, h, w, n_people, 16) for _ in range(batch)]
    for items, (scale, zero) in zip(zip(*maps), MAPS):
        values = np.stack(items)
        if dtype == "uint8":
            values = np.clip(np.round(values / scale) + zero, 0, 255)
            places.append(defined.x(None, dtype, scale, zero, values=values))
        else:
            places.append(defined.x(None, values=values))
    for index in range(N):
        options = dict(max_detections=1 + index % 4, score_threshold=(0.2, 0.5, 0.05)[index % 3],
                       nms_radius=(10.0, 20.0)[index % 2], stride=(16, 16, 32)[index % 3])

        def decoded(*inputs, options=options):
            if dtype == "uint8":
                inputs = [(m - zero) * np.float64(np.float32(scale))
                          for m, (scale, zero) in zip(inputs, MAPS)]
            threshold = float(np.float32(options["score_threshold"]))
            items = [posenet.decode(item, **{**options, "score_threshold": threshold})
                     for item in zip(*inputs)]
            return [np.concatenate(parts) for parts in zip(*items)]

        n_maps = 3 + index // 2 % 2
        defined.add(places[:n_maps], decoded, options, n_out=n_maps + 1)
    return defined.case(1e-5)


def tables():
    crops = Table("CROPS")
    for version in (1, 2):
        crops.append(_matrices(version))
        crops.append(_points(version))
        crops.append(_transforms(("TransformTensor", "TransformTensorBilinear")[version - 1],
                                 version))
    crops.append(_resampler())
    poses = Table("POSENET_DECODER")
    poses.append(_poses("float32", 2, 1))
    poses.append(_poses("uint8", 3, 2))
    return [crops, poses]
