"""Does one thing with each of many items, on several threads at once."""
from __future__ import annotations

import threading
from typing import Any, Callable, Optional, Sequence


def each(calls: Sequence[Callable[[Any], Any]], items: Sequence[Any], size: Callable[[Any], float]) -> list[Any]:
    """What the calls give for the items, in the items' order. Each call has a thread of its own and takes an item when it is done
    with one, the largest first, so each needs its own sessions. What one raises ends all of them. One call: no thread begins."""
    found: list[Any] = [None] * len(items)
    todo, errors = sorted(range(len(items)), key=lambda i: size(items[i])), list[BaseException]()

    def work(call: Callable[[Any], Any]) -> None:
        try:
            while not errors and (i := _popped(todo)) is not None:
                found[i] = call(items[i])
        except BaseException as error:  # Ctrl-C, too
            errors.append(error)

    others = [threading.Thread(target=work, args=(call,)) for call in calls[1:len(items)]]
    for thread in others:
        thread.start()
    work(calls[0])
    for thread in others:
        thread.join()
    if errors:
        raise errors[0]
    return found


def _popped(numbers: list[int]) -> Optional[int]:
    try:
        return numbers.pop()  # one step, which threads need no lock for
    except IndexError:
        return None
