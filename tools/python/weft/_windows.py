# SPDX-License-Identifier: Apache-2.0
"""Memory of every rank that all ranks use."""
from ._buffers import Op, buffer_of, numpy
from ._errors import check
from ._library import ffi, lib


class Window:
    """`count` elements of every rank of a communicator, cleared, which all ranks read and write without a call of their
    owner. Collective, and so are `fence` and `free`. Offsets are elements. What is where and when: weft's window.hpp.
    Arrays that are on their way to or from other hosts are kept until their rank is flushed."""

    def __init__(self, of, count: int, dtype="d", slots: int = 16):
        if numpy is None:
            raise ImportError("windows need numpy")
        self._dtype = numpy.dtype(dtype)
        element = buffer_of(numpy.empty(1, self._dtype)).element
        made = ffi.new("weft_window**")
        check(lib.weft_window_create(of._handle, count, element, slots, made))
        self._handle = made[0]
        self._far = {rank for rank in range(of.size) if not self.shares(rank)}
        self._in_flight = {}  # of each of these ranks the arrays, by their ids
        of._runtime.owns(self)
        memory = ffi.buffer(lib.weft_window_local(self._handle), count * self._dtype.itemsize)
        self.local = numpy.frombuffer(memory, self._dtype) if count else numpy.empty(0, self._dtype)

    def count(self, rank: int) -> int:
        """Elements of that rank."""
        found = ffi.new("size_t*")
        check(lib.weft_window_count(self._handle, rank, found))
        return found[0]

    def shares(self, rank: int) -> bool:
        """Whether this rank uses that rank's memory by loads and stores; else by messages."""
        found = ffi.new("int*")
        check(lib.weft_window_shares(self._handle, rank, found))
        return bool(found[0])

    def _checked(self, data, writable=False):
        if data.dtype != self._dtype:
            raise TypeError(f"elements of {data.dtype} for a window of {self._dtype}")
        its = buffer_of(data, writable)
        if not its.whole:
            raise TypeError("an array in pieces: windows take arrays in one piece")
        return its

    def _elements(self, data):
        return self._checked(data if isinstance(data, numpy.ndarray) else numpy.asarray(data, self._dtype))

    def _element(self, data):
        its = self._elements(data)
        if its.elements != 1:
            raise ValueError(f"{its.elements} elements for one of the window")
        return its

    def _keep(self, rank: int, its) -> None:
        if rank in self._far:
            self._in_flight.setdefault(rank, {})[id(its.given)] = its

    def put(self, rank: int, offset: int, data, notify=None) -> None:
        """Copies `data` there; and counts it in slot `notify` of that rank once it is there."""
        its = self._elements(data)
        self._keep(rank, its)
        if notify is None:
            check(lib.weft_put(self._handle, rank, offset, its.data, its.elements))
        else:
            check(lib.weft_put_notify(self._handle, rank, offset, its.data, its.elements, notify))

    def get(self, rank: int, offset: int, into) -> None:
        """Copies as many elements from there as the array `into` has. They are there once the rank is flushed."""
        if not isinstance(into, numpy.ndarray):
            raise TypeError(f"a {type(into).__name__} to read into: give a numpy array")
        its = self._checked(into, True)
        self._keep(rank, its)
        check(lib.weft_get(self._handle, rank, offset, its.data, its.elements))

    def accumulate(self, rank: int, offset: int, data, op=Op.SUM) -> None:
        its = self._elements(data)
        self._keep(rank, its)
        check(lib.weft_accumulate(self._handle, rank, offset, its.data, its.elements, op.handle))

    def fetch_and_op(self, rank: int, offset: int, value, op=Op.SUM):
        """Combines the element there with `value`; what it was before."""
        its = self._element(value)
        before = numpy.empty((), self._dtype)
        check(lib.weft_fetch_and_op(self._handle, rank, offset, its.data, buffer_of(before, True).data, op.handle))
        return before[()]

    def compare_and_swap(self, rank: int, offset: int, expected, desired):
        """Makes the element there `desired` if it is `expected`; what it was before."""
        old, new = self._element(expected), self._element(desired)
        before = numpy.empty((), self._dtype)
        check(lib.weft_compare_and_swap(self._handle, rank, offset, old.data, new.data, buffer_of(before, True).data))
        return before[()]

    def wait_notified(self, slot: int, count: int = 1) -> None:
        check(lib.weft_wait_notified(self._handle, slot, count))

    def flush(self, rank=None) -> None:
        """Blocks until what this rank has begun at that rank, at all, has taken place."""
        check(lib.weft_flush_all(self._handle) if rank is None else lib.weft_flush(self._handle, rank))
        self._is_flushed(rank)

    def _is_flushed(self, rank=None) -> None:
        if rank is None:
            self._in_flight.clear()
        else:
            self._in_flight.pop(rank, None)

    def fence(self) -> None:
        check(lib.weft_fence(self._handle))
        self._is_flushed()

    def lock(self, rank: int, exclusive: bool = True) -> None:
        check(lib.weft_lock(self._handle, rank, exclusive))

    def unlock(self, rank: int, exclusive: bool = True) -> None:
        check(lib.weft_unlock(self._handle, rank, exclusive))
        self._is_flushed(rank)

    def lock_all(self) -> None:
        """The locks of all ranks, shared."""
        check(lib.weft_lock_all(self._handle))

    def unlock_all(self) -> None:
        check(lib.weft_unlock_all(self._handle))
        self._is_flushed()

    def free(self) -> None:
        """Collective. `local` is not used any more."""
        handle = self._handle
        self.forget()
        check(lib.weft_window_free(handle))
        self._is_flushed()

    close = free

    def forget(self) -> None:
        self._handle, self.local = ffi.NULL, None
