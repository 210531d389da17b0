#include "pmix_library.hpp"

#include <dlfcn.h>

#include <string>
#include <weft/runtime/error.hpp>

namespace weft {
namespace {

constexpr const char* file = "libpmix.so.2";  // of PMIx 4 and 5

[[noreturn]] void throw_missing() {
  const char* const reason = ::dlerror();
  throw error(errc::no_rendezvous, std::string(file) + " cannot be used: " + (reason != nullptr ? reason : "?") +
                                       "; install it (Debian's package libpmix2)");
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw_missing();
}

pmix_library load() {
  void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw_missing();
  pmix_library found{};
  find(library, "PMIx_Init", found.init);
  find(library, "PMIx_Finalize", found.finalize);
  find(library, "PMIx_Abort", found.abort);
  find(library, "PMIx_Put", found.put);
  find(library, "PMIx_Commit", found.commit);
  find(library, "PMIx_Fence", found.fence);
  find(library, "PMIx_Get", found.get);
  find(library, "PMIx_Error_string", found.error_string);
  find(library, "PMIx_Get_version", found.version);
  return found;
}

}  // namespace

const pmix_library& load_pmix() {
  static const pmix_library library = load();
  return library;
}

}  // namespace weft
