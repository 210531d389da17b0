# SPDX-License-Identifier: Apache-2.0
"""The job, its communicators, and their calls."""
import atexit
import ctypes
import functools
import itertools
import math
import os
import pickle
import sys
import threading
import weakref
from typing import NamedTuple

from ._buffers import Buffer, Number, Op, buffer_of, new_array, numpy
from ._errors import check
from ._library import ffi, lib


class Status(NamedTuple):
    """Of a message: the rank that sent it, its tag, and its length."""

    source: int
    tag: int
    bytes: int


def _status(found) -> Status:
    return Status(found.source, found.tag, found.bytes)


class Runtime:
    """This process's membership in its job. Made by the first `world()`, and left when the interpreter ends: what there
    still is is closed then, the last made first, and the process waits for the others to leave, too. Where an exception
    has ended the program all that is left out, and the others are told of a loss when the process has gone. In either
    case, and in a process that was forked, weft's calls are refused from then on."""

    def __init__(self):
        made = ffi.new("weft_runtime**")
        check(lib.weft_init(ffi.NULL, ffi.NULL, made))
        self._handle = made[0]
        self._owned, self._numbers = weakref.WeakValueDictionary(), itertools.count()
        world = ffi.new("weft_comm**")
        check(lib.weft_world(self._handle, world))
        self.world = Communicator(self, world[0])
        self._failed = False
        self._hook = sys.excepthook
        sys.excepthook = self._note_failure
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def _note_failure(self, *what):
        self._failed = True
        self._hook(*what)

    def owns(self, object_of_it) -> None:
        """It is not used any more behind the end of this."""
        self._owned[next(self._numbers)] = object_of_it

    def living(self):
        """The handle. Raises RuntimeError where the job was left."""
        if not self._handle:
            raise RuntimeError("weft is not there any more: the job was left, or this process was forked")
        return self._handle

    def _forget(self) -> list:
        """Nothing of weft is used any more; what was."""
        self._handle = ffi.NULL
        owned = list(self._owned.values())
        for each in owned:
            each.forget()
        return owned

    def close(self) -> None:
        handle = self._handle
        if not handle:
            return
        if self._failed:
            # What is in flight ends with the process, and so does what it reads and writes.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._forget()))
            return
        try:
            for each in reversed(list(self._owned.values())):
                each.close()
        finally:
            self._forget()
        check(lib.weft_finalize(handle))


_one_at_a_time = threading.Lock()
_runtimes = []  # at most one


def runtime() -> Runtime:
    with _one_at_a_time:
        if not _runtimes:
            _runtimes.append(Runtime())
        return _runtimes[0]


def world() -> "Communicator":
    """All ranks of the job. Joins it the first time, and blocks until every process has."""
    its = runtime()
    its.living()
    return its.world


def allocate(shape, dtype="d"):
    """A numpy array, cleared, in memory that the processes of the node share: long collectives are fastest there."""
    kind, made = numpy.dtype(dtype), ffi.new("weft_array**")
    size = int(numpy.prod(shape)) * kind.itemsize
    check(lib.weft_array_create(runtime().living(), size, made))
    array = made[0]
    data = ffi.gc(lib.weft_array_data(array), lambda _: lib.weft_array_free(array))
    return numpy.ndarray(shape, kind, ffi.buffer(data, size))


class deadline:
    """While it is entered, blocking calls of this thread raise TimedOut when so many seconds have passed:

        with weft.deadline(5):
            world.barrier()
    """

    def __init__(self, seconds: float):
        self._seconds = seconds

    def __enter__(self):
        made = ffi.new("weft_deadline**")
        check(lib.weft_deadline_begin(self._seconds, made))
        self._handle = made[0]
        return self

    def __exit__(self, *_):
        lib.weft_deadline_end(self._handle)


