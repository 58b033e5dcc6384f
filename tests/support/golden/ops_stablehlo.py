"""Operators of StableHLO with options of their own, lists of dimensions and subgraphs as functions."""

import numpy as np

from build import Graph
from cases import Table
from dtypes import TYPES
from sheets import Sheet

N = 20
NUMBERS = ("float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32",
           "int64", "uint64", "bool")
FUNCTIONS = ("STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM")


def draw(rng, dtype, shape, lo=-9, hi=9):
    kind = np.dtype(TYPES[dtype][1])
    if kind.kind == "b":
        return rng.randint(0, 2, shape)
    if kind.kind in "iu":
        return rng.randint(max(lo, 0) if kind.kind == "u" else lo, hi + 1, shape)
    return rng.uniform(lo, hi, shape)


def function(op, dtype):
    """A subgraph of two scalars: one operator, or none and the second number as it is."""
    graph = Graph()
    a, b = graph.input((), dtype), graph.input((), dtype)
    graph.outputs = [b if op is None else graph.op(op, [a, b], (dtype,))]
    if op is not None:
        graph.tensors[graph.outputs[0]].shape = ()
    return graph


def _finish(table, sheet):
    case = sheet.case()
    case.rtol = 0.0
    table.append(case)


# operand, indices, updates, update_window_dims, inserted_window_dims, scatter_dims, index_vector_dim
SCATTERS = (
    ((5, 4), (3, 1), (3, 4), (1,), (0,), (0,), 1),
    ((6,), (4, 1), (4,), (), (0,), (0,), 1),
    ((3, 4, 2), (2, 3, 2), (2, 3, 2), (2,), (0, 1), (0, 1), 2),
    ((4, 5), (2, 3), (3, 2, 2), (1, 2), (), (0, 1), 0),
    ((4, 5), (2, 3), (2, 3, 2), (0, 2), (), (1, 0), 0),
    ((3, 4, 5), (2,), (3, 2), (0, 1), (1,), (2, 1), 0),
    ((2, 3, 4), (4, 2), (2, 4, 1, 3), (0, 2, 3), (), (1, 2), 1),
    ((7, 3), (2, 2, 1), (2, 2, 2, 3), (2, 3), (), (0,), 2),
    ((4, 3), (0, 1), (0, 3), (1,), (0,), (0,), 1),
)


def _scatter():
    table = Table("STABLEHLO_SCATTER")
    for dtype in NUMBERS:
        sheet = Sheet("STABLEHLO_SCATTER", dtype)
        sheet.graph.callees = [function(op, dtype) for op in (None,) + FUNCTIONS]
        for index in range(N + 7):
            shape, places, updates, window, inserted, dims, along = SCATTERS[index % len(SCATTERS)]
            kind = ("int32", "int64")[index % 2]
            body = 1 + index % 5
            # Some places are outside, some are taken twice.
            places = sheet.rng.randint(-1 if index % 3 else 0, max(shape) - index % 2, places)
            args = [
                sheet.x(None, dtype, values=draw(sheet.rng, dtype, shape)),
                sheet.x(None, kind, values=places) if index % 4 else sheet.ints(places, kind),
                sheet.x(None, dtype, values=draw(sheet.rng, dtype, updates)),
            ]
            sheet.add(args, dtype, update_window_dims=list(window), index_vector_dim=along,
                      inserted_window_dims=list(inserted), scatter_dims_to_operand_dims=list(dims),
                      indices_are_sorted=False, unique_indices=False,
                      update_computation_subgraph_index=body)
        _finish(table, sheet)
    return table


# operand, indices, offset_dims, collapsed_slice_dims, start_index_map, index_vector_dim, slice_sizes
GATHERS = (
    ((5, 4), (3, 1), (1,), (0,), (0,), 1, (1, 4)),
    ((6,), (4, 1), (), (0,), (0,), 1, (1,)),
    ((3, 4, 2), (2, 3, 2), (2, 3), (0,), (1, 0), 2, (1, 2, 2)),
    ((4, 5), (2, 3), (0, 2), (), (0, 1), 0, (2, 3)),
    ((3, 4, 5), (2,), (0, 1), (1,), (2, 1), 0, (2, 1, 3)),
    ((2, 3, 4, 2), (3, 2, 2), (1, 2), (0, 3), (0, 2), 1, (1, 2, 3, 1)),
    ((7, 3), (2, 2, 1), (0, 3), (), (0,), 2, (7, 2)),
    ((4, 3), (0, 1), (1,), (0,), (0,), 1, (1, 3)),
    ((33, 17), (3, 2), (1, 2), (), (0, 1), 1, (20, 9)),
)


