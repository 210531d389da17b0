// SPDX-License-Identifier: Apache-2.0
// Sleeping on a word in memory that processes share.
#pragma once

#include <chrono>
#include <cstdint>
#include <weft/runtime/progress.hpp>

namespace weft::fabric {

/// Sleeps while the word holds `expected`, for `longest` at most; may return early. Of a fiber the others of its thread
/// go on. `rung_by`: as rest::pause() gives it.
void sleep_on_shared(const void* word, std::uint32_t expected, std::chrono::nanoseconds longest, progress* rung_by);

/// Wakes all that sleep on the word, of every process.
void wake_all_on_shared(const void* word) noexcept;

}  // namespace weft::fabric
