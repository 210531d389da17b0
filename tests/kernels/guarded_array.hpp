// SPDX-License-Identifier: Apache-2.0
// Memory with a page on either side that may not be touched: an access beyond an end is a crash and no guess.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace weft_test {

/// At least `capacity` bytes, page after page, between two guard pages.
class guarded_array {
 public:
  explicit guarded_array(std::size_t capacity) : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    size_ = (capacity + page_ - 1) / page_ * page_;
    void* mapping = ::mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    mapping_ = static_cast<std::byte*>(mapping);
    if (::mprotect(begin(), size_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  ~guarded_array() { ::munmap(mapping_, size_ + 2 * page_); }
  guarded_array(const guarded_array&) = delete;
  guarded_array& operator=(const guarded_array&) = delete;

  std::byte* begin() const { return mapping_ + page_; }
  std::byte* end() const { return begin() + size_; }

 private:
  std::size_t page_;
  std::size_t size_;
  std::byte* mapping_;
};

}  // namespace weft_test
