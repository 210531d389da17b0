// SPDX-License-Identifier: Apache-2.0
// RLIMIT_FSIZE, for a while.
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace weft_test {

/// While it lives, files may not become longer than `most` bytes.
class file_limit {
 public:
  explicit file_limit(std::size_t most) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit lower = before_;
    lower.rlim_cur = most;
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~file_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace weft_test
