# SPDX-License-Identifier: Apache-2.0
"""Memory of every rank that all ranks use."""
from ._buffers import Op, buffer_of, numpy
from ._errors import check
from ._library import ffi, lib


class Window:
    """`count` elements of every rank of a communicator, cleared, which all ranks read and write without a call of their
    owner. Collective, and so are `fence` and `free`. Offsets are elements. What is where and when: weft's window.hpp."""

    def __init__(self, of, count: int, dtype="d", slots: int = 16):
        if numpy is None:
            raise ImportError("windows need numpy")
        self._dtype = numpy.dtype(dtype)
        self._of = of
        element = buffer_of(numpy.empty(1, self._dtype)).element
        made = ffi.new("weft_window**")
        check(lib.weft_window_create(of._handle, count, element, slots, made))
        self._handle = made[0]
        of._runtime.owns(self)
        memory = ffi.buffer(lib.weft_window_local(self._handle), count * self._dtype.itemsize)
        self.local = numpy.frombuffer(memory, self._dtype) if count else numpy.empty(0, self._dtype)

    def count(self, rank: int) -> int:
        """Elements of that rank."""
        found = ffi.new("size_t*")
        check(lib.weft_window_count(self._handle, rank, found))
        return found[0]

    def _elements(self, data, writable=False):
        if not isinstance(data, numpy.ndarray):
            data = numpy.asarray(data, self._dtype)
        if data.dtype != self._dtype:
            raise TypeError(f"elements of {data.dtype} for a window of {self._dtype}")
        its = buffer_of(data, writable)
        if not its.whole:
            raise TypeError("an array in pieces: windows take arrays in one piece")
        return its

    def put(self, rank: int, offset: int, data, notify=None) -> None:
        """Copies `data` there; and counts it in slot `notify` of that rank once it is there."""
        its = self._elements(data)
        if notify is None:
            check(lib.weft_put(self._handle, rank, offset, its.data, its.elements))
        else:
            check(lib.weft_put_notify(self._handle, rank, offset, its.data, its.elements, notify))

    def get(self, rank: int, offset: int, into) -> None:
        """Copies as many elements from there as `into` has. They are there once the rank is flushed."""
        its = self._elements(into, True)
        check(lib.weft_get(self._handle, rank, offset, its.data, its.elements))

    def accumulate(self, rank: int, offset: int, data, op=Op.SUM) -> None:
        its = self._elements(data)
        check(lib.weft_accumulate(self._handle, rank, offset, its.data, its.elements, op.handle))

    def fetch_and_op(self, rank: int, offset: int, value, op=Op.SUM):
        """Combines the element there with `value`; what it was before."""
        its = self._elements(value)
        before = numpy.empty((), self._dtype)
        check(lib.weft_fetch_and_op(self._handle, rank, offset, its.data, buffer_of(before, True).data, op.handle))
        return before[()]

    def compare_and_swap(self, rank: int, offset: int, expected, desired):
        """Makes the element there `desired` if it is `expected`; what it was before."""
        old, new = self._elements(expected), self._elements(desired)
        before = numpy.empty((), self._dtype)
        check(lib.weft_compare_and_swap(self._handle, rank, offset, old.data, new.data, buffer_of(before, True).data))
        return before[()]

    def wait_notified(self, slot: int, count: int = 1) -> None:
        check(lib.weft_wait_notified(self._handle, slot, count))

    def flush(self, rank=None) -> None:
        """Blocks until what this rank has begun at that rank, at all, has taken place."""
        check(lib.weft_flush_all(self._handle) if rank is None else lib.weft_flush(self._handle, rank))

    def fence(self) -> None:
        check(lib.weft_fence(self._handle))

    def lock(self, rank: int, exclusive: bool = True) -> None:
        check(lib.weft_lock(self._handle, rank, exclusive))

    def unlock(self, rank: int, exclusive: bool = True) -> None:
        check(lib.weft_unlock(self._handle, rank, exclusive))

    def free(self) -> None:
        """Collective. `local` is not used any more."""
        handle, self._handle = self._handle, ffi.NULL
        self.local = None
        check(lib.weft_window_free(handle))

    close = free
