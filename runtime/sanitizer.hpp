// What AddressSanitizer and ThreadSanitizer must be told about stacks and switches; nothing in an ordinary build.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define WEFT_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_THREAD_SANITIZER 1
#endif

#ifdef WEFT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WEFT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::sanitizer {

/// Nothing lives in this memory any more, or nothing yet.
inline void unpoison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifdef WEFT_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory, size);
#endif
}

/// Just before a switch to the stack at `bottom`. `fake_stack` is where to keep the own one, null when leaving for
/// good.
inline void before_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                          [[maybe_unused]] std::size_t size) noexcept {
#ifdef WEFT_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
}

/// Just after a switch: takes the fake stack that was kept (null for a new stack) and tells where the stack was that
/// was left.
inline void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom,
                         [[maybe_unused]] std::size_t* size) noexcept {
#ifdef WEFT_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
#endif
}

inline void* current_fiber() noexcept {
#ifdef WEFT_THREAD_SANITIZER
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}

inline void* create_fiber() noexcept {
#ifdef WEFT_THREAD_SANITIZER
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}

inline void destroy_fiber([[maybe_unused]] void* fiber) noexcept {
#ifdef WEFT_THREAD_SANITIZER
  __tsan_destroy_fiber(fiber);
#endif
}

/// The very last before a switch: from here on this thread is `fiber`.
inline void become_fiber([[maybe_unused]] void* fiber) noexcept {
#ifdef WEFT_THREAD_SANITIZER
  __tsan_switch_to_fiber(fiber, 0);
#endif
}

}  // namespace weft::sanitizer
