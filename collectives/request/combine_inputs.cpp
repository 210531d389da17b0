// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <weft/request.hpp>
#include <weft/request/aligned_bytes.hpp>
#include <weft/request/combine_inputs.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::detail {
namespace {

/// `result` holds the last operand; the others are combined into it.
void combine_others(const user_function& by, std::span<const void* const> sources, void* result, std::size_t offset,
                    std::size_t count) {
  for (std::size_t i = sources.size() - 1; i-- > 0;)
    by.apply(by.function, static_cast<const std::byte*>(sources[i]) + offset, result, count);
}

class block_combiner {
 public:
  block_combiner(const array_operator& by, std::size_t most) : by_(by), bytes_(most * by.element_bytes) {}

  /// Elements [first, first + count) of all inputs into target.
  void combine(std::span<const std::byte* const> inputs, std::size_t first, std::size_t count, std::byte* target) {
    const std::size_t offset = first * by_.element_bytes;
    std::array<const void*, most_sources> sources;
    std::size_t held = 0;  // 1 where what is combined so far is the first source
    for (std::size_t done = 0; done < inputs.size();) {
      const std::size_t more = std::min(most_sources - held, inputs.size() - done);
      for (std::size_t i = 0; i < more; ++i) sources[held + i] = inputs[done + i] + offset;
      done += more;
      // Only the last pass writes the target, which may be any of the inputs.
      std::byte* const into = done == inputs.size() ? target : between();
      pass(std::span(sources).first(held + more), into, count);
      sources[0] = into;
      held = 1;
    }
  }

  void pass(std::span<const void*> sources, std::byte* into, std::size_t count) {
    if (by_.custom.apply == nullptr) return by_.kernel(sources.data(), sources.size(), into, count);
    detail::combine(by_.custom, sources, into, count, by_.element_bytes, aside_.room_for(by_.element_bytes));
  }

 private:
  /// Memory that is taken from the heap for the longest elements alone: calls that repeat allocate nothing.
  template <std::size_t own_bytes>
  class scratch {
   public:
    /// All that it has: at least so much.
    std::span<std::byte> room_for(std::size_t bytes) {
      if (bytes <= own_bytes) return own_;
      if (more_ == nullptr) more_ = make_aligned_bytes(bytes);
      return {more_.get(), bytes};
    }

   private:
    alignas(64) std::array<std::byte, own_bytes> own_;
    aligned_bytes more_;
  };

  std::byte* between() { return between_.room_for(bytes_).data(); }

  const array_operator& by_;
  const std::size_t bytes_;
  scratch<near_bytes> between_;
  scratch<near_bytes / 2> aside_;
};

std::size_t elements_at_a_time(const array_operator& by) {
  return std::max(near_bytes / by.element_bytes, std::size_t{1});
}

/// Calls `work` with the begin and the length of one block after another.
template <class Work>
void for_each_block(const array_operator& by, std::size_t first, std::size_t count, Work&& work) {
  const std::size_t each = elements_at_a_time(by);
  for (const std::size_t end = first + count; first < end;) {
    const std::size_t some = std::min(each, end - first);
    work(first, some);
    first += some;
  }
}

}  // namespace

array_operator::array_operator(const request& call)
    : array_operator(call, call.custom.apply == nullptr ? kernels::combine(call.op, call.type) : nullptr) {}

array_operator::array_operator(const request& call, kernels::combine_function known)
    : kernel(known), custom(call.custom), element_bytes(call.element_bytes) {}

void combine(const user_function& by, std::span<const void*> sources, void* target, std::size_t count,
             std::size_t element_bytes, std::span<std::byte> between) {
  const auto others = sources.first(sources.size() - 1);
  auto own = std::find(others.begin(), others.end(), target);
  if (own != others.end() && by.order == commutes) {
    std::swap(*own, sources.back());
    own = std::find(others.begin(), others.end(), target);
  }
  const void* const last = sources.back();
  if (own == others.end()) {
    copy_bytes(target, last, count * element_bytes);
    return combine_others(by, sources, target, 0, count);
  }
  // The target is read before it may be written.
  const std::size_t most = between.size() / element_bytes;
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t some = std::min(most, count - first), offset = first * element_bytes;
    copy_bytes(between.data(), static_cast<const std::byte*>(last) + offset, some * element_bytes);
    combine_others(by, sources, between.data(), offset, some);
    copy_bytes(static_cast<std::byte*>(target) + offset, between.data(), some * element_bytes);
  }
}

void combine_inputs(const array_operator& by, std::span<const std::byte* const> inputs, std::size_t first,
                    std::size_t count, std::byte* target, std::span<std::byte* const> others) {
  const trace::kernel_part recorded(by.custom.apply == nullptr ? by.kernel : nullptr, count * by.element_bytes);
  const auto copy_to_others = [&](std::size_t begin, std::size_t some) {
    for (std::byte* const other : others) copy_bytes(other + begin * by.element_bytes, target, some * by.element_bytes);
  };
  if (inputs.size() <= most_sources && count * by.element_bytes <= near_bytes && by.custom.apply == nullptr) {
    std::array<const void*, most_sources> sources;  // in one pass, as below
    const void* const* from = reinterpret_cast<const void* const*>(inputs.data());
    if (first != 0) {
      for (std::size_t i = 0; i < inputs.size(); ++i) sources[i] = inputs[i] + first * by.element_bytes;
      from = sources.data();
    }
    by.kernel(from, inputs.size(), target, count);
    return copy_to_others(first, count);
  }
  block_combiner blocks(by, std::min(elements_at_a_time(by), count));
  for_each_block(by, first, count, [&](std::size_t begin, std::size_t some) {
    blocks.combine(inputs, begin, some, target);
    copy_to_others(begin, some);
    target += some * by.element_bytes;
  });
}

}  // namespace weft::detail
