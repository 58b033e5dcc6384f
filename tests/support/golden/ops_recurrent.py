"""LSTM, RNN and SVDF in all their forms: sheets of cells whose states carry from run to run.

Every sheet runs three times on one interpreter with new inputs. Floats: 1e-5 of the largest output.
"""

from dataclasses import dataclass

import numpy as np

from cases import Case, Table
from dtypes import TYPES
from sheets import Sheet

N_RUNS = 3
STATE = 1 / 128, -4  # scale and zero point of an int8 cell's output
INPUT = 1 / 40, 7
CELL = 2.0**-11


class CellSheet(Sheet):
    """A sheet that runs several times, and weights as a kind of arithmetic wants them."""

    def __init__(self, op, name, kind):
        super().__init__(op, name)
        self.kind, self.drawn = kind, []

    def data(self, shape):
        """A run-time input; zeros now and then, and a row without a spread."""
        if self.kind == "int8":
            self.drawn.append((shape, "int8"))
            return self.x(shape, "int8", *INPUT)
        self.drawn.append((shape, "float32"))
        return self.x(shape, "float32", lo=-1.5, hi=1.5)

    def weights(self, *shape, dtype=None):
        """Real values of about ±1 over the root of the depth."""
        size = 1.6 / np.sqrt(shape[-1])
        if self.kind == "float":
            return self.c(shape, "float32", lo=-size, hi=size)
        lo, hi = (0, 255) if dtype == "uint8" else (-127, 127)  # uint8 is read as int8
        return self.c(shape, dtype or "int8", size / 127 * (0.7 + 0.6 * self.rng.rand()), lo=lo,
                      hi=hi)

    def state(self, shape, cell=False):
        if self.kind != "int8":
            return self.graph.variable(shape)
        if cell:
            return self.graph.variable(shape, "int16", ((CELL,), (0,), 0))
        return self.graph.variable(shape, "int8", ((STATE[0],), (STATE[1],), 0))

    def cases(self, rtol):
        """The runs, the second and third on the session of the first."""
        result = [Case(self.name, [self.graph], self.inputs, rtol=rtol)]
        for run in range(1, N_RUNS):
            inputs = [self._data(shape, dtype, -1.5 if dtype == "float32" else None,
                                 1.5 if dtype == "float32" else None, None)
                      for shape, dtype in self.drawn]
            result.append(
                Case(f"{self.name}_run_{run + 1}", [self.graph], inputs, rtol=rtol,
                     same_model=True))
        return result


@dataclass
class Lstm:
    """What one LSTM cell looks like."""

    batch: int = 1
    time: int = 3
    n_input: int = 3
    n_cell: int = 4
    n_output: int = 0  # 0: as many as cells
    cifg: bool = False
    peephole: bool = False
    projection: bool = False
    projection_bias: bool = False
    norm: bool = False
    diagonal: bool = False
    time_major: bool = False
    act: str = "TANH"
    cell_clip: float = 0.0
    proj_clip: float = 0.0
    asymmetric: bool = False

    @property
    def n_out(self):
        return self.n_output or self.n_cell


LSTMS = (
    Lstm(),
    Lstm(batch=2, time=4, n_input=5, n_cell=19, cell_clip=0.6),
    Lstm(batch=3, time_major=True, n_cell=7, n_input=2),
    Lstm(cifg=True, n_cell=5, asymmetric=True),
    Lstm(peephole=True, batch=2, cell_clip=0.4),
    Lstm(projection=True, n_cell=6, n_output=3, proj_clip=0.3, batch=2),
    Lstm(projection=True, projection_bias=True, n_cell=5, n_output=2, time_major=True, batch=2),
    Lstm(norm=True, n_cell=8, batch=2),
    Lstm(norm=True, cifg=True, peephole=True, n_cell=6, asymmetric=True),
    Lstm(norm=True, peephole=True, projection=True, projection_bias=True, n_cell=4, n_output=4,
         cell_clip=0.5, proj_clip=0.7),
    Lstm(cifg=True, peephole=True, time=1, n_cell=3, time_major=True),
    Lstm(time=6, n_input=9, n_cell=17, batch=2, asymmetric=True),
)
FLOAT_LSTMS = LSTMS + (
    Lstm(act="RELU6"),
    Lstm(act="RELU_N1_TO_1", cell_clip=1.5),  # (LiteRT 2.3 leaves the sum out where it is NONE)
    Lstm(act="RELU", projection=True, n_cell=5, n_output=3),
)


