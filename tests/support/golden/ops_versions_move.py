"""20 uses and more of the versions that came with a feature, swept over types: operators that move.

Versions that came with a type are those of the other tables; see versions.py.
"""

from itertools import permutations

from cases import Table, c, x
from sheets import Sheet
from sweeps import EVERY, WHOLE, but, const, data, sweep

PLAIN = but(EVERY, "float16")  # float16 came last, with a version of its own


def each(table, op, dtypes, uses, **options):
    """A sweep over each of the types, of few different values, which keeps files small."""
    for dtype in dtypes:
        sweep(table, op, dtype, uses, lo=0, hi=1 if dtype == "float32" else 7, **options)


def _spread(items, n):
    """n of the items, from first to last."""
    items = list(items)
    return [items[k * len(items) // n] for k in range(n)]


def _turns():
    t = Table("SWEEP_VERSION_TURNS")
    five, six = (2, 1, 2, 1, 3), (1, 2, 1, 2, 1, 2)
    uses = [(five, list(p)) for p in _spread(permutations(range(5)), 18)]
    uses += [((2, 1, 0, 1, 3), [4, 2, 0, 1, 3]), ((1, 1, 1, 1, 7), [3, 4, 0, 1, 2])]
    each(t, "TRANSPOSE", but(PLAIN, "int16"), uses)
    uses = [(six, list(p)) for p in _spread(permutations(range(6)), 18)]
    uses += [((2, 1, 1, 0, 1, 3), [5, 3, 0, 1, 2, 4]), ((1, 1, 3, 1, 1, 2), [5, 1, 2, 3, 4, 0])]
    each(t, "TRANSPOSE", PLAIN, uses, name="rank6")
    uses = [((3, 2), [1, 0]), ((1, 2, 3), [2, 0, 1]), ((2, 1, 2, 2), [3, 1, 0, 2])]
    each(t, "TRANSPOSE", ("bool", "uint32") + WHOLE, uses, name="few")
    return t


def _deep():
    """TRANSPOSE of 7 and 8 dimensions."""
    t = Table("SWEEP_VERSION_DEEP")
    uses = [((1, 2, 1, 2, 1, 1, 3), list(p)) for p in _spread(permutations(range(7)), 10)]
    uses += [((2, 1, 1, 2, 1, 1, 1, 3), list(p)) for p in _spread(permutations(range(8)), 10)]
    each(t, "TRANSPOSE", PLAIN, uses, name="rank8")
    return t


def _blocks():
    t = Table("SWEEP_VERSION_BLOCKS")
    lines = (((1, 4, 1), 2), ((1, 3, 2), 3), ((2, 2, 1), 2), ((1, 2, 3), 1), ((3, 4, 1), 4),
             ((1, 1, 5), 1), ((1, 6, 1), 2), ((2, 0, 3), 2), ((1, 4, 2), 4), ((1, 5, 1), 5),
             ((1, 2, 4), 2), ((2, 3, 1), 3), ((1, 8, 1), 4), ((1, 6, 2), 3), ((2, 4, 1), 2))
    uses = [((n, w, ch), [b], [[0, 0]]) for (n, w, ch), b in lines]
    each(t, "SPACE_TO_BATCH_ND", but(EVERY, "int16"), uses)
    uses = [((n * b, w // b, ch), [b], [[0, 0]]) for (n, w, ch), b in lines]
    each(t, "BATCH_TO_SPACE_ND", but(EVERY, "int16"), uses)
    images = (((1, 2, 2, 1), [2, 2]), ((1, 2, 1, 3), [1, 1]), ((1, 2, 2, 2), [2, 1]),
              ((1, 1, 4, 1), [1, 2]), ((2, 2, 2, 1), [1, 2]))
    uses = [(shape, block, [[0, 0], [0, 0]]) for shape, block in images]
    each(t, "SPACE_TO_BATCH_ND", but(EVERY, "int16", "float32"), uses, name="images")
    uses = [((n * b[0] * b[1], h // b[0], w // b[1], ch), b, [[0, 0], [0, 0]])
            for (n, h, w, ch), b in images]
    each(t, "BATCH_TO_SPACE_ND", but(EVERY, "int16", "float32"), uses, name="images")
    return t


def _cuts():
    t = Table("SWEEP_VERSION_CUTS")
    five = (2, 1, 2, 3, 2)
    parts = (([0, 0, 0, 0, 0], [2, 1, 2, 3, 2]), ([1, 0, 0, 0, 0], [1, 1, 2, 1, 2]),
             ([0, 0, 1, 0, 0], [-1, -1, -1, -1, 1]), ([0, 0, 0, 2, 0], [2, 1, 1, 1, -1]),
             ([1, 0, 1, 1, 1], [1, 1, 1, 1, 1]), ([0, 0, 0, 0, 1], [1, 1, 2, 2, 1]),
             ([2, 0, 0, 0, 0], [0, 1, 2, 3, 2]), ([0, 1, 0, 0, 0], [1, 0, 1, 1, 1]),
             ([1, 0, 1, 0, 0], [-1, 1, 1, 2, 2]))
    uses = [(five, begin, size) for begin, size in parts]
    uses += [(five, c(values=begin, dtype="int64"), c(values=size, dtype="int64"))
             for begin, size in parts]
    each(t, "SLICE", but(PLAIN, "uint32"), uses)
    each(t, "SLICE", ("bool", "int16") + WHOLE, [((2, 3), [1, 0], [1, 2])], name="few")
    steps = (([1, 1, 1, 1, 1], {}), ([1, 1, 1, 2, 1], {}), ([1, 1, 2, 1, 1], dict(end_mask=31)),
             ([1, 1, 1, 1, 1], dict(shrink_axis_mask=1)), ([1, 1, 1, 1, 1],
                                                           dict(shrink_axis_mask=16)),
             ([2, 1, 1, 1, 1], dict(begin_mask=31)), ([1, 1, 1, 1, 2], dict(shrink_axis_mask=2)))
    uses = [(five, begin, end, stride, options)
            for begin, end in (([0, 0, 0, 0, 0], [2, 1, 2, 3, 2]), ([1, 0, 0, 1, 0], [2, 1, 2, 3, 1]),
                               ([0, 0, 1, -2, 0], [1, 1, 2, -1, 2]))
            for stride, options in steps]
    each(t, "STRIDED_SLICE", but(EVERY, "uint32"), uses[:20])
    return t


def _axes():
    """STRIDED_SLICE with new axes, ellipses and offsets."""
    t = Table("SWEEP_VERSION_AXES")
    ways = [(4, [0, 0], [3, 2], dict(new_axis_mask=m)) for m in (1, 2, 3)]
    ways += [(2, [1, 0], [2, 2], dict(new_axis_mask=1)), (2, [0, 0, 1], [1, 3, 2],
                                                         dict(new_axis_mask=4))]
    ways += [(3, [0, 1], [2, 2], dict(ellipsis_mask=m)) for m in (1, 2)]
    ways += [(3, [0, 0, 1], [1, 3, 2], dict(ellipsis_mask=m)) for m in (1, 2, 4)]
    ways += [(2, [0, 0, 0], [2, 2, 2], dict(ellipsis_mask=2, new_axis_mask=m)) for m in (1, 4)]
    ways += [(2, [0, 0, 1], [2, 2, 2], dict(ellipsis_mask=1, shrink_axis_mask=4)),
             (3, [1, 0], [2, 2], dict(ellipsis_mask=2, shrink_axis_mask=1)),
             (2, [1, 0, 0], [2, 1, 2], dict(new_axis_mask=2, shrink_axis_mask=1)),
             (3, [0, 0], [2, 1], dict(ellipsis_mask=1, end_mask=2)),
             (3, [1, 0], [2, 1], dict(ellipsis_mask=2, begin_mask=1)),
             (1, [0, 0], [1, 2], dict(new_axis_mask=1)), (1, [0, 0], [3, 1], dict(new_axis_mask=2)),
             (1, [0, 1], [3, 3], dict(ellipsis_mask=1))]
    shapes = {1: (3,), 2: (2, 3), 3: (2, 1, 3), 4: (2, 1, 2, 1)}
    uses = [(shapes[rank], begin, end, [1] * len(begin), options)
            for rank, begin, end, options in ways]
    each(t, "STRIDED_SLICE", but(EVERY, "uint32"), uses)
    uses = []
    for shape, begin, length, stride in (
            ((7,), [2], [3], [1]), ((7,), [0], [7], [2]), ((7,), [6], [1], [1]),
            ((7,), [1], [5], [3]), ((7,), [3], [2], [1]), ((3, 4), [1, 0], [2, 4], [1, 1]),
            ((3, 4), [0, 1], [3, 2], [2, 1]), ((3, 4), [2, 3], [1, 1], [1, 1]),
            ((2, 2, 3), [0, 1, 0], [2, 1, 3], [1, 1, 2]), ((2, 2, 3), [1, 0, 1], [1, 2, 2],
                                                          [1, 1, 1])):
        shrink = dict(shrink_axis_mask=1) if length[0] == 1 else {}
        uses.append((shape, begin, length, stride, dict(offset=True)))
        uses.append((shape, x(values=begin, dtype="int32"), length, stride,
                     dict(offset=True, **shrink)))
    each(t, "STRIDED_SLICE", EVERY, uses, name="offset")
    uses = [((5,), [1], [4], [1]), ((2, 3), [0, 1], [2, 3], [1, 1]), ((2, 3), [1, 0], [2, 3], [1, 2])]
    each(t, "STRIDED_SLICE", ("bool", "float16", "int16", "int64"), uses, name="few")
    return t


def _borders():
    t = Table("SWEEP_VERSION_BORDERS")
    five = ((1, 2, 1, 2, 2), (2, 1, 1, 1, 3), (1, 1, 1, 1, 1), (1, 2, 1, 0, 2))
    pads = ([[0, 0], [1, 0], [0, 1], [0, 0], [1, 1]], [[0, 0]] * 5, [[1, 0]] + [[0, 0]] * 4,
            [[0, 0]] * 4 + [[2, 1]], [[0, 0], [0, 0], [1, 1], [0, 0], [0, 1]])
    uses = [(shape, pads[(k + m) % 5] if (k + m) % 3 else
             c(values=pads[(k + m) % 5], dtype="int64"))
            for k, shape in enumerate(five) for m in range(5)]
    types = but(EVERY, "bool", "uint32")
    each(t, "PAD", types, uses)
    uses = [use + (const(1) if k % 2 else data(),) for k, use in enumerate(uses)]
    each(t, "PADV2", types, uses)
    sweep(t, "PAD", "float16", [((3,), [[1, 0]])], name="few", lo=0, hi=7)
    sweep(t, "PADV2", "float16", [((3,), [[1, 0]], const(1))], name="few", lo=0, hi=7)
    return t


def _takes():
    t = Table("SWEEP_VERSION_TAKES")
    takes = (((2, 3), [[0, 2], [1, 1]], 1, 1), ((2, 3), [[0], [2]], 1, 1), ((2, 3), [0, 2], 1, 1),
             ((1, 5), [[4, 0, 4]], 1, 1), ((3, 2), [[1], [0], [1]], 1, 1), ((3, 2), [1, 0, 1], 1, 1),
             ((2, 2, 3), [[2, 0], [1, 2]], 2, 1), ((2, 2, 3), [[1, 0], [1, 1]], 1, 1),
             ((2, 2, 3), [[[2], [0]], [[1], [2]]], 2, 2), ((2, 2, 3), [[2, 0], [1, 2]], 2, 2),
             ((2, 2, 3), [[2, 0], [1, 2]], 1 + 1, -1), ((2, 3), [[0, 2], [1, 1]], -1, 1),
             ((2, 1, 2, 2), [[0, 0], [0, 0]], 1, 1), ((2, 1, 2, 2), [[1], [0]], -1, 1),
             ((2, 1, 2, 2), [[1], [0]], 2, 1), ((2, 0, 3), [[2], [1]], 2, 1), ((2, 3), [[], []], 1, 1))
    kinds = (lambda v: v, lambda v: c(values=v, dtype="int64"), lambda v: x(values=v, dtype="int32"))
    uses = [(shape, kinds[k % 3 if ids[0] != [] else 2](ids), dict(axis=axis, batch_dims=batch))
            for k, (shape, ids, axis, batch) in enumerate(takes)]
    types = but(EVERY, "uint32")
    each(t, "GATHER", types, uses)
    places = (((5,), [3, 0], 0), ((5,), 4, 0), ((3, 2), [2, 0, 0], 0), ((3, 2), 1, 0),
              ((3, 2), [1], 1), ((3, 2), [[0, 1], [1, 0]], -1), ((2, 1, 3), [2, 0], 2),
              ((2, 1, 3), [0], 1), ((2, 1, 3), [1, 1], 0), ((2, 1, 3), 2, -1), ((1, 5), [4], 1),
              ((1, 5), [[4, 0]], 1), ((67,), [66], 0), ((2, 1, 2, 1), [1], 2), ((1, 1), [0, 0], 0))
    int16 = lambda v, k: (x if k % 2 else c)(values=v, dtype="int16")
    uses = [(shape, int16(ids, k), dict(axis=axis)) for k, (shape, ids, axis) in enumerate(places)]
    each(t, "GATHER", types, uses, name="int16")
    uses = [(shape, ids, dict(axis=axis)) for shape, ids, axis in places[:6]]
    each(t, "GATHER", types, uses, name="few")
    uses = [(shape, int16(ids, k), dict(axis=axis)) for k, (shape, ids, axis) in enumerate(places[:5])]
    sweep(t, "GATHER", "float32", uses, name="int16_few")
    sheet = Sheet("GATHER", "gather_string")
    for kind, n in (("int16", 14), ("int32", 6)):
        for k in range(n):  # LiteRT takes vectors of strings only
            length = (5, 1, 3, 7)[k % 4]
            ids = (0, [length - 1], [0, length // 2], [[length - 1], [0]], [])[k % 5]
            sheet.add([sheet.x((length,), "string"), sheet.ints(ids, kind)], "string", axis=-(k % 2))
    t.append(sheet.case())
    places = (((5,), [[3]]), ((5,), [[0], [4]]), ((3, 2), [[2], [0]]), ((3, 2), [[2, 1]]),
              ((3, 2), [[[0, 1]], [[1, 0]]]), ((3, 2), [1]), ((2, 1, 3), [[1, 0]]),
              ((2, 1, 3), [[1, 0, 2], [0, 0, 0]]), ((2, 1, 3), [[0], [1]]), ((2, 1, 3), [1]),
              ((1, 5), [[0, 4]]), ((67,), [[66]]), ((2, 1, 2, 1), [[1, 0, 1]]),
              ((2, 1, 2, 1), [[0, 0, 1, 0]]), ((1, 1), [[0]]))
    uses = [(shape, int16(ids, k)) for k, (shape, ids) in enumerate(places)]
    each(t, "GATHER_ND", but(types, "bool"), uses, name="int16")
    each(t, "GATHER_ND", but(types, "bool"), places[:5], name="few")
    return t


def _writes():
    t = Table("SWEEP_VERSION_WRITES")
    writes = (((6,), (2,), [3]), ((6,), (6,), [0]), ((6,), (1,), [99]), ((6,), (3,), [-1]),
              ((1,), (1,), [0]), ((3, 2), (2, 1), [1, 1]), ((3, 2), (3, 2), [0, 0]),
              ((3, 2), (1, 2), [2, 3]), ((3, 2), (2, 2), [-1, -5]), ((2, 1, 3), (1, 1, 2), [1, 0, 1]),
              ((2, 1, 3), (2, 1, 1), [0, 0, 2]), ((2, 1, 3), (1, 1, 1), [1, 0, 0]),
              ((1, 2, 1, 2), (1, 1, 1, 2), [0, 1, 0, 0]))
    uses = [(shape, piece, (c if k % 2 else x)(values=start, dtype="int64"))
            for k, (shape, piece, start) in enumerate(writes)]
    types = but(EVERY, "int16", "float16")
    each(t, "DYNAMIC_UPDATE_SLICE", types, uses, name="int64_starts")
    each(t, "DYNAMIC_UPDATE_SLICE", types, writes[3:10], name="few")
    return t


def _choices():
    t = Table("SWEEP_VERSION_CHOICES")
    shapes = ((2, 1, 1, 1, 1), (1, 2, 1, 1, 1), (1, 1, 1, 1, 3), (2, 1, 2, 1, 3), (1, 1, 1, 1, 1),
              (2, 0, 1, 1, 3))
    uses = [(x(*shape, dtype="bool"), shape, shape) for shape in shapes * 3]
    each(t, "SELECT", EVERY, uses)
    few = [(x(*shape, dtype="bool"), shape, shape) for shape in ((3,), (2, 1))]
    each(t, "SELECT", but(EVERY, "float32"), few, name="few")
    return t


def tables():
    return [_turns(), _deep(), _blocks(), _cuts(), _axes(), _borders(), _takes(), _writes(),
            _choices()]
