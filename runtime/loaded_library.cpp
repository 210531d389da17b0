#include <dlfcn.h>

#include <utility>
#include <weft/runtime/error.hpp>
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
  throw error(code_, file_ + " cannot be used: " + (reason != nullptr ? reason : "?") + "; " + remedy_);
}

}  // namespace weft
