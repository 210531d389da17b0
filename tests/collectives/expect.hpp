// SPDX-License-Identifier: Apache-2.0
// What ranks expect, said by exceptions. (Catch2's own assertions take one thread.)
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <weft/runtime/error.hpp>

namespace weft_test {

/// What a rank's program throws when something is not as it must be.
struct expectation_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
void expect(bool right, const Parts&... what) {
  if (right) return;
  std::ostringstream text;
  (text << ... << what);
  throw expectation_failed("expected: " + text.str());
}

/// The weft::error that `call` throws; it must have `code`.
template <class Call>
std::string expect_error(weft::errc code, Call&& call) {
  try {
    call();
  } catch (const weft::error& e) {
    expect(e.code() == code, weft::make_error_code(code).message(), ", not ", e.code().message(), ": ", e.what());
    return e.what();
  }
  throw expectation_failed("expected an error (" + weft::make_error_code(code).message() + "), got none");
}

inline void expect_text(const std::string& text, const std::string& part) {
  expect(text.find(part) != std::string::npos, "\"", part, "\" in \"", text, "\"");
}

}  // namespace weft_test
