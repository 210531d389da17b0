// SPDX-License-Identifier: Apache-2.0
// Runs a test on every instruction set that this machine has and the kernels were built for.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "instruction_sets.hpp"
#include "weft/kernels/types.hpp"

namespace weft_test {

/// The instruction sets that kernels are built for and that run here, the best first.
inline std::vector<std::int64_t> targets_here() {
  std::vector<std::int64_t> found;
  for (std::int64_t left = weft::kernels::supported_targets() & HWY_TARGETS; left != 0; left &= left - 1)
    found.push_back(left & -left);
  return found;
}

/// Calls `body` once for each instruction set, with `combine` choosing that one; the best is chosen again afterwards.
template <class Body>
void on_every_target(Body body) {
  struct restore {
    ~restore() { weft::kernels::chosen_targets().Update(weft::kernels::supported_targets()); }
  } restore_at_end;
  for (const std::int64_t target : targets_here()) {
    weft::kernels::chosen_targets().Update(target);
    const std::string instruction_set = hwy::TargetName(target);
    INFO("instruction set " << instruction_set);
    body(instruction_set);
  }
}

/// Calls `body` with a value of each element type.
template <class Body>
void with_every_type(Body body) {
  const auto with = [&]<class... T>(std::tuple<T...>) { (body(T()), ...); };
  with(std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                  std::uint64_t, weft::float16, weft::bfloat16, float, double, std::complex<float>,
                  std::complex<double>, weft::located<float>, weft::located<double>, weft::located<std::int32_t>,
                  weft::located<std::int64_t>, bool, std::byte>());
}

}  // namespace weft_test
