// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <limits>
#include <thread>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/noise.hpp>

namespace weft::topology {
namespace {

using steady = std::chrono::steady_clock;

/// Multiplications that wait for one another, in registers: no cache and no neighbour changes what they take.
void work(std::int64_t steps) noexcept {
  std::uint64_t value = 1;
  for (std::int64_t i = 0; i < steps; ++i) {
    value *= 6364136223846793005U;
    asm volatile("" : "+r"(value));
  }
}

std::chrono::nanoseconds time_of(std::int64_t steps) noexcept {
  const auto begin = steady::now();
  work(steps);
  return steady::now() - begin;
}

/// The shortest of several, which nothing interrupted.
std::chrono::nanoseconds least_time_of(std::int64_t steps) noexcept {
  auto least = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) least = std::min(least, time_of(steps));
  return least;
}

/// How many take `quantum`.
std::int64_t steps_for(std::chrono::nanoseconds quantum) noexcept {
  std::int64_t steps = 64;
  while (least_time_of(steps) < quantum && steps < std::int64_t{1} << 40) steps *= 2;
  const double taken = static_cast<double>(std::max<std::int64_t>(least_time_of(steps).count(), 1));
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(steps) * static_cast<double>(quantum.count()) / taken));
}

std::vector<std::uint32_t> durations_here(const noise_settings& by) {
  const std::int64_t steps = steps_for(by.quantum);
  std::vector<std::uint32_t> durations(static_cast<std::size_t>(by.duration / by.quantum) + 1);
  std::size_t done = 0;
  const auto end = steady::now() + by.duration;
  for (auto begin = steady::now(); begin < end && done < durations.size(); ++done) {
    work(steps);
    const auto now = steady::now();
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    durations[done] =
        static_cast<std::uint32_t>(std::min<std::int64_t>(std::chrono::nanoseconds(now - begin).count(), most));
    begin = now;
  }
  durations.resize(done);
  return durations;
}

cpu_noise measure_one(int cpu, const noise_settings& by) {
  cpu_noise found;
  std::exception_ptr failure;
  std::thread([&] {
    try {
      bind_this_thread({cpu});
      found = noise_in(durations_here(by), by.least_detour);
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure != nullptr) std::rethrow_exception(failure);
  found.cpu = cpu;
  return found;
}

}  // namespace

cpu_noise noise_in(std::span<const std::uint32_t> durations, std::chrono::nanoseconds least_detour) {
  cpu_noise found;
  found.quanta = static_cast<std::int64_t>(durations.size());
  if (durations.empty()) return found;
  const std::uint32_t shortest = *std::min_element(durations.begin(), durations.end());
  found.quantum = 1e-9 * shortest;
  std::int64_t begin = 0;
  for (const std::uint32_t each : durations) {
    const std::int64_t longer = each - shortest, piece = begin;
    begin += each;
    found.measured += 1e-9 * each;
    if (longer <= least_detour.count()) continue;
    const double detour = 1e-9 * static_cast<double>(longer);
    ++found.detours;
    found.detoured += detour;
    found.longest = std::max(found.longest, detour);
    found.all_detours.push_back({piece, longer});
  }
  return found;
}

std::vector<cpu_noise> measure_noise(const cpu_set& cpus, const noise_settings& by) {
  if (cpus.empty()) throw error(errc::invalid_argument, "measuring noise: the set of cpus is empty");
  if (by.quantum.count() <= 0 || by.duration < by.quantum || by.least_detour.count() <= 0)
    throw error(errc::invalid_argument,
                "measuring noise: times must be positive, and the whole no shorter than a piece of work");
  std::vector<cpu_noise> measured;
  for (const int cpu : cpus) measured.push_back(measure_one(cpu, by));
  return measured;
}

const cpu_noise& quietest(std::span<const cpu_noise> measured) {
  return *std::min_element(measured.begin(), measured.end(),
                           [](const cpu_noise& a, const cpu_noise& b) { return a.share_lost() < b.share_lost(); });
}

}  // namespace weft::topology
