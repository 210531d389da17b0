// SPDX-License-Identifier: Apache-2.0
// libfabric as part of the program, which loads nothing.
#include "libfabric_library.hpp"

namespace weft::fabric {

const libfabric_library& libfabric() {
  static constexpr libfabric_library library{
      .getinfo = &fi_getinfo,
      .dupinfo = &fi_dupinfo,
      .freeinfo = &fi_freeinfo,
      .fabric = &fi_fabric,
      .strerror = &fi_strerror,
      .version = &fi_version,
  };
  return library;
}

}  // namespace weft::fabric
