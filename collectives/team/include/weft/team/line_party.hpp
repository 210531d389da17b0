// SPDX-License-Identifier: Apache-2.0
// The party of the shortest calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <weft/team/board_party.hpp>

namespace weft::detail {

/// Carries out what board_party would in the same rounds, of a call that is one exchange (pattern_call), combines by a
/// built-in operator, and whose vector lies in a line of up to `most_members` boards: it has no slots, no tokens of
/// operators that threw, and nothing to give back. Made anew for each step of a call.
class line_party {
 public:
  using place = std::byte*;
  static constexpr std::size_t most_members = board_party::most_sources;

  line_party(board_party& boards, const leader_call& call) noexcept
      : boards_(boards), rounds_(boards.rounds_), call_(call), way_(call.on_node) {}

  std::size_t size() const noexcept { return rounds_.size(); }
  std::size_t self() const noexcept { return rounds_.self(); }
  place input(std::size_t) const noexcept { return const_cast<place>(call_.in); }
  place output(std::size_t) const noexcept { return call_.out; }
  place shown(std::size_t member, std::size_t) const noexcept { return rounds_.line(member); }
  std::span<place> operands() noexcept { return {operands_.data(), size()}; }

  bool begin(std::size_t) { return rounds_.begin(way_.fingerprint, call_.sequence); }
  bool try_begin(std::size_t) { return rounds_.try_begin(way_.fingerprint, call_.sequence); }
  bool end_begin() { return rounds_.end_begin(way_.fingerprint, call_.sequence); }
  template <class Reads>
  void publish(patterns::shows, Reads) noexcept {
    rounds_.publish();
  }
  bool await(std::size_t member) {
    const auto found = rounds_.await(member);
    return found == fabric::arena_rounds::found::here || boards_.end_in_vain(member, found);
  }
  void end() noexcept { rounds_.end(); }
  void end_with_all() noexcept { rounds_.end_with_all(); }

  void copy(place from, place to, std::size_t count) const noexcept {
    const std::size_t bytes = count * way_.element;
    if (bytes == sizeof(std::uint64_t))
      std::memcpy(to, from, sizeof(std::uint64_t));
    else if (bytes != 0)
      std::memcpy(to, from, bytes);
  }
  void combine(std::span<const place> from, place to, std::size_t count) const {
    if (count != 0) way_.kernel(reinterpret_cast<const void* const*>(from.data()), from.size(), to, count);
  }

 private:
  board_party& boards_;
  fabric::arena_rounds& rounds_;
  const leader_call& call_;
  const node_way& way_;
  std::array<place, most_members> operands_;
};

}  // namespace weft::detail
