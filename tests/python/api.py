# SPDX-License-Identifier: Apache-2.0
"""Everything that weft for Python has, tried by a job of at least two ranks. Fails where something is wrong."""
import array

import numpy as np
import weft

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
    # The caller's operator, and what it raises.
    product = weft.operator(lambda lower, upper: lower * upper, np.float64)
    assert world.allreduce(np.full(5, 2.0), product).tolist() == [2.0**size] * 5

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
    assert copy.agree(3 if rank else 6) == (2, 0) and copy.failed() == [] and not copy.is_replacement
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
    refused(weft.Code.INVALID_COUNT, window.put, right, 4, 1)
    with_lock.free()
    window.free()


assert weft.version() >= (0, 1, 0)
try_messages()
try_collectives()
try_communicators()
try_windows()
dropped = world.isend(np.ones(3), right, 50)  # is waited for when it goes
world.recv(np.zeros(3), left, 50)
if rank == 0:
    print("all as it should be")
