"""What can go wrong: a class for each status of the library. The text of an exception is the library's own sentence,
which says what was wrong, where, and what to do."""
from __future__ import annotations


class Error(Exception):
    """Base of all that the library raises."""


class InvalidArgumentError(Error, ValueError):
    """An argument of the call is wrong."""


class InvalidModelError(Error, ValueError):
    """The model file is malformed."""


class UnsupportedError(Error, NotImplementedError):
    """Well-formed, but not supported by this library."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, or a memory limit was reached."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class CancelledError(Error):
    """Stopped by the caller."""


class FailedPreconditionError(Error, RuntimeError):
    """Called in the wrong order or state."""


class NumericError(Error, ArithmeticError):
    """A loss, gradient or weight became NaN or infinite."""


class NotFoundError(Error, LookupError):
    """A named thing does not exist."""


class DeviceLostError(Error, RuntimeError):
    """The OpenCL device failed while it was running."""


class CorruptError(Error, ValueError):
    """A checkpoint or cache failed its checksum."""


class InternalError(Error, RuntimeError):
    """A defect of the library; please report it."""


_CLASSES: list[type[Error]] = [
    Error, InvalidArgumentError, InvalidModelError, UnsupportedError, OutOfMemoryError, FileError, CancelledError,
    FailedPreconditionError, NumericError, NotFoundError, DeviceLostError, CorruptError, InternalError]


def of_status(status: int) -> type[Error]:
    """The class of a tw_status."""
    return _CLASSES[status] if 0 < status < len(_CLASSES) else Error
