"""Strings: the operators that move or compare them, hash tables, and subgraphs that take them."""

import numpy as np

from build import Graph, rng_for
from cases import Case, Table, strings
from sheets import Sheet

N = 20  # cases of every operator and type
STRING, INT64 = 5, 4  # in TensorType
SHAPES = ((6,), (2, 3), (1,), (3, 1, 2), (4, 5), (7,), (0,), (2, 0, 3), (1, 1), (2, 2, 2, 2))


def _text(sheet, shape, index):
    """An input, a constant where index is a multiple of 3."""
    return (sheet.x if index % 3 else sheet.c)(shape, "string")


def _reshape(sheet, index):
    shape = SHAPES[index % 10]
    n = int(np.prod(shape))
    to = ([-1] if n else [0, 4], [n, 1] if n else [0], [1, n, 1])[index // 7]
    sheet.add([_text(sheet, shape, index), sheet.ints(to)], "string")


def _gather(sheet, index):
    n = (1, 5, 9, 3)[index % 4]
    dims = ((4,), (), (2, 3), (1,), (0,))[index % 5]
    picked = sheet.rng.randint(0, n, dims)
    dtype = ("int32", "int64", "int16")[index % 3]
    indices = (sheet.ints(picked, dtype) if index % 2 else sheet.x(None, dtype, values=picked))
    sheet.add([_text(sheet, (n,), index), indices], "string", axis=0 if index % 4 else -1)


def _gather_nd(sheet, index):
    shape = ((6,), (2, 3), (3, 1, 2), (4, 5))[index % 4]
    depth = index % (len(shape) + 1)
    rows = ((3,), (2, 2), (1,))[index % 3]
    picked = np.stack([sheet.rng.randint(0, n, rows) for n in shape[:depth]] or
                      [np.zeros(rows)], -1)[..., :depth]
    sheet.add([_text(sheet, shape, index),
               sheet.ints(picked, ("int32", "int64")[index % 2])], "string")


def _slice(sheet, index):
    shape = ((6,), (2, 3), (3, 1, 2), (4, 5), (2, 2, 2, 2))[index % 5]
    begin = [int(sheet.rng.randint(0, n)) for n in shape]
    size = [-1 if index % 4 == d else n - b for d, (n, b) in enumerate(zip(shape, begin))]
    sheet.add([_text(sheet, shape, index), sheet.ints(begin), sheet.ints(size)], "string")


def _strided_slice(sheet, index):
    shape = ((6,), (2, 3), (3, 1, 2), (4, 5))[index % 4]
    strides = [(1, 2, -1, 1, -2)[(index + d) % 5] for d in range(len(shape))]
    begin = [0 if s > 0 else n - 1 for n, s in zip(shape, strides)]
    end = [n if s > 0 else -n - 1 for n, s in zip(shape, strides)]
    sheet.add([_text(sheet, shape, index),
               sheet.ints(begin), sheet.ints(end), sheet.ints(strides)], "string",
              begin_mask=index % 2, shrink_axis_mask=1 if index % 6 == 5 and strides[0] > 0 else 0)


def _tile(sheet, index):
    shape = ((6,), (2, 3), (1,), (3, 1, 2))[index % 4]
    times = [(1, 2, 3, 0)[(index + d) % (4 if index % 7 == 0 else 3)] for d in range(len(shape))]
    sheet.add([_text(sheet, shape, index),
               sheet.ints(times, ("int32", "int64")[index % 2])], "string")


def _fill(sheet, index):
    dims = ((3,), (2, 4), (), (1, 0, 2), (5, 1))[index % 5]
    value = sheet.graph.const(strings(sheet.rng, ()))
    sheet.add([sheet.ints(list(dims), ("int32", "int64")[index % 2]), value], "string")


def _expand_dims(sheet, index):
    shape = SHAPES[index % 10]
    axis = (0, -1, len(shape), -len(shape) - 1, 1)[index % 5]
    sheet.add([_text(sheet, shape, index), sheet.ints(axis)], "string")


def _squeeze(sheet, index):
    shape, dims = (((1, 6), [0]), ((2, 1, 3), [1]), ((1, 1), []), ((1, 2, 1, 2), [-2]),
                   ((1, 0, 1), [0, 2]))[index % 5]
    sheet.add([_text(sheet, shape, index)], "string", squeeze_dims=dims)


def _compare(sheet, index):
    a, b = (((6,), (6,)), ((2, 3), (3,)), ((4, 1), (1, 5)), ((1,), (2, 2)), ((0, 3), (1, 3)),
            ((2, 3, 2), (2, 1, 2)))[index % 6]
    sheet.add([_text(sheet, a, index), _text(sheet, b, index + 1)], "bool")


def _shape(sheet, index):
    sheet.add([_text(sheet, SHAPES[index % 10], index + 1)], ("int32", "int64")[index % 2],
              out_type=(2, 4)[index % 2])


def _rank(sheet, index):
    sheet.add([_text(sheet, SHAPES[index % 10], index + 1)], "int32")


def _hashtable_lookup(sheet, index):
    n = (1, 4, 9, 30)[index % 4]
    keys = np.unique(sheet.rng.randint(-20, 20, n))
    lookups = sheet.rng.randint(-20, 20, (1, 7, 3, 0)[index // 4 % 4])
    lookups[::2] = keys[sheet.rng.randint(0, len(keys), len(lookups[::2]))]
    sheet.add([sheet.x(None, "int32", values=lookups), sheet.ints(keys),
               sheet.c((len(keys),), "string")], ("string", "uint8"), n_out=2)


def _lsh_projection(sheet, index):
    n, bits = ((1, 4), (3, 2), (2, 31), (5, 1))[index % 4]
    seeds = sheet.graph.const(sheet.rng.uniform(-9, 9, (n, bits)).astype(np.float32))
    shape = ((1,), (3,), (5, 2), (2,))[index // 2 % 4]
    inputs = [seeds, _text(sheet, shape, index)]
    if index % 3 == 1:
        inputs.append(sheet.graph.const(sheet.rng.uniform(-2, 2, shape[:1]).astype(np.float32)))
    sheet.add(inputs, "int32", type=1 + index % 2)


def _moves():
    table = Table("STRING_MOVES")
    for op, add in (("RESHAPE", _reshape), ("GATHER", _gather), ("GATHER_ND", _gather_nd),
                    ("SLICE", _slice), ("STRIDED_SLICE", _strided_slice), ("TILE", _tile),
                    ("FILL", _fill), ("EXPAND_DIMS", _expand_dims), ("SQUEEZE", _squeeze),
                    ("EQUAL", _compare), ("NOT_EQUAL", _compare), ("SHAPE", _shape),
                    ("RANK", _rank), ("HASHTABLE_LOOKUP", _hashtable_lookup),
                    ("LSH_PROJECTION", _lsh_projection)):
        sheet = Sheet(op, "string")
        for index in range(N):
            add(sheet, index)
        case = sheet.case()
        case.name = op.lower()
        table.append(case)
    return table


TEXTS = (b"the quick brown fox", b"a", b"", b" ", b"  ", b" a", b" a b", b"a b ", b"a  b", b"a\tb\nc",
         b"  a b c", b"one two three four five six", b"x\x0by\x0cz\rw", "gr\u00fcn \u6a39".encode(),
         b"nul\x00inside it", b"a b c d", b"a a a a", b"last one   ", b"\n\n\nx y", b"to be or not to be")
GRAMS = ((2, 1, True), (1, 0, False), (3, 0, False), (2, 0, False), (3, 2, True), (2, 5, False),
         (1, 3, True), (4, 1, True), (0, 0, False), (2, -1, True), (5, 9, False))


def _skip_gram():
    table = Table("STRING_SKIP_GRAM")
    for index in range(2 * N):
        size, skip, every = GRAMS[index % len(GRAMS)]
        graph = Graph()
        texts = np.array([TEXTS[index % len(TEXTS)], b"is not read"][:1 + index % 2], object)
        text = graph.input(texts.shape, "string")
        graph.outputs = [graph.op("SKIP_GRAM", [text], ("string",), ngram_size=size,
                                  max_skip_size=skip, include_all_ngrams=every)]
        table.append(Case(f"{index}_{size}_{skip}_{int(every)}", [graph], [texts], rtol=0.0))
    return table


def _fill_table(graph, handle, rng, by_string, n, shape=None):
    """Some keys are there twice; the first counts."""
    words = strings(rng, (n,))
    for i in range(0, n, 2):
        words[i] = words[i] + b"%d" % (i // 4)
    numbers = rng.randint(-9, 9, n) * 2**40
    both = [graph.const(a.reshape(shape or (n,)))
            for a in ((words, numbers) if by_string else (numbers, words))]
    graph.op("HASHTABLE_IMPORT", [handle] + both, ())
    return words if by_string else numbers


def _some_keys(rng, keys, shape, by_string):
    """Keys of the table and others."""
    n = int(np.prod(shape))
    out = strings(rng, (n,)) if by_string else rng.randint(-9, 9, n)
    for i in range(n):
        if len(keys) and i % 3:
            out[i] = keys[rng.randint(len(keys))]
    return out.reshape(shape)


def _table(graph, number, by_string):
    return graph.op("HASHTABLE", [], ("resource",), table_id=number,
                    key_dtype=STRING if by_string else INT64,
                    value_dtype=INT64 if by_string else STRING)


def _tables(by_string):
    kind = "string" if by_string else "int64"
    sheet = Sheet("HASHTABLE", kind)
    graph, rng = sheet.graph, sheet.rng
    for index in range(N):
        handle = _table(graph, 3 * index - 4, by_string)
        n = (1, 4, 0, 9, 33, 6)[index % 6]
        keys = _fill_table(graph, handle, rng, by_string, n, (2, 3) if n == 6 else None)
        if index % 4 == 0:  # has no effect any more
            _fill_table(graph, _table(graph, 3 * index - 4, by_string), rng, by_string, 3)
        shape = ((4,), (2, 3), (), (1, 5, 1), (0,))[index % 5]
        wanted = _some_keys(rng, keys, shape, by_string)
        make = sheet.x if index % 2 and shape else lambda *a, values: graph.const(values)
        other = (np.array([-7 * 2**33, 5]) if by_string else strings(rng, (2,)))
        other = other if index % 3 else other[0:1].reshape(())
        sheet.add([handle, make(None, kind, values=wanted), graph.const(other)],
                  "int64" if by_string else "string", op="HASHTABLE_FIND")
        sheet.add([handle], "int64", op="HASHTABLE_SIZE")
    return sheet.case()


def _unfilled(table):
    """Tables that cannot be read, or that keys and values do not fit."""
    def add(name, build):
        graph = Graph()
        x = graph.input((2,), "string")
        graph.outputs = [build(graph, x)]
        table.append(Case("refuse_" + name, [graph], [np.array([b"a", b"b"], object)], refused=True))

    def find(graph, handle, x):
        return graph.op("HASHTABLE_FIND", [handle, x, graph.const(np.array([1]))], ("int64",))

    def other_type(graph, x):
        handle = _table(graph, 1, False)
        _fill_table(graph, handle, rng_for("other_type"), False, 3)
        return find(graph, handle, x)

    def uneven(graph, x):
        handle = _table(graph, 1, True)
        graph.op("HASHTABLE_IMPORT", [handle, x, graph.const(np.array([1, 2, 3]))], ())
        return find(graph, handle, x)

    def kind(key, value):
        return lambda graph, x: graph.op("HASHTABLE", [], ("resource",), table_id=1, key_dtype=key,
                                         value_dtype=value)

    add("unfilled", lambda graph, x: find(graph, _table(graph, 1, True), x))
    add("other_type", other_type)
    add("uneven", uneven)
    add("string_to_string", kind(STRING, STRING))
    add("int32_to_float", kind(2, 0))


def _new_table_is_empty(table):
    graph = Graph()
    handle = _table(graph, 7, True)
    x = graph.input((1,), "string")
    graph.outputs = [graph.op("HASHTABLE_SIZE", [handle], ("int64",)), x]
    table.append(Case("size_of_new", [graph], [np.array([b"passed on"], object)], rtol=0.0))


def _tables_table():
    table = Table("STRING_TABLES")
    table.append(_tables(True))
    table.append(_tables(False))
    _new_table_is_empty(table)
    _unfilled(table)
    return table


def _labels():
    """A classifier's end: CALL_ONCE fills the table, numbers become labels; a second run finds it."""
    main, once = Graph(), Graph()
    rng = rng_for("labels")
    keys = _fill_table(once, _table(once, 5, False), rng, False, 8)
    main.op("CALL_ONCE", [], (), init_subgraph_index=1)
    handle = _table(main, 5, False)
    x = main.input((2, 3), "int64")
    found = main.op("HASHTABLE_FIND", [handle, x, main.const(np.array(b"?", object))], ("string",))
    main.outputs = [main.op("RESHAPE", [found, main.const(np.array([3, 2], np.int32))],
                            ("string",))]
    return [Case(f"labels_run{run}", [main, once], [_some_keys(rng, keys, (2, 3), False)],
                 rtol=0.0, same_model=run > 0) for run in range(2)]


def _choice():
    """IF with strings in and out, of another shape in each branch."""
    main, first, second = Graph(), Graph(), Graph()
    condition, x = main.input((1,), "bool"), main.input((2,), "string")
    main.outputs = [main.op("IF", [condition, x], ("string",), then_subgraph_index=1,
                            else_subgraph_index=2)]
    a = first.input((2,), "string")
    first.outputs = [first.op("RESHAPE", [a, first.const(np.array([2, 1], np.int32))],
                              ("string",))]
    b = second.input((2,), "string")
    second.outputs = [second.op("TILE", [b, second.const(np.array([2], np.int32))], ("string",))]
    rng = rng_for("choice")
    return [Case(f"choice_run{run}", [main, first, second],
                 [np.array([run % 2 == 0]), strings(rng, (2,))], rtol=0.0, same_model=run > 0)
            for run in range(N)]


LONG_TEXTS = (b"one two three four", b"to be or not to be", b"the quick brown fox jumps")


def _loop():
    """WHILE that takes a text apart: each round keeps the last two words that it can."""
    main, condition, body = Graph(), Graph(), Graph()
    n, x = main.input((1,), "int32"), main.input((1,), "string")
    main.outputs = main.op("WHILE", [n, x], ("int32", "string"), cond_subgraph_index=1,
                           body_subgraph_index=2)
    i, _ = condition.input((1,), "int32"), condition.input((1,), "string")
    condition.outputs = [condition.op("GREATER", [i, condition.const(np.array([0], np.int32))],
                                      ("bool",))]
    i, text = body.input((1,), "int32"), body.input((1,), "string")
    less = body.op("SUB", [i, body.const(np.array([1], np.int32))], ("int32",))
    grams = body.op("SKIP_GRAM", [text], ("string",), ngram_size=2, max_skip_size=1,
                    include_all_ngrams=True)
    ends = body.const(np.array([-1], np.int32)), body.const(np.array([-3], np.int32))
    # The last but one sequence, which is two words as long as there are two.
    last = body.op("STRIDED_SLICE", [grams, ends[1], ends[0], body.const(np.array([2], np.int32))],
                   ("string",))
    body.outputs = [less, last]
    return [Case(f"loop_run{run}", [main, condition, body],
                 [np.array([run % 4], np.int32), np.array([LONG_TEXTS[run % 3]], object)], rtol=0.0,
                 same_model=run > 0) for run in range(N)]


def _graphs():
    table = Table("STRING_GRAPHS")
    for case in _labels() + _choice() + _loop():
        table.append(case)
    return table


def tables():
    return [_moves(), _skip_gram(), _tables_table(), _graphs()]
