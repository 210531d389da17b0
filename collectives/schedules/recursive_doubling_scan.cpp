// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "memory_emitter.hpp"

namespace weft::schedules {

// Scans by recursive doubling (Hillis and Steele 1986): in round k each rank hands what it has combined, its own and
// the 2^k - 1 ranks' before it, to the rank 2^k after it.
//
//     rank       0    1    2     3      4          what a rank has
//     round 0    0    01   12    23     34
//     round 1    0    01   012   0123   1234
//     round 2    0    01   012   0123   01234
//
// ceil(log2 p) (α + n β + n γ). In the exclusive scan a rank combines twice, its result while the next operand is on
// its way. Best for short vectors. The order of the ranks is kept. The vector is one chunk of one segment; input and
// output are all of it and may be the same memory. Scratch is at most six vectors. Both throw std::invalid_argument for
// a bad rank.

namespace {

constexpr block_range vector{0, 1};
constexpr std::size_t scan_slots = 4;

/// What the two scans share: operands that come from below, and what goes up.
class doubling_scan {
 public:
  doubling_scan(int ranks, int rank, bool inclusive, sink& to)
      : ranks_(ranks),
        rank_(rank),
        rounds_(static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(rank)))),
        slots_(std::min(scan_slots, rounds_)),
        inclusive_(inclusive),
        emit_(to, cut(), 1) {}

  void run() {
    while (received_.size() < slots_) receive();
    segment up = in_input(vector);  // what this rank and those before it, as far as known, have
    std::size_t round = 0;
    for (long long distance = 1; distance < ranks_; distance *= 2, ++round) {
      step_index sent = no_step;
      if (rank_ + distance < ranks_) sent = emit_.send(static_cast<int>(rank_ + distance), {&up, 1});
      if (!inclusive_ && round >= 1 && round <= rounds_) combine_result(round - 1, sent);
      if (round >= rounds_) continue;
      if (inclusive_)
        up = inclusive_sum(round, up);
      else if (rank_ + 2 * distance < ranks_)
        up = exclusive_sum(round, up);
      if (round >= 1 && received_.size() < rounds_) receive();
    }
    if (!inclusive_ && rounds_ == round && rounds_ > 0) combine_result(round - 1, no_step);
    if (inclusive_ && rank_ == 0) emit_.copy(in_input(vector), in_output(vector));
  }

 private:
  layout cut() const {
    const std::size_t sums = inclusive_ || rounds_ == 0 ? 0 : 2;
    return {1,
            1,
            vector,
            inclusive_ || rank_ > 0 ? vector : block_range{},
            static_cast<std::uint32_t>(slots_ + sums),
            slots_ == 0 ? 0u : 1u};
  }

  void receive() {
    const std::size_t round = received_.size();
    received_.push_back(in_scratch(static_cast<std::uint32_t>(round % slots_), vector));
    emit_.receive(rank_ - (1 << round), {&received_.back(), 1});
  }

  /// The sum is made where the operand came, in the end in the output.
  segment inclusive_sum(std::size_t round, const segment& up) {
    const segment sum = round + 1 == rounds_ ? in_output(vector) : received_[round];
    emit_.combine(received_[round], up, sum);
    return sum;
  }

  segment exclusive_sum(std::size_t round, const segment& up) {
    const segment sum = in_scratch(static_cast<std::uint32_t>(slots_ + round % 2), vector);
    emit_.combine(received_[round], up, sum);
    return sum;
  }

  /// When `sent` is: what goes up is combined, and goes, first. In place, the output overwrites the input.
  void combine_result(std::size_t round, step_index sent) {
    const segment result = in_output(vector), both[] = {received_[round], result};
    if (round == 0)
      emit_.copy(received_[round], result, {&sent, 1});
    else
      emit_.combine(both, result, {&sent, 1});
  }

  int ranks_, rank_;
  std::size_t rounds_;  // in which it receives
  std::size_t slots_;
  bool inclusive_;
  memory_emitter emit_;
  std::vector<segment> received_;
};

}  // namespace

/// Emits `rank`'s steps of an inclusive scan: output r is combined from the inputs 0 to r.
void recursive_doubling_scan(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  doubling_scan(ranks, rank, true, to).run();
}

/// Emits `rank`'s steps of an exclusive scan: output r is combined from the inputs 0 to r - 1; rank 0 has none.
void recursive_doubling_exscan(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  doubling_scan(ranks, rank, false, to).run();
}

}  // namespace weft::schedules
