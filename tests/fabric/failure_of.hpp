// SPDX-License-Identifier: Apache-2.0
// What a call says when it fails.
#pragma once

#include <functional>
#include <string>
#include <weft/runtime/error.hpp>

namespace weft_test {

/// The text of the weft::error that `call` throws; empty where it throws nothing.
inline std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const weft::error& failed) {
    return failed.what();
  }
  return "";
}

}  // namespace weft_test
