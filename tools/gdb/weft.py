# SPDX-License-Identifier: Apache-2.0
"""weft's commands for gdb, on a live process and on a core:

  weft fibers            the ranks of the process: where each is, and its stack
  weft backtrace RANK    the stack of a rank, parked or running (also: weft bt RANK)
  weft calls             in what call each rank is, in which communicator, and its messages there

Load it with `source weft.py`. It calls nothing in the process and reads it by the debug information of weft, which the
parts that it needs have in every build.
"""

import time

import gdb
import gdb.unwinder

WORD = 8
NO_DEBUG_INFORMATION = "the debug information of weft was stripped: its ranks cannot be read"


def word_at(address):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, WORD).tobytes(), "little")


def is_code(address):
    return gdb.current_progspace().block_for_pc(address) is not None or \
        gdb.execute(f"info symbol {address}", to_string=True).find(" in section ") >= 0


def left_registers(at):
    """What a fiber goes on with that Boost's jump_fcontext has left: by their names."""
    if "aarch64" in gdb.selected_inferior().architecture().name():  # d8 to d15, x19 to x30, pc
        its = {f"x{19 + i}": word_at(at + (8 + i) * WORD) for i in range(12)}
        return its | {"pc": word_at(at + 20 * WORD), "sp": at + 0xb0}
    # mxcsr and x87, with a protector of the stack also its guard; r12 to r15, rbx, rbp, pc
    for first in (1, 2):
        names = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")
        its = {name: word_at(at + (first + i) * WORD) for i, name in enumerate(names)}
        if is_code(its["rip"]):
            return its | {"rsp": at + (first + len(names)) * WORD}
    raise gdb.GdbError(f"no registers of a fiber at {at:#x}")


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class ParkedFiber(gdb.unwinder.Unwinder):
    """While `at` is set the frame outside of the thread's innermost one is that of the fiber left there."""

    def __init__(self):
        super().__init__("weft-parked-fiber")
        self.at = None
        self.registers = {}
        self.thread_sp = None

    def __call__(self, pending):
        if self.at is None or int(pending.read_register("sp")) != self.thread_sp:
            return None
        kind = gdb.lookup_type("unsigned long")
        # Below the fiber's frames, as an inner frame has to be.
        info = pending.create_unwind_info(FrameId(gdb.Value(self.at).cast(kind), pending.read_register("pc")))
        for name, value in self.registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(kind))
        return info


PARKED = ParkedFiber()
gdb.unwinder.register_unwinder(None, PARKED, True)


class Frames:
    """The frames of a rank while it is entered; the thread and frame selected before, behind it."""

    def __init__(self, rank):
        self.rank = rank

    def __enter__(self):
        self.before = gdb.selected_thread()
        thread = self.rank["thread"]
        if thread is None:
            raise gdb.GdbError(f"rank {self.rank['rank']} has no thread")
        thread.switch()
        frame = gdb.newest_frame()
        if not self.rank["parked"]:
            return frame
        PARKED.thread_sp = int(frame.read_register("sp"))
        PARKED.registers = left_registers(self.rank["left"])
        PARKED.at = self.rank["left"]
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame().older()
        if frame is None or int(frame.read_register("sp")) <= self.rank["left"]:
            self.__exit__()
            raise gdb.GdbError(f"rank {self.rank['rank']}: gdb does not go on with its fiber")
        return frame

    def __exit__(self, *_):
        PARKED.at = None
        gdb.invalidate_cached_frames()
        self.before.switch()


def roll_calls():
    """Of every runtime in the process: its roll's thread has it at hand."""
    before = gdb.selected_thread()
    if before is None:
        raise gdb.GdbError("no process and no core")
    found = []
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            frame = gdb.newest_frame()
            while frame is not None:
                if (frame.name() or "").startswith("weft::detail::roll_call::serve"):
                    try:
                        found.append(frame.read_var("this").dereference())
                    except (ValueError, gdb.error):
                        raise gdb.GdbError(NO_DEBUG_INFORMATION) from None
                    break
                frame = frame.older()
    finally:
        before.switch()
    if not found:
        raise gdb.GdbError("no runtime of weft listens here, or " + NO_DEBUG_INFORMATION)
    return found


def elements(vector):
    at, end = vector["_M_impl"]["_M_start"], vector["_M_impl"]["_M_finish"]
    while at != end:
        yield at.dereference()
        at += 1


def listed(container):
    """The nodes of one of Boost's intrusive lists."""
    header = container["data_"]["root_plus_size_"]["m_header"]
    node = header["next_"]
    while node != header.address and node != 0:
        yield node
        node = node["next_"]


