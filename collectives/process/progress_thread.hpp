// SPDX-License-Identifier: Apache-2.0
// Where the progress thread runs.
#pragma once

#include <weft/topology/cpu_set.hpp>

namespace weft::detail {

/// Confines the calling thread, which is the one that makes progress, to `own`: the cpus that no rank of the job uses,
/// empty where there are none. With `real_time` it then takes a real-time class (SCHED_FIFO, the lowest priority), so
/// that nothing of the ordinary class holds it up; never on cpus that ranks use, which would not get them back while it
/// polls. What cannot be done is said on stderr: it costs speed, not correctness. Returns whether the thread has cpus
/// of its own.
bool settle_progress_thread(const topology::cpu_set& own, bool real_time) noexcept;

}  // namespace weft::detail
