# SPDX-License-Identifier: Apache-2.0
# Every rank gives its number, and an array; all of them get the sums.
import numpy as np
import weft

world = weft.world()
total = world.allreduce(world.rank)
sums = world.allreduce(np.arange(3.0))
print(f"rank {world.rank} of {world.size}: the numbers add up to {total}, the arrays to {sums}")
