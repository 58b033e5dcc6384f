"""Stands in for LiteRT's interpreter: change the import, or call `install()` and change nothing.

    from topwork.tflite import Interpreter     # was: from ai_edge_litert.interpreter import Interpreter

It has the public methods of ai_edge_litert.interpreter.Interpreter, with their errors. What differs:

* Delegates are not loaded: load_delegate and experimental_delegates raise ValueError, which programs that look for an
  accelerator expect.
* num_threads None means what pays, as in topwork.Session; LiteRT takes one thread.
* Values of tensors between operators exist with experimental_preserve_all_tensors alone, and shapes of such tensors are
  those of the file.
"""
from __future__ import annotations

import enum
import os
import sys
import types
import weakref
from importlib.machinery import ModuleSpec
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from ._core import Model
from .errors import Error
from .modelfile import TYPE_NAMES, ModelFile, Tensor
from .session import Session

__all__ = ["Delegate", "Interpreter", "InterpreterWithCustomOps", "OpResolverType", "SignatureRunner", "install",
           "load_delegate"]


@enum.unique
class OpResolverType(enum.Enum):
    """Which kernels LiteRT takes; all mean the same here."""
    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


class Delegate:
    """LiteRT's handle of a delegate; making one fails, as no delegate is loaded."""

    def __init__(self, library: str, options: Optional[Mapping[str, Any]] = None) -> None:
        raise ValueError(f"Topwork loads no delegates ({library}); its OpenCL devices are named by "
                         "topwork.Session(device='opencl')")


def load_delegate(library: str, options: Optional[Mapping[str, Any]] = None) -> Delegate:
    """Raises ValueError, as LiteRT does where a delegate cannot be loaded."""
    try:
        return Delegate(library, options)
    except ValueError as error:
        raise ValueError(f"Failed to load delegate from {library}\n{error}") from error


