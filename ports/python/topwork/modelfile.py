"""What a .tflite file says of its tensors, operators and signatures: what LiteRT's interpreter tells of a model and the
library's C API does not."""
from __future__ import annotations

import mmap
import os
import struct
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._core import Model, file_of
from .flat import Table
from .operators import NAMES

# The NumPy type that LiteRT names for each TensorType. Elements of less than a byte and of bfloat16 have none.
_DTYPES: dict[int, Any] = {
    0: np.float32, 1: np.float16, 2: np.int32, 3: np.uint8, 4: np.int64, 5: np.bytes_, 6: np.bool_, 7: np.int16,
    8: np.complex64, 9: np.int8, 10: np.float64, 11: np.complex128, 12: np.uint64, 13: np.object_, 14: np.object_,
    15: np.uint32, 16: np.uint16}
# The names of LiteRT's messages.
TYPE_NAMES = {"float32": "FLOAT32", "float64": "FLOAT64", "float16": "FLOAT16", "int8": "INT8", "uint8": "UINT8",
              "int16": "INT16", "uint16": "UINT16", "int32": "INT32", "uint32": "UINT32", "int64": "INT64",
              "uint64": "UINT64", "bool": "BOOL", "complex64": "COMPLEX64", "complex128": "COMPLEX128"}


class Buffers:
    """What constants of a file hold. Tensors keep it, and not the whole ModelFile: an object that keeps itself alive goes late,
    and a large file with it."""

    def __init__(self, data: memoryview, tables: list[Table]) -> None:
        self._data = data
        self._tables = tables

    def read(self, index: int) -> Optional[bytes]:
        table = self._tables[index]
        data = table.array(0, "u1")
        if data.size:
            return data.tobytes()
        offset, size = table.number(1, "<Q"), table.number(2, "<Q")
        return bytes(self._data[offset:offset + size]) if offset > 1 else None


class Tensor:
    """A tensor of a subgraph."""

    def __init__(self, table: Table, index: int, buffers: Buffers) -> None:
        self.index = index
        self.name = table.text(3)
        self.shape = table.array(0, "<i4")
        signature = table.array(7, "<i4")
        self.shape_signature = signature if signature.size else self.shape
        self.dtype = _DTYPES.get(table.number(1, "<b"), ml_type(table.number(1, "<b")))
        self.is_variable = bool(table.number(5, "<B"))
        self._buffer = table.number(2, "<I")
        self._quantization = table.table(4)
        self._sparsity = table.table(6)
        self._buffers = buffers

    def constant(self) -> Optional[bytes]:
        """The bytes of a constant; None for a tensor that is computed."""
        return self._buffers.read(self._buffer)

    def details(self, shape: NDArray[Any]) -> dict[str, Any]:
        """As LiteRT's get_tensor_details has them."""
        scales = np.empty(0, np.float32)
        zero_points = np.empty(0, np.int32)
        axis = 0
        if self._quantization is not None and self.dtype not in (np.float32, np.bytes_):
            scales = self._quantization.array(2, "<f4").astype(np.float32)
            zero_points = self._quantization.array(3, "<i8").astype(np.int32)
            axis = self._quantization.number(6, "<i")  # field 4 and 5 are a union
        one = scales.size == 1
        return {
            "name": self.name, "index": self.index, "shape": np.array(shape, np.int32),
            "shape_signature": np.array(self.shape_signature, np.int32), "dtype": self.dtype,
            "quantization": (float(scales[0]), int(zero_points[0]) if zero_points.size else 0) if one else (0.0, 0),
            "quantization_parameters": {"scales": scales, "zero_points": zero_points, "quantized_dimension": axis,
                                        "block_size": 0},
            "sparsity_parameters": self._sparsity_parameters()}

    def _sparsity_parameters(self) -> dict[str, Any]:
        if self._sparsity is None:
            return {}
        dimensions = []
        for level in self._sparsity.tables(2):
            is_sparse = level.number(0, "<b") == 1
            found: dict[str, Any] = {"format": int(is_sparse)}
            if is_sparse:
                found["array_segments"] = _indices(level, 2)
                found["array_indices"] = _indices(level, 4)
            else:
                found["dense_size"] = level.number(1, "<i")
            dimensions.append(found)
        return {"traversal_order": self._sparsity.array(0, "<i4"), "block_map": self._sparsity.array(1, "<i4"),
                "dim_metadata": dimensions}


def _indices(level: Table, field: int) -> NDArray[Any]:
    """A union: its kind in `field`, its table of one vector in the next."""
    kind = level.number(field, "<B")
    table = level.table(field + 1)
    if table is None:
        return np.empty(0, np.int32)
    return table.array(0, {1: "<i4", 2: "<u2", 3: "u1"}[kind]).astype(np.int32)


def ml_type(number: int) -> Any:
    """The types of ml_dtypes for int4, bfloat16, int2 and uint4, where that package is installed; else np.void."""
    try:
        import ml_dtypes  # type: ignore[import-not-found, unused-ignore]
        return {17: ml_dtypes.int4, 18: ml_dtypes.bfloat16, 19: ml_dtypes.int2, 20: ml_dtypes.uint4}[number]
    except (ImportError, KeyError, AttributeError):
        return np.void


