// SPDX-License-Identifier: Apache-2.0
// What the living ranks of a communicator tell each other, whatever has failed on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/fabric/agreement_call.hpp>

namespace weft::detail {

/// The calls that go on whatever has failed.
enum class survivors_call : unsigned char { different, agree, shrink, grow, start };

/// What all ranks get: the call in its first byte, and from `answer_begin` on what was made of what they gave.
using survivors_answer = std::shared_ptr<const std::vector<std::byte>>;
inline constexpr std::size_t answer_begin = 16;

/// The beginning of an answer. Where ranks make different calls, a whole one.
std::vector<std::byte> begin_answer(survivors_call call, std::span<const fabric::contribution> all);
/// Behind the call that it makes.
inline std::span<const std::byte> given_by(const fabric::contribution& rank) {
  return rank.given.subspan(std::min<std::size_t>(rank.given.size(), 1));
}

/// One copy for the ranks of a process. Blocks. Throws as `communicator::agree`. `combine` begins with `begin_answer`.
survivors_answer agree_with_survivors(communicator_state& state, survivors_call call, std::span<const std::byte> given,
                                      fabric::combination combine);

/// What each rank gives to such a call, by rank; `Entry{}` of those that take no part, being dead or having left.
template <class Entry>
class given_by_survivors {
 public:
  explicit given_by_survivors(survivors_answer answer) noexcept : answer_(std::move(answer)) {}
  operator std::span<const Entry>() const noexcept { return all(); }
  std::span<const Entry> all() const noexcept {
    return {reinterpret_cast<const Entry*>(answer_->data() + answer_begin),
            (answer_->size() - answer_begin) / sizeof(Entry)};
  }

 private:
  survivors_answer answer_;
};

/// The same on all ranks that get it. Blocks. Throws as `communicator::agree`.
template <survivors_call Call, class Entry>
given_by_survivors<Entry> gather_of_survivors(communicator_state& state, const Entry& mine) {
  static_assert(std::is_trivially_copyable_v<Entry> && answer_begin % alignof(Entry) == 0);
  const auto combine = [](const fabric::group& members, std::span<const fabric::contribution> all) {
    std::vector<std::byte> answer = begin_answer(Call, all);
    if (answer[0] != static_cast<std::byte>(Call)) return answer;
    std::vector<Entry> entries(members.world.size());
    for (const fabric::contribution& each : all)
      if (given_by(each).size() == sizeof(Entry))
        std::memcpy(&entries[static_cast<std::size_t>(each.rank)], given_by(each).data(), sizeof(Entry));
    const auto table = std::as_bytes(std::span(entries));
    answer.insert(answer.end(), table.begin(), table.end());
    return answer;
  };
  return given_by_survivors<Entry>(agree_with_survivors(state, Call, std::as_bytes(std::span(&mine, 1)), combine));
}

}  // namespace weft::detail
