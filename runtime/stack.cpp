// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <weft/runtime/error.hpp>
#include <weft/runtime/stack.hpp>

#include "sanitizer.hpp"

#ifdef WEFT_VALGRIND
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(first, last) 0
#define VALGRIND_STACK_DEREGISTER(number) static_cast<void>(number)
#endif

namespace weft {

namespace {
std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

[[noreturn]] void throw_no_stack(const char* call, std::size_t size) {
  throw_system_error(errno, call, "a fiber's stack of " + std::to_string(size) + " bytes");
}
}  // namespace

stack::stack(std::size_t size, std::shared_ptr<memory_budget> memory)
    : size_((size + page_size() - 1) / page_size() * page_size()), charge_(std::move(memory), size_, "a stack") {
  // Without access at first, so that the guard needs no second call: only the rest is opened.
  void* const mapped =
      mmap(nullptr, size_ + page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) throw_no_stack("mmap", size_);
  bottom_ = static_cast<std::byte*>(mapped) + page_size();
  if (mprotect(bottom_, size_, PROT_READ | PROT_WRITE) != 0) {
    const int reason = errno;
    munmap(mapped, size_ + page_size());
    errno = reason;
    throw_no_stack("mprotect", size_);
  }
  valgrind_ = VALGRIND_STACK_REGISTER(bottom_, top() - 1);
}

stack::stack(stack&& other) noexcept
    : bottom_(std::exchange(other.bottom_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      valgrind_(std::exchange(other.valgrind_, 0)),
      charge_(std::move(other.charge_)) {}

stack& stack::operator=(stack&& other) noexcept {
  std::swap(bottom_, other.bottom_);
  std::swap(size_, other.size_);
  std::swap(valgrind_, other.valgrind_);
  charge_ = std::move(other.charge_);
  return *this;
}

stack::~stack() {
  if (bottom_ == nullptr) return;
  VALGRIND_STACK_DEREGISTER(valgrind_);
  sanitizer::unpoison(bottom_, size_);  // the next mapping here must not inherit the marks of dead frames
  munmap(bottom_ - page_size(), size_ + page_size());
}

bool stack::guards(const void* address) const noexcept {
  const auto below = reinterpret_cast<std::uintptr_t>(bottom_) - reinterpret_cast<std::uintptr_t>(address);
  return bottom_ != nullptr && below > 0 && below <= page_size();
}

stack_pool::stack_pool(std::size_t size, std::size_t kept, std::shared_ptr<memory_budget> memory)
    : size_(size), kept_(kept), memory_(std::move(memory)) {
  free_.reserve(kept);
}

stack stack_pool::take() {
  if (free_.empty()) return stack(size_, memory_);
  stack last = std::move(free_.back());
  free_.pop_back();
  return last;
}

void stack_pool::give(stack&& unused) noexcept {
  stack mine = std::move(unused);
  if (free_.size() == kept_ || (memory_ != nullptr && memory_->is_scarce())) return;
  sanitizer::unpoison(mine.bottom(), mine.size());
  free_.push_back(std::move(mine));
}

}  // namespace weft
