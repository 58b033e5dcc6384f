"""Progress of a long call: a bar of tqdm, on a terminal or in a notebook, or the caller's function."""
from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Optional, Union


class Progress:
    """A progress bar while it is entered; with `wanted` False it shows nothing."""

    def __init__(self, wanted: Union[bool, Callable[[dict[str, Any]], Any]], name: str) -> None:
        self._function = wanted if callable(wanted) else None
        self._bar: Any = None
        if wanted is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm: pip install tqdm, or pass a function") from None
            self._bar = tqdm(desc=name, total=None)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self._bar is not None:
            self._bar.close()

    def _show(self, done: int, total: int) -> None:
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def of_examples(self, done: int, total: int) -> None:
        self._show(done, total)

    def of_epoch(self, epoch: dict[str, Any]) -> Any:
        """What the caller's function returns; False stops training."""
        self._show(epoch["epoch"], epoch["n_epochs"])
        return self._function(epoch) if self._function is not None else None
