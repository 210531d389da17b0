// SPDX-License-Identifier: Apache-2.0
// Frames of a copied stack, by libdw (of elfutils), which is loaded when it is first needed.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "stopped_process.hpp"

namespace weft::tools {

/// Of one process.
class unwinder {
 public:
  /// Throws weft::error where there is no libdw, with the remedy, or where it cannot read the process.
  static std::unique_ptr<unwinder> of(pid_t process);
  virtual ~unwinder() = default;

  /// The frames of a stack, the innermost first, with those that were inlined.
  virtual std::vector<roll_frame> unwind(const saved_stack& from) = 0;
};

}  // namespace weft::tools
