"""IF, WHILE, CALL_ONCE, STABLEHLO_COMPOSITE and variables: 20 uses of each in one model.

Every model runs twice on one session, the second time with other conditions, rounds and values.
"""

import numpy as np
from flatbuffers import flexbuffers

from build import Graph, rng_for
from cases import Case, Table

SHAPES = ((2, 3), (5,), (1, 4), (3, 1, 2), (1,), (2, 5), (7,))


def _graph(shapes, dtypes, build):
    """A subgraph; build appends its operators and returns its outputs."""
    graph = Graph()
    graph.outputs = build(graph, *(graph.input(s, d) for s, d in zip(shapes, dtypes)))
    return graph


def _number(graph, value, dtype="int32"):
    return graph.const(np.array(value, dtype))


class _Main:
    """The first subgraph: inputs have a value for each of the two runs."""

    def __init__(self, name):
        self.name, self.rng, self.graph, self.runs = name, rng_for(name), Graph(), ([], [])

    def input(self, first, second=None):
        second = first if second is None else second
        for run, value in zip(self.runs, (first, second)):
            run.append(np.asarray(value))
        return self.graph.input(self.runs[0][-1].shape, str(self.runs[0][-1].dtype))

    def random(self, shape, dtype):
        return self.input(*(self.rng.randint(-9, 10, shape).astype(dtype) for _ in range(2)))

    def add(self, code, inputs, types, **options):
        result = self.graph.op(code, inputs, types, **options)
        self.graph.outputs += result if isinstance(result, list) else [result]
        return result

    def finish(self, table, others):
        graphs = [self.graph] + others
        for number, run in enumerate(self.runs):
            table.append(Case(f"{self.name}_{number}", graphs, run, same_model=number > 0))


def _two(code, dtype):
    return lambda g, a, b: [g.op(code, [a, b], (dtype,))]


# Types of the arguments, the branches, types of the results.
BRANCHES = (
    (("float32",) * 2, _two("ADD", "float32"), _two("MUL", "float32"), ("float32",)),
    (("int32",) * 2, _two("SUB", "int32"), _two("MAXIMUM", "int32"), ("int32",)),
    (("float32", "int32"), lambda g, a, b: [g.op("NEG", [b], ("int32",)), a],
     lambda g, a, b: [b, g.op("ABS", [a])], ("int32", "float32")),
    (("float32",), lambda g, a: [g.op("CONCATENATION", [a, a, a], axis=0)],
     lambda g, a: [g.op("RELU", [a])], ("float32",)),
    # Not RESHAPE, whose result in LiteRT is the branch's own memory, which the next IF overwrites.
    (("int64",), lambda g, a: [g.op("PACK", [a, a], ("int64",), values_count=2, axis=0)],
     lambda g, a: [g.op("NEG", [a], ("int64",))], ("int64",)),
)


def _if():
    table, main, others = Table("CONTROL_IF"), _Main("if"), []
    for k, (types, *branches, results) in enumerate(BRANCHES):
        for m, branch in enumerate(branches):
            others.append(_graph([SHAPES[k]] * len(types), types, branch))
        for m in range(4):
            holds = np.array((k + m) % 2 == 0)
            shape = SHAPES[(k + m) % len(SHAPES)]
            inputs = [main.input(holds, ~holds)] + [main.random(shape, d) for d in types]
            main.add("IF", inputs, results, then_subgraph_index=2 * k + 1,
                     else_subgraph_index=2 * k + 2)
    main.finish(table, others)
    return table


# The type of the value, what a round makes of it.
ROUNDS = (
    ("float32", lambda g, i, n, v: g.op("MUL", [v, _number(g, -0.5, "float32")])),
    ("int32", lambda g, i, n, v: g.op("ADD", [v, i], ("int32",))),
    ("float32", lambda g, i, n, v: g.op("CONCATENATION", [v, v], axis=0)),
    ("int64", lambda g, i, n, v: g.op("SUB", [_number(g, 3, "int64"), v], ("int64",))),
)


def _while():
    table, main, others = Table("CONTROL_WHILE"), _Main("while"), []
    for k in range(20):  # LiteRT gives the subgraphs of a loop one shape
        dtype, change = ROUNDS[k % len(ROUNDS)]
        types, shapes = ("int32", "int32", dtype), ((), (), SHAPES[k % len(SHAPES)])
        others.append(_graph(shapes, types, lambda g, i, n, v: [g.op("LESS", [i, n], ("bool",))]))
        others.append(
            _graph(shapes, types,
                   lambda g, i, n, v: [g.op("ADD", [i, _number(g, 1)], ("int32",)), n,
                                       change(g, i, n, v)]))
        rounds = [np.array(n, np.int32) for n in (k % 5, (k + 2) % 4)]
        inputs = [main.input(np.array(0, np.int32)), main.input(*rounds),
                  main.random(shapes[2], dtype)]
        main.add("WHILE", inputs, types, cond_subgraph_index=2 * k + 1,
                 body_subgraph_index=2 * k + 2)
    main.finish(table, others)
    return table


