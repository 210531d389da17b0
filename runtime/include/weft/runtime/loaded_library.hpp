// SPDX-License-Identifier: Apache-2.0
// A shared library that is loaded when it is first needed and never linked to.
#pragma once

#include <string>
#include <system_error>

namespace weft {

class loaded_library {
 public:
  /// Loads `file`, found as dlopen(3) says; it stays for the rest of the process. Where it, or later a function, is not
  /// to be had, throws weft::error (`code`): "FILE cannot be used: REASON; REMEDY". Any thread may call it.
  loaded_library(std::string file, std::error_code code, std::string remedy);

  /// Sets `function` to the library's `name`.
  template <typename Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;
  [[noreturn]] void throw_missing() const;

  std::string file_;
  std::error_code code_;
  std::string remedy_;
  void* library_;
};

}  // namespace weft
