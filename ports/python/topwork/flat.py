"""FlatBuffers without generated code: reads tables by the numbers of their fields, and writes small ones.

A table is read as `Table(data, position)`; the numbers are those of models/schema/tflite.fbs, in order from 0. Only
models that the library has verified are read, so positions are trusted.
"""
from __future__ import annotations

import struct
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray


class Table:
    """A table of a FlatBuffer."""

    def __init__(self, data: memoryview, position: int) -> None:
        self.data = data
        self.position = position
        self._vtable = position - self._unpack("<i", position)
        self._vtable_bytes = self._unpack("<H", self._vtable)

    def _unpack(self, layout: str, position: int) -> Any:
        return struct.unpack_from(layout, self.data, position)[0]

    def place(self, field: int) -> int:
        """Where the field lies; 0 if the table lacks it."""
        entry = 4 + 2 * field
        if entry >= self._vtable_bytes:
            return 0
        offset: int = self._unpack("<H", self._vtable + entry)
        return self.position + offset if offset else 0

    def number(self, field: int, layout: str, default: int = 0) -> int:
        """A number, by its layout for struct: '<i', '<B'."""
        place = self.place(field)
        return int(self._unpack(layout, place)) if place else default

    def _target(self, place: int) -> int:
        return place + int(self._unpack("<I", place))

    def table(self, field: int) -> Optional[Table]:
        place = self.place(field)
        return Table(self.data, self._target(place)) if place else None

    def tables(self, field: int) -> list[Table]:
        place = self.place(field)
        if not place:
            return []
        start = self._target(place)
        n = self._unpack("<I", start)
        return [Table(self.data, self._target(start + 4 + 4 * i)) for i in range(n)]

    def array(self, field: int, dtype: str) -> NDArray[Any]:
        """A vector of numbers of this NumPy type; empty if the table lacks it."""
        place = self.place(field)
        if not place:
            return np.empty(0, dtype)
        start = self._target(place)
        return np.frombuffer(self.data, dtype, int(self._unpack("<I", start)), start + 4)

    def text(self, field: int) -> str:
        return self.array(field, "u1").tobytes().decode("utf-8", "replace")


class Scalar:
    """A number to write, with its layout for struct."""

    def __init__(self, layout: str, value: Union[int, float]) -> None:
        self.bytes = struct.pack(layout, value)


# What a field of a table to write holds: a number, a string, a vector of numbers, a table, or a vector of tables.
Value = Union[Scalar, str, NDArray[Any], "dict[int, Value]", "list[dict[int, Value]]"]


class _Writer:
    """Parents come before children, as offsets point forward."""

    def __init__(self) -> None:
        self.out = bytearray(8)

    def _align(self, bytes_behind: int, alignment: int) -> None:
        self.out += bytes(-(len(self.out) + bytes_behind) % alignment)

    def _point(self, place: int, target: int) -> None:
        struct.pack_into("<I", self.out, place, target - place)

    def write(self, value: Value) -> int:
        if isinstance(value, dict):
            return self._table(value)
        if isinstance(value, list):
            return self._tables(value)
        assert not isinstance(value, Scalar)
        array = np.frombuffer(value.encode(), "u1") if isinstance(value, str) else value
        self._align(4, 16)  # as wide as buffers of a model want it
        start = len(self.out)
        self.out += struct.pack("<I", array.size) + array.tobytes() + b"\0"
        return start

    def _tables(self, tables: list[dict[int, Value]]) -> int:
        self._align(0, 4)
        start = len(self.out)
        self.out += struct.pack("<I", len(tables)) + bytes(4 * len(tables))
        for i, table in enumerate(tables):
            self._point(start + 4 + 4 * i, self._table(table))
        return start

    def _table(self, fields: dict[int, Value]) -> int:
        n = max(fields, default=-1) + 1
        places = {}
        size = 4
        for field, value in fields.items():
            width = len(value.bytes) if isinstance(value, Scalar) else 4
            size += -size % width
            places[field] = size
            size += width
        self._align(4 + 2 * n, 8)
        vtable = len(self.out)
        self.out += struct.pack(f"<{2 + n}H", 4 + 2 * n, size, *[places.get(i, 0) for i in range(n)])
        start = len(self.out)
        self.out += struct.pack("<i", start - vtable) + bytes(size - 4)
        for field, value in fields.items():
            if isinstance(value, Scalar):
                place = start + places[field]
                self.out[place:place + len(value.bytes)] = value.bytes
        for field, value in fields.items():
            if not isinstance(value, Scalar):
                self._point(start + places[field], self.write(value))
        return start


def write_file(root: dict[int, Value], identifier: bytes) -> bytes:
    """A FlatBuffer with this root table."""
    writer = _Writer()
    target = writer.write(root)
    struct.pack_into("<I4s", writer.out, 0, target, identifier)
    return bytes(writer.out)


def dense_model(n_features: int, n_outputs: int, end: Optional[str], shape: Sequence[int] = (),
                parameters: Optional[tuple[NDArray[np.float32], NDArray[np.float32]]] = None) -> bytes:
    """A model [1, n_features] (or `shape`) -> [1, n_outputs], float32: a dense layer with these weights and bias, or zeros,
    and "SOFTMAX" or "LOGISTIC" behind it or nothing. It is a head without a backbone, for features that were computed
    elsewhere."""
    def tensor(name: str, buffer: int, *shape: int) -> dict[int, Value]:
        return {0: np.array(shape, "<i4"), 2: Scalar("<I", buffer), 3: name}

    def floats(array: NDArray[np.float32]) -> dict[int, Value]:
        return {0: np.frombuffer(array.astype("<f4").tobytes(), "u1")}

    weights, bias = parameters or (np.zeros((n_outputs, n_features), "f4"), np.zeros(n_outputs, "f4"))
    codes = {"SOFTMAX": 25, "LOGISTIC": 14}
    tensors = [tensor("features", 0, *(shape or (1, n_features))), tensor("weights", 1, n_outputs, n_features),
               tensor("bias", 2, n_outputs), tensor("logits", 0, 1, n_outputs)]
    # Field 3 is the options' type: FullyConnectedOptions 8, SoftmaxOptions 9 (beta 1).
    operators: list[dict[int, Value]] = [
        {0: Scalar("<I", 0), 1: np.array([0, 1, 2], "<i4"), 2: np.array([3], "<i4"), 3: Scalar("<B", 8), 4: {}}]
    opcodes: list[dict[int, Value]] = [{0: Scalar("<b", 9), 2: Scalar("<i", 1), 3: Scalar("<i", 9)}]
    if end is not None:
        tensors.append(tensor("scores", 0, 1, n_outputs))
        last: dict[int, Value] = {0: Scalar("<I", 1), 1: np.array([3], "<i4"), 2: np.array([4], "<i4")}
        if end == "SOFTMAX":
            last.update({3: Scalar("<B", 9), 4: {0: Scalar("<f", 1.0)}})
        operators.append(last)
        opcodes.append({0: Scalar("<b", codes[end]), 2: Scalar("<i", 1), 3: Scalar("<i", codes[end])})
    subgraph: dict[int, Value] = {0: tensors, 1: np.array([0], "<i4"), 2: np.array([len(tensors) - 1], "<i4"),
                                  3: operators, 4: "main"}
    return write_file({0: Scalar("<I", 3), 1: opcodes, 2: [subgraph], 3: "a head without a backbone",
                       4: [{}, floats(weights), floats(bias)]}, b"TFL3")
