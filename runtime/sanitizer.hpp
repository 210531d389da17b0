// SPDX-License-Identifier: Apache-2.0
// What AddressSanitizer, MemorySanitizer and ThreadSanitizer must be told about stacks and switches. They are looked
// for where the program is linked: it may have been compiled with one while weft was not. Without one nothing is done.
#pragma once

#include <cstddef>

extern "C" {
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* size);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}

namespace weft::sanitizer {

/// Whether there is one that is to hear of switches.
inline bool hear_switches() noexcept {
  return __sanitizer_start_switch_fiber != nullptr || __tsan_switch_to_fiber != nullptr;
}

/// Nothing lives in this memory any more, or nothing yet.
inline void unpoison(void* memory, std::size_t size) noexcept {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(memory, size);
}

/// Just before a switch to the stack at `bottom`. `fake_stack` is where to keep the own one, null when leaving for
/// good.
inline void before_switch(void** fake_stack, const void* bottom, std::size_t size) noexcept {
  if (__sanitizer_start_switch_fiber != nullptr) __sanitizer_start_switch_fiber(fake_stack, bottom, size);
}

/// Just after a switch: takes the fake stack that was kept (null for a new stack) and tells where the stack was that
/// was left.
inline void after_switch(void* fake_stack, const void** bottom, std::size_t* size) noexcept {
  if (__sanitizer_finish_switch_fiber != nullptr) __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
}

inline void* current_fiber() noexcept {
  return __tsan_get_current_fiber == nullptr ? nullptr : __tsan_get_current_fiber();
}

inline void* create_fiber() noexcept { return __tsan_create_fiber == nullptr ? nullptr : __tsan_create_fiber(0); }

inline void destroy_fiber(void* fiber) noexcept {
  if (__tsan_destroy_fiber != nullptr) __tsan_destroy_fiber(fiber);
}

/// The very last before a switch: from here on this thread is `fiber`.
inline void become_fiber(void* fiber) noexcept {
  if (__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(fiber, 0);
}

}  // namespace weft::sanitizer
