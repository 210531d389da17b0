// SPDX-License-Identifier: Apache-2.0
// The limits of this process, which those of a job inherit.
#pragma once

#include <sys/resource.h>

#include <vector>

#include "finding.hpp"

namespace weft::tools {

/// As getrlimit has them; RLIM_INFINITY: there is none.
struct process_limits {
  rlim_t locked = RLIM_INFINITY;       ///< bytes, ulimit -l
  rlim_t addresses = RLIM_INFINITY;    ///< bytes, ulimit -v
  rlim_t descriptors = RLIM_INFINITY;  ///< ulimit -Hn: weft raises its own as far as it may
  rlim_t processes = RLIM_INFINITY;    ///< of this user, ulimit -u; root has none
};

process_limits own_limits();

/// `locks_memory`: the network here is one that reads and writes memory itself, which has to be locked.
std::vector<finding> check_limits(const process_limits& own, int cpus, bool locks_memory);

}  // namespace weft::tools
