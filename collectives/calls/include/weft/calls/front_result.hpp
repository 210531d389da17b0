// SPDX-License-Identifier: Apache-2.0
// Reduce-scatters in place whose result is to be at the front of the buffer.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>
#include <weft/calls/argument_checks.hpp>

namespace weft::detail {

/// Goes by the call that leaves this rank's block where it lies, and moves it behind that: so nothing is allocated, and
/// what the others' blocks had is needed no more.
class front_result {
 public:
  /// Of no call.
  front_result() noexcept = default;
  /// Of one for which is_at_front holds.
  front_result(const request& call, const request_shape& shape) noexcept
      : to_(static_cast<std::byte*>(call.out)),
        from_(to_ + shape.before * call.element_bytes),
        bytes_(shape.block * call.element_bytes) {}

  /// The call to be made in place of it.
  request of_block(const request& call) const {
    request in_place = call;
    in_place.out = from_;
    return in_place;
  }
  /// Once that is done, once.
  void move() const noexcept {
    if (bytes_ != 0) std::memmove(to_, from_, bytes_);
  }

 private:
  std::byte* to_ = nullptr;
  std::byte* from_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace weft::detail