class _View:
    """What an array of tensor() keeps alive: as long as one exists, the interpreter refuses what could move memory."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__


class Interpreter:
    """Runs a model as ai_edge_litert.interpreter.Interpreter does; tensors are named by their index in the file.

    Parameters
    ----------
    model_path, model_content : one of them: a path, or the bytes of a .tflite file.
    experimental_delegates : must be empty.
    num_threads : 1 or more; None: what pays.
    experimental_preserve_all_tensors : True: get_tensor also gives tensors between operators.

    The other experimental parameters are accepted and change nothing.
    """

    def __init__(self, model_path: str | os.PathLike[str] | None = None, model_content: Optional[bytes] = None,
                 experimental_delegates: Optional[Sequence[Any]] = None, num_threads: Optional[int] = None,
                 experimental_op_resolver_type: OpResolverType = OpResolverType.AUTO,
                 experimental_preserve_all_tensors: bool = False,
                 experimental_disable_delegate_clustering: bool = False,
                 experimental_default_delegate_latest_features: bool = False,
                 experimental_compress_quantization_zero_points: bool = False,
                 experimental_disable_delegate_node_fusion: bool = False,
                 experimental_force_delegate_node_profiling: bool = False) -> None:
        if getattr(experimental_op_resolver_type, "name", "") not in OpResolverType.__members__:
            raise ValueError(f"Unrecognized passed in op resolver type: {experimental_op_resolver_type}")
        if num_threads is not None:
            if not isinstance(num_threads, int):
                raise ValueError("type of num_threads should be int")
            if num_threads < 1:
                raise ValueError("num_threads should >= 1")
        if experimental_delegates:
            raise ValueError("Topwork loads no delegates: leave experimental_delegates out")
        self._experimental_compress_quantization_zero_points = experimental_compress_quantization_zero_points
        self._n_threads = num_threads or 0
        self._model = _open(model_path, model_content)
        self._file = ModelFile(self._model)
        if experimental_preserve_all_tensors:
            self._model = Model.from_bytes(self._file.with_all_outputs())
        main = self._file.subgraphs[0]
        self._inputs = main.inputs
        self._outputs = ModelFile(self._model).subgraphs[0].outputs
        self._shapes: dict[int, NDArray[Any]] = {}  # that resizing and runs have changed
        self._session: Optional[Session] = None
        self._is_ready = False
        self._runners: dict[str, Session] = {}
        self._views: weakref.WeakSet[_View] = weakref.WeakSet()

    # Running.

    def allocate_tensors(self) -> None:
        """Plans the model for the shapes of its inputs. Raises RuntimeError where it cannot run."""
        self._ensure_safe()
        try:
            if self._session is None:
                self._session = self._new_session()
            for position, index in enumerate(self._inputs):
                if index in self._shapes and tuple(self._shapes[index]) != self._session.inputs[position].shape:
                    self._session.resize(position, self._shapes[index].tolist())
        except Error as error:
            raise RuntimeError(str(error)) from error
        self._is_ready = True
        for position, info in enumerate(self._session.outputs):
            self._shapes[self._outputs[position]] = np.array(info.shape, np.int32)
        self._session.keep_outputs()

    def _new_session(self) -> Session:
        shapes = None
        if self._shapes:
            shapes = [self._shapes[i].tolist() if i in self._shapes else None for i in self._inputs]
        return Session(self._model, n_threads=self._n_threads, device="cpu", input_shapes=shapes)

    def invoke(self) -> None:
        """Runs the main subgraph. Raises RuntimeError."""
        self._ensure_safe()
        if not self._is_ready or self._session is None:
            raise RuntimeError("Invoke called on model that is not ready.")
        try:
            results = self._session.run()
        except Error as error:
            raise RuntimeError(str(error)) from error
        for position, result in enumerate(results):
            self._shapes[self._outputs[position]] = np.array(result.shape, np.int32)

    def reset_all_variables(self) -> None:
        """Sets variable tensors and resources back to their initial values."""
        if self._session is not None:
            self._session.reset_state()

    def resize_tensor_input(self, input_index: int, tensor_size: Sequence[int], strict: bool = False) -> None:
        """Asks for another shape of an input; it holds from the next allocate_tensors on. strict: only dimensions that
        are -1 in shape_signature may change."""
        self._ensure_safe()
        tensor = self._tensor(input_index, 0, RuntimeError)
        if input_index not in self._inputs:
            raise RuntimeError("Attempting to resize a fixed-size tensor.")
        size = np.array(tensor_size, dtype=np.int32)
        if strict:
            self._check_strictly(input_index, size)
        if not np.array_equal(self._shapes.get(input_index, tensor.shape), size):
            self._shapes[input_index] = size
            self._is_ready = False

    def _check_strictly(self, index: int, size: NDArray[Any]) -> None:
        tensor = self._file.subgraphs[0].tensors[index]
        if size.size != tensor.shape.size:
            raise RuntimeError(f"Attempting to resize tensor {index} from {tensor.shape.size} to {size.size} dimensions.")
        for axis, (new, old, is_open) in enumerate(zip(size, tensor.shape, tensor.shape_signature == -1)):
            if new != old and not is_open:
                raise RuntimeError(
                    f"Attempting to resize dimension {axis} of tensor {index} with value {old} to {new}. "
                    "ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1.")

    # Tensors.

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Copies a value of the tensor's type and shape into an input. Raises ValueError."""
        tensor = self._tensor(tensor_index, 0)
        if not self._is_ready or self._session is None:
            raise ValueError("Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first")
        array = np.asarray(value)
        if array.ndim == 0 and array.dtype.kind == "S":  # NumPy would drop NULs at the end
            array = np.array(array.tobytes(), dtype=object)
        shape = self._shapes.get(tensor_index, tensor.shape)
        if tensor.dtype is not np.bytes_:
            _check_type(array, tensor_index, tensor.name, tensor.dtype)
            _check_shape(array, tensor_index, shape)
        if tensor_index not in self._inputs:
            raise ValueError(f"Cannot set tensor: tensor {tensor_index}, '{tensor.name}', is no input of the model")
        self._session.write(self._inputs.index(tensor_index), array)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> NDArray[Any]:
        """A copy of an input, an output or a constant (see experimental_preserve_all_tensors). Raises ValueError."""
        if self._is_ready and self._session is not None and subgraph_index == 0:
            for indices, is_input in ((self._inputs, True), (self._outputs, False)):
                if tensor_index in indices:
                    value = self._session.value(indices.index(tensor_index), is_input)
                    return np.array(self._typed(value, tensor_index))
        tensor = self._tensor(tensor_index, subgraph_index)
        constant = tensor.constant()
        if not self._is_ready or constant is None or tensor.dtype in (np.void, np.object_, np.bytes_):
            raise ValueError("Tensor data is null. Run allocate_tensors() first")
        if len(constant) != int(np.prod(tensor.shape)) * np.dtype(tensor.dtype).itemsize:
            raise ValueError(f"tensor {tensor_index}, '{tensor.name}', is stored packed or sparse")
        values: NDArray[Any] = np.frombuffer(constant, tensor.dtype).reshape(tensor.shape).copy()
        return values

    def _typed(self, array: NDArray[Any], index: int) -> NDArray[Any]:
        """bfloat16 as a type of its own where NumPy knows one."""
        dtype = self._file.subgraphs[0].tensors[index].dtype
        typed: NDArray[Any] = array.view(dtype) if np.dtype(dtype).name == "bfloat16" else array
        return typed

    def tensor(self, tensor_index: int) -> Callable[[], NDArray[Any]]:
        """A function that gives the memory of an input or output, without a copy. No array of it may be alive when the
        interpreter allocates or runs; otherwise these raise RuntimeError."""
        self._tensor(tensor_index, 0)

        def view() -> NDArray[Any]:
            if not self._is_ready or self._session is None:
                raise ValueError("Tensor data is null. Run allocate_tensors() first")
            if tensor_index in self._inputs:
                array = self._session.input(self._inputs.index(tensor_index))
            elif tensor_index in self._outputs:
                array = self._session.value(self._outputs.index(tensor_index), False)
            else:
                return self.get_tensor(tensor_index)
            holder = _View(array)
            self._views.add(holder)
            return self._typed(np.asarray(holder), tensor_index)

        return view

    def _safe_to_run(self) -> bool:
        return len(self._views) == 0

    def _ensure_safe(self) -> None:
        if not self._safe_to_run():
            raise RuntimeError("There is at least 1 reference to internal data in the interpreter in the form of a "
                               "numpy array or slice. Be sure to only hold the function returned from tensor() if you "
                               "are using raw data access.")

    # What the model has.

    def num_subgraphs(self) -> int:
        """The number of subgraphs."""
        return len(self._file.subgraphs)

    def get_input_details(self) -> list[dict[str, Any]]:
        """name, index, shape, shape_signature, dtype, quantization, quantization_parameters and sparsity_parameters of
        each input."""
        return [self._get_tensor_details(index, 0) for index in self._inputs]

    def get_output_details(self) -> list[dict[str, Any]]:
        """The same of each output."""
        return [self._get_tensor_details(index, 0) for index in self._file.subgraphs[0].outputs]

    def get_tensor_details(self, subgraph_index: int = 0) -> list[dict[str, Any]]:
        """The same of each tensor of a subgraph."""
        n = len(self._file.subgraphs)
        if subgraph_index < 0 or subgraph_index >= n:
            raise ValueError(f"subgraph_index is out of range: {subgraph_index} for the model, which has {n} subgraphs.")
        tensors = self._file.subgraphs[subgraph_index].tensors
        return [self._get_tensor_details(i, subgraph_index) for i in range(len(tensors))]

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int) -> dict[str, Any]:
        tensor = self._tensor(int(tensor_index), int(subgraph_index))
        shape = self._shapes.get(tensor.index, tensor.shape) if subgraph_index == 0 else tensor.shape
        return tensor.details(shape)

    def _tensor(self, index: int, subgraph: int, error: type[Exception] = ValueError) -> Tensor:
        tensors = self._file.subgraphs[subgraph].tensors
        if not 0 <= index < len(tensors):
            raise error(f"Invalid tensor index {index} exceeds max tensor index {len(tensors)}")
        return tensors[index]

    def _get_op_details(self, op_index: int) -> dict[str, Any]:
        main = self._file.subgraphs[0]
        operators = main.operators()
        if not 0 <= op_index < len(operators):
            raise ValueError("Invalid node index")
        code, inputs, outputs = operators[op_index]
        return {"index": int(op_index), "op_name": self._file.operator_names[code], "inputs": np.array(inputs),
                "outputs": np.array(outputs),
                "operand_types": [main.tensors[i].dtype for i in inputs if i != -1],
                "result_types": [main.tensors[i].dtype for i in outputs if i != -1]}

    def _get_ops_details(self) -> list[dict[str, Any]]:
        return [self._get_op_details(i) for i in range(len(self._file.subgraphs[0].operators()))]

    # Signatures.

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """{key: {"inputs": names, "outputs": names}}."""
        return {key: {"inputs": list(parts["inputs"]), "outputs": list(parts["outputs"])}
                for key, parts in self._get_full_signature_list().items()}

    def _get_full_signature_list(self) -> dict[str, dict[str, dict[str, int]]]:
        return {key: {"inputs": dict(sorted(inputs.items())), "outputs": dict(sorted(outputs.items()))}
                for key, _, inputs, outputs in self._file.signatures}

    def get_signature_runner(self, signature_key: Optional[str] = None) -> SignatureRunner:
        """A function of a signature; None: the model's only one. Raises ValueError."""
        if signature_key is None:
            n = len(self._file.signatures)
            if n != 1:
                raise ValueError(f"SignatureDef signature_key is None and model has {n} Signatures. None is only "
                                 "allowed when the model has 1 SignatureDef")
            signature_key = self._file.signatures[0][0]
        return SignatureRunner(interpreter=self, signature_key=signature_key)

    def _runner_session(self, key: str) -> Session:
        """Sessions of all signatures share the model's variables."""
        if key not in self._runners:
            first = next(iter(self._runners.values()), self._session)
            self._runners[key] = Session(self._model, signature=key, n_threads=self._n_threads, device="cpu",
                                         share_state_with=first)
        return self._runners[key]

    @property
    def experimental_compress_quantization_zero_points(self) -> bool:
        """What the constructor was given."""
        return self._experimental_compress_quantization_zero_points


