"""Writes tests/data/train/monitor.npz: class frequencies by EM (Saerens, Latinne, Decaestecker 2002) in plain
NumPy, and the mixture of power martingales of given p-values.

  python3 tests/runtime/train/monitor/make_monitor_golden.py tests/data/train/monitor.npz
"""

import sys

import numpy as np


def em(probabilities, trained):
    frequencies = trained.copy()
    for _ in range(10000):
        posterior = probabilities * (frequencies / trained)
        posterior /= posterior.sum(axis=1, keepdims=True)
        updated = posterior.mean(axis=0)
        change = np.abs(updated - frequencies).max()
        frequencies = updated
        if change <= 1e-10:
            break
    ratio = np.log10((probabilities * (frequencies / trained)).sum(axis=1) / probabilities.sum(axis=1)).sum()
    return frequencies, ratio


def main():
    random = np.random.default_rng(7)
    trained = np.array([0.5, 0.3, 0.2])
    truth = np.array([0.1, 0.2, 0.7])
    labels = random.choice(3, size=300, p=truth)
    # Class c is a Gaussian around a corner; Bayes' rule with the trained frequencies.
    points = 1.5 * np.eye(3)[labels] + random.normal(size=(300, 3))
    density = np.exp(-0.5 * ((points[:, None, :] - 1.5 * np.eye(3)[None]) ** 2).sum(axis=2))
    probabilities = density * trained
    probabilities = (probabilities / probabilities.sum(axis=1, keepdims=True)).astype(np.float32)
    frequencies, ratio = em(probabilities.astype(np.float64), trained)
    corrected = probabilities.astype(np.float64) * (frequencies / trained)
    corrected /= corrected.sum(axis=1, keepdims=True)
    np.savez(sys.argv[1], trained=trained, probabilities=probabilities, frequencies=frequencies, ratio=[ratio],
             corrected=corrected, truth=truth)


if __name__ == "__main__":
    main()
