// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/error.hpp>

#include "unwinder.hpp"

namespace weft::tools {

std::unique_ptr<unwinder> unwinder::of(pid_t) {
  throw error(std::make_error_code(std::errc::not_supported),
              "this weft was built without the headers of libdw (Debian's libdw-dev)");
}

}  // namespace weft::tools