def _gather():
    table = Table("STABLEHLO_GATHER")
    for dtype in NUMBERS:
        sheet = Sheet("STABLEHLO_GATHER", dtype)
        for index in range(N):
            shape, places, offset, collapsed, dims, along, sizes = GATHERS[index % len(GATHERS)]
            if shape[0] == 33 and dtype != "float32":
                shape, sizes = (6, 5), (3, 2)
            kind = ("int32", "int64")[index % 2]
            places = sheet.rng.randint(-2, max(shape) + 2, places)
            args = [
                sheet.x(None, dtype, values=draw(sheet.rng, dtype, shape)),
                sheet.x(None, kind, values=places) if index % 4 else sheet.ints(places, kind)
            ]
            result = sheet.add(args, dtype, offset_dims=list(offset), index_vector_dim=along,
                               collapsed_slice_dims=list(collapsed), start_index_map=list(dims),
                               slice_sizes=list(sizes), indices_are_sorted=False)
            # LiteRT takes the rank of the output from the file.
            rank = len(offset) + places.ndim - (along < places.ndim)
            sheet.graph.tensors[result].shape = (1,) * rank
        _finish(table, sheet)
    return table


# shape, low, high, interior
PADS = (
    ((4,), (1,), (2,), (0,)),
    ((3, 4), (1, 0), (0, 2), (1, 2)),
    ((3, 4), (-1, 2), (1, -2), (0, 0)),
    ((2, 5), (-1, -3), (0, 1), (2, 3)),
    ((2, 3, 2), (0, 0, 0), (0, 0, 0), (0, 0, 0)),
    ((2, 3, 2), (0, -2, 1), (3, 0, -1), (1, 1, 0)),
    ((5,), (-7,), (9,), (1,)),
    ((1, 2, 3, 2), (0, 1, -1, 0), (0, -1, 1, 1), (3, 0, 2, 0)),
    ((3, 4), (-4, 0), (0, 0), (0, 1)),
    ((0, 2), (1, 0), (1, 1), (2, 0)),
    ((6,), (-3,), (-4,), (2,)),
    ((2, 1, 2, 1, 2), (0, 1, 0, 1, 0), (1, 0, 1, 0, -1), (1, 0, 2, 1, 2)),
)


def _pad():
    table = Table("STABLEHLO_PAD")
    for dtype in NUMBERS:
        sheet = Sheet("STABLEHLO_PAD", dtype)
        for index in range(N):
            shape, low, high, interior = PADS[index % len(PADS)]
            value = draw(sheet.rng, dtype, ((), (1,))[index % 2])
            args = [
                sheet.x(None, dtype, values=draw(sheet.rng, dtype, shape)),
                sheet.x(None, dtype, values=value) if index % 3 else sheet.c(
                    None, dtype, values=value)
            ]
            sheet.add(args, dtype, edge_padding_low=list(low), edge_padding_high=list(high),
                      interior_padding=list(interior))
        _finish(table, sheet)
    return table


# shape, window, strides, base dilations, window dilations, padding; None: not in the file
WINDOWS = (
    ((7,), (3,), (2,), None, None, None),
    ((4, 5), (2, 2), (1, 2), (1, 1), (1, 1), ((0, 1), (1, 0))),
    ((3, 4, 2), (1, 2, 2), None, (2, 1, 3), (1, 2, 1), ((1, 1), (0, 2), (0, 0))),
    ((1, 6), (1, 3), (1, 1), (3, 2), None, ((0, 0), (-2, 1))),
    ((2, 3, 3, 2), (1, 2, 2, 1), None, None, None, ((0, 0), (1, 1), (1, 1), (0, 0))),
    ((5, 5), (2, 3), (2, 1), (2, 1), (2, 2), ((-1, 2), (3, -1))),
    ((3,), (5,), (1,), None, None, None),
)


