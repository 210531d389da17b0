// SPDX-License-Identifier: Apache-2.0
// Counts the system calls of this program's threads while `counting`, whoever makes them and how: the kernel hands each
// to a handler (prctl PR_SET_SYSCALL_USER_DISPATCH), which notes it with its stack and then makes it. A clock that is
// read in the vDSO is none.
#pragma once

#include <cstdio>

#include "counted_calls.hpp"

namespace weft_test {

/// From here on those of this thread, and of all that are started later, which leave SIGSYS unblocked. Call it before
/// weft starts a thread. False: this kernel or architecture cannot do it.
bool trap_system_calls();

/// What a rank calls first: its thread's calls are counted as those of ranks.
void this_thread_runs_ranks();

/// While `counting`. Of the threads that run ranks, but for the last: those of weft's other threads, which look every
/// now and then whether processes are lost, and answer who asks about this one.
struct what_was_done {
  long allocations, shared_locks;  ///< as counted_calls counts them
  long reads;                      ///< process_vm_readv
  long waits;                      ///< sched_yield, futexes, and what has a process that sleeps woken
  long others;                     ///< all other system calls
  long of_other_threads;
};
what_was_done done_so_far();

/// Writes the stacks from which ranks have done so, each once: `waits` if asked, and never `reads`.
void write_what_was_done(std::FILE* to, bool waits);

}  // namespace weft_test
