"""An error that is kept, and raised in its turn."""

from typing import NoReturn

__all__ = ["raised"]


def raised(error: BaseException) -> NoReturn:
    """Raises it, and forgets it: its traceback holds this frame, which must not hold it in turn.

    What holds itself stays until garbage is collected, and with it all that the error's frames know: iterators,
    threads, open files.
    """
    try:
        raise error
    finally:
        del error