class InterpreterWithCustomOps(Interpreter):
    """LiteRT's interpreter for custom operators. Here those come from tw_op_register; registerers are refused."""

    def __init__(self, custom_op_registerers: Optional[Sequence[Any]] = None, **kwargs: Any) -> None:
        if custom_op_registerers:
            raise ValueError("Topwork calls no registerers of custom operators: register them by tw_op_register")
        super().__init__(**kwargs)


class SignatureRunner:
    """Runs a signature: called with its inputs by name, it returns a dictionary of its outputs."""

    def __init__(self, interpreter: Optional[Interpreter] = None, signature_key: Optional[str] = None) -> None:
        if not interpreter:
            raise ValueError("None interpreter provided.")
        if not signature_key:
            raise ValueError("None signature_key provided.")
        self._interpreter = interpreter
        self._signature_key = signature_key
        signatures = interpreter._get_full_signature_list()
        if signature_key not in signatures:
            raise ValueError(f'Invalid signature_key provided: "{signature_key}".')
        self._inputs = signatures[signature_key]["inputs"]
        self._outputs = signatures[signature_key]["outputs"]
        self._subgraph = {key: number for key, number, _, _ in interpreter._file.signatures}[signature_key]

    def __call__(self, **kwargs: Any) -> dict[str, NDArray[Any]]:
        if len(kwargs) != len(self._inputs):
            raise ValueError("Invalid number of inputs provided for running a SignatureDef, expected "
                             f"{len(self._inputs)} vs provided {len(kwargs)}")
        for name, value in kwargs.items():
            if name not in self._inputs:
                raise ValueError(f"Invalid Input name ({name}) for SignatureDef")
            tensor = self._interpreter._tensor(self._inputs[name], self._subgraph)
            if tensor.dtype is not np.bytes_:
                _check_type(np.asarray(value), self._inputs[name], tensor.name, tensor.dtype)
        try:
            session = self._interpreter._runner_session(self._signature_key)
            results = session.run(**kwargs)
        except Error as error:
            raise RuntimeError(str(error)) from error
        named = {info.name: result for info, result in zip(session.outputs, results)}
        return {name: named[name].copy() for name in self._outputs}

    def get_input_details(self) -> dict[str, dict[str, Any]]:
        """{input name: details as Interpreter.get_input_details has them}."""
        return self._details(self._inputs)

    def get_output_details(self) -> dict[str, dict[str, Any]]:
        """{output name: details}."""
        return self._details(self._outputs)

    def _details(self, names: Mapping[str, int]) -> dict[str, dict[str, Any]]:
        return {name: self._interpreter._get_tensor_details(index, self._subgraph) for name, index in names.items()}


