#include "heap_space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>
#include <weft/runtime/error.hpp>

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

std::size_t addresses_in_use() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * page_bytes();
}

std::size_t wanted_region(std::size_t regions) {
  const std::size_t memory = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes();
  std::size_t all = limited(RLIMIT_FSIZE, most_of_all, 0, 1);
  all = limited(RLIMIT_AS, all, addresses_in_use(), 4);  // most of them are the program's own
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

/// Maps it there. A process that keeps all of its future memory in RAM (mlockall) would get pages for all of it: hence
/// first without any access.
void map_at(std::byte* begin, std::size_t size, const file_descriptor& memory) {
  const int how = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(begin, size, PROT_NONE, how, memory.get(), 0) == MAP_FAILED || ::munlock(begin, size) != 0 ||
      ::mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) {
    const int failed = errno;
    ::munmap(begin, size);
    throw_system_error(failed, "mmap", "shared memory of " + mebibytes(size));
  }
  ::madvise(begin, size, MADV_HUGEPAGE);  // a hint
}

std::size_t size_of(const file_descriptor& memory) {
  struct stat found {};
  if (::fstat(memory.get(), &found) != 0) throw_system_error(errno, "fstat", "shared memory for heaps");
  return static_cast<std::size_t>(found.st_size);
}

}  // namespace

heap_space::heap_space(file_descriptor memory, std::size_t region_bytes, std::size_t size)
    : memory_(std::move(memory)), region_bytes_(region_bytes), size_(size), begin_(reserve_addresses(size)) {
  map_at(begin_, size, memory_);
}

heap_space heap_space::make(std::size_t regions) {
  for (std::size_t each = wanted_region(regions);; each = in_chunks(each / 2)) {
    if (each < least_region)
      throw_system_error(ENOMEM, "mmap",
                         "the limits of this process (RLIMIT_AS, RLIMIT_FSIZE) leave less than " +
                             mebibytes(least_region) + " for each of " + std::to_string(regions) + " processes");
    try {
      return heap_space(make_shared_memory(each * regions), each, each * regions);
    } catch (const error&) {
      if (each / 2 < least_region) throw;
    }
  }
}

heap_space::heap_space(file_descriptor memory, std::size_t regions)
    : memory_(std::move(memory)), size_(size_of(memory_)) {
  region_bytes_ = size_ / regions;
  if (region_bytes_ < least_region || region_bytes_ % chunk != 0 || region_bytes_ * regions != size_ ||
      size_ > most_of_all)
    throw error(errc::protocol, "what came as memory for the heaps of " + std::to_string(regions) + " processes has " +
                                    std::to_string(size_) + " bytes");
  check_shared_memory(memory_, size_);
  begin_ = reserve_addresses(size_);
  map_at(begin_, size_, memory_);
}

heap_space::heap_space(heap_space&& other) noexcept
    : memory_(std::move(other.memory_)),
      region_bytes_(other.region_bytes_),
      size_(other.size_),
      begin_(std::exchange(other.begin_, nullptr)) {}

heap_space::~heap_space() {
  if (begin_ != nullptr) ::munmap(begin_, size_);
}

void heap_space::keep_from_dumps_all_but(std::size_t region) const noexcept {
  std::byte* const mine = this->region(region);
  ::madvise(begin_, static_cast<std::size_t>(mine - begin_), MADV_DONTDUMP);
  ::madvise(mine + region_bytes_, static_cast<std::size_t>(begin_ + size_ - mine) - region_bytes_, MADV_DONTDUMP);
}

void heap_space::take_pages(std::byte* at, std::size_t size) const {
  // Beyond what is left the kernel ends processes instead of refusing pages, in a control group as well.
  const memory_left left = find_memory_left();
  if (left.bytes - left.bytes / spared < size)
    throw error(errc::operation_failed, mebibytes(size) + " more of shared memory are not to be had: " + left.limit +
                                            " leaves " + mebibytes(left.bytes));
  for (;;) {
    if (::madvise(at, size, MADV_POPULATE_WRITE) == 0) return;
    if (errno == EINVAL) return reserve_shared_memory(memory_, static_cast<std::size_t>(at - begin_), size);  // < 5.14
    if (errno != EINTR && errno != EAGAIN) break;
  }
  const int failed = errno;
  give_pages_back(at, size);
  throw_system_error(failed, "madvise", mebibytes(size) + " more of shared memory");
}

void heap_space::give_pages_back(std::byte* at, std::size_t size) const noexcept {
  ::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at - begin_, static_cast<off_t>(size));
}

}  // namespace weft::fabric
