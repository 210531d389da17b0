// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cerrno>
#include <utility>
#include <weft/runtime/error.hpp>
#include <weft/runtime/limits.hpp>
#include <weft/runtime/loaded_library.hpp>

namespace weft {

loaded_library::loaded_library(std::string file, std::error_code code, std::string remedy)
    : file_(std::move(file)), code_(code), remedy_(std::move(remedy)) {
  library_ = ::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw_missing();
}

void* loaded_library::address_of(const char* name) const {
  void* const found = ::dlsym(library_, name);
  if (found == nullptr) throw_missing();
  return found;
}

void loaded_library::throw_missing() const {
  const char* const reason = ::dlerror();
  const std::string why = reason != nullptr ? reason : "?";
  // The loader gives no errno.
  const bool found_no_room = why.find("failed to map segment") != std::string::npos;
  const std::string limit = found_no_room ? limit_behind(ENOMEM, "mmap") : "";
  throw error(code_, file_ + " cannot be used: " + why + (limit.empty() ? "; " + remedy_ : limit));
}

}  // namespace weft
