// SPDX-License-Identifier: Apache-2.0
#include "heap_space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>
#include <utility>
#include <weft/runtime/error.hpp>
#include <weft/runtime/limits.hpp>

#include "memory_left.hpp"
#include "shared_memory.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace weft::fabric {
namespace {

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(feature) __has_feature(feature)
#else
#define WEFT_HAS_FEATURE(feature) 0
#endif

/// Of all regions together: an eighth of the addresses that a process has. ThreadSanitizer leaves it few of them.
#if defined(__SANITIZE_THREAD__) || WEFT_HAS_FEATURE(thread_sanitizer)
constexpr std::size_t most_of_all = std::size_t{16} << 30;
#else
constexpr std::size_t most_of_all = std::size_t{16} << 40;
#endif

/// What is mapped first: enough for most, and few addresses for each of many processes.
constexpr std::size_t least_view = std::size_t{64} << 20;

/// What is not worth a heap.
constexpr std::size_t least_region = 8 * heap_space::chunk;

/// Part of what is left that stays left: others take of it too.
constexpr std::uint64_t spared = 16;

std::size_t in_chunks(std::size_t bytes) { return bytes / heap_space::chunk * heap_space::chunk; }

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

/// What a limit of this process leaves of `most`, where `taken` is already.
std::size_t limited(int resource, std::size_t most, std::size_t taken, std::size_t parts) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return most;
  return std::min(most, (limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, taken)) / parts);
}

/// A heap takes twice its length of them at most (heap_space), and most are the program's own.
std::size_t addresses_left(std::size_t parts) { return limited(RLIMIT_AS, most_of_all, addresses_in_use(), parts); }

std::size_t wanted_region(std::size_t regions) {
  const std::size_t memory = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes();
  const std::size_t all = limited(RLIMIT_FSIZE, addresses_left(4), 0, 1);
  return in_chunks(std::min(memory, all / regions));
}

std::string mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// Addresses for `size` bytes, aligned to a chunk, with nothing behind them.
std::byte* reserve_addresses(std::size_t size) {
  const std::size_t more = size + heap_space::chunk;
  void* const found = ::mmap(nullptr, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) throw_system_error(errno, "mmap", "addresses for " + mebibytes(more));
  std::byte* const begin = static_cast<std::byte*>(found);
  const std::size_t skipped = (0 - reinterpret_cast<std::uintptr_t>(begin)) % heap_space::chunk;
  if (skipped != 0) ::munmap(begin, skipped);
  ::munmap(begin + skipped + size, heap_space::chunk - skipped);
  return begin + skipped;
}

/// Maps it there, from `offset` on. A process that keeps all of its future memory in RAM (mlockall) would get pages for
/// all of it: hence first without any access.
void map_at(std::byte* begin, std::size_t size, const file_descriptor& memory, std::size_t offset) {
  const int how = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(begin, size, PROT_NONE, how, memory.get(), static_cast<off_t>(offset)) == MAP_FAILED ||
      ::munlock(begin, size) != 0 || ::mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) {
    const int failed = errno;
    ::munmap(begin, size);
    throw_system_error(failed, "mmap", "shared memory of " + mebibytes(size));
  }
  ::madvise(begin, size, MADV_DONTDUMP);
  ::madvise(begin, size, MADV_HUGEPAGE);  // a hint
}

std::size_t size_of(const file_descriptor& memory) {
  struct stat found {};
  if (::fstat(memory.get(), &found) != 0) throw_system_error(errno, "fstat", "shared memory for heaps");
  return static_cast<std::size_t>(found.st_size);
}

}  // namespace

heap_space::view::view(const file_descriptor& memory, std::size_t place, std::size_t length)
    : begin(reserve_addresses(length)), size(length), dumped(length / grain) {
  map_at(begin, size, memory, place);
}

heap_space::view::~view() { ::munmap(begin, size); }

heap_space::heap_space(file_descriptor memory, std::size_t regions, std::size_t region_bytes)
    : memory_(std::move(memory)),
      region_bytes_(region_bytes),
      views_(regions),
      mapping_(std::make_unique<std::mutex>()) {}

heap_space heap_space::make(std::size_t regions) {
  const std::size_t each = wanted_region(regions);
  if (each < least_region)
    throw_system_error(ENOMEM, "memfd_create",
                       "the limits of this process (RLIMIT_AS, RLIMIT_FSIZE) leave less than " +
                           mebibytes(least_region) + " for each of " + std::to_string(regions) + " processes");
  return heap_space(make_shared_memory(each * regions), regions, each);
}

