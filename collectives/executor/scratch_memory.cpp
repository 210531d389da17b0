// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <weft/executor/heap_bytes.hpp>
#include <weft/executor/scratch_memory.hpp>

namespace weft::detail {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t is_long = 128 << 10;  // from where malloc does so, too, until it has seen that freed

std::size_t in_pages(std::size_t bytes) noexcept { return (bytes + page - 1) / page * page; }

}  // namespace

scratch_memory::scratch_memory(std::size_t bytes) : bytes_(in_pages(bytes)) {
  if (bytes_ == 0) return;
  void* begin = nullptr;
  if (bytes_ < is_long) {
    begin = std::aligned_alloc(page, bytes_);
  } else {
    begin = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) begin = nullptr;
  }
  if (begin == nullptr) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(begin);
}

std::size_t scratch_memory::footprint(std::size_t bytes) noexcept {
  const std::size_t all = in_pages(bytes);
  return all == 0 || all >= is_long ? all : heap_bytes(all);
}

scratch_memory::~scratch_memory() {
  if (bytes_ < is_long)
    std::free(begin_);
  else
    ::munmap(begin_, bytes_);
}

}  // namespace weft::detail
