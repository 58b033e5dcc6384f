"""Writes tests/data/train/conformal.npz: scores, and the p-values that NumPy counts from their definition.

  python make_conformal_golden.py [OUTPUT]

taught and fresh: two scores of each example [n, 2]; *_categories: [n], of which the last has few taught ones.
rates: [r]; p_values: [r, n] of the fresh ones, (1 + taught examples of the category that conform no better) /
(1 + taught examples of the category), not rounded. An example conforms by the smaller of its scores, each
measured from the category's median in units of the distance to its lowest tenth. A category of fewer
examples than 1 / rate - 1 or 20 is judged by all examples. Needs numpy.
"""

import pathlib
import sys

import numpy as np


def draw(rng, n):
    """Correlated scores whose mean and spread depend on the category."""
    categories = np.where(rng.random(n) < 0.05, 2, rng.integers(0, 2, n))
    values = rng.normal(size=(n, 1)) + rng.normal(size=(n, 2))
    return 3.0 * categories[:, None] + (1.0 + categories[:, None]) * values, categories.astype(np.int32)


def measure(scores, taught):
    """The smaller of both scores, in the units of the taught ones."""
    rising = np.sort(taught, axis=0)
    median, low = rising[len(taught) // 2], rising[len(taught) // 10]
    return ((scores - median) / (median - low)).min(axis=1)


def p_values(taught, taught_categories, fresh, fresh_categories, rate):
    result = np.empty(len(fresh))
    for category in np.unique(fresh_categories):
        members = taught[taught_categories == category]
        if len(members) < max(20, np.ceil(1 / rate - 1e-6) - 1):
            members = taught
        new = fresh_categories == category
        known = measure(members, members)
        counts = (known[None, :] <= measure(fresh[new], members)[:, None]).sum(axis=1)
        result[new] = (1 + counts) / (1 + len(members))
    return result


def main():
    rng = np.random.default_rng(5)
    taught, taught_categories = draw(rng, 150)
    fresh, fresh_categories = draw(rng, 200)
    rates = np.array([0.005, 0.05, 0.33])
    default = pathlib.Path(__file__).parents[3] / "data" / "train" / "conformal.npz"
    np.savez(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default, taught=taught,
             taught_categories=taught_categories, fresh=fresh, fresh_categories=fresh_categories, rates=rates,
             p_values=[p_values(taught, taught_categories, fresh, fresh_categories, rate) for rate in rates])


if __name__ == "__main__":
    main()
