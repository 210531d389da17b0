// SPDX-License-Identifier: Apache-2.0
// The threads that run the ranks of a process.
#pragma once

#include <functional>

namespace weft::detail {

class process;

/// Calls `rank(i)` for each of the ranks that `host` hosts, each on a fiber of its own, and returns when all have
/// returned; they must not throw. The ranks are divided in blocks among the workers of `host`: this thread is the
/// first, the others end with the call. A rank stays on its worker. Throws, and then has called nothing, where the
/// system gives neither stacks nor threads enough; and at the end what left a fiber that a rank made beside itself.
void run_on_workers(process& host, const std::function<void(int)>& rank);

/// The worker on which rank number `local` of those that `host` hosts runs.
int worker_of(const process& host, int local) noexcept;

}  // namespace weft::detail
