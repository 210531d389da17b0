// Runs a test on every instruction set that this machine has and the kernels were built for.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <string>

#include "catch.hpp"

namespace weft_test {

inline void choose_targets(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Calls `body` once for each instruction set, with `combine` choosing that one; the best is chosen again afterwards.
template <class Body>
void on_every_target(Body body) {
  struct restore {
    ~restore() { choose_targets(0); }
  } restore_at_end;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    choose_targets(target);
    const std::string instruction_set = hwy::TargetName(target);
    INFO("instruction set " << instruction_set);
    body(instruction_set);
  }
}

/// Calls `body` with a value of each element type.
template <class Body>
void with_every_type(Body body) {
  body(float());
  body(double());
  body(std::int32_t());
  body(std::int64_t());
}

}  // namespace weft_test
