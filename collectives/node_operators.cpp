// What combines in the memory of a node, and what becomes of an operator of the caller's that throws.
//
// Its process throws the same once its part of the call is over. Who would have read what it was to make is told in
// place of that which rank's operator threw what, and tells it to those who depend on him. All rounds are gone through
// as ever, so the communicator goes on. In calls with such an operator
//
//   line:  an address, in rounds that tell one | whether there is no value
//   slot:  the value, or else why there is none
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <weft/request.hpp>
#include <weft/runtime/error.hpp>

#include "combine_inputs.hpp"
#include "node_road.hpp"

namespace weft::detail {
namespace {

/// Vectors that one pass of a kernel combines.
constexpr std::size_t most_sources = 16;

constexpr std::size_t place_of_mark = 8;  ///< in the line, behind an address

/// Why there is no value, as the slot has it.
struct told_poison {
  std::int32_t origin = -1;
  std::uint32_t length = 0;
  std::array<char, 200> why{};
};

}  // namespace

void node_road::combine(const leader_call& call, std::span<const std::byte* const> inputs, std::size_t count,
                        std::byte* target) {
  const request& of = *call.of;
  if (call.custom.apply != nullptr) return combine_by_caller(call, inputs, count, target);
  if (op_ != of.op || type_ != of.type) {
    kernel_ = kernels::combine(of.op, of.type);
    op_ = of.op;
    type_ = of.type;
  }
  if (inputs.size() > most_sources) return combine_inputs(array_operator(of), inputs, 0, count, target, {});
  std::array<const void*, most_sources> sources;
  for (std::size_t i = 0; i < most_sources && i < inputs.size(); ++i) sources[i] = inputs[i];
  kernel_(sources.data(), inputs.size(), target, count);
}

void node_road::combine_by_caller(const leader_call& call, std::span<const std::byte* const> inputs, std::size_t count,
                                  std::byte* target) {
  if (poisoned_ != nullptr) return;
  array_operator by(*call.of);
  by.custom = call.custom;
  try {
    combine_inputs(by, inputs, 0, count, target, {});
  } catch (...) {
    thrown_ = std::current_exception();
    poisoned_ = std::make_shared<const fabric::poison>(fabric::poison{leaders_[rounds_.self()], message_of(thrown_)});
  }
}

void node_road::tell(const fabric::poison* missing) {
  static_assert(sizeof(told_poison) <= poison_bytes);
  const std::size_t self = rounds_.self();
  const std::uint64_t mark = missing != nullptr ? 1 : 0;
  std::memcpy(rounds_.line(self) + place_of_mark, &mark, sizeof mark);
  if (missing == nullptr) return;
  told_poison its;
  its.origin = missing->origin;
  its.length = static_cast<std::uint32_t>(std::min(missing->why.size(), its.why.size()));
  std::copy_n(missing->why.begin(), its.length, its.why.begin());
  std::memcpy(slot(self), &its, sizeof its);
}

void node_road::take_poison(std::size_t member) {
  std::uint64_t mark = 0;
  std::memcpy(&mark, rounds_.line(member) + place_of_mark, sizeof mark);
  if (mark == 0 || poisoned_ != nullptr) return;
  told_poison its;
  std::memcpy(&its, slot(member), sizeof its);
  const std::size_t length = std::min<std::size_t>(its.length, its.why.size());
  poisoned_ = std::make_shared<const fabric::poison>(fabric::poison{its.origin, std::string(its.why.data(), length)});
}

leader_result node_road::poisoned_outcome() {
  leader_result result;
  result.failure = thrown_ != nullptr ? std::exchange(thrown_, nullptr) : fabric::as_failure(*poisoned_);
  result.poisoned = std::exchange(poisoned_, nullptr);
  return result;
}

}  // namespace weft::detail
