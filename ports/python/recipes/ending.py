"""How a recipe begins and ends: with one heap, and where a file, a folder or a value is wrong, with the sentence that says
so and no traceback."""
from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Callable, Iterator, Optional

import topwork

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of glibc's malloc.h


def one_heap() -> None:
    """What one step gives free, the next one takes, or the system: glibc's malloc otherwise keeps a heap for each thread, and
    blocks of some MB in them. A recipe's steps are short, and each has large arrays of its own."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(M_ARENA_MAX, 1)
        set_option(M_MMAP_THRESHOLD, 65536)


def run(main: Callable[[], None]) -> None:
    """Calls main(); what is wrong with the user's files and values goes to stderr, and the exit status is 1."""
    one_heap()
    try:
        main()
    except (topwork.Error, OSError, ValueError) as error:
        raise SystemExit(str(error)) from error


@contextlib.contextmanager
def of(option: str) -> Iterator[None]:
    """What is wrong in here is wrong with what that option named."""
    try:
        yield
    except (topwork.Error, ValueError) as error:
        raise SystemExit(f"{option}: {error}") from error


def model(option: str, path: Optional[str]) -> Any:
    """The model of the file that an option named; None where it was not given."""
    with of(option):
        return topwork.Model.open(path) if path else None
