// SPDX-License-Identifier: Apache-2.0
#include "idle.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

namespace weft::tools {
namespace {

/// Whoever has had nothing to do for so long sleeps.
constexpr std::chrono::milliseconds until_asleep{300};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Between its making and `end`.
class stretch {
 public:
  idleness end() const {
    const double seconds = seconds_now() - began_;
    const rusage used = now();
    const double busy = seconds_of(used.ru_utime) + seconds_of(used.ru_stime) - seconds_of(before_.ru_utime) -
                        seconds_of(before_.ru_stime);
    return {busy / seconds, static_cast<double>(used.ru_nvcsw - before_.ru_nvcsw) / seconds};
  }

 private:
  static rusage now() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used;
  }

  double began_ = seconds_now();
  rusage before_ = now();
};

idleness busiest(communicator& world, const idleness& mine) {
  std::array both{mine.share, mine.wake_ups};
  world.allreduce(both, both, max);
  return {both[0], both[1]};
}

/// Every process sleeps; nobody waits for anything.
idleness measure_alone(communicator& world, std::chrono::milliseconds length) {
  world.barrier();
  std::this_thread::sleep_for(until_asleep);
  const stretch idle;
  std::this_thread::sleep_for(length);
  return busiest(world, idle.end());
}

/// Rank 0 comes last, and sleeps until then. Its own process may host ranks that cannot come for that reason.
idleness measure_waiting(communicator& world, std::chrono::milliseconds length) {
  world.barrier();
  const stretch idle;
  if (world.rank() == 0) std::this_thread::sleep_for(length);
  world.barrier();
  return busiest(world, world.rank() == 0 ? idleness{} : idle.end());
}

/// Seconds of a message there and one back.
double round_trip(communicator& world, int peer) {
  std::array<std::int64_t, 2> message{};
  const double start = seconds_now();
  world.send(message, peer, 1);
  world.recv(message, peer, 1);
  return seconds_now() - start;
}

measurement summarize_messages(std::vector<double> seconds) {
  measurement result = summarize(std::move(seconds));
  result.bytes = 2 * sizeof(std::int64_t);
  return result;
}

/// The last rank waits for messages of rank 0, which come after a pause, some at a time.
void measure_messages(communicator& world, std::chrono::milliseconds length, idle_costs& costs) {
  constexpr int awake_each = 20;
  const auto pauses = std::max<std::int64_t>(20, length / until_asleep);
  const int last = world.size() - 1;
  std::vector<double> first, awake;
  world.barrier();
  for (std::int64_t i = 0; i < pauses; ++i) {
    if (world.rank() == 0) {
      std::this_thread::sleep_for(until_asleep);
      first.push_back(round_trip(world, last));
      for (int k = 0; k < awake_each; ++k) awake.push_back(round_trip(world, last) / 2);
    } else if (world.rank() == last) {
      std::array<std::int64_t, 2> message{};
      for (int k = 0; k <= awake_each; ++k) {
        world.recv(message, 0, 1);
        world.send(message, 0, 1);
      }
    }
  }
  world.barrier();
  if (world.rank() != 0) return;
  costs.awake = summarize_messages(std::move(awake));
  for (double& each : first) each -= costs.awake.median_us * 1e-6;  // the way back
  costs.first = summarize_messages(std::move(first));
}

}  // namespace

idle_costs measure_idle(communicator& world, std::chrono::milliseconds length) {
  idle_costs costs;
  costs.alone = measure_alone(world, length);
  costs.waiting = measure_waiting(world, length);
  measure_messages(world, length, costs);
  return costs;
}

}  // namespace weft::tools
