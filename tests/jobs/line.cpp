// SPDX-License-Identifier: Apache-2.0
// line BYTES...: all-reduces and broadcasts of so many bytes between clusters, by what is chosen and by the algorithm
// of two tiers, which one rank of each cluster takes part in: how long they take, beside what is predicted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/api/choices.hpp>
#include <weft/weft.hpp>

#include "jobs.hpp"

namespace weft_test {
namespace {

using weft::detail::choices, weft::detail::collective;

constexpr int samples = 3;

/// The median of the slowest ranks' seconds, the first call aside.
double seconds_of(weft::communicator& world, collective what, std::vector<float>& data) {
  std::vector<double> all;
  for (int i = 0; i <= samples; ++i) {
    world.barrier();
    const auto begin = std::chrono::steady_clock::now();
    if (what == collective::allreduce)
      world.allreduce(data, data, weft::max);
    else
      world.bcast(data, 0);
    const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double slowest = 0;
    world.allreduce(std::span(&mine, 1), std::span(&slowest, 1), weft::max);
    if (i > 0) all.push_back(slowest);
  }
  std::ranges::sort(all);
  return all[all.size() / 2];
}

void compare(weft::communicator& world, collective what, std::string_view tiers, std::size_t bytes) {
  std::vector<float> data(bytes / sizeof(float), 1);
  const auto of = choices::request(world, what, bytes, weft::kernels::operation::max, weft::kernels::type::float32);
  const std::string taken(choices::taken(world, of).how->name);
  const auto predicted = choices::predicted(world, of);
  const auto prediction = [&](std::string_view name) {
    const auto found = std::ranges::find(predicted, name, [](const auto& one) { return one.how->name; });
    return found == predicted.end() ? 0 : found->seconds * 1e3;
  };
  const double by_choice = seconds_of(world, what, data) * 1e3;
  choices::prefer(world, what, weft::schedules::find_algorithm(what, tiers));
  const double by_tiers = seconds_of(world, what, data) * 1e3;
  choices::prefer(world, what, nullptr);
  if (world.rank() == 0)
    std::printf("%s %zu %s %.1f ms, predicted %.1f; %s %.1f ms, predicted %.1f\n",
                std::string(weft::schedules::option_name(what)).c_str(), bytes, taken.c_str(), by_choice,
                prediction(taken), std::string(tiers).c_str(), by_tiers, prediction(tiers));
  std::fflush(stdout);
}

}  // namespace

int line(int argc, char** argv) {
  weft::runtime runtime(argc, argv);
  for (int i = 2; i < argc; ++i) {
    const std::size_t bytes = std::strtoull(argv[i], nullptr, 10);
    compare(runtime.world(), collective::allreduce, "two-tier", bytes);
    compare(runtime.world(), collective::broadcast, "far-first", bytes);
  }
  return 0;
}

}  // namespace weft_test
