// SPDX-License-Identifier: Apache-2.0
// Errors that one rank finds and every rank has to know of: whoever goes on alone waits for ever for the others.
#pragma once

#include <functional>
#include <stdexcept>
#include <weft/communicator.hpp>

namespace cg {

/// Thrown by every rank of a job alike; to be reported by one of them.
class agreed_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls `work`, which sends nothing, on every rank. Where it throws on some, every rank throws an agreed_error with
/// the message of the lowest of them. Collective, blocking.
void together(weft::communicator& world, const std::function<void()>& work);

}  // namespace cg
