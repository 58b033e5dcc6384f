"""Sums of a learner's file as arrays that add up over nodes, as whole numbers that add up exactly, and back.

A file of statistics alone (Learner.save) holds counts, sums of features by class, and the scatter about their mean. The
scatter of several nodes is no sum of theirs, but that of products of features is. Its checksum is Hash64 of
runtime/base/hash64.h, its tables are those of models/schema/checkpoint.fbs.
"""
from __future__ import annotations

import struct
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from .flat import Table

Numbers = NDArray[np.float64]

DIGIT_BITS = 21
N_DIGITS = 4  # of a number: two before the point, two behind it
_HALF_BITS = 2 * DIGIT_BITS
_MASK = (1 << DIGIT_BITS) - 1
_ODD, _WORD, _SEED = 0x9E3779B97F4A7C15, (1 << 64) - 1, 0x54574B52


class Sums(NamedTuple):
    """Sums over examples, float64."""
    counts: Numbers  # [n_classes]
    features: Numbers  # [n_classes, n_features]
    products: Numbers  # packed lower triangle of [n_features, n_features]: of features with features

    def add(self, other: Sums) -> Sums:
        return Sums(*(mine + theirs for mine, theirs in zip(self, other)))


def of_file(data: bytes) -> Sums:
    """The sums of a file of statistics alone."""
    _, numbers, n_classes, dim = _places(data)
    counts, rest = numbers[:n_classes], numbers[n_classes:]
    n_sums = (n_classes + 2) * dim
    features = rest[:2 * n_sums].reshape(-1, 2).sum(axis=1)[:n_classes * dim].reshape(n_classes, dim)
    return Sums(counts.copy(), features, rest[2 * n_sums:] + _mean_part(counts, features))


def to_file(sums: Sums, like: bytes) -> bytes:
    """`like`, a file of statistics of the same classes and model, with these sums in place of its own."""
    place, numbers, n_classes, dim = _places(like)
    if sums.features.shape != (n_classes, dim):
        raise ValueError(f"sums of {sums.features.shape} classes and features, not {(n_classes, dim)}: nodes need the server's "
                         "model and no class but those that it names")
    totals = sums.features.sum(axis=0)
    diagonal = sums.products[np.arange(dim) * (np.arange(dim) + 3) // 2]
    exact = np.concatenate([sums.features.reshape(-1), totals, diagonal])
    pairs = np.stack([exact, np.zeros_like(exact)], axis=1).reshape(-1)
    scatter = sums.products - _mean_part(sums.counts, sums.features)
    written = np.concatenate([sums.counts, pairs, scatter])
    assert written.size == numbers.size
    out = bytearray(like)
    out[place:place + written.nbytes] = written.tobytes()
    return _with_checksums(out)


def digits(sums: Sums) -> list[NDArray[np.int32]]:
    """Whole numbers [N_DIGITS, n] for each part, of DIGIT_BITS bits with the sign in the first, in units of 2^-42: of many
    nodes they can be added without loss."""
    return [_digits(part.reshape(-1)) for part in sums]


def of_digits(parts: list[NDArray[np.int64]], n_classes: int) -> Sums:
    """The sums from sums of digits."""
    counts, features, products = (_number(part.reshape(N_DIGITS, -1)) for part in parts)
    return Sums(counts, features.reshape(n_classes, -1), products)


def _digits(numbers: Numbers) -> NDArray[np.int32]:
    if len(numbers) and not np.abs(numbers).max() < 2.0 ** (_HALF_BITS - 1):
        raise ValueError(f"sums up to {np.abs(numbers).max():.3g}: those that are added as whole numbers must stay below "
                         f"{2.0 ** (_HALF_BITS - 1):.3g}; scale the model's features down, or give a node fewer examples")
    whole = np.floor(numbers)
    part = np.rint((numbers - whole) * 2.0 ** _HALF_BITS).astype(np.int64)
    high = whole.astype(np.int64) + (part >> _HALF_BITS)
    low = part & ((1 << _HALF_BITS) - 1)
    return np.stack([high >> DIGIT_BITS, high & _MASK, low >> DIGIT_BITS, low & _MASK]).astype(np.int32)


def _number(total: NDArray[np.int64]) -> Numbers:
    high = (total[0] << DIGIT_BITS) + total[1]
    low = (total[2] << DIGIT_BITS) + total[3]
    numbers: Numbers = high + low * 2.0 ** -_HALF_BITS
    return numbers


def _mean_part(counts: Numbers, features: Numbers) -> Numbers:
    """n · mean · meanᵀ, packed."""
    totals = features.sum(axis=0)
    rows, columns = np.tril_indices(len(totals))
    part: Numbers = totals[rows] * totals[columns] / max(counts.sum(), 1.0)
    return part


def _places(data: bytes) -> tuple[int, Numbers, int, int]:
    """Where the statistics begin, they themselves, and the numbers of classes and features."""
    start = _header_bytes(data)
    payload = memoryview(data)[start:]
    root = Table(payload, struct.unpack_from("<I", payload)[0])
    learner = root.table(34)
    numbers = learner.array(3, "<f8") if learner else np.empty(0)
    if learner is None or not len(numbers):
        raise ValueError("the file holds no statistics: it must be one of a learner with examples, saved with statistics_only")
    place = start + learner._target(learner.place(3)) + 4
    return place, numbers, root.number(4, "<i"), root.number(3, "<q")


def _header_bytes(data: Union[bytes, bytearray]) -> int:
    key_bytes: int = struct.unpack_from("<I", data, 20)[0]
    return (48 + key_bytes + 63) // 64 * 64


def _with_checksums(data: bytearray) -> bytes:
    start = _header_bytes(data)
    struct.pack_into("<Q", data, 32, _hash64(bytes(data[start:])))
    struct.pack_into("<Q", data, 40, 0)
    struct.pack_into("<Q", data, 40, _hash64(bytes(data[:start])))
    return bytes(data)


def _step(x: int, word: int) -> int:
    x = (x ^ word) * _ODD & _WORD
    return (x << 29 | x >> 35) & _WORD


def _hash64(data: bytes) -> int:
    n = len(data) // 32 * 4
    words: list[Any] = np.frombuffer(data, "<u8", len(data) // 8).tolist()
    lanes = [(_SEED + i * _ODD) & _WORD for i in range(4)]
    for lane in range(4):
        x = lanes[lane]
        for word in words[lane:n:4]:
            x = (x ^ word) * _ODD & _WORD
            x = (x << 29 | x >> 35) & _WORD
        lanes[lane] = x
    for word in words[n:]:
        lanes[0] = _step(lanes[0], word)
    lanes[1] = _step(lanes[1], int.from_bytes(data[len(words) * 8:], "little"))
    result = _step(_SEED, len(data))
    for x in lanes:
        result = _step(result, x)
    result = (result ^ result >> 32) * _ODD & _WORD
    return result ^ result >> 29
