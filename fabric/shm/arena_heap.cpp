// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <weft/fabric/arena_heap.hpp>
#include <weft/runtime/error.hpp>

#include "heap_space.hpp"
#include "range_pool.hpp"

namespace weft::fabric {
namespace {

constexpr std::size_t chunk = heap_space::chunk;

constexpr std::size_t grain = heap_space::grain;
static_assert(chunk % grain == 0);

/// Pages that are kept while nobody uses them, so that what is taken and freed again and again is not cleared every
/// time.
constexpr std::size_t usual_most_idle = std::size_t{64} << 20;

/// How `bytes` bytes are cut out of a region.
struct cut {
  std::size_t bytes;
  std::size_t alignment;
};

cut cut_of(std::size_t bytes) {
  static const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t unit = bytes < page ? arena_heap::alignment : page;
  return {std::max(bytes + unit - 1, unit) / unit * unit, bytes < chunk ? unit : chunk};
}

}  // namespace

arena_heap::arena_heap(heap_space space, std::size_t self)
    : space_(std::make_unique<heap_space>(std::move(space))),
      self_(self),
      free_(std::make_unique<range_pool>(space_->region_bytes())),
      filled_(space_->region_bytes() / grain),
      most_idle_(usual_most_idle) {}

arena_heap::~arena_heap() = default;

void arena_heap::count_in(std::shared_ptr<memory_budget> memory) {
  const std::lock_guard lock(taking_);
  most_idle_ = std::min(usual_most_idle, memory->limit() / 16);
  charge_ = memory_charge(std::move(memory));
}

std::size_t arena_heap::region_bytes() const noexcept { return space_->region_bytes(); }

arena_heap::usage arena_heap::used() const {
  const std::lock_guard lock(taking_);
  return used_;
}

std::byte* arena_heap::take(std::size_t bytes, memory_use use) {
  if (bytes > region_bytes())
    throw error(errc::invalid_argument, std::to_string(bytes) + " bytes of shared memory, where a process can have " +
                                            std::to_string(region_bytes()));
  const cut wanted = cut_of(bytes);
  const std::lock_guard lock(taking_);
  const auto offset = free_->take(wanted.bytes, wanted.alignment);
  if (!offset)
    throw error(errc::operation_failed,
                std::to_string(bytes) + " bytes in a row are not free of the " + std::to_string(region_bytes()) +
                    " bytes of shared memory of this process, of which " + std::to_string(used_.taken) + " are taken");
  const std::uint64_t end = *offset + wanted.bytes;
  std::byte* mine = nullptr;
  try {
    fill_with_pages(*offset / grain, (end + grain - 1) / grain, use);
    mine = space_->reach(self_, end);
  } catch (...) {
    free_->give_back({*offset, wanted.bytes});
    throw;
  }
  used_.taken += wanted.bytes;
  return mine + *offset;
}

void arena_heap::fill_with_pages(std::size_t begin, std::size_t end, memory_use use) {
  for_each_run(filled_, begin, end, false, [&](std::size_t first, std::size_t behind) {
    const std::size_t bytes = (behind - first) * grain;
    charge_.grow(bytes, "memory that the node shares", use);
    try {
      space_->take_pages(self_, first * grain, behind * grain);
    } catch (...) {
      charge_.shrink(bytes);
      throw;
    }
    mark_pieces(filled_, first, behind, true);
    used_.resident += bytes;
  });
  space_->show_to_dumps(self_, begin * grain, end * grain);
}

void arena_heap::give_back(std::byte* taken, std::size_t bytes) noexcept {
  const cut was = cut_of(bytes);
  const std::lock_guard lock(taking_);
  used_.taken -= was.bytes;
  try {
    const auto free = free_->give_back({*offset_of(taken, 0), was.bytes});
    if (used_.resident - used_.taken > most_idle_) spare((free.offset + grain - 1) / grain, free.end() / grain);
  } catch (const std::bad_alloc&) {  // to remember it: it stays as if it were taken
  }
}

void arena_heap::spare(std::size_t begin, std::size_t end) noexcept {
  for_each_run(filled_, begin, end, true, [&](std::size_t first, std::size_t behind) {
    if (!space_->give_pages_back(self_, first * grain, behind * grain)) return;
    mark_pieces(filled_, first, behind, false);
    used_.resident -= (behind - first) * grain;
    charge_.shrink((behind - first) * grain);
  });
}

bool arena_heap::owns(const void* address) const noexcept { return offset_of(address, 0).has_value(); }

std::optional<std::uint64_t> arena_heap::offset_of(const void* address, std::size_t bytes) const noexcept {
  return space_->find(self_, address, bytes);
}

std::byte* arena_heap::at(std::size_t region, std::uint64_t offset, std::size_t bytes) const {
  if (offset >= region_bytes() || bytes > region_bytes() - offset) return nullptr;
  return space_->reach(region, offset + bytes) + offset;
}

}  // namespace weft::fabric
