# SPDX-License-Identifier: Apache-2.0
"""Messages and collectives among the ranks of a job: weft for Python.

    import numpy as np
    import weft

    world = weft.world()
    total = world.allreduce(np.arange(3.0))      # the sum over all ranks
    if world.rank == 0:
        world.send(total, to=1)

and `weft run -n 4 python3 program.py`. A process is one rank.

Buffers are numpy arrays, whatever has the buffer protocol (bytes, bytearray, array, memoryview), or DLPack (tensors in
the memory of the CPU). Messages are sent and received where they are, strided ones too. What collectives read is copied
where it is strided; what they write, and what their plans and windows take, is in one piece. Numbers go as they are,
but not in plans. What is not given by `out` or `into` is a new numpy array, or a number. Calls release the
interpreter's lock while they wait. Objects of other kinds go, pickled, by the calls that end in _object.

What can fail raises weft.Error, whose `code` is one of weft.Code; PeerLost and TimedOut have `ranks`.

When the interpreter ends, what there still is goes, the last made first: a receive that no message has met is taken
back, anything else in flight is waited for, until it is met or the other side leaves, and windows are freed. Then a
process waits for the others to end, too. Not so where an exception ends the program: it goes at once, and the others
hear of a loss. Calls behind that end, and in a process that was forked, are refused.
"""
from ._buffers import Op, located, operator
from ._calls import (Communicator, Message, PendingCommunicator, Plan, Request, Runtime, Status, allocate, deadline,
                     wait_all, wait_any, wait_some, world)
from ._errors import Code, Error, PeerLost, TimedOut
from ._grids import Corners, Grid, Halo
from ._library import version
from ._windows import Window

SUM, PRODUCT, MIN, MAX = Op.SUM, Op.PRODUCT, Op.MIN, Op.MAX
BIT_AND, BIT_OR, BIT_XOR = Op.BIT_AND, Op.BIT_OR, Op.BIT_XOR
LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR = Op.LOGICAL_AND, Op.LOGICAL_OR, Op.LOGICAL_XOR
MIN_LOCATION, MAX_LOCATION = Op.MIN_LOCATION, Op.MAX_LOCATION
REPRODUCIBLE_SUM, REPLACE = Op.REPRODUCIBLE_SUM, Op.REPLACE
ANY_SOURCE = ANY_TAG = -1

__all__ = [
    "ANY_SOURCE", "ANY_TAG", "BIT_AND", "BIT_OR", "BIT_XOR", "Code", "Communicator", "Corners", "Error", "Grid", "Halo",
    "LOGICAL_AND", "LOGICAL_OR", "LOGICAL_XOR", "MAX", "MAX_LOCATION", "MIN", "MIN_LOCATION", "Message", "Op",
    "PRODUCT", "PeerLost", "PendingCommunicator", "Plan", "REPLACE", "REPRODUCIBLE_SUM", "Request", "Runtime", "SUM",
    "Status", "TimedOut", "Window", "allocate", "deadline", "located", "operator", "version", "wait_all", "wait_any",
    "wait_some", "world"
]
