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

/// What pages are taken and given back in: not much where little is asked for, and few system calls where much is.
constexpr std::size_t grain = std::size_t{128} << 10;
static_assert(chunk % grain == 0);

/// Pages that are kept while nobody uses them, so that what is taken and freed again and again is not cleared every
/// time.
constexpr std::size_t most_idle = std::size_t{64} << 20;

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
      mine_(space_->region(self)),
      free_(std::make_unique<range_pool>(space_->region_bytes())),
      filled_(space_->region_bytes() / grain) {
  space_->keep_from_dumps_all_but(self);
}

arena_heap::~arena_heap() = default;

std::size_t arena_heap::region_bytes() const noexcept { return space_->region_bytes(); }

arena_heap::usage arena_heap::used() const {
  const std::lock_guard lock(taking_);
  return used_;
}

std::byte* arena_heap::take(std::size_t bytes) {
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
  try {
    fill_with_pages(*offset, *offset + wanted.bytes);
  } catch (...) {
    free_->give_back({*offset, wanted.bytes});
    throw;
  }
  used_.taken += wanted.bytes;
  return mine_ + *offset;
}

void arena_heap::fill_with_pages(std::uint64_t begin, std::uint64_t end) {
  const std::size_t last = (end + grain - 1) / grain;
  for (std::size_t first = begin / grain; first < last;) {
    if (filled_[first]) {
      ++first;
      continue;
    }
    std::size_t behind = first + 1;
    while (behind < last && !filled_[behind]) ++behind;
    space_->take_pages(mine_ + first * grain, (behind - first) * grain);
    std::fill(filled_.begin() + static_cast<std::ptrdiff_t>(first),
              filled_.begin() + static_cast<std::ptrdiff_t>(behind), true);
    used_.resident += (behind - first) * grain;
    first = behind;
  }
}

void arena_heap::give_back(std::byte* taken, std::size_t bytes) noexcept {
  const cut was = cut_of(bytes);
  const std::lock_guard lock(taking_);
  used_.taken -= was.bytes;
  try {
    const auto free = free_->give_back({static_cast<std::uint64_t>(taken - mine_), was.bytes});
    if (used_.resident - used_.taken > most_idle) spare(free.offset, free.end());
  } catch (const std::bad_alloc&) {  // to remember it: it stays as if it were taken
  }
}

void arena_heap::spare(std::uint64_t begin, std::uint64_t end) noexcept {
  const std::size_t last = end / grain;
  for (std::size_t first = (begin + grain - 1) / grain; first < last;) {
    if (!filled_[first]) {
      ++first;
      continue;
    }
    std::size_t behind = first;
    for (; behind < last && filled_[behind]; ++behind) filled_[behind] = false;
    space_->give_pages_back(mine_ + first * grain, (behind - first) * grain);
    used_.resident -= (behind - first) * grain;
    first = behind;
  }
}

bool arena_heap::owns(const void* address) const noexcept { return offset_of(address, 0).has_value(); }

std::optional<std::uint64_t> arena_heap::offset_of(const void* address, std::size_t bytes) const noexcept {
  // As numbers: it may be any address.
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(mine_);
  if (offset >= region_bytes() || bytes > region_bytes() - offset) return std::nullopt;
  return offset;
}

std::byte* arena_heap::at(std::size_t region, std::uint64_t offset, std::size_t bytes) const noexcept {
  if (offset >= region_bytes() || bytes > region_bytes() - offset) return nullptr;
  return space_->region(region) + offset;
}

}  // namespace weft::fabric
