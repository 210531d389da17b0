// SPDX-License-Identifier: Apache-2.0
// What the processes of a job say of their ranks, and what is found out about them from outside, as text and as values.
// A line is a word and KEY=VALUE behind it, where blanks and the like in a value are written as %20:
//
//   process job=... number=3 of=8 pid=4711 host=n1 begun=... phase=runs
//   problem text=...                                            what could not be found out about it
//   coroutine bottom=... top=... resumed-by=...
//   rank rank=5 thread=4711 moves=... quiet=12 state=S ...      of the process above
//   member communicator=0 size=8 rank=5 begun=841 call=allreduce latest=...   of the rank above
//   operation kind=recv peer=0 tag=7 bytes=8 blocks=1 stage=unmatched         of the member above
//   frame function=... file=... line=88 module=... whose=program              of the rank above, the innermost first
//   end
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

/// A message of a rank that is in flight, that it looks for, or that has come and that no receive matches.
struct roll_operation {
  std::string kind;            ///< send, recv, probe, message
  std::string stage;           ///< unmatched: a receive that nothing has come for
  int peer = -1;               ///< rank of the other side; -1: any
  std::int64_t tag = -1;       ///< -1: any
  std::int64_t sequence = -1;  ///< of the collective that it belongs to; -1: to none
  std::uint64_t bytes = 0;
  bool blocks = false;  ///< its rank waits in this very call
};

/// A rank in one of its communicators.
struct roll_member {
  std::uint64_t communicator = 0;
  int size = 0;
  int rank = 0;
  std::uint32_t begun = 0;    ///< how many collectives
  std::uint32_t started = 0;  ///< calls that are not over
  std::string call;           ///< the collective that it is in: "allreduce"; empty: none
  std::string agrees;         ///< a call that is no collective: "shrink"; empty: none
  std::string divides;        ///< the rank makes a communicator by that call; empty: not
  std::string latest;         ///< collective that it has begun, with its terms
  std::string unknown;        ///< why its operations are not listed
  std::vector<roll_operation> operations;

  /// The number of the collective that it has begun last.
  std::uint32_t number() const noexcept { return begun - 1; }
};

enum class frame_owner { program, weft, system };

struct roll_frame {
  std::string function;
  std::string file;  ///< empty: not known
  int line = 0;
  std::string module;
  frame_owner whose = frame_owner::program;
};

struct roll_rank {
  int rank = 0;
  int thread = 0;
  std::uint64_t moves = 0;
  std::uint64_t quiet = 0;  ///< seconds since the moves have changed
  std::uint64_t keeps = 0;  ///< seconds for which it has kept its thread from others that could run
  std::string phase;        ///< empty: it runs
  char state = '?';         ///< of its thread, as in /proc: R, S, D, T, t
  bool parked = false;      ///< on a fiber that its thread does not run now
  int kept_by = -1;         ///< the rank whose own code its thread runs meanwhile; -1: none
  // Where its fiber is in its process's memory; 0: it has none.
  std::uint64_t fiber = 0, running = 0, left_at = 0, top = 0;
  std::vector<roll_member> members;
  std::vector<roll_frame> frames;
};

/// A stack that functions are resumed on.
struct roll_coroutine {
  std::uint64_t bottom = 0, top = 0;
  std::uint64_t resumed_by = 0;  ///< where a pointer to the context is that goes on when it is left
};

struct roll_process {
  std::string job;
  int number = 0;
  int of = 1;
  int pid = 0;
  std::string host;
  std::int64_t begun = 0;  ///< seconds since 1970
  std::string phase;
  std::vector<std::string> problems;
  std::vector<roll_coroutine> coroutines;
  std::vector<roll_rank> ranks;
};

/// Reads what is there; lines that say nothing to this version are passed over, and a process whose `end` is missing
/// has a problem. Throws weft::error with errc::protocol for what no process and no tool writes.
std::vector<roll_process> parse_roll(std::string_view text);
std::string to_text(const std::vector<roll_process>& roll);

/// As one object of JSON a process.
std::string to_json(const std::vector<roll_process>& roll);

}  // namespace weft::tools
