"""What wakeword.py hears with: rows of embeddings of a stream of samples, by one model or by openWakeWord's two."""
from __future__ import annotations

import pathlib
from typing import Any, Iterator, Optional

import numpy as np
from numpy.typing import NDArray

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


def scored(head: topwork.Session, rows: Array) -> Array:
    """[n] scores of rows [n, n_frames, size] by a head [1, n_frames, size] -> [1, 1]."""
    return np.array([head.run(row[None])[0].reshape(-1)[0] for row in rows], np.float32)


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
        self.shape = embedding.inputs[0].shape
        self._features = topwork.Features(embedding) if features else None
        self._embedding = topwork.Session(embedding)
        self._spectrogram: Optional[topwork.Session] = None
        if spectrogram is None:
            if len(self.shape) != 2:
                raise SystemExit(f"the embedding model takes {self.shape}: without a spectrogram it must take [1, samples]")
            self.step = step or max(1, self.shape[1] // 4)
            silence = np.zeros(self.shape[1], np.float32)
        else:
            if len(self.shape) != 4:
                raise SystemExit(f"the embedding model takes {self.shape}: a spectrogram goes into [1, height, bands, 1]")
            self._spectrogram = topwork.Session(spectrogram, input_shapes=[(1, RATE)])
            one, two = (len(self._frames(np.zeros(n, np.float32))) for n in (RATE, 2 * RATE))
            hop = RATE // (two - one)
            self.step, self._overlap = (step or 8) * hop, RATE - one * hop
            # From here on it always runs on as many samples.
            frames = self._frames(np.zeros(self._overlap + self.step, np.float32))
            silence = np.repeat(frames[-1:], self.shape[1], axis=0)
        row = np.repeat(self._embed(silence)[None], n_frames, axis=0)
        self._silent = (silence, row)
        self.row_shape = row.shape
        self.reset()

    def reset(self) -> None:
        """Forgets what was heard: before the next sample it was silent for long."""
        self._window, self._row = self._silent
        self._pending = np.zeros(0, np.float32)
        self._tail = np.zeros(0 if self._spectrogram is None else self._overlap, np.float32)

    def feed(self, samples: Array) -> Array:
        """[steps, n_frames, size] float32: the rows of the steps that these samples complete; the rest is kept."""
        self._pending = np.concatenate([self._pending, samples.astype(np.float32)])
        rows = []
        while len(self._pending) >= self.step:
            part, self._pending = self._pending[:self.step], self._pending[self.step:]
            if self._spectrogram is not None:
                heard = np.concatenate([self._tail, part])
                part, self._tail = self._frames(heard), heard[len(heard) - self._overlap:]
            self._window = np.concatenate([self._window, part])[-len(self._window):]
            self._row = np.concatenate([self._row[1:], self._embed(self._window)[None]])
            rows.append(self._row)
        return np.stack(rows) if rows else np.zeros((0, *self.row_shape), np.float32)

    def _frames(self, samples: Array) -> Array:
        assert self._spectrogram is not None
        if self._spectrogram.inputs[0].shape[1] != len(samples):
            self._spectrogram.resize(0, (1, len(samples)))
        answer, = self._spectrogram.run(samples[None] * np.float32(32768))
        return answer.reshape(-1, answer.shape[-1]) / np.float32(10) + np.float32(2)

    def _embed(self, window: Array) -> Array:
        given = window.reshape(self.shape)
        return self._features(given)[0] if self._features else self._embedding.run(given)[0].reshape(-1).copy()
