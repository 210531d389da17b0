# SPDX-License-Identifier: Apache-2.0
"""Communicators whose ranks lie on a grid, and the exchange of ghosts of arrays that are spread over it."""
import enum
import functools
import math

from ._buffers import buffer_of, numpy
from ._calls import Communicator, _Call, _in_three_forms, _read_whole, _sizes
from ._errors import check
from ._library import ffi, lib

_among_neighbors = functools.partial(_in_three_forms, of="_grid")


class Grid(Communicator):
    """The ranks of a communicator on a grid, row by row. Collective. Extents of 0 are chosen; `periodic` says whether
    each dimension goes round. With `by_node` ranks get others, so that few neighbours are on different nodes.

    In collectives among neighbours there is a block for each of `neighbors`, in their order. That of one that is not
    there stays as it is: 0 where it is new."""

    def __init__(self, of, extents=(0, 0), periodic=None, by_node: bool = False):
        made, given = ffi.new("weft_grid**"), [int(each) for each in extents]
        round_ = [bool(each) for each in periodic] if periodic is not None else [False] * len(given)
        if len(round_) != len(given):
            raise ValueError(f"{len(round_)} dimensions are said to be periodic or not, of {len(given)}")
        check(lib.weft_grid_create(of._handle, len(given), given, round_, by_node, made))
        self._take(of._runtime, made[0])

    def _take(self, runtime, grid) -> None:
        self._grid = grid
        super().__init__(runtime, lib.weft_grid_comm(grid))
        self.extents = tuple(lib.weft_grid_extents(grid)[0:lib.weft_grid_dimensions(grid)])

    def keep(self, kept) -> "Grid":
        """Of the ranks that have the same coordinates as this one in the dimensions that are not kept. Collective."""
        kept, made = [bool(each) for each in kept], ffi.new("weft_grid**")
        if len(kept) != len(self.extents):
            raise ValueError(f"{len(kept)} dimensions are said to be kept or not, of {len(self.extents)}")
        check(lib.weft_grid_keep(self._grid, kept, made))
        part = Grid.__new__(Grid)
        part._take(self._runtime, made[0])
        return part

    def free(self) -> None:
        lib.weft_grid_free(self._grid)
        self.forget()

    close = free

    def forget(self) -> None:
        super().forget()
        self._grid = ffi.NULL

    def coordinates(self, rank=None) -> tuple:
        """Of that rank, or of this one."""
        found = ffi.new("int[]", len(self.extents))
        check(lib.weft_grid_coordinates(self._grid, self.rank if rank is None else rank, found))
        return tuple(found)

    def rank_at(self, coordinates):
        """None beyond an end of the grid."""
        place, found = [int(each) for each in coordinates], ffi.new("int*")
        if len(place) != len(self.extents):
            raise ValueError(f"{len(place)} coordinates on a grid of {len(self.extents)} dimensions")
        check(lib.weft_grid_rank_at(self._grid, place, found))
        return _or_none(found[0])

    def shift(self, dimension: int, by: int) -> tuple:
        """Who this rank receives from and sends to where all send `by` further along a dimension."""
        source, destination = ffi.new("int*"), ffi.new("int*")
        check(lib.weft_grid_shift(self._grid, dimension, by, source, destination))
        return _or_none(source[0]), _or_none(destination[0])

    @property
    def neighbors(self) -> list:
        """Of each dimension in turn the rank before this one and that behind; None beyond an end of the grid."""
        found = ffi.new("int[]", 2 * len(self.extents))
        check(lib.weft_grid_neighbors(self._grid, found))
        return [_or_none(each) for each in found]

    def _blocks(self, out, like, shape):
        return self._output(numpy.zeros(shape, like.dtype) if out is None else out, like, shape)

    def _of_each(self, counts, rows=None):
        counts = [int(each) for each in counts]
        if len(counts) != 2 * len(self.extents) or (rows is not None and sum(counts) != rows):
            raise ValueError(f"counts {counts} of {rows or 'the'} rows for {2 * len(self.extents)} neighbours")
        return counts

    @_among_neighbors
    def neighbor_alltoall(self, data, out=None):
        """Sends block i of `data` to neighbour i: the blocks that came, in the same order."""
        its = _read_whole(data)
        blocks = 2 * len(self.extents)
        if not its.shape or its.shape[0] % blocks:
            raise ValueError(f"an array of shape {its.shape} for a block for each of {blocks} neighbours")
        to = self._blocks(out, its, its.shape)
        return _Call((its.data, to.data, its.elements // blocks, its.element), lambda: to.given, (its, to))

    neighbor_alltoall, ineighbor_alltoall, plan_neighbor_alltoall = neighbor_alltoall

    @_among_neighbors
    def neighbor_allgather(self, data, out=None):
        """The `data` of every neighbour: an array with one more dimension in front."""
        its = _read_whole(data)
        to = self._blocks(out, its, (2 * len(self.extents), *its.shape))
        return _Call((its.data, to.data, its.elements, its.element), lambda: to.given, (its, to))

    neighbor_allgather, ineighbor_allgather, plan_neighbor_allgather = neighbor_allgather

    @_among_neighbors
    def neighbor_alltoallv(self, data, sent, received, out=None):
        """Sends rows: `sent[i]` to neighbour i, one's after another's; of which `received[i]` come."""
        its, row = self._rows(data)
        sent, received = self._of_each(sent, its.shape[0]), self._of_each(received)
        to = self._blocks(out, its, (sum(received), *its.shape[1:]))
        return _Call((its.data, _sizes(sent, row), to.data, _sizes(received, row), its.element), lambda: to.given,
                     (its, to))

    neighbor_alltoallv, ineighbor_alltoallv, plan_neighbor_alltoallv = neighbor_alltoallv

    @_among_neighbors
    def neighbor_allgatherv(self, data, received, out=None):
        """The rows of every neighbour, of which there are `received[i]`."""
        its, row = self._rows(data)
        received = self._of_each(received)
        to = self._blocks(out, its, (sum(received), *its.shape[1:]))
        return _Call((its.data, its.elements, to.data, _sizes(received, row), its.element), lambda: to.given, (its, to))

    neighbor_allgatherv, ineighbor_allgatherv, plan_neighbor_allgatherv = neighbor_allgatherv


class Corners(enum.Enum):
    """Whether ghosts at corners are exchanged, too: one dimension after another, or by messages of their own."""

    NONE = "NONE"
    BY_DIMENSION = "BY_DIMENSION"
    DIRECTLY = "DIRECTLY"


class Halo:
    """Exchanges the ghosts of an array: in each dimension of the grid, `width` elements at both ends, which the
    neighbours' faces come into. What dimensions the array has behind those are an element's. Made
    by all ranks in the same order as their plans. Closed, or dropped, it waits for what was started."""

    def __init__(self, of: Grid, data, width: int = 1, corners: Corners = Corners.NONE):
        self._handle, its = ffi.NULL, buffer_of(data, True)
        dimensions = len(of.extents)
        if not its.whole or len(its.shape) < dimensions:
            raise TypeError(f"an array in pieces, or of less than {dimensions} dimensions")
        interior = [each - 2 * width for each in its.shape[:dimensions]]
        if min(interior) < width:
            raise ValueError(f"an array of shape {its.shape} with ghosts of width {width}: too little is between them")
        element, made = ffi.new("weft_type**"), ffi.new("weft_halo**")
        check(lib.weft_type_repeated(its.element, math.prod(its.shape[dimensions:]), 0, element))
        element = ffi.gc(element[0], lib.weft_type_free)
        check(lib.weft_halo_create(of._grid, its.data, element, interior, width,
                                   getattr(lib, f"WEFT_CORNERS_{corners.value}"), made))
        self._handle, self._keeps = made[0], its
        of._runtime.owns(self)

    def start(self) -> None:
        """Begins to send the faces. The interior may be changed then; the ghosts are the exchange's."""
        check(lib.weft_halo_start(self._handle))

    def test(self) -> bool:
        """Polls once: whether the ghosts are there. Then it can be started again."""
        done = ffi.new("int*")
        check(lib.weft_halo_test(self._handle, done))
        return bool(done[0])

    def wait(self) -> None:
        """Blocks until the ghosts are there."""
        check(lib.weft_halo_wait(self._handle))

    def exchange(self) -> None:
        check(lib.weft_halo_exchange(self._handle))

    def close(self) -> None:
        handle, self._handle = self._handle, ffi.NULL
        lib.weft_halo_free(handle)

    def forget(self) -> None:
        self._handle = ffi.NULL

    __del__ = close


def _or_none(rank: int):
    return rank if rank >= 0 else None
