// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <cerrno>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>

namespace weft::topology {
namespace {

// A kernel mask of any length: cpu_set_t ends at 1024 cpus.
struct kernel_mask {
  explicit kernel_mask(int last) : words(static_cast<std::size_t>(last) / CPU_SETSIZE + 1) {
    for (cpu_set_t& word : words) CPU_ZERO(&word);
  }
  std::size_t bytes() const { return words.size() * sizeof(cpu_set_t); }
  std::vector<cpu_set_t> words;
};

}  // namespace

void bind_this_thread(const cpu_set& cpus) {
  if (cpus.empty()) throw error(errc::invalid_argument, "binding this thread: the set of cpus is empty");
  kernel_mask mask(cpus.last());
  for (int cpu : cpus) CPU_SET_S(cpu, mask.bytes(), mask.words.data());
  if (sched_setaffinity(0, mask.bytes(), mask.words.data()) != 0) {
    throw_system_error(errno, "sched_setaffinity", "binding this thread to cpus " + to_string(cpus));
  }
}

cpu_set this_thread_binding() {
  // The kernel answers EINVAL to a mask that is shorter than its own.
  for (int cpus = CPU_SETSIZE - 1; cpus <= cpu_set::largest; cpus = 2 * cpus + 1) {
    kernel_mask mask(cpus);
    if (sched_getaffinity(0, mask.bytes(), mask.words.data()) == 0) {
      cpu_set result;
      for (int cpu = 0; cpu <= cpus; ++cpu) {
        if (CPU_ISSET_S(cpu, mask.bytes(), mask.words.data())) result.insert(cpu);
      }
      return result;
    }
    if (errno != EINVAL) break;
  }
  throw_system_error(errno, "sched_getaffinity", "reading the binding of this thread");
}

}  // namespace weft::topology
