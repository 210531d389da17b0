// SPDX-License-Identifier: Apache-2.0
#include "libfabric_library.hpp"

#include <weft/runtime/error.hpp>
#include <weft/runtime/limits.hpp>

namespace weft::fabric {

void throw_fabric_error(const std::string& provider, const char* call, long result) {
  const int number = static_cast<int>(result < 0 ? -result : result);
  std::string limit = limit_behind(number, call);
  if (limit.empty()) limit = file_limit_met();
  throw error(errc::provider_failed, "libfabric provider " + provider + ": " + call + ": " +
                                         libfabric().strerror(number) + " (" + std::to_string(number) + ")" + limit);
}

}  // namespace weft::fabric
