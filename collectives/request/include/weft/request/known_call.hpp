// SPDX-License-Identifier: Apache-2.0
// What a rank knows of its latest blocking collectives, so that one like them needs neither checks nor choices again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>
#include <weft/kernels/combine.hpp>
#include <weft/request.hpp>
#include <weft/request/call_counts.hpp>
#include <weft/request/collective_call.hpp>
#include <weft/request/fingerprint.hpp>
#include <weft/request/leader_call.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::detail {

/// How a blocking call goes.
enum class way : std::uint8_t {
  messages,  ///< by a schedule
  joined,    ///< the ranks of each process join first: joined_call.hpp
  node,      ///< in the memory that the processes of a node share: memory_way.hpp
};

/// The arguments of a call, which were found right, and what follows from them.
struct known_call {
  call_key key;              ///< of no call where it does not tell all
  request_arguments again;   ///< of the latest, whose buffers were found right, too, where it is by a built-in operator
                             ///< and without counts
  std::uint32_t number = 0;  ///< each that is learned has another one
  request_shape shape;
  way goes = way::messages;
  counted_calls counted;
  call_terms terms;     ///< of those that do not go by messages
  leader_call between;  ///< of those that go by the node, but for buffers, operator and sequence
  // Of those that are joined, once one was made:
  bool has_joined = false;
  std::uint64_t hash = 0;                      ///< of the terms
  std::optional<std::size_t> shown;            ///< bytes that each rank shows: process_team.hpp
  kernels::combine_function kernel = nullptr;  ///< of the operator
  // Once one was recorded: it, but for times and number, as of one that goes by this.
  std::shared_ptr<const trace::record> traced;
  const schedules::algorithm* traced_by = nullptr;
  // Behind what every call looks at.
  bool uneven = false;  ///< then these are told with the key:
  std::vector<std::size_t> counts, received;

  /// Whether `call` differs from it in nothing but the buffers, or what the caller's operator does.
  bool is_like(const request& call) const noexcept {
    return key == call && can_be_known(call) && uneven == call.uneven &&
           (!uneven || (std::ranges::equal(counts, call.counts) && std::ranges::equal(received, call.received)));
  }
  /// Takes `call` for the one that it knows. Throws std::bad_alloc.
  void take_key(const request& call) {
    uneven = call.uneven;
    counts.assign(call.counts.begin(), call.counts.end());
    received.assign(call.received.begin(), call.received.end());
    key = call;
  }
  /// Gives the call by the node what is not known of it: buffers, operator and sequence of `call`, which outlives that.
  void fill_in(const request& call, std::uint32_t sequence) {
    between.of = &call;
    between.in = static_cast<const std::byte*>(call.in);
    between.out = static_cast<std::byte*>(call.out);
    between.sequence = sequence;
    if (call.custom.apply != nullptr) between.custom = call.custom;
  }
  /// Whether a key and counts say all that matters.
  static bool can_be_known(const request& call) noexcept {
    return !call.at_root && !call.displaced && call.common_output == nullptr;
  }
};

/// As many as a loop of a program makes in turn.
class known_calls {
 public:
  /// That of the latest call, where this one differs from it in nothing, else null.
  known_call* repeated(const request& call) const noexcept {
    known_call* const latest = calls_[latest_].get();
    const bool same = latest != nullptr && latest->again == call && known_call::can_be_known(call);
    return same && !call.uneven && call.custom.apply == nullptr ? latest : nullptr;
  }
  /// That of a call like this one, or null. Looks at the latest, and then at those that were learned behind it: in a
  /// loop that is the next call.
  known_call* find(const request& call) noexcept {
    known_call* const latest = calls_[latest_].get();
    return latest != nullptr && latest->is_like(call) ? latest : find_behind_latest(call);
  }
  /// That of the call that has been looked up last, if it is like this one; else null.
  known_call* latest(const request& call) const noexcept {
    known_call* const its = calls_[known_call::can_be_known(call) ? latest_ : known_by_key].get();
    return its != nullptr && (!known_call::can_be_known(call) || its->is_like(call)) ? its : nullptr;
  }
  /// Where to keep what is learned of a call: in place of the oldest. Throws std::bad_alloc.
  known_call& place_for(const request& call) {
    const bool told = known_call::can_be_known(call);
    const std::size_t at = told ? oldest_ : known_by_key;
    if (calls_[at] == nullptr) calls_[at] = std::make_unique<known_call>();
    if (told) {
      latest_ = at;
      oldest_ = (at + 1) % known_by_key;
    }
    calls_[at]->key = {};
    calls_[at]->again.element_bytes = 0;  // of no call
    calls_[at]->number = ++learned_;
    calls_[at]->traced.reset();
    return *calls_[at];
  }
  void forget() noexcept {
    for (const auto& each : calls_)
      if (each != nullptr) each->key = {}, each->again.element_bytes = 0;
  }

 private:
  static constexpr std::size_t known_by_key = 8;  ///< one more is for all others

  known_call* find_behind_latest(const request& call) noexcept {
    for (std::size_t i = 1; i < known_by_key; ++i) {
      const std::size_t at = (latest_ + i) % known_by_key;
      if (calls_[at] == nullptr || !calls_[at]->is_like(call)) continue;
      latest_ = at;
      return calls_[at].get();
    }
    return nullptr;
  }

  std::array<std::unique_ptr<known_call>, known_by_key + 1> calls_;
  std::size_t latest_ = 0, oldest_ = 0;
  std::uint32_t learned_ = 0;
};

}  // namespace weft::detail
