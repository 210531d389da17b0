// SPDX-License-Identifier: Apache-2.0
// The party of calls at once among workers that have one rank each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <weft/patterns/at_once.hpp>
#include <weft/ranks/meeting.hpp>
#include <weft/request/combine_inputs.hpp>
#include <weft/runtime/copy_bytes.hpp>

namespace weft::detail {

/// The calls of ranks each of which has a worker of its own, where all show what they give, and take what all give
/// together by a kernel (weft/patterns/at_once.hpp). Each worker is a member, and takes a round (worker_rounds.hpp).
class exchange_party {
 public:
  using place = std::byte*;

  /// Of the rank on this seat.
  exchange_party(meeting& here, std::size_t seat)
      : here_(here),
        mine_(here.at(seat)),
        self_(here.worker_of(seat)),
        operands_(here.workers()[self_].operands),
        turn_(here.rounds(), self_) {}

  /// What the calls from now on have alike.
  void take_terms(const request& call, std::size_t bytes) {
    by_ = array_operator(call, mine_.known->kernel);
    bytes_ = bytes;
    asked_for_ = worker_rounds::comes_with_stamp(bytes) ? 0 : bytes;
  }

  // As a party:

  std::size_t size() const noexcept { return operands_.size(); }
  std::size_t self() const noexcept { return self_; }
  place input(std::size_t at) const noexcept { return const_cast<place>(mine_.input) + at * by_.element_bytes; }
  place output(std::size_t at) const noexcept { return mine_.output + at * by_.element_bytes; }
  place shown(std::size_t m, std::size_t at) const noexcept {
    return turn_.value_of(m, bytes_) + at * by_.element_bytes;
  }
  std::span<place> operands() noexcept { return operands_; }

  /// Throws std::bad_alloc.
  bool begin(std::size_t) {
    turn_.begin(mine_.stamp());
    turn_.make_room(bytes_);
    return true;
  }
  template <class Reads>
  void publish(patterns::shows, Reads) noexcept {
    turn_.publish();
  }
  bool await(std::size_t m) {
    const auto found = turn_.await(m, asked_for_);
    if (found == worker_rounds::found::differs) here_.refuse_difference(std::min(m, self_), std::max(m, self_));
    return found == worker_rounds::found::here;
  }
  void end_with_all() noexcept { turn_.wake(); }

  void copy(place from, place to, std::size_t count) noexcept { copy_bytes(to, from, count * by_.element_bytes); }
  void combine(std::span<const place> from, place to, std::size_t count) {
    if (count == 0) return;
    if (from.size() <= most_sources) [[likely]]
      return by_.kernel(reinterpret_cast<const void* const*>(from.data()), from.size(), to, count);
    combine_inputs(by_, {from.data(), from.size()}, 0, count, to, {});
  }

 private:
  meeting& here_;
  const meeting::seat& mine_;
  const std::size_t self_;
  const std::span<place> operands_;
  worker_rounds::round turn_;
  array_operator by_;
  std::size_t bytes_ = 0;      ///< of the vector
  std::size_t asked_for_ = 0;  ///< of what others show, before it is known to be there
};

}  // namespace weft::detail
