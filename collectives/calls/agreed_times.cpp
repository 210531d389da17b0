// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/calls/agreed_times.hpp>
#include <weft/runtime/patience.hpp>

namespace weft::detail {

agreed_times::agreed_times(communicator_state& state, std::span<const double> mine,
                           std::shared_ptr<const bound_schedule> by, std::uint64_t fingerprint)
    : by_(state.host.moved_by()), times_(mine), run_(state.host.messages(), state.member, nullptr, std::move(by)) {
  run_arguments arguments;
  arguments.in = static_cast<const std::byte*>(times_.call.in);
  arguments.out = static_cast<std::byte*>(times_.call.out);
  arguments.sequence = state.next_sequence();
  arguments.fingerprint = fingerprint;
  run_.start(arguments, by_);
}

void agreed_times::await() const {
  look_for(by_, [this] { return is_over(); });
}

}  // namespace weft::detail
