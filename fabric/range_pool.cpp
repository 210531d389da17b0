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

void range_pool::erase(by_offset::iterator free) {
  by_size_.erase({free->second, free->first});
  free_.erase(free);
}

std::optional<std::uint64_t> range_pool::take(std::uint64_t size, std::uint64_t alignment) {
  for (auto fitting = by_size_.lower_bound({size, 0}); fitting != by_size_.end(); ++fitting) {
    const range found{fitting->second, fitting->first};
    const std::uint64_t begin = (found.offset + alignment - 1) & ~(alignment - 1);
    if (begin - found.offset > found.size - size) continue;
    erase(free_.find(found.offset));
    if (begin > found.offset) insert({found.offset, begin - found.offset});
    if (begin + size < found.end()) insert({begin + size, found.end() - begin - size});
    return begin;
  }
  return std::nullopt;
}

range_pool::range range_pool::give_back(range taken) {
  const auto next = free_.lower_bound(taken.offset);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == taken.offset) {
      taken = {before->first, before->second + taken.size};
      erase(before);
    }
  }
  if (next != free_.end() && next->first == taken.end()) {
    taken.size += next->second;
    erase(next);
  }
  insert(taken);
  return taken;
}

}  // namespace weft::fabric
