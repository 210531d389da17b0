# SPDX-License-Identifier: Apache-2.0
"""Everything that weft for Python has, tried by a job of at least two ranks. Fails where something is wrong."""
import array
import atexit
import ctypes
import gc
import multiprocessing.sharedctypes
import os
import struct
import threading
import time

import numpy as np
import weft



def refuse_behind_the_end():
    try:
        world.barrier()
    except weft.Error:
        return
    os._exit(3)


atexit.register(refuse_behind_the_end)  # is called behind weft's own, which is registered later
world = weft.world()
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
root = size - 1


def refused(code, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except weft.Error as failure:
        assert failure.code == code, failure
        return failure
    raise AssertionError(f"{call} is not refused")


def raises(kind, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as failure:
        return str(failure)
    raise AssertionError(f"{call} does not raise {kind}")


class Tensor:
    """What has DLPack alone, as tensors of other libraries."""

    def __init__(self, data):
        self._data = data

    def __dlpack__(self, **options):
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._data.__dlpack_device__()


class Exported:
    """A tensor of an exporter that is made here: of what kind, and whether it can be written to, it says by itself."""

    def __init__(self, data, code, bits, read_only):
        self.data = data
        self._shape = (ctypes.c_int64 * 1)(len(data))
        self._tensor = (ctypes.c_char * 80)()
        fields = (1, 0, 0, 0, int(read_only), data.ctypes.data, 1, 0, 1, code, bits, 1, ctypes.addressof(self._shape))
        struct.pack_into("=IIQQQQiiiBBHQ", self._tensor, 0, *fields)

    def __dlpack__(self, max_version=(0, 8)):
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        assert max_version >= (1, 0)
        return make(("PyCapsule_New", ctypes.pythonapi))(ctypes.addressof(self._tensor), b"dltensor_versioned", None)

    def __dlpack_device__(self):
        return (1, 0)


def try_messages():
    data = np.arange(6.0).reshape(2, 3) + 100 * rank
    request = world.isend(data, right, 5)
    into = np.zeros((2, 3))
    status = world.recv(into, left, 5)
    request.wait()
    assert (into == np.arange(6.0).reshape(2, 3) + 100 * left).all() and status == (left, 5, 48)
    # In pieces, both ways.
    wide = np.zeros((4, 6))
    status = world.sendrecv(data.T, right, wide[1:4, ::3], left)
    assert (wide[1:4, ::3] == (np.arange(6.0).reshape(2, 3) + 100 * left).T).all() and wide.sum() == wide[1:4, ::3].sum()
    world.sendrecv(data[::-1], right, into, left)
    assert (into == (np.arange(6.0).reshape(2, 3) + 100 * left)[::-1]).all()
    # Buffers of others, numbers, tensors.
    numbers = array.array("i", [0, 0])
    world.sendrecv(array.array("i", [rank, 7]), right, numbers, left)
    assert list(numbers) == [left, 7]
    text = bytearray(5)
    world.sendrecv(b"hello", right, text, left)
    assert text == b"hello"
    request = world.isend(rank + 0.5, right)
    assert world.recv_new("d", left).tolist() == [left + 0.5]
    request.wait()
    tensor = Tensor(np.zeros((2, 2), np.float32))
    world.sendrecv(Tensor(np.full((2, 2), rank, np.float32)), right, tensor, left)
    assert (tensor._data == left).all()
    tensor = Tensor(np.zeros((2, 3)))
    world.sendrecv(Tensor(data.T.copy().T), right, tensor, left)
    assert (tensor._data == np.arange(6.0).reshape(2, 3) + 100 * left).all()
    records = np.zeros(2, [("a", "i4"), ("b", "f8")])
    world.sendrecv(np.array([(rank, 0.5), (2, 1.5)], records.dtype), right, records, left)
    assert records[0]["a"] == left and records[1]["b"] == 1.5
    # Plans, probes.
    out, into = np.zeros(3), np.zeros(3)
    sends, receives = world.plan_send(out, right, 8), world.plan_recv(into, left, 8)
    for time in range(3):
        out[:] = rank + 10 * time
        receives.start()
        sends.start()
        assert receives.wait().bytes == 24 and (into == left + 10 * time).all()
        sends.wait()
    request = world.issend(data, right, 9)
    assert world.probe(left, 9).bytes == 48 and world.iprobe(left, 9) and world.improbe(left, 77) is None
    found = world.mprobe(left, 9)
    found.irecv(wide[:2, :3]).wait()
    request.wait()
    assert wide[1, 2] == 5 + 100 * left
    request = world.irecv(into, left, 99)
    assert not request.test() and request.cancel()
    request = world.isend({"a": 1}.__repr__().encode(), right, 10)
    assert world.recv_new("S1", left, 10).tobytes() == b"{'a': 1}"
    request.wait()
    raises(TypeError, world.send, {"a": 1}, right)
    raises(TypeError, world.recv, b"constant", left)
    raises(TypeError, world.send, np.array([None]), right)
    raises(OverflowError, world.send, 1 << 64, right)
    raises(ValueError, world.send, np.broadcast_to(1.0, (2, 2)), right)
    refused(weft.Code.INVALID_RANK, world.send, 1, size)
    refused(weft.Code.INVALID_TAG, world.send, 1, right, -3)
    refused(weft.Code.INVALID_RANK, world.send, b"what the collector finds", size)
    gc.collect()


def try_buffers_of_others():
    # What ctypes says of its elements has the order of bytes in front.
    doubles, longs = (ctypes.c_double * 3)(*[rank] * 3), multiprocessing.sharedctypes.RawArray("l", [rank] * 3)
    for each in (doubles, longs):
        world.allreduce(each, out=each)
        assert list(each) == [size * (size - 1) // 2] * 3
    raises(TypeError, world.send, (ctypes.c_double.__ctype_be__ * 2)(), right)
    # DLPack: what numpy has not, what cannot be written to, and what lies in pieces.
    halves, out = np.array([0x3f80, 0x4000], np.uint16), np.zeros(2, np.uint16)  # 1 and 2 as bfloat16
    world.allreduce(Exported(halves, 4, 16, True), out=Exported(out, 4, 16, False))
    assert (out.astype(np.uint32) << 16).view(np.float32).tolist() == [size, 2 * size]
    constant = Exported(np.full(2, rank + 0.5), 2, 64, True)
    into = np.zeros(2)
    world.sendrecv(constant, right, into, left)
    assert into.tolist() == [left + 0.5] * 2
    raises(TypeError, world.recv, constant, left)
    columns = Tensor(np.arange(6.0).reshape(2, 3).T)
    assert (world.allreduce(columns) == size * np.arange(6.0).reshape(2, 3).T).all()


def try_requests():
    into = np.zeros(2)
    requests = [world.irecv(into[:1], left, 20), world.irecv(into[1:], left, 21)]
    assert not requests[0].wait_for(0.01) and weft.wait_any([]) is None
    world.barrier()
    sent = [world.isend(float(rank), right, 21), world.isend(rank + 0.5, right, 20)]
    found = weft.wait_any(requests)
    assert found in weft.wait_some(requests)
    assert weft.wait_all(requests)[1] == (left, 21, 8) and into.tolist() == [left + 0.5, left]
    assert weft.wait_any(requests) is None and weft.wait_some(requests) == [] and not requests[0].cancel()
    weft.wait_all(sent)
    # What one has failed with is said each time.
    request, long = world.irecv(into[:1], left, 22), world.isend(np.zeros(2), right, 22)
    world.barrier()
    for _ in range(2):
        refused(weft.Code.TRUNCATED, lambda: list(iter(request.test, True)))
        refused(weft.Code.TRUNCATED, request.wait_for, 10)
        refused(weft.Code.TRUNCATED, request.wait)
    try:
        long.wait()
    except weft.Error as failure:
        assert failure.code == weft.Code.TRUNCATED
    # Dropped: what no message has met is taken back, the rest is waited for, whatever deadline there is.
    request = world.irecv(into, left, 23)
    del request
    request = world.issend(np.ones(1), right, 24)
    with weft.deadline(0.001):
        threading.Timer(0.05, lambda: world.recv(into[:1], left, 24)).start()
        del request

    # A started request costs the same however many there are.
    def seconds(count):
        start = time.process_time()
        all_of_them = [world.irecv(into, left, 25) for _ in range(count)]
        taken = time.process_time() - start
        assert all(each.cancel() for each in all_of_them)
        return taken / count

    few, many = seconds(1000), seconds(16000)
    assert many < 4 * few, (few, many)
    # Plans.
    plan, sends = world.plan_recv(into, left, 26), world.plan_send(np.full(2, float(rank)), right, 26)
    plan.start()
    assert not plan.test()
    world.barrier()
    sends.start()
    assert plan.wait_for(10) and into.tolist() == [left] * 2
    sends.wait()
    world.barrier()
    refused(weft.Code.INVALID_ARGUMENT, weft.deadline(float("nan")).__enter__)


def try_handles_that_are_gone():
    copy = world.dup()
    copy.free()
    raises(ValueError, lambda: copy.members)
    refused(weft.Code.INVALID_ARGUMENT, copy.failed)
    refused(weft.Code.INVALID_ARGUMENT, copy.barrier)
    world.free()
    assert world.members == list(range(size))
    # A process that was forked leaves the job of its parent alone.
    request = world.irecv(np.zeros(1), left, 30)
    child = os.fork()
    if child == 0:
        refused(weft.Code.INVALID_ARGUMENT, world.barrier)
        raises(RuntimeError, weft.world)
        raises(RuntimeError, request.wait)
        raise SystemExit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert request.cancel()
    world.barrier()
    # Threads that ask at a time get the same.
    found = []
    threads = [threading.Thread(target=lambda: found.append(weft.world())) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [world] * 4


def try_collectives():
    world.barrier()
    world.ibarrier().wait()
    for kind in ("i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"):
        data = np.full((2, 3), rank + 1, kind)
        total = world.allreduce(data)
        assert total.dtype == data.dtype and total.shape == (2, 3) and (total == size * (size + 1) // 2).all()
    data = np.array([rank, size - rank], np.float64)
    assert world.allreduce(data, weft.MAX).tolist() == [size - 1, size]
    assert world.allreduce(rank + 1) == size * (size + 1) // 2 and isinstance(world.allreduce(rank), int)
    assert world.allreduce(0.5) == size / 2 and world.allreduce(1j) == size * 1j
    assert world.allreduce(rank == 0, weft.LOGICAL_OR) is True
    assert world.iallreduce(rank).wait() == size * (size - 1) // 2
    assert world.allreduce(data, out=data) is data and data[0] == size * (size - 1) / 2
    assert world.allreduce(np.float32(0.1), weft.REPRODUCIBLE_SUM) > 0
    assert (world.allreduce(np.arange(12).reshape(3, 4)[:, ::2]) == size * np.arange(12).reshape(3, 4)[:, ::2]).all()
    data, out = np.zeros(4), np.zeros(4)
    plan = world.plan_allreduce(data, out=out)
    for time in range(3):
        data[:] = time
        plan.start()
        assert plan.wait() is out and (out == time * size).all()
    best = world.reduce(rank, weft.MAX, root)
    assert best == size - 1 if rank == root else best is None
    assert world.bcast(np.full(3, rank), root).tolist() == [root] * 3 and world.bcast(rank, root) == root
    assert world.scan(rank + 1) == (rank + 1) * (rank + 2) // 2
    before = world.exscan(rank + 1)
    assert before is None if rank == 0 else before == rank * (rank + 1) // 2
    assert world.allgather(rank).tolist() == list(range(size))
    assert world.allgather(np.array([rank, -rank])).tolist() == [[r, -r] for r in range(size)]
    rows = world.gather(np.array([rank]), root)
    assert rows.tolist() == [[r] for r in range(size)] if rank == root else rows is None
    mine = world.scatter(np.arange(2.0 * size).reshape(size, 2) if rank == root else None, root, out=np.zeros(2))
    assert mine.tolist() == [2 * rank, 2 * rank + 1]
    assert world.alltoall(np.arange(size) + 10 * rank).tolist() == [rank + 10 * r for r in range(size)]
    assert world.reduce_scatter(np.arange(3 * size).reshape(size, 3)).tolist() == [(3 * rank + i) * size
                                                                                  for i in range(3)]
    # Rows.
    rows, counts = world.allgatherv(np.full((rank, 2), rank))
    assert rows.tolist() == [[r, r] for r in range(size) for _ in range(r)] and counts.tolist() == list(range(size))
    rows, counts = world.gatherv(np.full(rank + 1, rank), root)
    assert rank != root or rows.tolist() == [r for r in range(size) for _ in range(r + 1)]
    if rank == root:
        mine = world.scatterv(np.arange(size * (size + 1) // 2), np.arange(1, size + 1), root)
    else:
        mine = world.scatterv(None, None, root, np.zeros(rank + 1, np.int64))
    assert mine.tolist() == list(range(rank * (rank + 1) // 2, (rank + 1) * (rank + 2) // 2))
    rows, counts = world.alltoallv(np.repeat(np.arange(size), rank), np.full(size, rank))
    assert rows.tolist() == [rank] * (size * (size - 1) // 2) and counts.tolist() == list(range(size))
    one_more = range(1, size + 1)
    rows, counts = world.iallgatherv(np.full(rank + 1, rank), one_more).wait()
    assert rows.tolist() == [r for r in range(size) for _ in range(r + 1)]
    data = np.arange(size * (size + 1) // 2)
    mine = world.reduce_scatterv(data, one_more)
    assert mine.tolist() == [size * each for each in range(rank * (rank + 1) // 2, (rank + 1) * (rank + 2) // 2)]
    rows, out = np.zeros(size), np.zeros(size)
    plan = world.plan_alltoallv(rows, [1] * size, [1] * size, out)
    for time_ in range(2):
        rows[:] = rank + 10 * time_
        plan.start()
        plan.wait()
        assert out.tolist() == [r + 10 * time_ for r in range(size)]
    request = world.igatherv(np.full(2, rank), root, [2] * size)
    assert rank != root or request.wait()[0].tolist() == [r for r in range(size) for _ in range(2)]
    request.wait()
    if rank != root:
        raises(TypeError, world.scatterv, None, None, root, np.zeros(8)[::-1])
    # Where the largest is.
    places = np.array([(rank, rank), (-rank, rank)], weft.located())
    assert world.allreduce(places, weft.MAX_LOCATION).tolist() == [(size - 1, size - 1), (0, 0)]
    # In memory of the node.
    shared = weft.allocate((2, 3))
    shared[...] = rank
    assert (world.allreduce(shared, out=shared) == size * (size - 1) / 2).all()
    assert weft.allocate(0, "i4").shape == (0, )
    # A number has the root's kind; and plans read again what they are of.
    assert world.bcast(0.5 if rank == root else 7, root) == 0.5
    assert world.bcast(1j if rank == root else True, root) == 1j
    raises(TypeError, world.plan_allreduce, 1.5)
    raises(TypeError, world.plan_bcast, 1.5)
    raises(TypeError, world.plan_allgather, np.zeros((2, 4))[:, ::2])
    # The caller's operator, and what it raises.
    product = weft.operator(lambda lower, upper: lower * upper, np.float64)
    assert world.allreduce(np.full(5, 2.0), product).tolist() == [2.0**size] * 5

    raises(TypeError, world.allreduce, np.full(5, 2.0, np.float32), product)
    raises(TypeError, world.allreduce, 2, product)
    raises(TypeError, world.reduce_scatter, np.full(size, 2), product)

    def fails(lower, upper):
        raise ZeroDivisionError("of the operator")

    copy = world.dup()
    try:
        copy.allreduce(np.ones(2), weft.operator(fails, np.float64))
        raise AssertionError("an operator that raises")
    except ZeroDivisionError as failure:
        assert str(failure) == "of the operator"
    except weft.Error as failure:
        assert failure.code == weft.Code.OPERATION_FAILED, failure
    world.barrier()
    copy.free()
    refused(weft.Code.INVALID_OPERATOR, world.allreduce, 1.5, weft.BIT_AND)
    raises(ValueError, world.alltoall, np.zeros(size + 1))
    raises(TypeError, world.allreduce, np.zeros(2), out=np.zeros(2, np.float32))
    raises(ValueError, world.allreduce, np.zeros(2), out=np.zeros(3))
    # Objects.
    assert world.bcast_object({"of": rank}, root) == {"of": root}
    assert world.allgather_object("x" * rank) == ["x" * r for r in range(size)]
    gathered = world.gather_object((rank, ), root)
    assert gathered == [(r, ) for r in range(size)] if rank == root else gathered is None
    if rank == 0:
        world.send_object({"a": [1, 2]}, 1, 3)
    if rank == 1:
        assert world.recv_object(0, 3) == {"a": [1, 2]}


def try_communicators():
    half = world.split(0 if rank % 2 == 0 else -1, -rank)
    assert (half is not None) == (rank % 2 == 0)
    assert half is None or half.members[half.rank] == world.members[rank]
    copy = world.dup()
    assert (copy.rank, copy.size) == (rank, size) and world.alone().size == 1
    pair = copy.subset([1, 0])
    assert (pair is not None) == (rank < 2) and (pair is None or pair.rank == 1 - rank)
    if rank < 2:
        assert copy.create([1, 0]).rank == 1 - rank
    assert world.split_by_node().size >= 1 and world.split_by_numa().size >= 1
    made = world.isplit(0).wait()
    pending = made.idup()
    assert pending.wait().size == size
    assert copy.agree(3 if rank else 6) == (2, []) and copy.failed() == [] and not copy.is_replacement
    assert copy.shrink().size == size and copy.grow().size == size
    copy.revoke()
    refused(weft.Code.REVOKED, copy.barrier)
    own = world.alone()
    try:
        with weft.deadline(0.02):
            own.recv(np.zeros(1), 0)
        raise AssertionError("a deadline that does not pass")
    except weft.TimedOut as late:
        assert late.ranks == (0, ), late.ranks
    world.barrier()


def try_windows():
    window = weft.Window(world, 4, np.int64)
    assert window.local.tolist() == [0] * 4 and window.count(right) == 4
    window.fence()
    window.put(right, 1, np.array([10 + rank, 20 + rank]), notify=2)
    window.wait_notified(2)
    assert window.local[1:3].tolist() == [10 + left, 20 + left]
    window.fence()
    window.accumulate(0, 0, 1)
    window.fence()
    count = np.zeros(1, np.int64)
    window.get(0, 0, count)
    window.flush(0)
    assert count[0] == size
    window.fence()
    assert 0 <= window.fetch_and_op(0, 3, 1) < size
    window.fence()
    assert window.compare_and_swap(0, 3, -1, 5) == size
    with_lock = weft.Window(world, 1, np.float64)
    with_lock.lock(0)
    with_lock.put(0, 0, 1.5)
    with_lock.unlock(0)
    with_lock.lock_all()
    with_lock.unlock_all()
    refused(weft.Code.INVALID_COUNT, window.put, right, 4, 1)
    raises(TypeError, window.get, right, 0, [0, 0])
    raises(ValueError, window.fetch_and_op, right, 0, [1, 2])
    raises(ValueError, window.compare_and_swap, right, 0, np.zeros(0, np.int64), 1)
    # What nobody else keeps is there until it has been read.
    window.fence()
    window.put(right, 0, list(range(4)))
    gc.collect()
    np.full(4, 99)
    window.flush()
    window.fence()
    assert window.local.tolist() == [0, 1, 2, 3] and window.shares(rank)
    window.fence()
    with_lock.free()
    window.free()


def try_grids():
    ring = weft.Grid(world, [0], [True])
    assert ring.extents == (size, ) and ring.coordinates() == (rank, ) and ring.neighbors == [left, right]
    assert ring.shift(0, 1) == (left, right) and ring.rank_at([size + 1]) == 1
    assert ring.neighbor_allgather(rank).tolist() == [left, right]
    assert ring.neighbor_alltoall(np.array([10 * rank, 10 * rank + 1])).tolist() == [10 * left + 1, 10 * right]
    assert ring.ineighbor_alltoallv(np.array([rank, -1, -1]), [1, 2], [2, 1]).wait().tolist() == [-1, -1, right]
    assert ring.neighbor_allgatherv(np.full(2, rank), [2, 2]).tolist() == [left, left, right, right]
    faces, ghosts = np.zeros(2), np.zeros(2)
    plan = ring.plan_neighbor_alltoall(faces, ghosts)
    for time_ in range(2):
        faces[:] = rank + 10 * time_
        plan.start()
        plan.wait()
        assert ghosts.tolist() == [left + 10 * time_, right + 10 * time_]
    line = weft.Grid(world, [size, 1])
    assert line.neighbors == [rank - 1 if rank else None, rank + 1 if rank + 1 < size else None, None, None]
    assert line.rank_at([size, 0]) is None and line.keep([False, True]).size == 1
    raises(ValueError, line.keep, [True])
    refused(weft.Code.INVALID_COUNT, weft.Grid, world, [size + 1])
    field = np.full((4, 3, 2), -1.0)
    field[1:-1, 1:-1] = rank
    halo = weft.Halo(line, field)
    halo.exchange()
    assert field[0, 1].tolist() == ([rank - 1.0] * 2 if rank else [-1.0] * 2)
    assert field[-1, 1].tolist() == ([rank + 1.0] * 2 if rank + 1 < size else [-1.0] * 2) and field[1, 0, 0] == -1
    halo.start()
    while not halo.test():
        pass
    halo.close()
    refused(weft.Code.INVALID_ARGUMENT, halo.start)
    raises(ValueError, weft.Halo, line, np.zeros((2, 3)))
    line.free()
    refused(weft.Code.INVALID_ARGUMENT, line.neighbor_allgather, 1)


assert weft.version() >= (0, 1, 0)
try_messages()
try_buffers_of_others()
try_requests()
try_collectives()
try_communicators()
try_windows()
try_grids()
try_handles_that_are_gone()
dropped = world.isend(np.ones(3), right, 50)  # is waited for when it goes
world.recv(np.zeros(3), left, 50)
never_met = world.irecv(np.zeros(3), left, 51)  # is taken back then
if rank == 0:
    print("all as it should be")
