// SPDX-License-Identifier: Apache-2.0
// The processors that the calling thread may run on.
#pragma once

#include <weft/topology/cpu_set.hpp>

namespace weft::topology {

/// Confines the calling thread to `cpus`, which must be cpus of the machine that we run on; those that the
/// administrator keeps from us are left out by the kernel. Does not block. Throws errc::invalid_argument for an empty
/// set and the kernel's error, with the cpus, when none of them can be used.
void bind_this_thread(const cpu_set& cpus);

/// The cpus that the calling thread may run on now. Does not block. Throws the kernel's error.
cpu_set this_thread_binding();

}  // namespace weft::topology
