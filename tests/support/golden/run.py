"""Runs a case on LiteRT's reference kernels, in a child process so that an abort costs one case.

The first run also tells the shapes of computed tensors; they are written into the model, which is
then built again, so that the stored file looks like a converter's.
"""

import dataclasses
import os
import pickle

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from flatbuffers import flexbuffers

from build import serialise
from dtypes import TYPES


class Refused(Exception):
    """LiteRT answered with an error."""


class Aborted(Exception):
    """LiteRT ended the process."""


def _interpreter(model, resolver):
    return Interpreter(model_content=model, experimental_op_resolver_type=resolver, num_threads=1)


def _run(model, runs, subgraph_signature, optimized=False):
    """Runs each list of arrays in order on one interpreter; returns outputs and tensor shapes."""
    note = ""
    try:
        if optimized:
            raise ValueError("Didn't find op: the reference kernel is not to be used")
        interp = _interpreter(model, OpResolverType.BUILTIN_REF)
    except ValueError as error:
        if "Didn't find op" not in str(error):
            raise
        note = "no reference kernel"
        interp = _interpreter(model, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    results = []
    if subgraph_signature is not None:
        runner = interp.get_signature_runner(subgraph_signature[0])
        for arrays in runs:
            named = dict(zip(subgraph_signature[1], arrays))
            out = runner(**named)
            results.append([np.array(out[name]) for name in subgraph_signature[2]])
        return results, None, note
    for arrays in runs:
        details = interp.get_input_details()
        for detail, array in zip(details, arrays):
            if tuple(detail["shape"]) != array.shape:
                interp.resize_tensor_input(detail["index"], array.shape, strict=False)
        interp.allocate_tensors()
        for detail, array in zip(details, arrays):
            interp.set_tensor(detail["index"], array)
        interp.invoke()
        results.append(
            [np.array(interp.get_tensor(d["index"])) for d in interp.get_output_details()])
    shapes = {d["index"]: tuple(int(n) for n in d["shape"]) for d in interp.get_tensor_details()}
    return results, shapes, note


def _run_micro(model, runs):
    """The same by TFLite Micro (the package tflite-micro): all shapes are the file's."""
    try:
        from tflite_micro import runtime  # only these cases need it
    except ImportError as error:
        raise RuntimeError(f"the package tflite-micro is needed: {error}") from error
    interp = runtime.Interpreter.from_bytes(model, arena_size=1 << 24)
    n_outputs = len(schema.Model.GetRootAs(model).Subgraphs(0).OutputsAsNumpy())
    results = []
    for arrays in runs:
        for index, array in enumerate(arrays):
            interp.set_input(array, index)
        interp.invoke()
        results.append([np.array(interp.get_output(i)) for i in range(n_outputs)])
    return results


def _in_child(function):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            answer = ("ok", function())
        except (RuntimeError, ValueError) as error:
            answer = ("refused", str(error).strip())
        except BaseException as error:  # a mistake in the case itself: shown by the parent
            answer = ("broken", repr(error))
        with os.fdopen(write_end, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if not data:
        raise Aborted(f"LiteRT ended the process with status {status}")
    kind, value = pickle.loads(data)
    if kind == "refused":
        raise Refused(value)
    if kind == "broken":
        raise AssertionError(value)
    return value


def _blank(tensor):
    kind = TYPES[tensor.dtype][1]
    return np.full(tensor.shape, b"" if tensor.dtype == "string" else 0, kind)


# Operators that run other subgraphs.
CALLERS = {"CALL", "IF", "WHILE", "CALL_ONCE", "STABLEHLO_COMPOSITE"}


def _asked(graphs, signatures=()):
    """The file that LiteRT runs: it has no CALL, but STABLEHLO_COMPOSITE does what that says."""
    return serialise([_without_calls(graph) for graph in graphs], signatures)


def _without_calls(graph):
    ops = []
    for code, version, inputs, outputs, options in graph.ops:
        if code == "CALL":
            code, options = "STABLEHLO_COMPOSITE", dict(
                name="tests.call", decomposition_subgraph_index=options["subgraph"],
                composite_attributes=list(flexbuffers.Dumps({})))
        ops.append((code, version, inputs, outputs, options))
    return dataclasses.replace(graph, ops=ops)


def _fill_shapes(graph, arrays, others=(), optimized=False):
    """Runs the graph (and those that it calls) and writes its computed tensors' shapes into it."""
    model = _asked([graph, *others])
    _, shapes, _ = _in_child(lambda: _run(model, [arrays], None, optimized))
    for index, tensor in enumerate(graph.tensors):
        if tensor.computed:
            tensor.shape = shapes.get(index, ())


def _by_definition(cases):
    """What run_group() returns for an operator that LiteRT lacks: float64 decides."""
    graph = cases[0].graphs[0]
    kinds = [TYPES[graph.tensors[index].dtype][1] for index in graph.outputs]
    answers = []
    for case in cases:
        wide = case.definition(*(array.astype(np.float64) for array in case.inputs))
        wide = wide if isinstance(wide, list) else [wide]
        answers.append([np.asarray(value).astype(kind) for value, kind in zip(wide, kinds)])
    for index, answer in zip(graph.outputs, answers[0]):
        graph.tensors[index].shape = answer.shape
    return serialise([graph]), answers, "not in LiteRT: by definition"


def run_group(cases):
    """Runs a case and those that share its model and session.

    Returns (model bytes, outputs of each case, note). Raises Refused or Aborted.
    """
    first = cases[0]
    if first.definition is not None:
        return _by_definition(cases)
    if first.micro:
        model = serialise(first.graphs)
        outputs = _in_child(lambda: _run_micro(model, [case.inputs for case in cases]))
        for case, answer in zip(cases, outputs):
            if case.settle is not None:
                case.settle(answer)
        return model, outputs, "TFLite Micro"
    names = None
    if first.signature is not None:
        key = next(s for s in first.signatures if s[0] == first.signature)
        names = (key[0], list(key[2]), list(key[3]))
    runs = [case.inputs for case in cases]
    if len(first.graphs) == 1:
        _fill_shapes(first.graphs[0], runs[0], optimized=first.optimized)
    else:
        for graph in first.graphs:
            if any(op[0] in CALLERS for op in graph.ops):
                continue
            _fill_shapes(graph, [_blank(graph.tensors[i]) for i in graph.inputs])
        if any(op[0] in CALLERS for op in first.graphs[0].ops):
            _fill_shapes(first.graphs[0], runs[0], first.graphs[1:])
    model = serialise(first.graphs, first.signatures)
    asked = _asked(first.graphs, first.signatures)
    outputs, _, note = _in_child(lambda: _run(asked, runs, names, first.optimized))
    return model, outputs, note
