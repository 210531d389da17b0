// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "measurement.hpp"

namespace weft::tools {
namespace {

/// What `call` takes, the slowest rank's time after a barrier, on rank 0; it returns what it got wrong.
template <class Call>
measurement time_of(communicator& world, std::chrono::milliseconds budget, const Call& call) {
  constexpr int warm_up = 3;
  std::array<std::int64_t, 1> wrong{0};
  const auto sample = [&] {
    world.barrier();
    const double start = seconds_now();
    wrong[0] += call();
    return seconds_now() - start;
  };
  for (int i = 0; i < warm_up; ++i) sample();
  std::array once{sample()};
  world.allreduce(once, once, max);
  std::vector<double> seconds(count_samples(budget, once[0]));
  for (double& each : seconds) each = sample();
  world.allreduce(seconds, seconds, max);
  world.allreduce(wrong, wrong, sum);
  measurement result = summarize(std::move(seconds));
  result.wrong = wrong[0];
  return result;
}

}  // namespace

agreement_times measure_agreement(communicator& world, std::chrono::milliseconds budget) {
  std::optional<communicator> shrunk;  // one is freed when the next is there
  return {time_of(world, budget,
                  [&] {
                    world.barrier();
                    return 0;
                  }),
          time_of(world, budget,
                  [&] {
                    const agreed all = world.agree(~(1 << world.rank() % 16));
                    const int lowest_bits = (1 << std::min(world.size(), 16)) - 1;
                    return all.flag == ~lowest_bits && all.missing.empty() ? 0 : 1;
                  }),
          time_of(world, budget, [&] {
            shrunk = world.shrink();
            return shrunk->size() == world.size() ? 0 : 1;
          })};
}

}  // namespace weft::tools
