// SPDX-License-Identifier: Apache-2.0
// Which of several algorithms is the fastest for calls that are alike, found out by the calls themselves
// (--weft-tune=online).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::detail {

/// Candidates are predicted to take at most so many times as long as the best of them,
inline constexpr double near_the_best = 1.5;
/// or so many times where what patterns cost was not measured, since processes share CPUs,
inline constexpr double near_the_best_assumed = 2.5;
/// and are at most so many.
inline constexpr std::size_t most_candidates = 3;
/// So many shapes of calls of a communicator are tried; those that come later go by predictions.
inline constexpr std::size_t most_tried_shapes = 128;

/// The calls of one shape, by their number. The first ones go by the first candidate: most shapes are not called often.
/// Then all candidates take turns, in rounds that each begin with another one, so that what changes meanwhile meets all
/// alike. The first round makes schedules and touches memory, and does not count. No clock and no messages: ranks that
/// have counted the same calls try the same candidate in the next, and what they choose in the end follows from the
/// times that they agree on.
class candidate_trial {
 public:
  static constexpr std::uint32_t calls_before = 8;
  static constexpr std::uint32_t rounds = 8;  ///< that count

  explicit candidate_trial(std::size_t candidates) : candidates_(candidates), seconds_(candidates * rounds) {}

  /// A call: by which candidate it goes, and which of the times it gives, if any.
  struct turn {
    std::size_t candidate = 0;
    std::optional<std::size_t> time;
  };
  /// The next one. While the trial is not over.
  turn next() const noexcept;
  /// It is made.
  void count() noexcept { ++calls_; }
  /// Whether all calls have been made that give times.
  bool is_over() const noexcept { return calls_ == calls_of(candidates_); }
  static constexpr std::uint32_t calls_of(std::size_t candidates) noexcept {
    return calls_before + static_cast<std::uint32_t>(candidates) * (1 + rounds);
  }

  /// A call took so long here. One that nobody gives is 0: nothing is known of it.
  void took(const turn& its, double seconds) noexcept {
    if (its.time) seconds_[*its.time] = seconds;
  }
  /// Of this rank.
  std::span<const double> seconds() const noexcept { return seconds_; }

  /// The candidate with the least lower quartile, where `slowest` are the greatest of all ranks' `seconds()`; one before
  /// it unless that is less by a tenth, so that noise alone changes nothing. Where nothing is known, the first.
  static std::size_t fastest(std::span<const double> slowest);

 private:
  std::size_t candidates_;
  std::uint32_t calls_ = 0;
  std::vector<double> seconds_;  // of each candidate, its rounds together
};

/// A shape of calls that is tried.
template <class Candidate>
struct tried {
  explicit tried(std::vector<Candidate> near) : candidates(std::move(near)), trial(candidates.size()) {}

  /// What its calls take but for those that try.
  const Candidate& best() const { return candidates[fastest.value_or(0)]; }

  std::vector<Candidate> candidates;  ///< the one first that is predicted to be the fastest
  candidate_trial trial;
  std::optional<std::size_t> fastest;  ///< once it is agreed on
};

/// How many shapes of several candidates are or were tried, and of how many it is known what is the fastest.
struct trial_counts {
  std::size_t begun = 0;
  std::size_t decided = 0;

  template <class Candidate>
  void add(const tried<Candidate>& one) noexcept {
    if (one.candidates.size() == 1) return;
    ++begun;
    if (one.fastest) ++decided;
  }
};

}  // namespace weft::detail