# Of hybrid cells: float rows are quantized with a zero point of their own.
ASYMMETRIC_LSTMS = (
    Lstm(n_cell=5, asymmetric=True),
    Lstm(batch=2, peephole=True, n_cell=3, asymmetric=True),
    Lstm(projection=True, n_cell=5, n_output=2, asymmetric=True),
    Lstm(time=2, n_input=1, n_cell=9, cifg=True, asymmetric=True),
)
DIAGONAL_LSTMS = tuple(
    Lstm(diagonal=True, batch=b, n_cell=n, n_input=i, time=2, time_major=m)
    for b, n, i, m in ((1, 3, 2, False), (2, 5, 1, False), (1, 17, 3, False), (3, 2, 2, True),
                       (1, 1, 1, False), (2, 4, 6, True)))


def _gate_weights(sheet, cell, columns, **kwargs):
    first = [None] if cell.cifg else [sheet.weights(cell.n_cell, columns, **kwargs)]
    return first + [sheet.weights(cell.n_cell, columns, **kwargs) for _ in range(3)]


def _vectors(sheet, cell, wanted, make, skip=()):
    """One vector a gate, None where the cell has none."""
    return [
        make() if wanted and gate not in skip and not (cell.cifg and gate == 0) else None
        for gate in range(4)
    ]


def _bias(sheet, n, size=0.5):
    if sheet.kind == "int8":
        return sheet.c((n,), "int32", INPUT[0] / 100, lo=-2000, hi=2000)
    return sheet.c((n,), "float32", lo=-size, hi=size)


def _peephole(sheet, n):
    if sheet.kind == "int8":
        return sheet.c((n,), "int16", 1 / 32768, lo=-20000, hi=20000)
    if sheet.kind == "hybrid":
        return sheet.c((n,), "int8", 1 / 150, lo=-127, hi=127)
    return sheet.c((n,), "float32", lo=-0.7, hi=0.7)


def _norm(sheet, n):
    if sheet.kind == "int8":
        return sheet.c((n,), "int16", 1.3 / 32768, lo=8000, hi=32000)
    return sheet.c((n,), "float32", lo=0.3, hi=1.3)


def _cell_inputs(sheet, cell, dtype):
    """Inputs 1 to 17 of a unidirectional cell."""
    recurrent = _gate_weights(sheet, cell, cell.n_out, dtype=dtype)
    if cell.diagonal:
        recurrent = [
            None if w is None else sheet.c((cell.n_cell,), "float32", lo=-0.8, hi=0.8)
            for w in recurrent
        ]
    peephole = _vectors(sheet, cell, cell.peephole, lambda: _peephole(sheet, cell.n_cell), (2,))
    del peephole[2]
    bias = _vectors(sheet, cell, True, lambda: _bias(sheet, cell.n_cell))
    projection = [
        sheet.weights(cell.n_out, cell.n_cell, dtype=dtype) if cell.projection else None,
        _bias(sheet, cell.n_out) if cell.projection_bias else None
    ]
    return _gate_weights(sheet, cell, cell.n_input, dtype=dtype) + recurrent + peephole + bias, \
        projection


def _hidden(cell):
    """The intermediates' scales and zero points."""
    gates = [((s,), (0,), 0) for s in (0.0004, 0.0005, 0.0003, 0.00045)]
    last = ((1 / 120,), (9,), 0) if cell.projection else ((STATE[0],), (STATE[1],), 0)
    return (gates if cell.norm else [None] * 4) + [last]


def _options(cell, **more):
    if cell.diagonal:
        more["diagonal_recurrent_tensors"] = True
    return dict(more, act=cell.act, cell_clip=cell.cell_clip, proj_clip=cell.proj_clip,
                asymmetric_quantize_inputs=cell.asymmetric)


def _add_lstm(sheet, cell, dtype=None):
    """A unidirectional cell: one step for LSTM, a sequence for the other operator."""
    steps = sheet.op != "LSTM"
    shape = (cell.batch, cell.n_input)
    if steps:
        shape = (cell.time, cell.batch) if cell.time_major else (cell.batch, cell.time)
        shape += (cell.n_input,)
    data = sheet.data(shape)
    weights, projection = _cell_inputs(sheet, cell, dtype)
    states = [sheet.state((cell.batch, cell.n_out)),
              sheet.state((cell.batch, cell.n_cell), cell=True)]
    norm = _vectors(sheet, cell, cell.norm, lambda: _norm(sheet, cell.n_cell))
    more = {"time_major": cell.time_major} if steps else {}
    integer = sheet.kind == "int8"
    sheet.add([data] + weights + projection + states + norm, "int8" if integer else "float32",
              *(STATE if integer else ()), **_options(cell, **more))
    if integer:
        sheet.graph.hidden(_hidden(cell))


