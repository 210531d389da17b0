// SPDX-License-Identifier: Apache-2.0
#include "range_pool.hpp"

namespace weft::fabric {

range_pool::range_pool(std::uint64_t size) {
  if (size != 0) insert({0, size});
}

void range_pool::insert(range free) {
  const auto place = free_.emplace(free.offset, free.size).first;
  try {
    by_size_.emplace(free.size, free.offset);
  } catch (...) {
    free_.erase(place);
    throw;
  }
}

void range_pool::erase(range free) noexcept {
  by_size_.erase({free.size, free.offset});
  free_.erase(free.offset);
}

void range_pool::replace(range was, range now) noexcept {
  auto place = free_.extract(was.offset);
  place.key() = now.offset;
  place.mapped() = now.size;
  free_.insert(std::move(place));
  auto size = by_size_.extract({was.size, was.offset});
  size.value() = {now.size, now.offset};
  by_size_.insert(std::move(size));
}

std::optional<std::uint64_t> range_pool::take(std::uint64_t size, std::uint64_t alignment) {
  for (auto fitting = by_size_.lower_bound({size, 0}); fitting != by_size_.end(); ++fitting) {
    const range found{fitting->second, fitting->first};
    const std::uint64_t begin = (found.offset + alignment - 1) & ~(alignment - 1);
    if (begin - found.offset > found.size - size) continue;
    const range before{found.offset, begin - found.offset}, behind{begin + size, found.end() - begin - size};
    // First what may throw.
    if (before.size != 0 && behind.size != 0) insert(behind);
    if (before.size != 0)
      replace(found, before);
    else if (behind.size != 0)
      replace(found, behind);
    else
      erase(found);
    return begin;
  }
  return std::nullopt;
}

range_pool::range range_pool::give_back(range taken) {
  const auto next = free_.lower_bound(taken.offset);
  const range behind = next != free_.end() && next->first == taken.end() ? range{next->first, next->second} : range{};
  range before;
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == taken.offset) before = {previous->first, previous->second};
  }
  const range all{taken.offset - before.size, before.size + taken.size + behind.size};
  if (before.size == 0 && behind.size == 0) {
    insert(all);
  } else if (before.size == 0) {
    replace(behind, all);
  } else {
    if (behind.size != 0) erase(behind);
    replace(before, all);
  }
  return all;
}

}  // namespace weft::fabric
