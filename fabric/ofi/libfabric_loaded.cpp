// SPDX-License-Identifier: Apache-2.0
// libfabric as the library of the machine, whichever that is, from when it is needed.
#include <weft/runtime/error.hpp>
#include <weft/runtime/loaded_library.hpp>

#include "libfabric_library.hpp"
#include "signal_handlers_kept.hpp"

namespace weft::fabric {
namespace {

libfabric_library load() {
  const signal_handlers_kept kept;
  const loaded_library library("libfabric.so.1", errc::provider_failed, "install it (Debian's package libfabric1)");
  libfabric_library found{};
  library.find("fi_getinfo", found.getinfo);
  library.find("fi_dupinfo", found.dupinfo);
  library.find("fi_freeinfo", found.freeinfo);
  library.find("fi_fabric", found.fabric);
  library.find("fi_strerror", found.strerror);
  library.find("fi_version", found.version);
  return found;
}

}  // namespace

const libfabric_library& libfabric() {
  static const libfabric_library library = load();
  return library;
}

}  // namespace weft::fabric
