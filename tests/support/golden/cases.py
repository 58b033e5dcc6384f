"""How a table describes a case: x(...) is a run-time input, c(...) a constant, None no input.

x(2, 3) is a random float32 tensor of shape [2, 3] between -2 and 2; x(2, 3, dtype="int32", lo=0,
hi=9) draws integers from [lo, hi); x(values=[...]) gives the numbers themselves. Random data depend
on the names of the operator and the case alone, so a new case leaves all the others as they are.
"""

from dataclasses import dataclass, field

import numpy as np

from build import Graph, rng_for
from dtypes import TYPES

ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6")

# Operators that move, choose or round only once: their answers must be the reference's to the bit.
EXACT = set("""
    ADD SUB MUL MAXIMUM MINIMUM FLOOR CEIL ROUND SIGN ABS NEG SQUARE ZEROS_LIKE RELU RELU6
    RELU_N1_TO_1 RELU_0_TO_1 LEAKY_RELU PRELU MAX_POOL_2D REDUCE_MAX REDUCE_MIN TOPK_V2 SELECT
    SELECT_V2 CAST RESHAPE SQUEEZE EXPAND_DIMS FILL TILE BROADCAST_TO PACK UNPACK SPLIT SPLIT_V
    CONCATENATION TRANSPOSE MATRIX_DIAG MATRIX_SET_DIAG SLICE STRIDED_SLICE PAD PADV2 MIRROR_PAD
    GATHER GATHER_ND REVERSE_V2 REVERSE_SEQUENCE ONE_HOT EMBEDDING_LOOKUP SPARSE_TO_DENSE
    DYNAMIC_UPDATE_SLICE SPACE_TO_DEPTH DEPTH_TO_SPACE SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND
    RESIZE_NEAREST_NEIGHBOR""".split())


@dataclass
class Spec:
    shape: tuple
    dtype: str
    lo: float
    hi: float
    values: object
    constant: bool
    quantization: tuple = None

    def draw(self, rng):
        kind = TYPES[self.dtype][1]
        if self.dtype == "string":
            return strings(rng, self.shape) if self.values is None else np.array(self.values, kind)
        if self.values is not None:
            return np.array(self.values, kind)
        if self.dtype == "bool":
            return rng.randint(0, 2, self.shape).astype(kind).reshape(self.shape)
        if np.issubdtype(kind, np.integer):
            return np.asarray(rng.randint(int(self.lo), int(self.hi), self.shape)).astype(kind)
        return np.asarray(rng.uniform(self.lo, self.hi, self.shape)).astype(kind)


WORDS = [b"", b"a", b"b", b"tree", b"trunk", b"two words", b"UNK", "gr\u00fcn".encode(), b"\x00\xff",
         b"a longer one, beyond sixteen bytes"]


def strings(rng, shape):
    """Few different words, so that some are equal."""
    out = np.empty(shape, object)
    for at in np.ndindex(*shape):
        out[at] = WORDS[rng.randint(len(WORDS))]
    return out


def _spec(constant, dims, dtype=None, lo=None, hi=None, values=None, quantization=None):
    dtype = dtype or "float32"
    if lo is None:
        lo, hi = (-2, 2) if dtype.startswith("float") else (0 if dtype[0] == "u" else -9, 10)
    return Spec(tuple(dims), dtype, lo, hi, values, constant, quantization)


def x(*dims, **kwargs):
    return _spec(False, dims, **kwargs)


def c(*dims, **kwargs):
    return _spec(True, dims, **kwargs)


def ci(*values):
    """A constant int32 vector."""
    return _spec(True, (), dtype="int32", values=list(values))


def cs(value, dtype="int32"):
    """A constant scalar."""
    return _spec(True, (), dtype=dtype, values=value)


def dims_name(shape):
    """A shape as part of a case's name: 2x3, scalar."""
    return "x".join(map(str, shape)) or "scalar"


@dataclass
class Case:
    name: str
    graphs: list
    inputs: list  # run-time arrays, in order
    signatures: list = field(default_factory=list)
    signature: str = None  # which to run; None: the first subgraph
    rtol: float = 1e-5
    refused: bool = False
    same_model: bool = False  # the case before holds the model and the session
    micro: bool = False  # LiteRT lacks the operator: TFLite Micro answers
    settle: object = None  # a function of its answers: zeros where it writes nothing
    optimized: bool = False  # the reference kernel is known to be wrong: ask the optimized one
    definition: object = None  # LiteRT lacks the operator: a function of float64 inputs answers


class Table:
    """The cases of one operator."""

    def __init__(self, op, definition=None):
        self.op = op
        self.definition = definition  # of one output with the first input's shape
        self.cases = []
        self.rtol = 0.0 if op in EXACT else 1e-5

    def add(self,
            name,
            inputs,
            out="float32",
            version=None,
            rtol=None,
            refused=False,
            n_out=1,
            quantization=None,
            **options):
        """One case of this operator alone. act="RELU" stands for the fused activation."""
        rng = rng_for(f"{self.op}/{name}")
        if "act" in options:
            options["fused_activation_function"] = options.pop("act")
        graph, run_time, indices = Graph(), [], []
        for spec in inputs:
            if spec is None:
                indices.append(None)
                continue
            data = spec.draw(rng)
            if spec.constant:
                indices.append(graph.const(data, spec.quantization))
            else:
                indices.append(graph.input(data.shape, spec.dtype, quantization=spec.quantization))
                run_time.append(data)
        types = (out,) * n_out if isinstance(out, str) else tuple(out)
        result = graph.op(self.op, indices, types, version, quantization, **options)
        graph.outputs = result if isinstance(result, list) else [result]
        self.append(
            Case(name, [graph], run_time, rtol=self.rtol if rtol is None else rtol,
                 refused=refused, definition=self.definition))

    def add_refused(self, name, inputs, n_out=1, **options):
        """A case that must be refused. Inputs: (dtype, shape), or int32 values known at run time."""
        specs = [x(*i[1], dtype=i[0]) if isinstance(i, tuple) else x(values=i, dtype="int32")
                 for i in inputs]
        out = [specs[0].dtype] + ["int32"] * (n_out - 1)
        self.add("refuse_" + name, specs, out=out, refused=True, **options)

    def append(self, case):
        if any(case.name == other.name for other in self.cases):
            raise ValueError(f"{self.op}: two cases named {case.name}")
        self.cases.append(case)
