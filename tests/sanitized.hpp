// SPDX-License-Identifier: Apache-2.0
// Whether this is a build in which everything takes 3 to 20 times as long: a sanitizer's, or one for a processor that
// is emulated.
#pragma once

namespace weft_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEFT_TEST_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_TEST_SANITIZED true
#endif
#endif

#ifdef WEFT_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Set by tests/meson.build.
#ifdef WEFT_TEST_EMULATED
inline constexpr bool emulated = true;
#else
inline constexpr bool emulated = false;
#endif

/// Tests that repeat the same with other numbers try fewer of them where this is so, with the same checks of each; a
/// release tries all.
inline constexpr bool slowed = sanitized || emulated;

}  // namespace weft_test
