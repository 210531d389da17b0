// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "measurement.hpp"

namespace weft::tools {
namespace {

enum road_tag : int { count_tag = 1, there_tag = 2, back_tag = 3 };

constexpr int warm_up = 10, calls = 5;

/// The first rank: it sends a message, whose number stands at both of its ends, and times until it is back.
class timing_side {
 public:
  timing_side(communicator& world, std::size_t bytes)
      : world_(world), peer_(world.size() - 1), sent_(bytes), received_(bytes) {}

  measurement measure(std::chrono::milliseconds budget) {
    for (int i = 0; i < warm_up; ++i) one_way();
    double once = one_way();
    for (int i = 1; i < calls; ++i) once = std::min(once, one_way());
    const std::size_t samples = count_samples(budget, once);
    world_.send(std::array{samples}, peer_, count_tag);
    std::vector<double> seconds(samples);
    for (double& each : seconds) each = one_way();
    measurement result = summarize(std::move(seconds));
    result.bytes = sent_.size();
    result.bytes_per_s = static_cast<double>(sent_.size()) / (result.median_us * 1e-6);
    result.wrong = wrong_;
    result.algorithm = "one way";
    return result;
  }

 private:
  /// Seconds, half of those of the round trip.
  double one_way() {
    const std::size_t room = std::min(sent_.size(), sizeof number_), last = sent_.size() - room;
    std::memcpy(sent_.data(), &++number_, room);
    std::memcpy(sent_.data() + last, &number_, room);
    const double start = seconds_now();
    world_.send(sent_, peer_, there_tag);
    world_.recv(received_, peer_, back_tag);
    const double end = seconds_now();
    if (std::memcmp(received_.data(), sent_.data(), room) != 0 ||
        std::memcmp(received_.data() + last, sent_.data() + last, room) != 0)
      ++wrong_;
    return (end - start) / 2;
  }

  communicator& world_;
  int peer_;
  std::vector<std::byte> sent_, received_;
  std::uint64_t number_ = 0;
  std::int64_t wrong_ = 0;
};

/// The last rank: it sends back what it gets.
void answer(communicator& world, std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  const auto echo = [&] {
    world.recv(message, 0, there_tag);
    world.send(message, 0, back_tag);
  };
  for (int i = 0; i < warm_up + calls; ++i) echo();
  std::array<std::size_t, 1> samples{};
  world.recv(samples, 0, count_tag);
  for (std::size_t i = 0; i < samples[0]; ++i) echo();
}

}  // namespace

std::int64_t measure_one_way(communicator& world, const bench_settings& settings,
                             const std::function<void(const measurement&)>& report) {
  std::int64_t wrong = 0;
  for (std::size_t bytes = settings.from;; bytes *= settings.factor) {
    world.barrier();
    if (world.rank() == 0) {
      const measurement result = timing_side(world, bytes).measure(settings.budget);
      wrong += result.wrong;
      report(result);
    } else if (world.rank() == world.size() - 1) {
      answer(world, bytes);
    }
    if (bytes > settings.to / settings.factor) return wrong;
  }
}

}  // namespace weft::tools