def _lstm_table(op):
    table = Table(op)
    for kind in ("float", "hybrid", "int8"):
        sheet = CellSheet(op, kind, kind)
        cells = FLOAT_LSTMS if kind == "float" else LSTMS
        for index, cell in enumerate(cells):
            _add_lstm(sheet, cell, "uint8" if kind == "hybrid" and index == 2 else None)
        if kind == "float" and op != "LSTM":
            _add_lstm(sheet, Lstm(diagonal=True, batch=2))
        for case in sheet.cases(1.0 if kind == "int8" else 1e-5):
            table.append(case)
    for name, kind, cells in (("asymmetric", "hybrid", ASYMMETRIC_LSTMS),
                              ("diagonal", "float", () if op == "LSTM" else DIAGONAL_LSTMS)):
        sheet = CellSheet(op, name, kind)
        for cell in cells:
            _add_lstm(sheet, cell)
        for case in sheet.cases(1e-5) if cells else ():
            table.append(case)
    return table


def _basic_table():
    """LSTM with kernel_type BASIC."""
    table = Table("LSTM_BASIC")
    for kind in ("float", "uint8"):
        sheet = CellSheet("LSTM", "basic_" + kind, kind)
        for batch, n_input, n in ((1, 3, 4), (2, 5, 3), (1, 8, 17), (3, 2, 6), (1, 1, 1),
                                  (2, 4, 8), (1, 16, 5)):
            concat = n_input + n
            if kind == "float":
                inputs = [sheet.data((batch, n_input)), sheet.graph.variable((batch, n)),
                          sheet.c((4 * n, concat), "float32", lo=-0.8, hi=0.8),
                          sheet.c((4 * n,), "float32", lo=-0.5, hi=0.5),
                          sheet.graph.variable((batch, n))]
                results = sheet.add(inputs, ("float32",) * 4, n_out=4, kernel_type=1,
                                    act="TANH")
                continue
            data = ((1 / 128,), (128,), 0)
            cell = ((1 / 2048,), (0,), 0)
            scale = 0.01 + 0.01 * sheet.rng.rand()
            sheet.drawn.append(((batch, n_input), "uint8"))
            inputs = [sheet.x((batch, n_input), "uint8", 1 / 128, 128),
                      sheet.graph.variable((batch, n), "uint8", data),
                      sheet.c((4 * n, concat), "uint8", scale, 131),
                      sheet.c((4 * n,), "int32", scale / 128, lo=-5000, hi=5000),
                      sheet.graph.variable((batch, n), "int16", cell)]
            results = sheet.add(inputs, ("uint8", "int16", "uint8", "int16"), n_out=4,
                                kernel_type=1, act="TANH")
            quantizations = (data, cell, data, ((1 / 4096,), (0,), 0))
            for tensor, quantization in zip(results, quantizations):
                sheet.graph.tensors[tensor].quantization = quantization
        for case in sheet.cases(0.0 if kind == "uint8" else 1e-5):
            table.append(case)
    return table


BIDIRECTIONAL_LSTMS = (
    # forward, backward (LiteRT wants them of one size), merge_outputs, and the auxiliary input:
    # None, "weights", or "backward" where the backward cell reads it in place of the first
    (Lstm(), Lstm(), False, None),
    (Lstm(time=4, n_cell=3), Lstm(time=4, n_cell=3), True, None),
    (Lstm(time_major=True, batch=3), Lstm(time_major=True, batch=3), False, None),
    (Lstm(time_major=True, batch=2, n_cell=5), Lstm(time_major=True, batch=2, n_cell=5), True,
     None),
    (Lstm(cifg=True, asymmetric=True), Lstm(cifg=True, asymmetric=True, peephole=True), False,
     None),
    (Lstm(peephole=True), Lstm(), False, "weights"),
    (Lstm(batch=2), Lstm(batch=2), False, "weights"),
    (Lstm(n_cell=5), Lstm(n_cell=5), False, "backward"),
    (Lstm(projection=True, n_cell=6, n_output=3, proj_clip=0.4),
     Lstm(projection=True, projection_bias=True, n_cell=6, n_output=3, proj_clip=0.4), False, None),
    (Lstm(time=6, n_cell=18, cell_clip=0.5), Lstm(time=6, n_cell=18, cell_clip=0.5), True,
     "weights"),
)


