"""Makes examples of models from sounds: reads WAV and FLAC, cuts windows, and joins windows into events.

WAV files of 16-bit samples need no other package, the others soundfile (libsndfile); other rates need soxr. The extra `sounds`
installs both.
"""
from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

Path = Union[str, "os.PathLike[str]"]
Samples = NDArray[np.float32]
ENDINGS = frozenset({".flac", ".wav"})
LABELS = "labels.csv"


@dataclass(frozen=True)
class Examples:
    """Windows of sounds and what is in them.

    Attributes
    ----------
    X : [n, size] float32 samples in [-1, 1]; or what a function of `folder` made of them, a row for each window.
    y : [n] names of classes.
    groups : [n] integers from 0 on, one for each file, for Trainer.fit: windows of a file are split together.
    files : the files, by group.
    """

    X: Samples
    y: NDArray[np.str_]
    groups: NDArray[np.int64]
    files: list[pathlib.Path]


@dataclass(frozen=True)
class Event:
    """A class that is heard from `start` to `end` (seconds); `score` is its highest one."""

    start: float
    end: float
    label: str
    score: float


def read(path: Path, rate: int, *, start: float = 0.0, end: Optional[float] = None) -> Samples:
    """[n] float32 samples in [-1, 1] of a WAV or FLAC file, at `rate` samples a second, from second `start` to `end`
    (None: to the end). Channels are averaged; other rates are converted by soxr in high quality.

    Raises ValueError for what is no sound or has no second `start`, and ModuleNotFoundError without soundfile or soxr where
    it takes them.
    """
    if rate <= 0:
        raise ValueError(f"a rate of {rate} samples a second is impossible")
    if not os.path.exists(path):
        raise ValueError(f"{path}: there is no such file")
    channels, stored = _of_plain_wave(path, start, end) or _of_any(path, start, end)
    samples = channels.mean(axis=1, dtype=np.float32) if channels.shape[1] > 1 else channels[:, 0]
    if not np.isfinite(samples).all():
        raise ValueError(f"{path}: holds samples that are no numbers")
    return _resampled(samples, stored, rate)


def _of_plain_wave(path: Path, start: float, end: Optional[float]) -> Optional[tuple[Samples, int]]:
    """[n, channels] and the rate of 16-bit samples; None: another kind of file, or one with an end missing. soundfile gives the
    same numbers, and takes some MB of memory."""
    import wave

    try:
        with wave.open(os.fspath(path)) as sound:
            if sound.getsampwidth() != 2:
                return None
            stored = sound.getframerate()
            first, last = _part(path, sound.getnframes(), stored, start, end)
            sound.setpos(first)
            shape, raw = (last - first, sound.getnchannels()), sound.readframes(last - first)
            if len(raw) != 2 * shape[0] * shape[1]:
                return None
            return np.frombuffer(raw, "<i2").reshape(shape) / np.float32(32768), stored
    except (wave.Error, EOFError):
        return None


def _of_any(path: Path, start: float, end: Optional[float]) -> tuple[Samples, int]:
    import soundfile

    try:
        with soundfile.SoundFile(os.fspath(path)) as sound:
            first, last = _part(path, sound.frames, sound.samplerate, start, end)
            sound.seek(first)
            return sound.read(last - first, dtype="float32", always_2d=True), sound.samplerate
    except soundfile.SoundFileError as error:
        raise ValueError(f"{path}: no sound that can be read: {error}") from error


def _part(path: Path, n: int, rate: int, start: float, end: Optional[float]) -> tuple[int, int]:
    """Where `start` and `end` are among n samples."""
    if n == 0:
        raise ValueError(f"{path}: holds no samples")
    first, last = round(start * rate), n if end is None else round(end * rate)
    if not 0 <= first < last <= n:
        until = "its end" if end is None else f"{end} s"
        raise ValueError(f"{path}: lasts {n / rate:.3f} s; {start} s to {until} is not in it")
    return first, last


def _resampled(samples: Samples, stored: int, rate: int) -> Samples:
    if stored == rate:
        return samples
    import soxr

    converted: Samples = np.asarray(soxr.resample(samples, stored, rate), np.float32)
    return converted


def leveled(samples: Samples, level: float) -> Samples:
    """Samples [..., n] as loud as `level` in the mean: decibels of the root mean square along the last axis below full
    scale (-20.0 is usual). The gain ends where a sample would leave [-1, 1]. Silence stays silence."""
    mean = np.sqrt(np.mean(np.square(samples, dtype=np.float64), axis=-1, keepdims=True))
    peak = np.max(np.abs(samples), axis=-1, keepdims=True, initial=0.0).astype(np.float64)
    gain = np.minimum(10 ** (level / 20) / np.maximum(mean, 1e-12), 1 / np.maximum(peak, 1e-12))
    return np.asarray(np.where(peak > 0, samples * gain, samples), np.float32)