def member_of(node, kind, member):
    """The object of that type whose member the node is."""
    offset = next(field.bitpos // 8 for field in kind.fields() if field.name == member)
    return (node.cast(gdb.lookup_type("unsigned long")) - offset).cast(kind.pointer()).dereference()


def text_of(name):
    """Of an atomic that is a name, or nothing."""
    at = name["operation_"]["_M_b"]["_M_p"]
    return at.string() if at != 0 else ""


ANY = {"peer": -1, "tag": (1 << 64) - 1}


def operation_text(operation):
    kind = "send(to" if operation["is_send"] else "recv(from"
    peer, tag = int(operation["peer"]), int(operation["tag"])
    text = f"{kind} {'any' if peer == ANY['peer'] else peer}"
    if not operation["collective"]:
        text += ", any tag" if tag == ANY["tag"] else f", tag {tag}"
    text += f", {int(operation['bytes'])} B)"
    return text + (f" of collective {tag >> 32}" if operation["collective"] else "")


def communicators(roll):
    """Of each rank of the process its communicators: (rank in the job, state)."""
    for node in listed(roll["entries_"]):
        entry = node.cast(gdb.lookup_type("weft::detail::roll_entry").pointer())
        listing = entry.cast(entry.dynamic_type).dereference()
        state = listing["of_"].referenced_value()
        yield int(state["self"]["_M_ptr"]["job_rank"]), state


def calls_of(state):
    """Lines: the communicator, what its rank is in, and its messages."""
    member = state["member"].referenced_value()
    group = member["members"]["_M_ptr"].dereference()
    begun = int(state["sequence_"]["_M_i"])
    size = group["world"]["_M_impl"]["_M_finish"] - group["world"]["_M_impl"]["_M_start"]
    text = f"  communicator {int(group['communicator'])}: rank {int(member['rank'])} of {int(size)}, {begun} collectives begun"
    if call := text_of(state["collecting"]):
        text += f", in {call} {begun - 1}"
    if call := text_of(state["agreeing"]):
        text += f", in {call}"
    lines = [text]
    kind = gdb.lookup_type("weft::fabric::operation")
    for node in listed(member["active"]):
        lines.append("    " + operation_text(member_of(node, kind, "active")))
    return lines


def quiet_text(since):
    """For how long it has begun and ended nothing; of a core, whose now is not known, nothing."""
    if not gdb.selected_inferior().was_attached:
        return ""
    then = int(since["__d"]["__r"])
    return f", which has begun and ended nothing for {max(time.monotonic_ns() - then, 0) // 1_000_000_000} s"


def ranks():
    threads = {thread.ptid[1] or thread.ptid[2]: thread for thread in gdb.selected_inferior().threads()}
    for roll in roll_calls():
        for local, seat in enumerate(elements(roll["ranks_"])):
            on = {name: int(seat["on"][name]) for name in ("self", "running", "left_at", "bottom", "top")}
            # A process that has but one rank need not run it on a fiber: it is on its first thread, most likely.
            number = int(seat["thread"]) or (gdb.selected_inferior().pid if on["self"] == 0 else 0)
            parked = on["self"] != 0 and word_at(on["running"]) != on["self"]
            yield {"rank": int(roll["first_rank_"]) + local, "number": number, "thread": threads.get(number),
                   "parked": parked, "left": word_at(on["left_at"]) if parked else 0,
                   "bottom": on["bottom"], "top": on["top"]}


def place(frame):
    line = frame.find_sal()
    name = frame.name() or f"{frame.pc():#x}"
    return f"{name} at {line.symtab.filename}:{line.line}" if line.symtab else name


def users_frame(frame):
    """The innermost that is neither weft's nor a library's that weft calls."""
    inner = frame
    while frame is not None:
        name = frame.name() or ""
        if frame.find_sal().symtab and not name.startswith(("weft::", "std::", "boost::", "__")):
            return frame
        frame = frame.older()
    return inner


class Calls(gdb.Command):
    """In what call each rank is, in which communicator, and its messages there."""

    def __init__(self):
        super().__init__("weft calls", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        try:
            for roll in roll_calls():
                states = list(communicators(roll))
                for local, seat in enumerate(elements(roll["ranks_"])):
                    rank = int(roll["first_rank_"]) + local
                    print(f"rank {rank}{quiet_text(seat['since'])}:")
                    for whose, state in states:
                        if whose == rank:
                            print("\n".join(calls_of(state)))
        except gdb.error as failed:
            raise gdb.GdbError(f"{NO_DEBUG_INFORMATION} ({failed})") from None


class Weft(gdb.Command):
    """weft's ranks: fibers, backtrace, calls."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STACK, prefix=True)


class Fibers(gdb.Command):
    """The ranks of the process: where each is, and its stack."""

    def __init__(self):
        super().__init__("weft fibers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for rank in list(ranks()):
            if rank["thread"] is None:
                print(f"rank {rank['rank']}: does not run")
                continue
            with Frames(rank) as frame:
                state = "parked" if rank["parked"] else "running"
                text = f"rank {rank['rank']}: {state} on thread {rank['number']} in {place(users_frame(frame))}"
                if rank["top"]:
                    used = (rank["top"] - int(frame.read_register("sp"))) / 1024
                    text += f"; stack {rank['bottom']:#x}-{rank['top']:#x}, {used:.1f} KiB used"
            print(text)


class Backtrace(gdb.Command):
    """The stack of a rank: weft backtrace RANK."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument.isdigit():
            raise gdb.GdbError("weft backtrace takes the number of a rank")
        found = [rank for rank in ranks() if rank["rank"] == int(argument)]
        if not found:
            raise gdb.GdbError(f"rank {argument} is not of this process")
        for rank in found:
            with Frames(rank) as frame:
                level = 0
                while frame is not None:
                    print(f"#{level}  {place(frame)}")
                    if frame.name() and frame.name().startswith("weft::fiber::main"):
                        break  # the outermost: what is behind it is no frame
                    frame, level = frame.older(), level + 1


Weft()
Fibers()
Backtrace("weft backtrace")
Backtrace("weft bt")
Calls()
