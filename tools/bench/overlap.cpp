// SPDX-License-Identifier: Apache-2.0
#include "overlap.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "layout.hpp"
#include "measurement.hpp"

namespace weft::tools {
namespace {

/// Work that touches no memory to speak of. The result is to be used, so that it is done.
class computation {
 public:
  void run(std::int64_t units) noexcept {
    for (std::int64_t unit = 0; unit < units; ++unit)
      for (double& each : values_) each = each * 0.999 + 1e-3;
  }
  bool finite() const noexcept { return values_[0] < 2; }

  /// How many units take so many seconds of a core here, which other ranks may share.
  std::int64_t units_of(double seconds) {
    std::int64_t units = 64;
    for (;; units *= 2) {
      const double start = processor_seconds();
      run(units);
      const double taken = processor_seconds() - start;
      if (taken > 2e-3)
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(units) * seconds / taken));
    }
  }

 private:
  std::array<double, 16> values_{};
};

/// One size on this rank.
class overlapped_call {
 public:
  overlapped_call(communicator& world, std::size_t bytes)
      : world_(world),
        in_(std::max<std::size_t>(1, bytes / sizeof(float)), static_cast<float>(world.rank() + 1)),
        out_(in_.size()) {}

  void communicate() { world_.iallreduce(in_, out_, sum).wait(); }
  void compute() noexcept { work_.run(units_); }
  void both() {
    handle started = world_.iallreduce(in_, out_, sum);
    compute();
    started.wait();
  }

  void compute_for(double seconds) { units_ = work_.units_of(seconds); }

  std::int64_t count_wrong() const {
    const auto ranks = static_cast<float>(world_.size());
    const float right = ranks * (ranks + 1) / 2;
    return std::count_if(out_.begin(), out_.end(), [&](float each) { return each != right; }) +
           (work_.finite() ? 0 : 1);
  }

 private:
  communicator& world_;
  std::vector<float> in_, out_;
  computation work_;
  std::int64_t units_ = 0;
};

/// Rounds until waits have found their pace: the first ones take several times as long as the others.
constexpr std::size_t warm_up_rounds = 200;

/// What is timed takes so long at least: a thread that waits keeps from yielding for 10 ms after one yield has cost it
/// much, and rounds are longer until then.
constexpr std::chrono::milliseconds least_time{40};

/// Parts of the rounds: the least of their means counts, since what else the machine does falls into few of them.
constexpr std::size_t parts = 4;

/// The mean time of a round in which every rank calls `what`, and then a barrier; the same on every rank. Of all ranks,
/// not of each by itself: those that share a core take turns, and one that has not had its turn has not begun.
template <class What>
double mean_round(communicator& world, std::size_t times, What what) {
  const std::size_t each = std::max<std::size_t>(1, times / parts);
  std::array mean{std::numeric_limits<double>::infinity()};
  world.barrier();
  for (std::size_t part = 0; part < parts; ++part) {
    const double start = seconds_now();
    for (std::size_t i = 0; i < each; ++i) {
      what();
      world.barrier();
    }
    mean[0] = std::min(mean[0], (seconds_now() - start) / static_cast<double>(each));
  }
  world.bcast(mean, 0);
  return mean[0];
}

overlap_measurement measure_size(communicator& world, std::size_t bytes, std::chrono::milliseconds budget) {
  overlapped_call call(world, bytes);
  mean_round(world, warm_up_rounds, [] {});
  const double once = mean_round(world, 5 * parts, [&] { call.communicate(); });
  const auto longest = std::max<std::chrono::milliseconds>(budget, 4 * least_time);
  const std::size_t samples = std::min<std::size_t>(1000, count_samples(longest, 4 * once));
  const double meeting = mean_round(world, samples, [] {});
  // On a machine that does other things the round without a call may be the longer one: then it took too little to
  // tell.
  const auto beside_meeting = [&](double round) { return std::max(0.0, round - meeting); };
  const double alone = beside_meeting(mean_round(world, samples, [&] { call.communicate(); }));
  call.compute_for(alone);
  const double computed = beside_meeting(mean_round(world, samples, [&] { call.compute(); }));
  const std::int64_t before = progress_thread_time();
  const double overall = beside_meeting(mean_round(world, samples, [&] { call.both(); }));
  std::array thread{static_cast<double>(progress_thread_time() - before) / static_cast<double>(samples)};
  world.allreduce(thread, thread, sum);

  overlap_measurement result;
  result.bytes = bytes;
  result.samples = samples;
  result.overall_us = overall * 1e6;
  result.compute_us = computed * 1e6;
  result.communication_us = alone * 1e6;
  result.percent = alone > 0 ? std::max(0.0, 100 - (overall - computed) / alone * 100) : 0;
  result.thread_us = thread[0] / world.size() * 1e-3;
  std::array wrong{call.count_wrong()};
  world.allreduce(wrong, wrong, sum);
  result.wrong = wrong[0];
  return result;
}

}  // namespace

std::int64_t measure_overlap(communicator& world, const bench_settings& settings,
                             const std::function<void(const overlap_measurement&)>& report) {
  std::int64_t wrong = 0;
  for (std::size_t bytes = settings.from;; bytes *= settings.factor) {
    const overlap_measurement measured = measure_size(world, bytes, settings.budget);
    wrong += measured.wrong;
    if (world.rank() == 0) report(measured);
    if (bytes > settings.to / settings.factor) return wrong;
  }
}

}  // namespace weft::tools
