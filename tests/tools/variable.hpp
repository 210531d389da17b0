// SPDX-License-Identifier: Apache-2.0
// An environment variable for as long as a test needs it.
#pragma once

#include <cstdlib>

namespace weft_test {

struct variable {
  variable(const char* n, const char* value) : name(n) { ::setenv(n, value, 1); }
  ~variable() { ::unsetenv(name); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  const char* name;
};

}  // namespace weft_test
