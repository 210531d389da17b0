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
the memory of the CPU). They are sent and received where they are, strided ones too. Numbers go as they are. What is not
given by `out` or `into` is a new numpy array, or a number. Calls release the interpreter's lock while they wait.
Objects of other kinds go, pickled, by the calls that end in _object.

What can fail raises weft.Error, whose `code` is one of weft.Code; PeerLost and TimedOut have `ranks`.
"""
from ._buffers import Op, operator
from ._calls import Communicator, Message, PendingCommunicator, Plan, Request, Runtime, Status, deadline, world
from ._errors import Code, Error, PeerLost, TimedOut
from ._library import version
from ._windows import Window

SUM, PRODUCT, MIN, MAX = Op.SUM, Op.PRODUCT, Op.MIN, Op.MAX
BIT_AND, BIT_OR, BIT_XOR = Op.BIT_AND, Op.BIT_OR, Op.BIT_XOR
LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR = Op.LOGICAL_AND, Op.LOGICAL_OR, Op.LOGICAL_XOR
REPRODUCIBLE_SUM, REPLACE = Op.REPRODUCIBLE_SUM, Op.REPLACE
ANY_SOURCE = ANY_TAG = -1

__all__ = [
    "ANY_SOURCE", "ANY_TAG", "BIT_AND", "BIT_OR", "BIT_XOR", "Code", "Communicator", "Error", "LOGICAL_AND",
    "LOGICAL_OR", "LOGICAL_XOR", "MAX", "MIN", "Message", "Op", "PRODUCT", "PeerLost", "PendingCommunicator", "Plan",
    "REPLACE", "REPRODUCIBLE_SUM", "Request", "Runtime", "SUM", "Status", "TimedOut", "Window", "deadline", "operator",
    "version", "world"
]
