"""What wakeword.py hears with: rows of embeddings of a stream of samples, by one model or by openWakeWord's two."""
from __future__ import annotations

import pathlib
from typing import Any, Iterator, Optional

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

import blocks
import ending
import topwork
from topwork import sounds

RATE = 16000
Array = NDArray[Any]


def clips(folder: pathlib.Path) -> Iterator[Array]:
    """The samples of each WAV and FLAC file in a folder and those below it."""
    paths = [path for path in sorted(folder.glob("**/*")) if path.suffix.lower() in sounds.ENDINGS]
    if not paths:
        raise SystemExit(f"{folder}: no sounds ({', '.join(sorted(sounds.ENDINGS))})")
    for path in paths:
        yield sounds.read(path, RATE)


def n_frames(base: Optional[topwork.Model], spectrogram: Optional[topwork.Model]) -> int:
    """Embeddings in a row: those that the model of a word takes, without one as many as openWakeWord's, or one."""
    if base is None:
        return 16 if spectrogram else 1
    if len(base.inputs[0].shape) != 3:
        raise SystemExit(f"--base: the model takes {base.inputs[0].shape}; it must take [1, frames, size]")
    return base.inputs[0].shape[1]


class Ear:
    """Turns a stream of samples into rows: the last `n_frames` embeddings, one row more for each step.

    embedding : model [1, samples] of samples in [-1, 1] -> embedding; with `spectrogram` [1, height, bands, 1] -> embedding.
    spectrogram : model [1, any number of samples] -> frames of bands. As openWakeWord calls it: samples are as 16-bit
        integers have them, and frames are divided by 10 and raised by 2. How many samples a frame takes is measured.
    n_frames : embeddings in a row.
    step : frames from an embedding to the next one, with a spectrogram; without one samples. 0: 8 frames, or a quarter
        of the model's samples.
    features : the embedding is what the model's last layer reads, not what it gives.
    """

    def __init__(self, embedding: topwork.Model, spectrogram: Optional[topwork.Model] = None, *, n_frames: int = 1,
                 step: int = 0, features: bool = False) -> None:
        shape, hop = embedding.inputs[0].shape, 0
        if len(shape) != (2 if spectrogram is None else 4):
            kind = "without --spectrogram it must take [1, samples]" if spectrogram is None else "it must take [1, height, bands, 1]"
            raise SystemExit(f"--embedding: the model takes {shape}; {kind}")
        self._shape, self._spectrogram, self._overlap = shape[1:], None, 0
        if spectrogram is None:
            self.step = step or max(1, shape[1] // 4)
            silence = np.zeros(shape[1], np.float32)
        else:
            with ending.of("--spectrogram"):
                one, two = (_n_frames(spectrogram, n, shape[2]) for n in (RATE, 2 * RATE))
                if two <= one:
                    raise ValueError("the model makes as many frames of two seconds as of one")
                samples, hop = RATE // (two - one), step or 8
                self.step, self._overlap = hop * samples, RATE - one * samples
                self._spectrogram: Optional[blocks.Blocks] = blocks.Blocks(spectrogram, (self._overlap + self.step,))
                silence = np.repeat(self._parts(np.zeros(self._overlap + self.step, np.float32), 1)[-1:], shape[1], axis=0)
        with ending.of("--embedding"):
            self._embed = topwork.Features(embedding) if features else blocks.Blocks(embedding, self._shape, hop)
            row = np.repeat(self._embed(silence.reshape(shape)), n_frames, axis=0)
        self._silent, self.row_shape = (silence, row), row.shape
        self.reset()

    def reset(self) -> None:
        """Forgets what was heard: before the next sample it was silent for long."""
        self._window, self._row = self._silent
        self._pending = np.zeros(self._overlap, np.float32)  # begins with what the last step's frames need again

    def feed(self, samples: Array) -> Array:
        """[steps, n_frames, size] float32: the rows of the steps that these samples complete; the rest is kept."""
        heard = np.concatenate([self._pending, samples.astype(np.float32)])
        n = (len(heard) - self._overlap) // self.step
        if n == 0:
            self._pending = heard
            return np.zeros((0, *self.row_shape), np.float32)
        parts = self._parts(heard, n)
        lasting = np.concatenate([self._window, parts])
        windows = _runs(lasting, len(self._window))[len(parts) // n::len(parts) // n]
        found = [self._embed(windows[i:i + blocks.SIZE].reshape(-1, *self._shape)) for i in range(0, n, blocks.SIZE)]
        rows = np.concatenate([self._row, *found])
        self._pending, self._window, self._row = heard[n * self.step:], lasting[-len(self._window):], rows[-len(self._row):]
        return _runs(rows, len(self._row))[1:]

    def _parts(self, heard: Array, n: int) -> Array:
        """What n steps add to the window: frames, or the samples themselves."""
        if self._spectrogram is None:
            return heard[:n * self.step]
        steps = _runs(heard * np.float32(32768), self._overlap + self.step)[::self.step][:n]
        return self._spectrogram(steps).reshape(-1, self._shape[1]) / np.float32(10) + np.float32(2)


def every(rows: Array, step: int, first: int) -> Array:
    """Each `step`-th row from that number of the first ones on: neighbours share all embeddings but one."""
    return rows[first % min(step, max(1, len(rows)))::step]


def word_rows(ear: Ear, clip: Array, base: Optional[blocks.Blocks], options: Any) -> tuple[Array, int]:
    """Rows in which the word is whole, of the clip begun at several parts of a step; how many there were of them.
    options : shifts, ends, threshold and every, as wakeword.py takes them."""
    found, n = [], 0
    for shift in range(options.shifts):
        ear.reset()
        ear.feed(np.zeros(shift * ear.step // options.shifts, np.float32))
        rows = ear.feed(np.concatenate([clip, np.zeros(options.ends * ear.step, np.float32)]))
        at = np.arange(len(rows))[-options.ends:] if base is None else np.flatnonzero(base(rows)[:, 0] >= options.threshold)
        n += len(at)
        found.append(rows[at if base is None else every(at, options.every, shift)])
    return np.concatenate(found), n


def _runs(values: Array, n: int) -> Array:
    """[len(values) - n + 1, n, ...]: each n values that lie one behind the other, without a copy."""
    return np.moveaxis(sliding_window_view(values, n, axis=0), -1, 1)


def _n_frames(spectrogram: topwork.Model, n_samples: int, bands: int) -> int:
    session = topwork.Session(spectrogram, input_shapes=[(1, n_samples)], device="cpu")
    size = session.run(np.zeros((1, n_samples), np.float32))[0].size
    if size % bands:
        raise ValueError(f"of {n_samples} samples the model makes {size} numbers: no frames of {bands} bands, as --embedding takes")
    return size // bands
