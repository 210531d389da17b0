#include "fabric_handle.hpp"

#include <iterator>
#include <weft/runtime/error.hpp>

namespace weft::fabric {

void throw_fabric_error(const std::string& provider, const char* call, long result) {
  const int number = static_cast<int>(result < 0 ? -result : result);
  throw error(errc::provider_failed, "libfabric provider " + provider + ": " + call + ": " + fi_strerror(number) +
                                         " (" + std::to_string(number) + ")");
}

signal_handlers_kept::signal_handlers_kept() noexcept {
  for (std::size_t index = 0; index < std::size(numbers); ++index) sigaction(numbers[index], nullptr, &before_[index]);
}

signal_handlers_kept::~signal_handlers_kept() {
  for (std::size_t index = 0; index < std::size(numbers); ++index) sigaction(numbers[index], &before_[index], nullptr);
}

}  // namespace weft::fabric
