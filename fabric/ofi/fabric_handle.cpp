#include "fabric_handle.hpp"

#include <weft/runtime/error.hpp>

#include "libfabric_library.hpp"

namespace weft::fabric {

void throw_fabric_error(const std::string& provider, const char* call, long result) {
  const int number = static_cast<int>(result < 0 ? -result : result);
  throw error(errc::provider_failed, "libfabric provider " + provider + ": " + call + ": " +
                                         libfabric().strerror(number) + " (" + std::to_string(number) + ")");
}

}  // namespace weft::fabric
