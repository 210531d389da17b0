// SPDX-License-Identifier: Apache-2.0
// LogGOPSim's times (Hoefler, Schneider and Lumsdaine 2010; the program at commit 76451de), to the nanosecond.
//
// A message of B bytes, eager, on an idle machine, time going to the right:
//
//     sender's CPU      | o + (B-1) O |
//     sender's port     | g + (B-1) G        |
//     wire              | o |<- L ->|
//     receiver's port               | g + (B-1) G      |
//     receiver's CPU                | o + (B-1) max(O, G) |       the receive is done
//
// so that it takes L + 2 o + (B-1) max(O, G). Where that differs from machine_model, and what weft's messages do:
//
// - Bytes count from the second one on. Here all do: a message of one byte is not free of G.
// - The receiver's CPU is held while bytes come in (G). Here it is free: a transfer takes the port alone, as data that
//   a network interface places does. (Where a CPU copies what comes, that copy is O.)
// - The first byte leaves after o, whatever O is. Here after o + B O: weft has packed or copied a message when it goes.
// - A message takes the receiver's CPU when it comes, whether its receive has begun or not; a receive that begins later
//   takes no time. Here the CPU's part is the receive's.
// - The end of a calculation of 0, and of a receive, is when its CPU is free next, even where others hold that CPU.
//   Here work that takes no time needs no CPU.
// - A message of more than S bytes leaves at once, as an eager one does, but its send ends when its receive has begun
//   and it is there; no request or grant takes time. Here a request and a grant take L each, before the bytes leave.
// - What becomes ready at one time, in one rank, goes by kind (sends, receives, calculations), then by the order of the
//   dependencies in the text; what is ready at one time in several ranks, by when it was found to be. Here by what
//   waits longest, then by the order of the steps.
#pragma once

#include <weft/simulator/simulate.hpp>

namespace weft::simulator {

/// As `simulate`, but by that model. L, o, g, G, O and S of `model` count, and c: combining and copying take what
/// `write_goal` writes for them. The k-th message to arrive with a tag meets the k-th receive to begin with that tag; of
/// a workload that was not read from GOAL, sends and receives are paired by their order, as in `write_goal`'s text.
/// (Receives from any rank or of any tag, which that program has, parse_goal refuses.) `busy` is the time that CPUs are
/// held; there is no last activity. Throws std::invalid_argument for times that are not whole numbers below 2^31, and
/// for what that model does not have: noise, ports but `pipelined`, receivers that grant ahead; deadlock, as `simulate`.
simulation simulate_as_loggopsim(const workload& all, const machine_model& model);

}  // namespace weft::simulator
