// SPDX-License-Identifier: Apache-2.0
#include "pmix_library.hpp"

#include <weft/runtime/error.hpp>
#include <weft/runtime/loaded_library.hpp>

namespace weft {
namespace {

pmix_library load() {
  const loaded_library library("libpmix.so.2", errc::no_rendezvous, "install it (Debian's package libpmix2)");
  pmix_library found{};
  library.find("PMIx_Init", found.init);
  library.find("PMIx_Finalize", found.finalize);
  library.find("PMIx_Abort", found.abort);
  library.find("PMIx_Put", found.put);
  library.find("PMIx_Commit", found.commit);
  library.find("PMIx_Fence", found.fence);
  library.find("PMIx_Get", found.get);
  library.find("PMIx_Error_string", found.error_string);
  library.find("PMIx_Get_version", found.version);
  return found;
}

}  // namespace

const pmix_library& load_pmix() {
  static const pmix_library library = load();
  return library;
}

}  // namespace weft
