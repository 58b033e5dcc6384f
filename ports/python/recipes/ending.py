"""How a recipe ends where a file, a folder or a value is wrong: with the sentence that says so, and no traceback."""
from __future__ import annotations

from typing import Callable

import topwork


def run(main: Callable[[], None]) -> None:
    """Calls main(); what is wrong with the user's files and values goes to stderr, and the exit status is 1."""
    try:
        main()
    except (topwork.Error, OSError, ValueError) as error:
        raise SystemExit(str(error)) from error
