// SPDX-License-Identifier: Apache-2.0
// Makes a workload, step by step and rank after rank.
#pragma once

#include <unordered_map>
#include <weft/simulator/workload.hpp>

namespace weft::simulator {

/// That `step` waits for `before` to end, or to begin.
struct stated_dependency {
  step_index before, step;
  bool on_end;
};

class workload_builder {
 public:
  /// Appends a step of the current rank, rank 0 at first, and returns its index, counted from 0. `ended` and `begun`
  /// name earlier steps that must have done so before it begins. Throws std::invalid_argument for others,
  /// std::length_error for more steps of a rank than a step_index counts.
  step_index add(const operation& what, std::span<const step_index> ended, std::span<const step_index> begun = {});
  /// The current rank's steps are all there; the next rank becomes the current one. `stated`: all its dependencies,
  /// each once, in the order in which a step lets its dependents go; none: the order of the steps.
  void end_rank(std::span<const stated_dependency> stated = {});
  /// In place of steps: the current rank does what the earlier `rank` does, with these peers, in the order in which
  /// that one's first come up.
  void end_rank_like(int rank, std::span<const std::int32_t> peers);
  /// The peers of an earlier rank, in that order.
  std::vector<std::int32_t> peers_of(int rank) const;
  /// What is built comes from GOAL text.
  void note_goal() noexcept { built_.is_goal_ = true; }
  /// Hands over the workload. Throws as workload_of does where messages do not match.
  workload finish();

 private:
  class channel_finder;

  std::uint32_t channel_of(std::int32_t peer, std::uint32_t tag);
  std::uint32_t amount_index(std::uint64_t amount);
  schedules::table_range append_before(std::span<const step_index> steps);
  std::uint32_t intern_shape(std::span<const stated_dependency> stated);
  std::uint64_t intern_amounts(std::uint8_t& width);
  void connect_channels();
  void check_lengths() const;

  workload built_;
  // Of the current rank:
  shape current_;
  std::vector<std::uint32_t> amounts_;  ///< in built_.amounts_
  std::vector<workload::channel> channels_;
  std::unordered_map<std::uint64_t, std::uint32_t> channel_numbers_;
  std::vector<std::uint32_t> sends_, receives_;  ///< of each channel so far
  // Of all ranks:
  std::unordered_multimap<std::uint64_t, std::uint32_t> shapes_;  ///< by hash
  struct stored_amounts {
    std::uint64_t first, count;
    std::uint8_t width;
  };
  std::unordered_multimap<std::uint64_t, stored_amounts> stored_;  ///< by hash
  std::unordered_map<std::uint64_t, std::uint32_t> amount_numbers_;
};

}  // namespace weft::simulator