def _open(path: str | os.PathLike[str] | None, content: Optional[bytes]) -> Model:
    if path and content:
        raise ValueError("Can't both provide `model_path` and `model_content`")
    if not path and not content:
        raise ValueError("`model_path` or `model_content` must be specified.")
    try:
        return Model.from_bytes(bytes(content)) if content else Model.open(os.fspath(path or ""))
    except Error as error:
        text = f"Could not open '{path}'" if path else "The model is not a valid Flatbuffer buffer"
        raise ValueError(f"{text}: {error}") from error


def _check_type(array: NDArray[Any], index: int, name: str, dtype: Any) -> None:
    if array.dtype != np.dtype(dtype):
        got, wanted = (TYPE_NAMES.get(np.dtype(kind).name, np.dtype(kind).name.upper()) for kind in (array.dtype, dtype))
        raise ValueError(f"Cannot set tensor: Got value of type {got} but expected type {wanted} for input {index}, "
                         f"name: {name} ")


def _check_shape(array: NDArray[Any], index: int, shape: NDArray[Any]) -> None:
    if array.ndim != shape.size:
        raise ValueError(f"Cannot set tensor: Dimension mismatch. Got {array.ndim} but expected {shape.size} for input {index}.")
    for axis, (got, wanted) in enumerate(zip(array.shape, shape)):
        if got != wanted:
            raise ValueError(f"Cannot set tensor: Dimension mismatch. Got {got} but expected {wanted} for dimension "
                             f"{axis} of input {index}.")


def install() -> None:
    """Registers this module as tflite_runtime.interpreter and ai_edge_litert.interpreter, so that programs which import
    one of them run on Topwork unmodified. Call it before they are imported; for programs that start processes, at the top
    of the main script, which each process imports."""
    this = sys.modules[__name__]
    for name in ("tflite_runtime", "ai_edge_litert"):
        parent = sys.modules.get(name)
        if parent is None:
            try:
                parent = __import__(name)
            except ImportError:
                parent = types.ModuleType(name)
                parent.__path__ = []
                # Programs look for the package by importlib.util.find_spec.
                parent.__spec__ = ModuleSpec(name, None, is_package=True)
                sys.modules[name] = parent
        setattr(parent, "interpreter", this)
        sys.modules[f"{name}.interpreter"] = this
