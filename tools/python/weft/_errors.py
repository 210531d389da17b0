# SPDX-License-Identifier: Apache-2.0
"""Errors of weft as exceptions."""
import enum
import threading

from ._library import ffi, lib

Code = enum.IntEnum("Code", {
    name[len("WEFT_"):]: value
    for value, name in ffi.typeof("enum weft_result").elements.items() if name != "WEFT_OK"
})


class Error(RuntimeError):
    """What weft says of a call that failed."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = Code(code)


class PeerLost(Error):
    """Processes died. `ranks`: of the job, those that are known to be lost."""

    ranks: tuple = ()


class TimedOut(Error):
    """A deadline passed. `ranks`: of the communicator, those that were waited for."""

    ranks: tuple = ()


kinds = {Code.PEER_LOST: PeerLost, Code.TIMED_OUT: TimedOut}

# An exception of a function of the caller's that weft has called: raised again by the call that it comes out of.
raised = threading.local()


def check(result: int) -> None:
    """Raises what the call has failed with, if it has."""
    if result == 0:
        return
    failure = getattr(raised, "by_function", None)
    raised.by_function = None
    if failure is None or result != Code.CALLBACK:
        failure = kinds.get(result, Error)(result, ffi.string(lib.weft_error_text()).decode(errors="replace"))
        if isinstance(failure, (PeerLost, TimedOut)):
            count = lib.weft_error_ranks(ffi.NULL, 0)
            ranks = ffi.new("int[]", count)
            lib.weft_error_ranks(ranks, count)
            failure.ranks = tuple(ranks)
    try:
        raise failure
    finally:
        del failure  # whose traceback has this frame: what the callers hold goes with it
