"""Small sound models for the tests, of real filters: a bank of tones, and openWakeWord's chain in small.

A filter bank is a convolution by windowed cosines and sines; the sum of squares of its outputs is the energy near each
frequency, whose logarithm is a feature.
"""
import numpy as np

from topwork import flat

RATE = 16000
FREQUENCIES = np.geomspace(200, 6000, 12)
WINDOW, HOP = 400, 160
# Operators: code, number of the options' type, and the options' table.
_RESHAPE, _CONV, _SQUARE, _MEAN, _ADD, _LOG, _DENSE, _LOGISTIC = 22, 3, 92, 40, 0, 73, 9, 14


class _Model:
    def __init__(self):
        self.tensors, self.buffers, self.operators, self.codes = [], [{}], [], []

    def tensor(self, shape, data=None):
        kind = 2 if data is not None and data.dtype == np.int32 else 0
        if data is not None:
            self.buffers.append({0: np.frombuffer(data.tobytes(), "u1")})
        self.tensors.append({0: np.array(shape, "<i4"), 1: flat.Scalar("<b", kind), 3: f"t{len(self.tensors)}",
                             2: flat.Scalar("<I", 0 if data is None else len(self.buffers) - 1)})
        return len(self.tensors) - 1

    def constant(self, values, dtype=np.float32):
        data = np.asarray(values, dtype)
        return self.tensor(data.shape, data)

    def op(self, code, inputs, shape, kind=0, options=None):
        if code not in self.codes:
            self.codes.append(code)
        out = self.tensor(shape)
        table = {0: flat.Scalar("<I", self.codes.index(code)), 1: np.array(inputs, "<i4"), 2: np.array([out], "<i4")}
        if options is not None:
            table.update({3: flat.Scalar("<B", kind), 4: options})
        self.operators.append(table)
        return out

    def write(self, path, into, out):
        codes = [{0: flat.Scalar("<b", code), 2: flat.Scalar("<i", 1), 3: flat.Scalar("<i", code)} for code in self.codes]
        graph = {0: self.tensors, 1: np.array([into], "<i4"), 2: np.array([out], "<i4"), 3: self.operators, 4: "main"}
        path.write_bytes(flat.write_file({0: flat.Scalar("<I", 3), 1: codes, 2: [graph], 4: self.buffers}, b"TFL3"))
        return path

    def reshape(self, value, shape):
        return self.op(_RESHAPE, [value, self.constant(shape, np.int32)], [abs(n) for n in shape], 17, {})

    def conv(self, value, filters, stride, shape, stride_h=1):
        """VALID, [out, height, width, in] filters; `stride` is that of the third dimension."""
        bias = self.constant(np.zeros(len(filters)))
        options = {0: flat.Scalar("<b", 1), 1: flat.Scalar("<i", stride), 2: flat.Scalar("<i", stride_h)}
        return self.op(_CONV, [value, self.constant(filters), bias], shape, 1, options)

    def energies(self, samples, n, n_frames, frequencies=FREQUENCIES):
        """[1, 1, n_frames, bands] of samples [1, n]."""
        t, k = np.arange(WINDOW) / RATE, len(frequencies)
        waves = np.exp(2j * np.pi * frequencies[:, None] * t) * np.hanning(WINDOW) / WINDOW
        filters = np.concatenate([waves.real, waves.imag]).reshape(2 * k, 1, WINDOW, 1)
        parts = self.conv(self.reshape(samples, (1, 1, n, 1)), filters, HOP, (1, 1, n_frames, 2 * k))
        squares = self.op(_SQUARE, [parts], (1, 1, n_frames, 2 * k), 66, {})
        add = np.concatenate([np.eye(k), np.eye(k)], axis=1).reshape(k, 1, 1, 2 * k)
        return self.conv(squares, add, 1, (1, 1, n_frames, k))

    def log(self, value, shape, least=1e-8):
        return self.op(_LOG, [self.op(_ADD, [value, self.constant([least])], shape, 11, {})], shape)


def frames(n):
    return (n - WINDOW) // HOP + 1


def tone_bank(path, n_classes=3, n=RATE, sigmoid=False):
    """A classifier [1, n] -> [1, n_classes] of samples in [-1, 1] at 16 kHz, by the mean energy at twelve frequencies;
    its own classes mean nothing, and no names come with it."""
    model, k = _Model(), len(FREQUENCIES)
    into = model.tensor((1, n))
    energies = model.energies(into, n, frames(n))
    mean = model.op(_MEAN, [energies, model.constant([1, 2], np.int32)], (1, k), 27, {})
    random = np.random.default_rng(3)
    out = model.op(_DENSE, [model.log(mean, (1, k)), model.constant(random.normal(size=(n_classes, k))),
                            model.constant(random.normal(size=n_classes))], (1, n_classes), 8, {})
    return model.write(path, into, model.op(_LOGISTIC, [out], (1, n_classes)) if sigmoid else out)


def spectrogram(path, frequencies=FREQUENCIES):
    """[1, n] samples as 16-bit integers have them -> [1, 1, frames, bands], for any n."""
    model, k = _Model(), len(frequencies)
    into = model.tensor((1, WINDOW))
    out = model.log(model.energies(into, -1, 1, frequencies), (1, 1, 1, k), least=1.0)
    return model.write(path, into, out)


def embedding(path, height=20, size=8):
    """[1, height, 12, 1] frames of `spectrogram` -> [1, 1, 1, size]."""
    model, k = _Model(), len(FREQUENCIES)
    into = model.tensor((1, height, k, 1))
    filters = np.random.default_rng(4).normal(size=(size, 1, height * k, 1)) / np.sqrt(height * k)
    wide = model.reshape(into, (1, 1, height * k, 1))
    return model.write(path, into, model.conv(wide, filters, 1, (1, 1, 1, size)))


def sliding_embedding(path, size=8):
    """The same, [1, 20, 12, 1] -> [1, 1, 1, size], by two convolutions that give one embedding more for each 8 frames more."""
    model, k, random = _Model(), len(FREQUENCIES), np.random.default_rng(5)
    into = model.tensor((1, 20, k, 1))
    first = model.conv(into, random.normal(size=(size, 4, k, 1)) / np.sqrt(4 * k), 1, (1, 5, 1, size), stride_h=4)
    second = random.normal(size=(size, 5, 1, size)) / np.sqrt(5 * size)
    return model.write(path, into, model.conv(first, second, 1, (1, 1, 1, size), stride_h=2))
