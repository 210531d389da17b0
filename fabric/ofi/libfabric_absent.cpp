// SPDX-License-Identifier: Apache-2.0
// In place of libfabric where no providers are asked for: jobs stay on one node.
#include <weft/runtime/error.hpp>

#include "libfabric_library.hpp"

namespace weft::fabric {

const libfabric_library& libfabric() {
  throw error(
      errc::no_provider,
      "this build of weft has no libfabric (-Dproviders=none): its processes meet over memory alone, on one node");
}

}  // namespace weft::fabric
