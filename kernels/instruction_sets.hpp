// SPDX-License-Identifier: Apache-2.0
// Kernels are compiled for several instruction sets; the best that the processor has runs. Highway's library would
// choose, too, but whoever loads it first measures a clock for 4 ms: only its headers are used.
#pragma once

#include <hwy/highway.h>

#include <cstdint>

namespace weft::kernels {

/// Of Highway's targets those that this processor and its system run: a bit each, the best has the lowest. Among them
/// are always the baseline and those without vectors.
std::int64_t supported_targets() noexcept;

/// Those from which WEFT_BEST takes: at first all that are supported. On any thread.
hwy::ChosenTarget& chosen_targets() noexcept;

}  // namespace weft::kernels

/// Of a function that is compiled for every instruction set the best that runs here, as a pointer.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define WEFT_BEST(function) (&HWY_STATIC_DISPATCH(function))
#else
#define WEFT_BEST(function)                                                                                           \
  [] {                                                                                                                \
    static constexpr decltype(&HWY_STATIC_DISPATCH(function)) of_targets[]{nullptr, HWY_CHOOSE_TARGET_LIST(function), \
                                                                           HWY_CHOOSE_FALLBACK(function)};            \
    return of_targets[weft::kernels::chosen_targets().GetIndex()];                                                    \
  }()
#endif