ASYMMETRIC_BIDIRECTIONAL = tuple(
    (Lstm(time=2, asymmetric=True, **more), Lstm(time=2, asymmetric=True, **more), merge, auxiliary)
    for more, merge, auxiliary in ((dict(), False, None), (dict(n_cell=3), True, None),
                                   (dict(batch=2), False, "weights"), (dict(cifg=True), True, None),
                                   (dict(peephole=True), False, None),
                                   (dict(n_cell=5), False, "backward"),
                                   (dict(projection=True, n_output=2), False, None),
                                   (dict(n_cell=2), False, None)))


def _sequence_shape(cell, depth):
    return ((cell.time, cell.batch) if cell.time_major else (cell.batch, cell.time)) + (depth,)


def _bidirectional_table():
    table = Table("BIDIRECTIONAL_SEQUENCE_LSTM")
    for name, kind, cells in (("float", "float", BIDIRECTIONAL_LSTMS),
                              ("hybrid", "hybrid", BIDIRECTIONAL_LSTMS),
                              ("asymmetric", "hybrid", ASYMMETRIC_BIDIRECTIONAL)):
        sheet = CellSheet(table.op, name, kind)
        for forward, backward, merge, auxiliary in cells:
            inputs, states, aux_weights = [sheet.data(_sequence_shape(forward, 3))], [], []
            for cell in (forward, backward):
                weights, projection = _cell_inputs(sheet, cell, None)
                inputs += weights + projection
                states += [sheet.state((cell.batch, cell.n_out)),
                           sheet.state((cell.batch, cell.n_cell))]
                aux_weights += (_gate_weights(sheet, cell, 4)
                                if auxiliary == "weights" else [None] * 4)
            depth = 4 if auxiliary == "weights" else 3
            aux = sheet.data(_sequence_shape(forward, depth)) if auxiliary else None
            sheet.add(inputs + states + [aux] + aux_weights, "float32",
                      n_out=1 if merge else 2,
                      **_options(forward, time_major=forward.time_major, merge_outputs=merge))
        for case in sheet.cases(1e-5):
            table.append(case)
    return table


@dataclass
class Rnn:
    batch: int = 1
    time: int = 3
    n_input: int = 3
    n_units: int = 4
    time_major: bool = False
    act: str = "TANH"
    asymmetric: bool = False


RNNS = (Rnn(), Rnn(batch=2, act="RELU"), Rnn(time_major=True, batch=3, n_units=5),
        Rnn(n_units=18, n_input=7, time=5), Rnn(act="NONE", n_units=2),
        Rnn(act="RELU_N1_TO_1", asymmetric=True), Rnn(act="RELU6", batch=2, time_major=True),
        Rnn(n_input=1, n_units=1, time=1), Rnn(batch=2, n_units=17, asymmetric=True),
        Rnn(batch=4, time=2, n_input=6))


ASYMMETRIC_RNNS = tuple(
    Rnn(asymmetric=True, **more) for more in (dict(), dict(batch=3, n_units=2), dict(act="RELU", time=1),
                                              dict(n_input=7, n_units=9), dict(act="NONE")))
RNN_KINDS = (("float", "float", RNNS), ("hybrid", "hybrid", RNNS),
             ("asymmetric", "hybrid", ASYMMETRIC_RNNS))
RNN_AUXILIARY = {2: "weights", 3: "weights", 6: "backward", 8: "weights"}


def _rnn_inputs(sheet, cell):
    return [sheet.weights(cell.n_units, cell.n_input), sheet.weights(cell.n_units, cell.n_units),
            sheet.c((cell.n_units,), "float32", lo=-0.5, hi=0.5),
            sheet.state((cell.batch, cell.n_units))]


def _rnn_table(op):
    table = Table(op)
    for name, kind, cells in RNN_KINDS:
        sheet = CellSheet(op, name, kind)
        for cell in cells:
            options = {"act": cell.act, "asymmetric_quantize_inputs": cell.asymmetric}
            shape = (cell.batch, cell.n_input)
            if op != "RNN":
                shape = _sequence_shape(cell, cell.n_input)
                options["time_major"] = cell.time_major
            sheet.add([sheet.data(shape)] + _rnn_inputs(sheet, cell), "float32", **options)
        for case in sheet.cases(1e-5):
            table.append(case)
    return table