class Request:
    """An operation in flight, which keeps its buffers. Closed, or dropped: a receive that no message has met is taken
    back, and anything else is waited for, whatever deadline there is."""

    def __init__(self, runtime, handle, result=lambda status: status, keeps=()):
        self._handle = ffi.new("weft_request**", handle)
        self._result, self._keeps = result, keeps
        self._value = self._failure = None
        runtime.owns(self)

    def _end(self, call, *arguments) -> None:
        """Calls it of what is in flight, and keeps what that ends with."""
        status = ffi.new("weft_status*")
        try:
            check(call(self._handle, *arguments, status))
            if not self._handle[0]:
                self._value = self._result(_status(status))
        except BaseException as failure:  # pylint: disable=broad-except  # an operator of the caller's raises anything
            if not self._handle[0]:
                self._failure = failure
            raise
        finally:
            if not self._handle[0]:
                self._result, self._keeps = None, ()

    def wait(self):
        """Blocks until it is done; its result: of a receive the status, of a collective what the blocking call
        returns. Raises what it failed with, each time."""
        if self._handle[0]:
            self._end(lib.weft_wait)
        elif self._failure is not None:
            raise self._failure
        return self._value

    def wait_for(self, seconds: float) -> bool:
        """Blocks until it is done, or for so long. Once it is True `wait` has the result at once."""
        if self._handle[0]:
            self._end(lib.weft_wait_for, seconds, ffi.new("int*"))
        elif self._failure is not None:
            raise self._failure
        return not self._handle[0]

    def test(self) -> bool:
        """The same without blocking."""
        return self.wait_for(0)

    def cancel(self) -> bool:
        """Takes a receive back that no message has met: then its result is None."""
        if not self._handle[0]:
            return False
        cancelled = ffi.new("int*")
        check(lib.weft_cancel(self._handle, cancelled))
        if cancelled[0]:
            self._keeps = ()
        return bool(cancelled[0])

    def close(self) -> None:
        if self._handle[0]:
            self.cancel()
            lib.weft_request_free(self._handle[0])
            self.forget()
            self._keeps = ()

    def forget(self) -> None:
        if self._handle[0]:
            self._handle[0] = ffi.NULL
            self._failure = RuntimeError("the operation was closed, and not waited for")

    def __del__(self):
        self.close()


def wait_all(requests) -> list:
    """Waits for all, in whatever order they end: their results. Raises the first error, if any, once all are over."""
    results, first = [], None
    for each in requests:
        try:
            results.append(each.wait())
        except Exception as failure:  # pylint: disable=broad-except  # an operator of the caller's raises anything
            first = first or failure
    if first is not None:
        raise first
    return results


def _places(requests):
    return ffi.new("weft_request*[]", [each._handle[0] for each in requests])


def wait_any(requests):
    """Blocks until one that is in flight is done: its index. Its `wait` then returns at once. None where none is in
    flight: those that were waited for, or tested to be done, do not count."""
    index = ffi.new("size_t*")
    check(lib.weft_wait_any(len(requests), _places(requests), index))
    return index[0] if index[0] < len(requests) else None


def wait_some(requests) -> list:
    """The same: the indices of all that are done."""
    done, indices = ffi.new("size_t*"), ffi.new("size_t[]", len(requests))
    check(lib.weft_wait_some(len(requests), _places(requests), done, indices))
    return list(indices[0:done[0]])


class Plan:
    """A message or collective of the same buffers again and again: `start`, then `wait`. Closed, or dropped, it waits
    for what was started."""

    def __init__(self, runtime, handle, result=lambda status: status, keeps=()):
        self._handle, self._result, self._keeps = handle, result, keeps
        runtime.owns(self)

    def start(self) -> None:
        check(lib.weft_plan_start(self._handle))

    def wait(self):
        """Blocks until what was started is done; its result, as of a request."""
        status = ffi.new("weft_status*")
        check(lib.weft_plan_wait(self._handle, status))
        return self._result(_status(status))

    def wait_for(self, seconds: float) -> bool:
        """Blocks until what was started is done, or for so long. Once it is True there is nothing to wait for: results
        are in `out`."""
        done = ffi.new("int*")
        check(lib.weft_plan_wait_for(self._handle, seconds, done))
        return bool(done[0])

    def test(self) -> bool:
        """The same without blocking."""
        done = ffi.new("int*")
        check(lib.weft_plan_test(self._handle, done))
        return bool(done[0])

    def close(self) -> None:
        handle, self._handle = self._handle, ffi.NULL
        lib.weft_plan_free(handle)

    def forget(self) -> None:
        self._handle = ffi.NULL

    __del__ = close