def _variables():
    """A variable is read, the sum of it and an input assigned, and read again.

    The first run's values come from a subgraph that CALL_ONCE runs.
    """
    table, main, start = Table("CONTROL_VARIABLES"), _Main("variables"), Graph()
    main.graph.op("CALL_ONCE", [], (), init_subgraph_index=1)
    for k in range(20):
        shape = SHAPES[k % len(SHAPES)]
        dtype = ("float32", "int32", "int64")[k % 3]
        name = dict(container="", shared_name=f"v{k}")
        handle = start.op("VAR_HANDLE", [], ("resource",), **name)
        value = start.const(main.rng.randint(-9, 10, shape).astype(dtype))
        start.op("ASSIGN_VARIABLE", [handle, value], ())
        handle = main.graph.op("VAR_HANDLE", [], ("resource",), **name)
        before = main.add("READ_VARIABLE", [handle], (dtype,))
        total = main.graph.op("ADD", [before, main.random(shape, dtype)], (dtype,))
        main.graph.op("ASSIGN_VARIABLE", [handle, total], ())
        main.add("READ_VARIABLE", [handle], (dtype,))
    main.finish(table, [start])
    return table


def _composite():
    table, main, others = Table("CONTROL_COMPOSITE"), _Main("composite"), []
    codes = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")
    for k in range(20):
        shape, code = SHAPES[k % len(SHAPES)], codes[k % len(codes)]
        others.append(_graph([shape] * 2, ("float32",) * 2, _two(code, "float32")))
        main.add("STABLEHLO_COMPOSITE", [main.random(shape, "float32") for _ in range(2)],
                 ("float32",), name="tests." + code.lower(), decomposition_subgraph_index=k + 1,
                 composite_attributes=list(flexbuffers.Dumps({})))
    main.finish(table, others)
    return table


def _call():
    """Bodies of one operator, of two, with several results, and calls of what calls."""
    table, main, others = Table("CONTROL_CALL"), _Main("call"), []
    one = lambda g, a, b: [g.op("ADD", [a, b], (g.tensors[a].dtype,))]
    two = lambda g, a, b: [g.op("MUL", [g.op("SUB", [a, b], (g.tensors[a].dtype,)), b],
                                (g.tensors[a].dtype,))]
    both = lambda g, a, b: [g.op(code, [a, b], (g.tensors[a].dtype,))
                            for code in ("MAXIMUM", "MINIMUM")]
    back = lambda g, a, b: [b, a]
    for k in range(30):
        shape, dtype = SHAPES[k % len(SHAPES)], ("float32", "int32", "int64")[k % 3]
        body = (one, two, both, back)[k % 4]
        others.append(_graph([shape] * 2, (dtype,) * 2, body))
        results = (dtype,) * (1 + k % 4 // 2)
        called = len(others)
        if k % 5 == 4:  # a subgraph that calls the one before
            others.append(_graph([shape] * 2, (dtype,) * 2, lambda g, a, b: _calls(
                g, [b, a], results, called)))
            called = len(others)
        main.add("CALL", [main.random(shape, dtype) for _ in range(2)], results, subgraph=called)
    main.finish(table, others)
    return table


def _calls(graph, inputs, types, subgraph):
    result = graph.op("CALL", inputs, types, subgraph=subgraph)
    return result if isinstance(result, list) else [result]


def _start():
    """CALL_ONCE: 20 of them, each gives a variable its first value; a second run finds another."""
    table, main, others = Table("CONTROL_CALL_ONCE"), _Main("call_once"), []
    for k in range(20):
        shape, dtype = SHAPES[k % len(SHAPES)], ("float32", "int32", "int64")[k % 3]
        name, start = dict(container="", shared_name=f"once{k}"), Graph()
        value = start.const(main.rng.randint(-9, 10, shape).astype(dtype))
        start.op("ASSIGN_VARIABLE", [start.op("VAR_HANDLE", [], ("resource",), **name), value], ())
        others.append(start)
        main.graph.op("CALL_ONCE", [], (), init_subgraph_index=k + 1)
        handle = main.graph.op("VAR_HANDLE", [], ("resource",), **name)
        before = main.add("READ_VARIABLE", [handle], (dtype,))
        total = main.graph.op("ADD", [before, main.random(shape, dtype)], (dtype,))
        main.graph.op("ASSIGN_VARIABLE", [handle, total], ())
    main.finish(table, others)
    return table


def tables():
    return [_if(), _while(), _variables(), _composite(), _call(), _start()]
