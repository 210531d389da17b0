// SPDX-License-Identifier: Apache-2.0
// What `weft plan` prints.
#pragma once

#include <string>
#include <vector>
#include <weft/schedules/algorithms.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"

namespace weft_test {

/// Of any collective, with status 0.
inline std::string printed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  const outcome done = run(arguments);
  CAPTURE(arguments, done.error);
  CHECK(done.status == 0);
  return done.output;
}

inline std::string printed(const weft::schedules::algorithm& of, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{std::string(name(of.kind)), "--algorithm", std::string(of.name)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return printed(arguments);
}

}  // namespace weft_test
