"""What wakeword.py hears with: rows of embeddings of a stream of samples, by one model or by openWakeWord's two."""
from __future__ import annotations

import copy
from typing import Any, Callable, Optional

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

import blocks
import ending
import topwork

RATE = 16000
Array = NDArray[Any]


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
    n_threads : threads of a run; 0: what pays.
    """

    def __init__(self, embedding: topwork.Model, spectrogram: Optional[topwork.Model] = None, *, n_frames: int = 1,
                 step: int = 0, features: bool = False, n_threads: int = 0) -> None:
        self._model, shape, hop = embedding, embedding.inputs[0].shape, 0
        if len(shape) != (2 if spectrogram is None else 4):
            kind = "without --spectrogram it must take [1, samples]" if spectrogram is None else "it must take [1, height, bands, 1]"
            raise SystemExit(f"--embedding: the model takes {shape}; {kind}")
        self._shape, self._spectrogram, self._overlap = shape[1:], None, 0
        if spectrogram is None:
            self.step = step or max(1, shape[1] // 4)
            silence = np.zeros(self._shape, np.float32)
        else:
            with ending.of("--spectrogram"):
                one, two = _n_frames(spectrogram, (RATE, 2 * RATE), shape[2])
                if two <= one:
                    raise ValueError("the model makes as many frames of two seconds as of one")
                samples, hop = RATE // (two - one), step or 8
                self.step, self._overlap = hop * samples, RATE - one * samples
                self._spectrogram: Optional[blocks.Blocks] = blocks.Blocks(spectrogram, (self._overlap + self.step,), 0, n_threads)
                silence = np.repeat(self._parts(np.zeros(self._overlap + self.step, np.float32), 1)[-1:], shape[1], axis=0)
        with ending.of("--embedding"):
            self._embed = _features(embedding) if features else blocks.Blocks(embedding, self._shape, hop, n_threads)
            row = np.repeat(self._embed(silence.reshape(shape)), n_frames, axis=0)
        self._silent, self.row_shape = (silence, row), row.shape
        self.reset()

    def threads_that_pay(self) -> int:
        """For ears that hear at the same time, each in one thread."""
        return int(topwork.Session(self._model, device="cpu").info["n_threads"])

    def clone(self) -> Ear:
        """Another ear for another thread. What gives features is shared: threads take turns at it."""
        other = copy.copy(self)
        for name, model in vars(self).items():
            if isinstance(model, blocks.Blocks):
                setattr(other, name, model.clone())
        return other

    def reset(self) -> None:
        """Forgets what was heard: before the next sample it was silent for long."""
        self._window, self._row = self._silent
        self._pending = np.zeros(self._overlap, np.float32)  # begins with what the last step's frames need again

    def feed(self, samples: Array) -> Array:
        """[steps, n_frames, size] float32: the rows of the steps that these samples complete; the rest is kept."""
        heard = np.concatenate([self._pending, samples], dtype=np.float32)
        n = (len(heard) - self._overlap) // self.step
        if n == 0:
            self._pending = heard
            return np.zeros((0, *self.row_shape), np.float32)
        parts = self._parts(heard, n)
        lasting = np.concatenate([self._window, parts])
        windows = _runs(lasting, len(self._window))[len(parts) // n::len(parts) // n]
        rows = np.concatenate([self._row, self._embed(windows)])
        self._pending, self._window, self._row = heard[n * self.step:], lasting[-len(self._window):], rows[-len(self._row):]
        return _runs(rows, len(self._row))[1:]

    def _parts(self, heard: Array, n: int) -> Array:
        """What n steps add to the window: frames, or the samples themselves."""
        if self._spectrogram is None:
            return heard[:n * self.step]
        steps = _runs(heard * np.float32(32768), self._overlap + self.step)[::self.step][:n]
        return self._spectrogram(steps).reshape(-1, *self._shape[1:]) / np.float32(10) + np.float32(2)


def _runs(values: Array, n: int) -> Array:
    """[len(values) - n + 1, n, ...]: each n values that lie one behind the other, without a copy."""
    return as_strided(values, (len(values) - n + 1, n, *values.shape[1:]), (values.strides[0], *values.strides), writeable=False)


def _features(embedding: topwork.Model) -> Callable[[Array], Array]:
    features = topwork.Features(embedding)
    return lambda windows: np.concatenate([features(window[None]) for window in windows])  # no copy of all windows


def _n_frames(spectrogram: topwork.Model, lengths: tuple[int, ...], bands: int) -> list[int]:
    """Of as many samples as `lengths` has."""
    session = topwork.Session(spectrogram, input_shapes=[(1, lengths[0])], device="cpu")
    sizes = [session.run(np.zeros((1, n), np.float32))[0].size for n in lengths]
    if any(size % bands for size in sizes):
        raise ValueError(f"of {lengths} samples the model makes {sizes} numbers: no frames of {bands} bands, as --embedding takes")
    return [size // bands for size in sizes]