def _bidirectional_rnn_table():
    table = Table("BIDIRECTIONAL_SEQUENCE_RNN")
    for name, kind, cells in RNN_KINDS:
        sheet = CellSheet(table.op, name, kind)
        for index, cell in enumerate(cells):
            if kind == "hybrid" and cell.time_major:  # LiteRT 2.3 walks the sequence `time` times
                cell = Rnn(**{**cell.__dict__, "time": 1})
            # LiteRT 2.3 steps through an auxiliary input with the input's depth, and has the
            # backward cell read it in place of the input only where time comes first.
            merge, auxiliary = index % 2 == 1, RNN_AUXILIARY.get(index)
            inputs = [sheet.data(_sequence_shape(cell, cell.n_input))]
            other = Rnn(**{**cell.__dict__, "n_units": cell.n_units + 1 if index % 3 else 3})
            inputs += _rnn_inputs(sheet, cell) + _rnn_inputs(sheet, other)
            aux = [None] * 3
            if auxiliary == "weights":
                aux = [sheet.data(_sequence_shape(cell, cell.n_input)),
                       sheet.weights(cell.n_units, cell.n_input),
                       sheet.weights(other.n_units, cell.n_input)]
            elif auxiliary == "backward":
                aux = [sheet.data(_sequence_shape(cell, cell.n_input)), None, None]
            sheet.add(inputs + aux, "float32", n_out=1 if merge else 2, act=cell.act,
                      time_major=cell.time_major, merge_outputs=merge,
                      asymmetric_quantize_inputs=cell.asymmetric)
        for case in sheet.cases(1e-5):
            table.append(case)
    return table


# batch, depth, units, rank, memory, bias, activation, asymmetric
SVDFS = ((1, 3, 4, 1, 5, True, "RELU", False), (2, 4, 3, 2, 3, True, "NONE", False),
         (1, 6, 9, 2, 10, False, "RELU6", True), (3, 2, 5, 3, 4, True, "TANH", False),
         (1, 16, 8, 1, 8, True, "RELU", True), (2, 5, 18, 1, 2, False, "RELU_N1_TO_1", False),
         (1, 1, 1, 1, 1, True, "RELU", False), (4, 7, 2, 4, 6, True, "NONE", True))


MORE_SVDFS = ((1, 2, 4, 1, 3, True, "RELU", False), (2, 3, 2, 2, 2, False, "NONE", False),
              (1, 5, 3, 1, 4, True, "NONE", True), (3, 1, 6, 2, 2, True, "RELU", True),
              (1, 9, 2, 3, 1, False, "TANH", True), (2, 2, 17, 1, 2, True, "RELU6", True))


def _svdf_table():
    table = Table("SVDF")
    for name, kind, cells in (("float", "float", SVDFS), ("hybrid", "hybrid", SVDFS),
                              ("int8", "int8", SVDFS), ("more", "hybrid", MORE_SVDFS)):
        sheet = CellSheet("SVDF", name, kind)
        for batch, depth, units, rank, memory, bias, act, asymmetric in cells:
            filters, integer = units * rank, kind == "int8"
            data = sheet.data((batch, depth))
            feature = sheet.weights(filters, depth)
            if integer:
                time = sheet.c((filters, memory), "int16", 1 / 32768 / memory, lo=-32000, hi=32000)
                state = sheet.graph.variable((batch, memory * filters), "int16",
                                             ((1 / 8192,), (0,), 0))
                constant = sheet.c((units,), "int32", 1e-6, lo=-9000000, hi=9000000)
            else:
                time = sheet.weights(filters, memory)
                state = sheet.graph.variable((batch, memory * filters))
                constant = sheet.c((units,), "float32", lo=-0.5, hi=0.5)
            out = ("int8", 1 / 60, -90) if integer else ("float32",)
            sheet.add([data, feature, time, constant if bias else None, state], *out,
                      rank=rank, act="RELU" if integer else act,
                      asymmetric_quantize_inputs=asymmetric)
        for case in sheet.cases(1.0 if kind == "int8" else 1e-5):
            table.append(case)
    return table


def tables():
    return [
        _lstm_table("LSTM"),
        _lstm_table("UNIDIRECTIONAL_SEQUENCE_LSTM"),
        _basic_table(),
        _bidirectional_table(),
        _rnn_table("RNN"),
        _rnn_table("UNIDIRECTIONAL_SEQUENCE_RNN"),
        _bidirectional_rnn_table(),
        _svdf_table(),
    ]
