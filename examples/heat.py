# SPDX-License-Identifier: Apache-2.0
"""Heat on a square plate, whose left edge is hot, in Python: each rank has some columns, whose edges lie in pieces.

weft run -n 4 python3 heat.py [SIDE [STEPS]]"""
import sys

import numpy as np
import weft


def start(first, columns, side):
    """Columns that begin at column `first`, with one more before and behind."""
    i, j = np.mgrid[0:side + 2, first:first + columns + 2]
    return np.where(j == 0, 100.0, i * j % 7)


def step(now):
    inside = now[1:-1, 1:-1]
    inside += 0.2 * (now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1] - 4 * inside)


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    world = weft.world()
    begins = [side * rank // world.size for rank in range(world.size + 1)]
    first, columns = begins[world.rank], begins[world.rank + 1] - begins[world.rank]
    now = start(first, columns, side)
    ghosts = weft.Halo(weft.Grid(world, [1, world.size]), now)
    for _ in range(steps):
        ghosts.exchange()
        step(now)

    rows, _ = world.gatherv(now[:, 1:-1].T)  # a column of the plate is a row of these
    if world.rank == 0:
        serial = start(0, side, side)
        for _ in range(steps):
            step(serial)
        if not np.array_equal(rows.T, serial[:, 1:-1]):
            raise SystemExit("heat: not what a serial run gives")
        print(f"{side} x {side} cells, {steps} steps on {world.size} ranks: as the serial run, to the bit")


main()
