"""Writes and reads .twcases files; the format is described in tests/support/op_cases.h."""

import struct

import numpy as np

from dtypes import TYPES, from_raw, raw_bytes

MAGIC = b"TWCASES1"
REFUSED = 0xFFFFFFFF
_NUMBER = {np.dtype(kind): number for name, (number, kind) in TYPES.items() if name != "resource"}
_KIND = {number: np.dtype(kind) for number, kind in TYPES.values()}


class Writer:

    def __init__(self, n_cases):
        self.data = bytearray(MAGIC + struct.pack("<I", n_cases))

    def _aligned(self, raw):
        self.data += bytes(-len(self.data) % 16) + raw

    def _tensor(self, array):
        self.data += struct.pack("<BBxx", _NUMBER[array.dtype], array.ndim)
        self.data += struct.pack(f"<{array.ndim}i", *array.shape)
        raw = raw_bytes(array)
        self.data += struct.pack("<Q", len(raw))
        self._aligned(raw)

    def case(self, name, model, inputs, outputs, rtol):
        """model b"": the case before holds it. outputs None: the model must be refused."""
        raw = name.encode()
        self.data += struct.pack("<I", len(raw)) + raw + struct.pack("<I", len(model))
        if model:
            self._aligned(model)
        self.data += struct.pack("<I", len(inputs))
        for array in inputs:
            self._tensor(array)
        self.data += struct.pack("<I", REFUSED if outputs is None else len(outputs))
        for array in outputs or ():
            self._tensor(array)
        self.data += struct.pack("<f", rtol)


def read(data):
    """A list of (name, model, inputs, outputs or None, rtol)."""
    at = 0

    def take(fmt):
        nonlocal at
        values = struct.unpack_from("<" + fmt, data, at)
        at += struct.calcsize("<" + fmt)
        return values[0] if len(values) == 1 else values

    def block(size):
        nonlocal at
        at += -at % 16
        at += size
        return data[at - size:at]

    def tensor():
        number, rank = take("BBxx")
        shape = [take("i") for _ in range(rank)]
        return from_raw(block(take("Q")), _KIND[number], shape)

    if take("8s") != MAGIC:
        raise ValueError("not a .twcases file")
    cases = []
    for _ in range(take("I")):
        name = take(f"{take('I')}s").decode()
        size = take("I")
        model = block(size) if size else b""
        inputs = [tensor() for _ in range(take("I"))]
        n_outputs = take("I")
        outputs = None if n_outputs == REFUSED else [tensor() for _ in range(n_outputs)]
        cases.append((name, model, inputs, outputs, take("f")))
    return cases