def _reduce_window():
    table = Table("STABLEHLO_REDUCE_WINDOW")
    bodies = FUNCTIONS + ("ADD", "MUL", "MAXIMUM", "MINIMUM")
    logic = ("STABLEHLO_AND", "LOGICAL_AND", "LOGICAL_OR")  # LiteRT knows no STABLEHLO_OR
    for dtype in ("float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"):
        sheet = Sheet("STABLEHLO_REDUCE_WINDOW", dtype)
        of_bool = dtype == "bool"
        names = logic if of_bool else FUNCTIONS if dtype == "float64" else bodies
        sheet.graph.callees = [function(op, dtype) for op in names]
        for index in range(N + 4):
            shape, window, strides, base, dilations, padding = WINDOWS[index % len(WINDOWS)]
            start = index % 2 if of_bool else (0, 1, 3)[index % 3]
            args = [
                sheet.x(None, dtype, values=draw(sheet.rng, dtype, shape, -3, 3)),
                sheet.c(None, dtype, values=start) if index % 2 else sheet.x(
                    None, dtype, values=start)
            ]
            options = dict(window_strides=strides, base_dilations=base, window_dilations=dilations,
                           padding=padding and np.ravel(padding).tolist())
            options = {key: list(value) for key, value in options.items() if value is not None}
            sheet.add(args, dtype, window_dimensions=list(window),
                      body_subgraph_index=1 + index % len(names), **options)
        _finish(table, sheet)
    return table


def _bits():
    table = Table("STABLEHLO_RNG_BIT_GENERATOR")
    for dtype in ("int32", "uint32", "int64", "uint64"):
        sheet = Sheet("STABLEHLO_RNG_BIT_GENERATOR", dtype)
        for index in range(N):
            algorithm = index % 3
            n = 3 if algorithm < 2 and index % 2 else 2
            state = sheet.rng.randint(0, 1 << 62, n).astype(np.uint64) * np.uint64(3)
            if index % 5 == 4:
                state[1] = np.uint64(0xFFFFFFFFFFFFFFFE if index % 2 else 0x5FFFFFFFF)
            shape = ((5,), (2, 3), (1,), (4, 2, 3), (17,), (0, 2))[index % 6]
            result = sheet.add([sheet.x(None, "uint64", values=state)], ("uint64", dtype), n_out=2,
                               algorithm=algorithm)
            sheet.graph.tensors[result[0]].shape = (n,)
            sheet.graph.tensors[result[1]].shape = shape
        _finish(table, sheet)
    return table


def _branch(dtype, number):
    """Of two tensors: sum, difference, product or the second as it is."""
    graph = Graph()
    a, b = graph.input((2, 3), dtype), graph.input((2, 3), dtype)
    if number == 3:
        graph.outputs = [b]
        return graph
    result = graph.op(("ADD", "SUB", "MUL")[number], [a, b], (dtype,))
    graph.tensors[result].shape = (2, 3)
    graph.outputs = [result]
    return graph


def _case():
    table = Table("STABLEHLO_CASE")
    for dtype in ("float32", "int32"):
        for index in range(N):
            sheet = Sheet("STABLEHLO_CASE", f"{dtype}_{index}")
            n = 1 + index % 3
            sheet.graph.callees = [_branch(dtype, b) for b in range(n + index % 2)]
            branches = sheet.rng.permutation(len(sheet.graph.callees)) + 1
            chosen = (0, 1, 2, -1, 7, 3)[index % 6]
            args = [
                sheet.x(None, "int32", values=(chosen, [chosen])[index % 2]),
                sheet.x(None, dtype, values=draw(sheet.rng, dtype, (2, 3))),
                sheet.x(None, dtype, values=draw(sheet.rng, dtype, (2, 3)))
            ]
            if index % 5 == 4:
                args[0] = sheet.ints(chosen)
                sheet.inputs.pop(0)
                sheet.graph.inputs.pop(0)
            sheet.add(args, dtype, branch_subgraph_indices=[int(b) for b in branches])
            _finish(table, sheet)
    return table


def tables():
    return [_scatter(), _gather(), _pad(), _reduce_window(), _bits(), _case()]