class Subgraph:
    """Tensors and operators of a subgraph."""

    def __init__(self, table: Table, buffers: Buffers) -> None:
        self.table = table
        self.tensors = [Tensor(tensor, i, buffers) for i, tensor in enumerate(table.tables(0))]
        self.inputs: list[int] = table.array(1, "<i4").tolist()
        self.outputs: list[int] = table.array(2, "<i4").tolist()

    def operators(self) -> list[tuple[int, NDArray[Any], NDArray[Any]]]:
        """(number of the operator code, inputs, outputs) of each."""
        return [(op.number(0, "<I"), op.array(1, "<i4"), op.array(2, "<i4")) for op in self.table.tables(3)]


class ModelFile:
    """A .tflite file that the library has verified."""

    def __init__(self, model: Model) -> None:
        self.data = file_of(model).data
        data = self.data
        root = Table(data, struct.unpack_from("<I", data, 0)[0])
        buffers = Buffers(data, root.tables(4))
        self._root = root
        self.subgraphs = [Subgraph(table, buffers) for table in root.tables(2)]
        self.operator_names = [self._name(code) for code in root.tables(1)]
        # (key, number of the subgraph, {input name: tensor}, {output name: tensor})
        self.signatures = [(table.text(2), table.number(4, "<I"), _names(table, 0), _names(table, 1))
                           for table in root.tables(7)]

    @staticmethod
    def _name(code: Table) -> str:
        number = max(code.number(0, "<b"), code.number(3, "<i"))
        if number == 32:
            return code.text(1)
        return NAMES[number] if number < len(NAMES) else str(number)

    def with_all_outputs(self) -> bytes:
        """The file with every computed tensor of the main subgraph as an output behind the others."""
        main = self.subgraphs[0]
        computed = [int(i) for _, _, outputs in main.operators() for i in outputs if i >= 0]
        kinds = (np.void, np.object_)
        more = [i for i in dict.fromkeys(computed) if i not in main.outputs and main.tensors[i].dtype not in kinds]
        return self.with_outputs(main.outputs + more)

    def with_outputs(self, outputs: list[int]) -> bytes:
        """The file with these outputs of the main subgraph: the new list of them stands at the end, and the old one's place
        points there. Signatures go where one of the old outputs does."""
        main = self.subgraphs[0]
        place = main.table.place(2)
        if not place:
            return bytes(self.data)
        start = len(self.data) + -len(self.data) % 4
        changed = bytearray(self.data) + bytes(start - len(self.data))
        struct.pack_into("<I", changed, place, start - place)
        if not set(main.outputs) <= set(outputs):
            self._drop_signatures(changed)
        return bytes(changed + struct.pack(f"<I{len(outputs)}i", len(outputs), *outputs))

    def mapped(self, path: Union[str, "os.PathLike[str]"], output: int) -> Union[bytes, mmap.mmap]:
        """The same with one output, of the file at this path, from which it was opened: mapped into memory, where only the pages
        that were changed are copies. As bytes where the list has no place or the file is part of another."""
        if not self.subgraphs[0].outputs or os.path.getsize(path) != len(self.data):
            return self.with_outputs([output])
        with open(path, "rb") as stream:
            file = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)
        struct.pack_into("<Ii", file, self._list_at(self.subgraphs[0].table.place(2)), 1, output)
        if self.subgraphs[0].outputs != [output]:
            self._drop_signatures(file)
        return file

    def changed_at(self) -> list[int]:
        """Where `mapped` changes the file: the main subgraph's list of outputs, and that of signatures."""
        return [self._list_at(place) for place in (self.subgraphs[0].table.place(2), self._root.place(7)) if place]

    def _list_at(self, place: int) -> int:
        return place + int(struct.unpack_from("<I", self.data, place)[0])

    def _drop_signatures(self, file: Union[bytearray, mmap.mmap]) -> None:
        """They would name outputs that are gone."""
        place = self._root.place(7)
        if place:
            struct.pack_into("<I", file, self._list_at(place), 0)


def forget(file: Union[bytes, mmap.mmap], changed: list[int]) -> None:
    """Gives pages of a mapped file back that a session has made its own weights of; they are read again when need be. Pages
    with what was `changed` are kept."""
    if not isinstance(file, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = 0
    for at in [*sorted(changed), len(file) + mmap.PAGESIZE]:
        end = min(at, len(file)) // mmap.PAGESIZE * mmap.PAGESIZE if at < len(file) else len(file)
        if end > start:
            file.madvise(mmap.MADV_DONTNEED, start, end - start)
        start = max(start, end + 2 * mmap.PAGESIZE)  # a list may cross to the next page


def _names(table: Table, field: int) -> dict[str, int]:
    return {entry.text(0): entry.number(1, "<I") for entry in table.tables(field)}