def windows(samples: Samples, size: int, hop: Optional[int] = None) -> Samples:
    """[n, size] windows of samples, each `hop` samples (None: `size`) behind the one before. The last one is filled with
    zeros, where samples are left behind the window before it. No window starts behind the end."""
    hop = size if hop is None else hop
    if size < 1 or hop < 1:
        raise ValueError(f"a window of {size} samples each {hop} is impossible")
    n = 1 + max(0, min(-(-(len(samples) - size) // hop), (len(samples) - 1) // hop))
    padded = np.zeros((n - 1) * hop + size, np.float32)
    padded[:len(samples)] = samples[:len(padded)]
    cut: Samples = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop].copy()
    return cut


def folder(path: Path, rate: int, size: int, hop: Optional[int] = None, *, level: Optional[float] = None,
           transform: Optional[Callable[[Samples], Samples]] = None) -> Examples:
    """Windows of `size` samples, each `hop` behind the one before, of a folder of sounds at `rate` samples a second:

    * PATH/CLASS/FILE: the name of the inner folder is the class of its WAV and FLAC files.
    * PATH/labels.csv, with the header "file,start,end,class": what is heard in a part of a long file, in seconds. Empty
      `start` and `end` mean the whole file; a file may come up in many lines.

    level : decibels to which each file or part is brought (see `leveled`); None: as recorded.
    transform : function of the windows of a file or part, such as topwork.Features; its rows are kept in place of the
        samples, which then never lie in memory all at once.
    Raises ValueError with the file and the line that is wrong.
    """
    root = pathlib.Path(path)
    if not root.is_dir():
        raise ValueError(f"{root}: there is no such folder")
    parts = list(_labelled(root) if (root / LABELS).is_file() else _by_folder(root))
    if not parts:
        raise ValueError(f"{root}: no {LABELS}, and no folders of sounds ({', '.join(sorted(ENDINGS))})")
    files = sorted({part[0] for part in parts})
    number = {file: i for i, file in enumerate(files)}
    rows, names, groups = [], [], []
    for file, start, end, name, where in parts:
        try:
            samples = read(file, rate, start=start, end=end)
        except ValueError as error:
            raise ValueError(f"{where}{error}") from error
        cut = windows(samples if level is None else leveled(samples, level), size, hop)
        rows.append(cut if transform is None else transform(cut))
        names += [name] * len(cut)
        groups += [number[file]] * len(cut)
    return Examples(np.concatenate(rows), np.array(names), np.array(groups, np.int64), files)


Part = tuple[pathlib.Path, float, Optional[float], str, str]


def _by_folder(root: pathlib.Path) -> Iterator[Part]:
    for path in sorted(root.glob("*/*")):
        if path.suffix.lower() in ENDINGS:
            yield path, 0.0, None, path.parent.name, ""


def _labelled(root: pathlib.Path) -> Iterator[Part]:
    import csv

    with open(root / LABELS, newline="", encoding="utf-8-sig") as stream:
        rows = csv.DictReader(stream)
        if rows.fieldnames is None or list(rows.fieldnames) != ["file", "start", "end", "class"]:
            raise ValueError(f"{root / LABELS}: the first line must be file,start,end,class")
        for row in rows:
            where = f"{root / LABELS}, line {rows.line_num}: "
            if None in row or None in row.values() or not row["file"] or not row["class"]:
                raise ValueError(f"{where}needs four values, with a file and a class")
            try:
                start, end = float(row["start"] or 0), float(row["end"]) if row["end"] else None
            except ValueError as error:
                raise ValueError(f"{where}start and end are seconds, such as 1.25: {error}") from error
            if not (root / row["file"]).is_file():
                raise ValueError(f"{where}{root / row['file']} does not exist")
            yield root / row["file"], start, end, row["class"], where


def events(scores: Any, labels: Sequence[str], *, hop: float, length: float, threshold: float = 0.5,
           gap: float = 0.0) -> list[Event]:
    """What is heard when: joins windows in which a class reaches `threshold`.

    scores : [n, n_classes], one row for each window in the order of time.
    hop, length : seconds from a window's start to the next one's, and of a window.
    gap : parts of a class at most so many seconds apart are one event.

    Events are sorted by start, then by label.
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or table.shape[1] != len(labels):
        raise ValueError(f"scores of shape {table.shape} do not fit {len(labels)} labels: give [n, {len(labels)}]")
    found: list[Event] = []
    for label, column in zip(labels, table.T):
        last: Optional[Event] = None
        for i in np.flatnonzero(column >= threshold):
            start, score = float(i * hop), float(column[i])
            if last is not None and start <= last.end + gap + 1e-9:
                last = found[-1] = Event(last.start, start + length, label, max(last.score, score))
            else:
                last = Event(start, start + length, label, score)
                found.append(last)
    return sorted(found, key=lambda event: (event.start, event.label))
