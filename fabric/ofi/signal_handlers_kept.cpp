#include "signal_handlers_kept.hpp"

#include <iterator>

namespace weft::fabric {

signal_handlers_kept::signal_handlers_kept() noexcept {
  for (std::size_t index = 0; index < std::size(numbers); ++index) sigaction(numbers[index], nullptr, &before_[index]);
}

signal_handlers_kept::~signal_handlers_kept() {
  for (std::size_t index = 0; index < std::size(numbers); ++index) sigaction(numbers[index], &before_[index], nullptr);
}

}  // namespace weft::fabric