class Message:
    """A message that nobody else gets any more. Closed, or dropped, it is discarded where it was not received."""

    def __init__(self, runtime, handle, status: Status):
        self._handle, self.status, self._runtime = ffi.new("weft_message**", handle), status, runtime
        runtime.owns(self)

    def recv(self, into) -> Status:
        status, its = ffi.new("weft_status*"), buffer_of(into, True)
        check(lib.weft_message_recv(self._handle, its.data, its.count, its.type, status))
        return _status(status)

    def irecv(self, into) -> Request:
        made, its = ffi.new("weft_request**"), buffer_of(into, True)
        check(lib.weft_message_irecv(self._handle, its.data, its.count, its.type, made))
        return Request(self._runtime, made[0], keeps=its)

    def close(self) -> None:
        lib.weft_message_free(self._handle[0])
        self.forget()

    def forget(self) -> None:
        self._handle[0] = ffi.NULL

    __del__ = close


class PendingCommunicator:
    """A communicator that is being made. Closed, or dropped, it waits for that."""

    def __init__(self, runtime, handle):
        self._handle, self._runtime = ffi.new("weft_pending_comm**", handle), runtime
        runtime.owns(self)

    def test(self) -> bool:
        done = ffi.new("int*")
        check(lib.weft_pending_comm_test(self._handle[0], done))
        return bool(done[0])

    def wait(self):
        """Blocks until all ranks have started the same: the communicator, or None of a negative colour."""
        return _made(self._runtime, lib.weft_pending_comm_wait, self._handle)

    def close(self) -> None:
        lib.weft_pending_comm_free(self._handle[0])
        self.forget()

    def forget(self) -> None:
        self._handle[0] = ffi.NULL

    __del__ = close


def _made(runtime, call, *arguments):
    made = ffi.new("weft_comm**")
    check(call(*arguments, made))
    return Communicator(runtime, made[0]) if made[0] else None


class _Call(NamedTuple):
    """A collective: what weft.h's function is given, what it returns in the end, and what has to live until then."""

    arguments: tuple
    result: object
    keeps: tuple


def _in_three_forms(make, of="_handle"):
    """Of a method that makes a _Call: the blocking, started and planned method of that name."""
    name = make.__name__

    def blocking(self, *arguments, **options):
        call = make(self, *arguments, **options)
        check(getattr(lib, f"weft_{name}")(getattr(self, of), *call.arguments))
        return call.result()

    def started(self, *arguments, **options):
        call, made = make(self, *arguments, **options), ffi.new("weft_request**")
        check(getattr(lib, f"weft_i{name}")(getattr(self, of), *call.arguments, made))
        return Request(self._runtime, made[0], lambda _: call.result(), call)

    def planned(self, *arguments, **options):
        call, made = make(self, *arguments, **options), ffi.new("weft_plan**")
        if any(isinstance(each, Buffer) and each.copied for each in call.keeps):
            raise TypeError(f"plan_{name}: a number, or an array in pieces: plans take arrays in one piece")
        check(getattr(lib, f"weft_plan_{name}")(getattr(self, of), *call.arguments, made))
        return Plan(self._runtime, made[0], lambda _: call.result(), call)

    blocking.__name__, blocking.__doc__ = name, make.__doc__
    started.__name__, started.__doc__ = f"i{name}", f"Starts `{name}`, and returns a Request."
    planned.__name__, planned.__doc__ = f"plan_{name}", f"Plans `{name}` of these buffers, and returns a Plan."
    for each in (blocking, started, planned):
        functools.update_wrapper(each, make, assigned=("__module__", ))
        each.__qualname__ = make.__qualname__[:-len(name)] + each.__name__
    return blocking, started, planned