heap_space::heap_space(file_descriptor memory, std::size_t regions) : heap_space(std::move(memory), regions, 0) {
  const std::size_t size = size_of(memory_);
  region_bytes_ = size / regions;
  if (region_bytes_ < least_region || region_bytes_ % chunk != 0 || region_bytes_ * regions != size ||
      size > most_of_all)
    throw error(errc::protocol, "what came as memory for the heaps of " + std::to_string(regions) + " processes has " +
                                    std::to_string(size) + " bytes");
  check_shared_memory(memory_, size);
  if (size > addresses_left(2))
    throw_system_error(ENOMEM, "mmap", "addresses for shared memory of " + mebibytes(size) + " (RLIMIT_AS)");
}

heap_space::~heap_space() {
  for (const auto& each : views_) delete each.load(std::memory_order_relaxed);  // relaxed: nobody else is there
}

std::byte* heap_space::map_more(std::size_t region, std::uint64_t end) {
  const std::lock_guard lock(*mapping_);
  std::atomic<view*>& its = views_[region];
  view* const before = its.load(std::memory_order_relaxed);  // relaxed: by the lock
  if (before != nullptr && end <= before->size) return before->begin;
  const std::size_t size = std::min(region_bytes_, std::max(least_view, std::bit_ceil(end)));
  auto longer = std::make_unique<view>(memory_, place_of(region, 0), size);
  longer->before.reset(before);
  its.store(longer.get(), std::memory_order_release);  // see reach()
  return longer.release()->begin;
}

std::optional<std::uint64_t> heap_space::find(std::size_t region, const void* address,
                                              std::size_t bytes) const noexcept {
  // acquire: as in reach().
  for (const view* each = views_[region].load(std::memory_order_acquire); each != nullptr; each = each->before.get()) {
    // As numbers: it may be any address.
    const std::uint64_t offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(each->begin);
    if (offset < each->size && bytes <= each->size - offset) return offset;
  }
  return std::nullopt;
}

void heap_space::take_pages(std::size_t region, std::uint64_t begin, std::uint64_t end) {
  const std::size_t size = end - begin;
  // Beyond what is left the kernel ends processes instead of refusing pages, in a control group as well.
  const memory_left left = find_memory_left();
  if (left.bytes - left.bytes / spared < size)
    throw error(errc::operation_failed, mebibytes(size) + " more of shared memory are not to be had: " + left.limit +
                                            " leaves " + mebibytes(left.bytes));
  std::byte* const at = reach(region, end) + begin;
  for (;;) {
    if (::madvise(at, size, MADV_POPULATE_WRITE) == 0) return;
    if (errno == EINVAL) return reserve_shared_memory(memory_, place_of(region, begin), size);  // < 5.14
    if (errno != EINTR && errno != EAGAIN) break;
  }
  const int failed = errno;
  discard(region, begin, end);
  throw_system_error(failed, "madvise", mebibytes(size) + " more of shared memory");
}

void heap_space::show_to_dumps(std::size_t region, std::uint64_t begin, std::uint64_t end) {
  reach(region, end);
  view& newest = *views_[region].load(std::memory_order_acquire);  // acquire: as in reach()
  for_each_run(newest.dumped, begin / grain, end / grain, false, [&](std::size_t first, std::size_t behind) {
    // It may take another mapping, of which a process can have so many: then dumps do without.
    if (::madvise(newest.begin + first * grain, (behind - first) * grain, MADV_DODUMP) == 0)
      mark_pieces(newest.dumped, first, behind, true);
  });
}

bool heap_space::give_pages_back(std::size_t region, std::uint64_t begin, std::uint64_t end) noexcept {
  bool hidden = true;
  // acquire: as in reach().
  for (view* each = views_[region].load(std::memory_order_acquire); each != nullptr; each = each->before.get())
    for_each_run(each->dumped, begin / grain, std::min<std::size_t>(end, each->size) / grain, true,
                 [&](std::size_t first, std::size_t behind) {
                   if (::madvise(each->begin + first * grain, (behind - first) * grain, MADV_DONTDUMP) == 0)
                     mark_pieces(each->dumped, first, behind, false);
                   else
                     hidden = false;
                 });
  if (hidden) discard(region, begin, end);
  return hidden;
}

void heap_space::discard(std::size_t region, std::uint64_t begin, std::uint64_t end) noexcept {
  ::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(place_of(region, begin)),
              static_cast<off_t>(end - begin));
}

}  // namespace weft::fabric
