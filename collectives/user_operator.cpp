#include "user_operator.hpp"

#include <algorithm>
#include <cstring>

namespace weft::detail {
namespace {

/// `result` holds the last operand; the others are combined into it.
void combine_others(const user_function& by, std::span<const void* const> sources, void* result, std::size_t offset,
                    std::size_t count) {
  for (std::size_t i = sources.size() - 1; i-- > 0;)
    by.apply(by.function, static_cast<const std::byte*>(sources[i]) + offset, result, count);
}

}  // namespace

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
    if (last != target) std::memcpy(target, last, count * element_bytes);
    return combine_others(by, sources, target, 0, count);
  }
  // The target is read before it may be written.
  const std::size_t most = between.size() / element_bytes;
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t some = std::min(most, count - first), offset = first * element_bytes;
    std::memcpy(between.data(), static_cast<const std::byte*>(last) + offset, some * element_bytes);
    combine_others(by, sources, between.data(), offset, some);
    std::memcpy(static_cast<std::byte*>(target) + offset, between.data(), some * element_bytes);
  }
}

}  // namespace weft::detail
