"""Runs a model."""
from __future__ import annotations

import os
import threading
import time
from typing import Any, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Model, TensorInfo
from .arrays import aligned_empty, array_shape, numpy_dtype, to_tensor
from .errors import FailedPreconditionError, NotFoundError

# A run that took longer than this many seconds gives way to Ctrl-C the next time, for some microseconds more.
_LONG_RUN = 0.02


class Session:
    """A model that is ready to run: its plan, its memory and its state.

    Parameters
    ----------
    model : the model, or a path of one. It is kept alive.
    n_threads : threads of a run; 0: what pays.
    device : "cpu", "auto", "opencl", "opencl:0"; None: "auto".
    signature : the signature to run; None: the main subgraph.
    input_shapes : shapes to begin with, one (or None) for each input.
    precision : "float32", "float16" (16-bit products where the processor can), or "auto" (float16 on a device where
        that is faster and agrees with the CPU).
    memory_limit_bytes : of all memory of the session; 0: half of the machine's.
    cache_dir : folder for what is learnt of devices.
    share_state_with : a session of the same model whose variables this one shares.

    Calls from several threads take turns. The interpreter's lock is released while the model runs, and Ctrl-C ends a
    run. Raises UnsupportedError, InvalidModelError, OutOfMemoryError or NotFoundError (signature, device).
    """

    def __init__(self, model: Model | str | os.PathLike[str], *, n_threads: int = 0, device: Optional[str] = None,
                 signature: Optional[str] = None, input_shapes: Optional[Sequence[Optional[Sequence[int]]]] = None,
                 precision: str = "float32", memory_limit_bytes: int = 0,
                 cache_dir: str | os.PathLike[str] | None = None, share_state_with: Optional[Session] = None) -> None:
        precisions = ("float32", "float16", "auto")
        if precision not in precisions:
            raise ValueError(f"precision is 'float32', 'float16' or 'auto', not {precision!r}")
        self.model = model if isinstance(model, Model) else Model.open(model)
        shapes = [None if shape is None else list(shape) for shape in input_shapes or ()]
        self._start(_core.Session.create(
            self.model, n_threads, device, signature, shapes, precisions.index(precision), memory_limit_bytes,
            None if cache_dir is None else os.fspath(cache_dir),
            None if share_state_with is None else share_state_with._core))

    def _start(self, core: _core.Session) -> None:
        self._core = core
        self._lock = threading.RLock()
        self._is_long = True  # until a run has shown otherwise
        self._is_resized = False
        self._read_from: dict[int, NDArray[Any]] = {}  # arrays that inputs are bound to
        self._lent: set[int] = set()  # those of them that input() has given out
        self._write_to: dict[int, NDArray[Any]] = {}  # that bind_output has bound
        self._results: list[NDArray[Any]] = []
        self._renew()

    def _renew(self) -> None:
        self._inputs = [self._core.tensor(i, True) for i in range(self._core.n_inputs)]
        self._outputs = [self._core.tensor(i, False) for i in range(self._core.n_outputs)]
        # The shapes of the others are known only after a run.
        self._is_fixed = [info.dtype != "string" and info.nbytes > 0 and self._core.has_data(i, False)
                          for i, info in enumerate(self._outputs)]
        # What runs ask each time, in plain tuples.
        self._input_shapes = [array_shape(info) for info in self._inputs]
        self._input_dtypes = [numpy_dtype(info.dtype) for info in self._inputs]
        self._output_shapes = [array_shape(info) for info in self._outputs]
        self._output_dtypes = [numpy_dtype(info.dtype) for info in self._outputs]

    def clone(self) -> Session:
        """Another session with the same options and shapes, which shares packed weights; variables begin anew."""
        other = Session.__new__(Session)
        other.model = self.model
        with self._lock:
            other._start(self._core.clone())
        return other

    @property
    def inputs(self) -> list[TensorInfo]:
        """The inputs, in the order of the signature or of the main subgraph."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[TensorInfo]:
        """The outputs, with the shapes that they have now."""
        with self._lock:
            return [self._core.tensor(i, False) for i in range(self._core.n_outputs)]

    def _index(self, key: int | str, is_input: bool) -> int:
        infos = self._inputs if is_input else self._outputs
        if isinstance(key, str):
            names = [info.name for info in infos]
            if key not in names:
                raise NotFoundError(f"there is no {'input' if is_input else 'output'} '{key}'; there are: {', '.join(names)}")
            return names.index(key)
        if not -len(infos) <= key < len(infos):
            raise IndexError(f"{'input' if is_input else 'output'} {key} of {len(infos)}")
        return key % len(infos)

    def input(self, key: int | str) -> NDArray[Any]:
        """The memory of an input, which runs read in place: write to it, then call run() without arguments.

        It belongs to Python and stays valid; after a resize the session has new memory.
        """
        with self._lock:
            self._prepare()
            index = self._index(key, True)
            if index not in self._lent:
                info = self._inputs[index]
                if info.dtype == "string":
                    raise TypeError(f"'{info.name}' holds strings: give them to run(), they have no memory to share")
                memory = aligned_empty(array_shape(info), numpy_dtype(info.dtype))
                memory[...] = self._read_from[index] if index in self._read_from else self._copy_of(index, True)
                self._bind_input(index, memory)
                self._lent.add(index)
            return self._read_from[index]

    def output(self, key: int | str) -> NDArray[Any]:
        """What the last run has written, without a copy. Raises FailedPreconditionError before the first run."""
        with self._lock:
            if not self._results:
                raise FailedPreconditionError("there is no output yet: call run() first")
            return self._results[self._index(key, False)]

    def write(self, key: int | str, values: Any) -> None:
        """Copies values into an input, in its present shape."""
        with self._lock:
            self._prepare()
            index = self._index(key, True)
            if self._inputs[index].dtype == "string":
                self._write(index, self._to_input(index, values))
            else:
                self.input(index)[...] = values

    def value(self, key: int | str, is_input: bool) -> NDArray[Any]:
        """What an input or output holds now, also before the first run."""
        with self._lock:
            index = self._index(key, is_input)
            if is_input:
                return self._copy_of(index, True) if self._inputs[index].dtype == "string" else self.input(index)
            if index in self._write_to:
                return self._write_to[index]
            return self._results[index] if self._results else self._copy_of(index, False)

    def keep_outputs(self) -> None:
        """Makes all runs write the outputs of fixed size into the same arrays, instead of new ones."""
        with self._lock:
            for index, info in enumerate(self._outputs):
                if self._is_fixed[index] and index not in self._write_to:
                    self._write_to[index] = np.zeros(array_shape(info), numpy_dtype(info.dtype))

    def _copy_of(self, index: int, is_input: bool) -> NDArray[Any]:
        """A copy of a tensor of the library's own memory."""
        info = self._core.tensor(index, is_input)
        if info.dtype == "string":
            strings = np.empty(info.shape, dtype=object)
            strings.reshape(-1)[...] = [*self._core.read_strings(index, is_input)]
            return strings
        raw = self._core.read(index, is_input)
        dtype, shape = numpy_dtype(info.dtype), array_shape(info)
        return np.frombuffer(bytearray(raw.ljust(info.nbytes, b"\0")), dtype=dtype).reshape(shape)

    def _bind_input(self, index: int, array: NDArray[Any]) -> None:
        if array.size > 0:
            self._core.bind(index, array.reshape(-1).view(np.uint8), True)
        self._read_from[index] = array

    def bind_input(self, key: int | str, array: NDArray[Any]) -> None:
        """Makes runs read this input from the array, without a copy. It must be C-contiguous, of the input's type and
        shape; the session keeps it alive."""
        with self._lock:
            self._prepare()
            index = self._index(key, True)
            self._check_array(self._inputs[index], array)
            self._bind_input(index, array)
            self._lent.discard(index)

    def bind_output(self, key: int | str, array: Optional[NDArray[Any]]) -> None:
        """Makes runs write this output into the array, without a copy; None: into new arrays again. It must be
        writeable and C-contiguous, of the output's type and shape, which must not depend on data."""
        with self._lock:
            self._prepare()
            index = self._index(key, False)
            if array is None:
                self._write_to.pop(index, None)
                return
            self._check_array(self._outputs[index], array)
            if not self._is_fixed[index] or not array.flags.writeable:
                raise ValueError("only an output of fixed size can be bound, to an array that is writeable")
            self._write_to[index] = array

    @staticmethod
    def _check_array(info: TensorInfo, array: NDArray[Any]) -> None:
        if array.dtype != numpy_dtype(info.dtype) or array.shape != array_shape(info):
            raise ValueError(f"'{info.name}' is {info.dtype}{list(info.shape)}, the array {array.dtype}{list(array.shape)}")
        if not array.flags.c_contiguous:
            raise ValueError("an array that is bound must be C-contiguous")

    def run(self, *inputs: Any, **named: Any) -> list[NDArray[Any]]:
        """Computes the outputs.

        Inputs are arrays in the session's order or by name, of NumPy or anything that speaks DLPack; one that is not
        given keeps its value. They are read in place where type and layout fit, so they must not change while the
        model runs. An array of another shape resizes the input for good. Strings are bytes or str.

        Returns the outputs: new arrays that the library has written in place, or those of bind_output. Raises
        CancelledError, InvalidArgumentError (indices out of range, shapes that the model cannot take), TypeError for
        values of another kind.
        """
        with self._lock:
            arrays = {index: self._to_input(index, values) for index, values in self._given(inputs, named).items()}
            for index, array in arrays.items():
                if array.shape != self._input_shapes[index]:
                    self._ask_for(index, array.shape)
            self._prepare()
            for index, array in arrays.items():
                self._write(index, array)
            results: list[Optional[NDArray[Any]]] = [self._bind_output(i) for i in range(len(self._outputs))]
            try:
                self._run()
                self._results = [self._copy_of(i, False) if array is None else array for i, array in enumerate(results)]
            finally:
                for i, bound in enumerate(results):
                    if bound is not None:
                        self._core.bind(i, None, False)
            return list(self._results)

    def _given(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> dict[int, Any]:
        if len(inputs) > len(self._inputs):
            raise ValueError(f"the model has {len(self._inputs)} inputs, not {len(inputs)}")
        given: dict[int, Any] = dict(enumerate(inputs))
        for name, values in named.items():
            index = self._index(name, True)
            if index in given:
                raise ValueError(f"input '{name}' is given twice")
            given[index] = values
        return given

    def _to_input(self, index: int, values: Any) -> NDArray[Any]:
        dtype = self._input_dtypes[index]
        if dtype.hasobject:
            return np.asarray(values, dtype=object)
        return to_tensor(values, dtype, self._inputs[index].name)

    def _write(self, index: int, array: NDArray[Any]) -> None:
        if self._input_dtypes[index].hasobject:
            self._core.write_strings(index, [value.encode() if isinstance(value, str) else bytes(value)
                                             for value in array.reshape(-1)])
        elif index in self._lent:
            self._read_from[index][...] = array
        else:
            self._bind_input(index, array)

    def _bind_output(self, index: int) -> Optional[NDArray[Any]]:
        """The array that the next run writes an output of fixed size to."""
        if not self._is_fixed[index]:
            return None
        array = self._write_to.get(index)
        if array is None:
            array = np.empty(self._output_shapes[index], self._output_dtypes[index])
        self._core.bind(index, array.reshape(-1).view(np.uint8), False)
        return array

    def _run(self) -> None:
        start = time.perf_counter()
        try:
            self._core.run(self._is_long)
        finally:
            self._is_long = time.perf_counter() - start > _LONG_RUN

    def _ask_for(self, index: int, shape: Sequence[int]) -> None:
        if index in self._read_from:
            self._core.bind(index, None, True)
        try:
            self._core.resize(index, list(shape))
        except BaseException:
            if index in self._read_from:
                self._bind_input(index, self._read_from[index])
            raise
        self._is_resized = True

    def _prepare(self) -> None:
        """Plans anew after a resize. Arrays of shapes that are no longer right are let go."""
        if not self._is_resized:
            return
        self._is_resized = False
        try:
            self._core.prepare()
        finally:
            self._renew()
            before, self._read_from = self._read_from, {}
            for index, array in before.items():
                if array.shape == array_shape(self._inputs[index]):
                    self._bind_input(index, array)
            self._lent &= set(self._read_from)
            self._write_to = {i: array for i, array in self._write_to.items()
                              if self._is_fixed[i] and array.shape == array_shape(self._outputs[i])}

    def resize(self, key: int | str, shape: Sequence[int]) -> None:
        """Asks for another shape of an input, say another batch size. If the model cannot take it, InvalidArgumentError
        is raised and the old shapes stay."""
        with self._lock:
            self._ask_for(self._index(key, True), shape)
            self._prepare()

    def attach_head(self, name: str, head: str | os.PathLike[str] | bytes) -> None:
        """Adds an output of that name, the last: what a head saved by a trainer of this model makes of its features.
        All heads come of one run of the model. `head` is the file or its bytes. Raises FailedPreconditionError for a
        head of another model or layer, UnsupportedError for one with deeper layers."""
        path, data = (None, head) if isinstance(head, bytes) else (os.fspath(head), None)
        with self._lock:
            self._prepare()
            self._core.attach_head(name, path, data)
            self._results = []
            self._renew()

    def detach_head(self, name: str) -> None:
        """Takes an attached head and its output away. Raises NotFoundError."""
        with self._lock:
            self._prepare()
            names = [info.name for info in self._outputs]
            self._core.detach_head(name)
            gone = names.index(name)
            self._write_to = {index - (index > gone): array for index, array in self._write_to.items() if index != gone}
            self._results = []
            self._renew()

    @property
    def heads(self) -> dict[str, list[str]]:
        """The attached heads by the names of their outputs, with their class names."""
        with self._lock:
            return self._core.heads()

    def cancel(self) -> None:
        """Makes the run in progress raise CancelledError in its thread; may be called from any thread."""
        self._core.cancel()

    def reset_state(self) -> None:
        """Sets variables back to their initial values."""
        with self._lock:
            self._core.reset_state()

    @property
    def info(self) -> dict[str, int]:
        """Memory in bytes (session, arena, live, scratch, packed, folded, model, device) and n_threads."""
        with self._lock:
            return self._core.info()

    def plan(self) -> str:
        """The plan as text: for every step its operator, kernel, shape, and why it runs where it does."""
        with self._lock:
            return self._core.describe_plan(False)

    def verify(self, tolerance: float = 0.0) -> dict[str, Any]:
        """Compares with the CPU in float32, operator by operator, on the present inputs: agrees, first_divergence,
        layers, outputs. tolerance is relative to a layer's range; 0: the precision's default."""
        with self._lock:
            import json

            result: dict[str, Any] = json.loads(self._core.verify(tolerance))
            return result

    def __repr__(self) -> str:
        return f"<topwork.Session {self._inputs} -> {self._outputs}>"
