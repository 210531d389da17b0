// SPDX-License-Identifier: Apache-2.0
// What combines in the memory of a node, and what becomes of an operator of the caller's that throws.
#include <weft/request.hpp>
#include <weft/request/combine_inputs.hpp>
#include <weft/runtime/error.hpp>
#include <weft/team/board_party.hpp>

namespace weft::detail {
namespace {

constexpr std::size_t place_of_mark = 8;  ///< in the line, behind an address

/// Why there is no value, as the slot has it.
struct error_token {
  std::int32_t origin = -1;
  std::uint32_t length = 0;
  std::array<char, 200> why{};
};

}  // namespace

void board_party::combine_many(std::span<const place> from, place to, std::size_t count) {
  if (way_->custom) return combine_by_caller(from, to, count);
  combine_inputs(array_operator(*call_->of), as_inputs(from), 0, count, to, {});
}

void board_party::combine_by_caller(std::span<const place> from, place to, std::size_t count) {
  if (poisoned_ != nullptr) return;
  array_operator by(*call_->of);
  by.custom = call_->custom;
  try {
    combine_inputs(by, as_inputs(from), 0, count, to, {});
  } catch (...) {
    thrown_ = std::current_exception();
    poisoned_ = std::make_shared<const fabric::poison>(fabric::poison{leaders_[self()], message_of(thrown_)});
  }
}

void board_party::show_token(const fabric::poison* missing) noexcept {
  static_assert(sizeof(error_token) <= token_bytes);
  const std::uint64_t mark = missing != nullptr ? 1 : 0;
  std::memcpy(rounds_.line(self()) + place_of_mark, &mark, sizeof mark);
  if (missing == nullptr) return;
  error_token its;
  its.origin = missing->origin;
  its.length = static_cast<std::uint32_t>(std::min(missing->why.size(), its.why.size()));
  std::copy_n(missing->why.begin(), its.length, its.why.begin());
  std::memcpy(slot(self()), &its, sizeof its);
}

void board_party::take_token(std::size_t member) {
  std::uint64_t mark = 0;
  std::memcpy(&mark, rounds_.line(member) + place_of_mark, sizeof mark);
  if (mark == 0 || poisoned_ != nullptr) return;
  error_token its;
  std::memcpy(&its, slot(member), sizeof its);
  const std::size_t length = std::min<std::size_t>(its.length, its.why.size());
  poisoned_ = std::make_shared<const fabric::poison>(fabric::poison{its.origin, std::string(its.why.data(), length)});
}

}  // namespace weft::detail