class Communicator:
    """An ordered set of ranks with its own matching space. Used by its rank alone; its collectives are called by all
    ranks, in the same order. `out` and `into`: where results go; without them they are new."""

    def __init__(self, runtime, handle):
        self._runtime, self._handle = runtime, handle
        self.rank: int = lib.weft_rank(handle)
        self.size: int = lib.weft_size(handle)
        runtime.owns(self)

    def __repr__(self):
        return f"<weft.Communicator: rank {self.rank} of {self.size}>"

    @property
    def members(self) -> list:
        """The rank in the job of each member."""
        if not self._handle:
            raise ValueError("a communicator that was freed has no members")
        return list(lib.weft_members(self._handle)[0:self.size])

    def free(self) -> None:
        """Frees it on this rank, alone; nothing of the world. What is not freed stays until the end of the job."""
        if self is not self._runtime.world:
            lib.weft_comm_free(self._handle)
            self.forget()

    close = free

    def forget(self) -> None:
        self._handle = ffi.NULL

    # Messages.

    def _message(self, call, data, writable, peer, tag, *more):
        its = buffer_of(data, True) if writable else _read(data)
        check(call(self._handle, its.data, its.count, its.type, peer, tag, *more))
        return its

    def send(self, data, to: int, tag: int = 0) -> None:
        """Blocks until `data` may be used again."""
        self._message(lib.weft_send, data, False, to, tag)

    def ssend(self, data, to: int, tag: int = 0) -> None:
        """Blocks until it is received."""
        self._message(lib.weft_ssend, data, False, to, tag)

    def recv(self, into, source: int = -1, tag: int = -1) -> Status:
        """Blocks until a message is in `into`; what it is."""
        status = ffi.new("weft_status*")
        self._message(lib.weft_recv, into, True, source, tag, status)
        return _status(status)

    def recv_new(self, dtype="d", source: int = -1, tag: int = -1):
        """A message, however long it is, as a new array."""
        if numpy is None:
            raise ImportError("recv_new needs numpy: give recv a place")
        found, kind = self.mprobe(source, tag), numpy.dtype(dtype)
        if found.status.bytes % kind.itemsize:
            raise ValueError(f"a message of {found.status.bytes} bytes for elements of {kind.itemsize}")
        data = numpy.empty(found.status.bytes // kind.itemsize, kind)
        found.recv(data)
        return data

    def sendrecv(self, data, to: int, into, source: int = -1, send_tag: int = 0, receive_tag: int = -1) -> Status:
        """Both at the same time; the buffers do not overlap."""
        status = ffi.new("weft_status*")
        its, room = _read(data), buffer_of(into, True)
        check(lib.weft_sendrecv(self._handle, its.data, its.count, its.type, to, send_tag, room.data, room.count,
                                room.type, source, receive_tag, status))
        return _status(status)

    def _start(self, call, data, writable, peer, tag) -> Request:
        made = ffi.new("weft_request**")
        its = self._message(call, data, writable, peer, tag, made)
        return Request(self._runtime, made[0], keeps=its)

    def isend(self, data, to: int, tag: int = 0) -> Request:
        return self._start(lib.weft_isend, data, False, to, tag)

    def issend(self, data, to: int, tag: int = 0) -> Request:
        return self._start(lib.weft_issend, data, False, to, tag)

    def irecv(self, into, source: int = -1, tag: int = -1) -> Request:
        return self._start(lib.weft_irecv, into, True, source, tag)

    def _plan(self, call, data, writable, peer, tag) -> Plan:
        made = ffi.new("weft_plan**")
        its = buffer_of(data, writable)
        check(call(self._handle, its.data, its.count, its.type, peer, tag, made))
        return Plan(self._runtime, made[0], keeps=its)

    def plan_send(self, data, to: int, tag: int = 0) -> Plan:
        return self._plan(lib.weft_plan_send, data, False, to, tag)

    def plan_recv(self, into, source: int = -1, tag: int = -1) -> Plan:
        return self._plan(lib.weft_plan_recv, into, True, source, tag)

    def probe(self, source: int = -1, tag: int = -1) -> Status:
        """Blocks until a message that matches could be received; which."""
        status = ffi.new("weft_status*")
        check(lib.weft_probe(self._handle, source, tag, status))
        return _status(status)

    def iprobe(self, source: int = -1, tag: int = -1):
        """The same without blocking: None where there is none yet."""
        found, status = ffi.new("int*"), ffi.new("weft_status*")
        check(lib.weft_iprobe(self._handle, source, tag, found, status))
        return _status(status) if found[0] else None

    def _take(self, call, source, tag):
        made, status = ffi.new("weft_message**"), ffi.new("weft_status*")
        check(call(self._handle, source, tag, made, status))
        return Message(self._runtime, made[0], _status(status)) if made[0] else None

    def mprobe(self, source: int = -1, tag: int = -1) -> Message:
        """As `probe`, and takes the message out."""
        return self._take(lib.weft_mprobe, source, tag)

    def improbe(self, source: int = -1, tag: int = -1):
        return self._take(lib.weft_improbe, source, tag)

    # Collectives.

    def _output(self, out, like: Buffer, shape: tuple) -> Buffer:
        its = self._place(new_array(like, shape) if out is None else out)
        if its.code != like.code or its.size != like.size:
            raise TypeError(f"input and output are of different types: {like.code} and {its.code}")
        if its.elements != math.prod(shape):
            raise ValueError(f"{its.elements} elements for a result of {math.prod(shape)}")
        return its

    def _place(self, out) -> Buffer:
        if out is None:
            raise TypeError(f"rank {self.rank} has to give `out`: it does not know what comes")
        its = buffer_of(out, True)
        if not its.whole:
            raise TypeError("an array in pieces for a result: give one in one piece")
        return its

    def _combined(self, data, op, out, *root) -> _Call:
        """A reduction of as many elements as there are."""
        if Number.kind_of(data) and out is None:
            number = Number(data)
            its = number.buffer()
            return _Call((its.data, its.data, 1, its.type, op.handle_for(its), *root), number.value, (its, op))
        its = _read_whole(data)
        to = self._output(out, its, its.shape)
        return _Call((its.data, to.data, its.elements, its.element, op.handle_for(its), *root), lambda: to.given,
                     (its, to, op))

    @_in_three_forms
    def barrier(self):
        """Returns when all ranks have called it."""
        return _Call((), lambda: None, ())

    barrier, ibarrier, plan_barrier = barrier

    @_in_three_forms
    def bcast(self, data, root: int = 0):
        """Copies `data` of `root` into every rank's, and returns it. A number is returned alone, of the root's kind."""
        if Number.kind_of(data):
            number = Number(data)
            its = number.with_kind()
            return _Call((its.data, its.elements, its.element, root), number.value, (its, ))
        its = buffer_of(data, self.rank != root)
        if not its.whole:
            raise TypeError("an array in pieces: give one in one piece")
        return _Call((its.data, its.elements, its.element, root), lambda: data, (its, ))

    bcast, ibcast, plan_bcast = bcast

    @_in_three_forms
    def reduce(self, data, op=Op.SUM, root: int = 0, out=None):
        """Everybody's `data`, combined element by element; None on other ranks than `root`."""
        call = self._combined(data, op, out, root)
        return call if self.rank == root else call._replace(result=lambda: None)

    reduce, ireduce, plan_reduce = reduce

    @_in_three_forms
    def allreduce(self, data, op=Op.SUM, out=None):
        """Everybody's `data`, combined element by element, on every rank. In place where `out` is `data`."""
        return self._combined(data, op, out)

    allreduce, iallreduce, plan_allreduce = allreduce

    @_in_three_forms
    def scan(self, data, op=Op.SUM, out=None):
        """The `data` of the ranks 0 to this one, combined."""
        return self._combined(data, op, out)

    scan, iscan, plan_scan = scan

    @_in_three_forms
    def exscan(self, data, op=Op.SUM, out=None):
        """The `data` of the ranks before this one, combined; None on rank 0, whose `out` stays as it is."""
        call = self._combined(data, op, out)
        return call if self.rank else call._replace(result=lambda: None)

    exscan, iexscan, plan_exscan = exscan

    @_in_three_forms
    def reduce_scatter(self, data, op=Op.SUM, out=None):
        """Everybody's `data`, of a block for each rank, combined: the rank's block of that."""
        its = _read_whole(data)
        to = self._output(out, its, self._block_shape(its))
        return _Call((its.data, to.data, to.elements, its.element, op.handle_for(its)), lambda: to.given, (its, to, op))

    reduce_scatter, ireduce_scatter, plan_reduce_scatter = reduce_scatter

    @_in_three_forms
    def allgather(self, data, out=None):
        """Everybody's `data`, by rank: an array with one more dimension in front."""
        its = _read_whole(data)
        to = self._output(out, its, (self.size, *its.shape))
        return _Call((its.data, to.data, its.elements, its.element), lambda: to.given, (its, to))

    allgather, iallgather, plan_allgather = allgather

    @_in_three_forms
    def gather(self, data, root: int = 0, out=None):
        """The same on `root`; None on the others."""
        its = _read_whole(data)
        if self.rank != root:
            return _Call((its.data, ffi.NULL, its.elements, its.element, root), lambda: None, (its, ))
        to = self._output(out, its, (self.size, *its.shape))
        return _Call((its.data, to.data, its.elements, its.element, root), lambda: to.given, (its, to))

    gather, igather, plan_gather = gather

    @_in_three_forms
    def scatter(self, data, root: int = 0, out=None):
        """This rank's block of `data` of `root`, which has one for each rank. Other ranks give `out`, and no data."""
        if self.rank != root:
            to = self._place(out)
            return _Call((ffi.NULL, to.data, to.elements, to.element, root), lambda: to.given, (to, ))
        its = _read_whole(data)
        to = self._output(out, its, self._block_shape(its))
        return _Call((its.data, to.data, to.elements, its.element, root), lambda: to.given, (its, to))

    scatter, iscatter, plan_scatter = scatter

    @_in_three_forms
    def alltoall(self, data, out=None):
        """Sends block r of `data` to rank r: the blocks that came, by rank."""
        its = _read_whole(data)
        self._block_shape(its)
        to = self._output(out, its, its.shape)
        return _Call((its.data, to.data, its.elements // self.size, its.element), lambda: to.given, (its, to))

    alltoall, ialltoall, plan_alltoall = alltoall

    def _block_shape(self, data: Buffer) -> tuple:
        if not data.shape or data.shape[0] % self.size:
            raise ValueError(f"an array of shape {data.shape} for a block for each of {self.size} ranks")
        return data.shape[1:] if data.shape[0] == self.size else (data.shape[0] // self.size, *data.shape[1:])

    # Collectives of rows, of which each rank has as many as it likes. Where counts say what others have, every rank may
    # leave them out: then they are exchanged first, which blocks.

    def _rows(self, data):
        its = _read_whole(data)
        if not its.shape:
            raise ValueError("a number: rows have a dimension")
        return its, math.prod(its.shape[1:])

    def _counts(self, counts, rows=None):
        counts = numpy.asarray(counts, numpy.int64)
        if counts.shape != (self.size, ) or (rows is not None and counts.sum() != rows):
            raise ValueError(f"counts {counts.tolist()} of {rows or 'the'} rows for {self.size} ranks")
        return counts

    @_in_three_forms
    def allgatherv(self, data, counts=None, out=None):
        """Everybody's rows, one rank's after another's: (rows, how many each has)."""
        its, row = self._rows(data)
        counts = self._counts(self.allgather(its.shape[0]) if counts is None else counts)
        to = self._output(out, its, (int(counts.sum()), *its.shape[1:]))
        return _Call((its.data, its.elements, to.data, _sizes(counts, row), ffi.NULL, its.element),
                     lambda: (to.given, counts), (its, to))

    allgatherv, iallgatherv, plan_allgatherv = allgatherv

    @_in_three_forms
    def gatherv(self, data, root: int = 0, counts=None, out=None):
        """The same on `root`; (None, None) on the others."""
        its, row = self._rows(data)
        counts = self.gather(its.shape[0], root) if counts is None else counts
        if self.rank != root:
            return _Call((its.data, its.elements, ffi.NULL, ffi.NULL, ffi.NULL, its.element, root),
                         lambda: (None, None), (its, ))
        counts = self._counts(counts)
        to = self._output(out, its, (int(counts.sum()), *its.shape[1:]))
        return _Call((its.data, its.elements, to.data, _sizes(counts, row), ffi.NULL, its.element, root),
                     lambda: (to.given, counts), (its, to))

    gatherv, igatherv, plan_gatherv = gatherv

    @_in_three_forms
    def scatterv(self, data, counts, root: int = 0, out=None):
        """This rank's rows of `data` of `root`, of which rank r gets `counts[r]`. Other ranks give `out` of as many rows,
        and no data or counts."""
        if self.rank != root:
            to = self._place(out)
            return _Call((ffi.NULL, ffi.NULL, ffi.NULL, to.data, to.elements, to.element, root), lambda: out, (to, ))
        its, row = self._rows(data)
        counts = self._counts(counts, its.shape[0])
        to = self._output(out, its, (int(counts[root]), *its.shape[1:]))
        return _Call((its.data, _sizes(counts, row), ffi.NULL, to.data, to.elements, its.element, root),
                     lambda: to.given, (its, to))

    scatterv, iscatterv, plan_scatterv = scatterv

    @_in_three_forms
    def alltoallv(self, data, sent, received=None, out=None):
        """Sends rows: `sent[r]` to rank r, one rank's after another's: (the rows that came, how many of each)."""
        its, row = self._rows(data)
        sent = self._counts(sent, its.shape[0])
        received = self._counts(self.alltoall(sent) if received is None else received)
        to = self._output(out, its, (int(received.sum()), *its.shape[1:]))
        return _Call((its.data, _sizes(sent, row), ffi.NULL, to.data, _sizes(received, row), ffi.NULL, its.element),
                     lambda: (to.given, received), (its, to))

    alltoallv, ialltoallv, plan_alltoallv = alltoallv

    @_in_three_forms
    def reduce_scatterv(self, data, counts, op=Op.SUM, out=None):
        """Everybody's rows, as many on every rank, combined: of these rank r gets `counts[r]`."""
        its, row = self._rows(data)
        counts = self._counts(counts, its.shape[0])
        to = self._output(out, its, (int(counts[self.rank]), *its.shape[1:]))
        return _Call((its.data, to.data, _sizes(counts, row), its.element, op.handle_for(its)), lambda: to.given,
                     (its, to, op))

    reduce_scatterv, ireduce_scatterv, plan_reduce_scatterv = reduce_scatterv

    # Objects, pickled. Unpickle nothing of ranks that are not trusted.

    def send_object(self, what, to: int, tag: int = 0) -> None:
        self.send(pickle.dumps(what, pickle.HIGHEST_PROTOCOL), to, tag)

    def recv_object(self, source: int = -1, tag: int = -1):
        found = self.mprobe(source, tag)
        data = bytearray(found.status.bytes)
        found.recv(data)
        return pickle.loads(data)

    def bcast_object(self, what=None, root: int = 0):
        data = pickle.dumps(what, pickle.HIGHEST_PROTOCOL) if self.rank == root else b""
        room = bytearray(self.bcast(len(data), root))
        if self.rank == root:
            room[:] = data
        self.bcast(room, root)
        return what if self.rank == root else pickle.loads(room)

    def allgather_object(self, what) -> list:
        rows, counts = self.allgatherv(numpy.frombuffer(pickle.dumps(what, pickle.HIGHEST_PROTOCOL), "B"))
        return _unpickled(rows, counts)

    def gather_object(self, what, root: int = 0):
        """None on other ranks than `root`."""
        rows, counts = self.gatherv(numpy.frombuffer(pickle.dumps(what, pickle.HIGHEST_PROTOCOL), "B"), root)
        return None if rows is None else _unpickled(rows, counts)

    # Communicators. Collective over this one, but for `alone`, and `create`, which the listed ranks alone call.

    def split(self, colour: int, key: int = 0):
        """One for each colour, ranked by key; None of a negative colour."""
        return _made(self._runtime, lib.weft_split, self._handle, colour, key)

    def split_by_node(self, key: int = 0) -> "Communicator":
        return _made(self._runtime, lib.weft_split_by_node, self._handle, key)

    def split_by_numa(self, key: int = 0) -> "Communicator":
        return _made(self._runtime, lib.weft_split_by_numa, self._handle, key)

    def subset(self, ranks):
        """The listed ranks; the others get None."""
        ranks = list(ranks)
        return _made(self._runtime, lib.weft_subset, self._handle, ranks, len(ranks))

    def create(self, ranks, tag: int = 0) -> "Communicator":
        ranks = list(ranks)
        return _made(self._runtime, lib.weft_create, self._handle, ranks, len(ranks), tag)

    def dup(self) -> "Communicator":
        return _made(self._runtime, lib.weft_dup, self._handle)

    def alone(self) -> "Communicator":
        return _made(self._runtime, lib.weft_alone, self._handle)

    def isplit(self, colour: int, key: int = 0) -> PendingCommunicator:
        made = ffi.new("weft_pending_comm**")
        check(lib.weft_isplit(self._handle, colour, key, made))
        return PendingCommunicator(self._runtime, made[0])

    def idup(self) -> PendingCommunicator:
        made = ffi.new("weft_pending_comm**")
        check(lib.weft_idup(self._handle, made))
        return PendingCommunicator(self._runtime, made[0])

    # When something has failed.

    def failed(self) -> list:
        """The ranks that this process knows to be lost."""
        ranks, count = ffi.new("int[]", self.size), ffi.new("size_t*")
        check(lib.weft_failed(self._handle, ranks, self.size, count))
        return list(ranks[0:count[0]])

    def revoke(self) -> None:
        check(lib.weft_revoke(self._handle))

    def abort(self) -> None:
        check(lib.weft_abort(self._handle))

    def agree(self, flag: int) -> tuple:
        """The bitwise and of all flags, and the ranks that did not take part."""
        agreed, missing, count = ffi.new("int*"), ffi.new("int[]", self.size), ffi.new("size_t*")
        check(lib.weft_agree(self._handle, flag, agreed, missing, self.size, count))
        return agreed[0], list(missing[0:count[0]])

    def shrink(self) -> "Communicator":
        return _made(self._runtime, lib.weft_shrink, self._handle)

    def grow(self) -> "Communicator":
        return _made(self._runtime, lib.weft_grow, self._handle)

    @property
    def is_replacement(self) -> bool:
        return bool(lib.weft_is_replacement(self._handle))


def _read(data) -> Buffer:
    return Number(data).buffer() if Number.kind_of(data) else buffer_of(data)


def _read_whole(data) -> Buffer:
    return _read(data).in_one_piece()


def _sizes(counts, row: int):
    return ffi.new("size_t[]", [int(each) * row for each in counts])


def _unpickled(rows, counts) -> list:
    found, at = [], 0
    for count in counts:
        found.append(pickle.loads(rows[at:at + count]))
        at += count
    return found
