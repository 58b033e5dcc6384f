"""What wakeword.py learns from: rows of clips, heard on several threads at once."""
from __future__ import annotations

import argparse
import functools
import pathlib
from typing import Any, Optional

import numpy as np

import blocks
import ears
import threads
from topwork import sounds

Array = Any


def heard(options: argparse.Namespace, ear: ears.Ear, base: Optional[blocks.Blocks]) -> list[tuple[Array, str, int]]:
    """Of each clip some rows [n, frames, size], what it is, and how many rows it had. `ear` and `base` run on one thread: each
    of several threads then hears clips of its own, which takes less time than all of them in each run.
    options : positive and negative, and what _rows takes."""
    words = [(path, "word", 0) for path in clips(options.positive)]
    others = [(path, "other", i) for i, path in enumerate(clips(options.negative))]
    pairs = [(ear, base), *((ear.clone(), base and base.clone()) for _ in range(1, ear.threads_that_pay()))]
    found = threads.each([functools.partial(_rows, options, *pair) for pair in pairs], words + others,
                         lambda clip: clip[0].stat().st_size)
    if n_empty := sum(n == 0 for _, _, n in found[:len(words)]):
        print(f"in {n_empty} of {len(words)} positive clips --base hears nothing: they are left out")
    return found


def clips(folder: pathlib.Path) -> list[pathlib.Path]:
    """Each WAV and FLAC file in a folder and those below it."""
    paths = [path for path in sorted(folder.glob("**/*")) if path.suffix.lower() in sounds.ENDINGS]
    if not paths:
        raise SystemExit(f"{folder}: no sounds ({', '.join(sorted(sounds.ENDINGS))})")
    return paths


def every(rows: Array, step: int, first: int) -> Array:
    """Each `step`-th row from that number of the first ones on: neighbours share all embeddings but one."""
    return rows[first % min(step, max(1, len(rows)))::step]


def _rows(options: argparse.Namespace, ear: ears.Ear, base: Optional[blocks.Blocks],
          clip: tuple[pathlib.Path, str, int]) -> tuple[Array, str, int]:
    """options : shifts, ends, threshold and every, as wakeword.py takes them."""
    path, name, i = clip
    samples = np.append(sounds.read(path, ears.RATE), np.zeros(options.ends * ear.step, np.float32))
    if name == "word":
        return _word_rows(options, ear, base, samples)
    ear.reset()
    rows = ear.feed(samples)
    return every(rows, options.every, i), name, len(rows)


def _word_rows(options: argparse.Namespace, ear: ears.Ear, base: Optional[blocks.Blocks],
               samples: Array) -> tuple[Array, str, int]:
    """Rows in which the word is whole, of the clip begun at several parts of a step."""
    found, n = [], 0
    for shift in range(options.shifts):
        ear.reset()
        ear.feed(np.zeros(shift * ear.step // options.shifts, np.float32))
        rows = ear.feed(samples)
        at = np.arange(len(rows))[-options.ends:] if base is None else np.flatnonzero(base(rows)[:, 0] >= options.threshold)
        n += len(at)
        found.append(rows[at if base is None else every(at, options.every, shift)])
    return np.concatenate(found), "word", n
