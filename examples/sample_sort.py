# SPDX-License-Identifier: Apache-2.0
"""Sorts numbers that are spread over the ranks: samples say which rank gets which.

weft run -n 4 python3 sample_sort.py [NUMBERS OF EACH RANK]"""
import sys

import numpy as np
import weft


def drawn(count, rank):
    return np.random.default_rng(rank).integers(0, 1_000_000, count)


def dividing(numbers, parts):
    """Those that divide them, in their order, into so many parts; any where there are none."""
    at = np.arange(1, parts) * len(numbers) // parts
    return numbers[at] if len(numbers) else np.zeros(len(at), numbers.dtype)


def sort(world, mine):
    """The numbers of all ranks, in order from rank to rank."""
    mine = np.sort(mine)
    samples, _ = world.allgatherv(dividing(mine, world.size))
    samples.sort()
    splitters = dividing(samples, world.size)
    ends = np.concatenate([[0], np.searchsorted(mine, splitters, "right"), [len(mine)]])
    received, _ = world.alltoallv(mine, np.diff(ends))
    return np.sort(received)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    world = weft.world()
    numbers, counts = world.gatherv(sort(world, drawn(count, world.rank)))
    if world.rank == 0:
        serial = np.sort(np.concatenate([drawn(count, rank) for rank in range(world.size)]))
        if not np.array_equal(numbers, serial):
            raise SystemExit("sample_sort: not what a serial sort gives")
        print(f"{len(numbers)} numbers on {world.size} ranks, {max(counts)} on the fullest: as the serial sort")


main()
