// SPDX-License-Identifier: Apache-2.0
// A communicator that is being made while its rank does something else.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <weft/api/offer.hpp>

namespace weft::detail {

/// What a pending_communicator holds.
struct division {
  division(std::shared_ptr<communicator_state> its, const char* name, const part& as)
      : state(std::move(its)), operation(name), mine(*state, as) {}

  /// Whether it has been dropped by an exception that unwinds before all ranks were heard of.
  bool is_given_up() const noexcept { return std::uncaught_exceptions() > exceptions && !exchange.done(); }
  /// Once the exchange is over.
  std::optional<communicator> join() { return mine.join(gathered.all(*state, operation)); }

  const std::shared_ptr<communicator_state> state;  ///< of what is divided
  const char* const operation;
  const int exceptions = std::uncaught_exceptions();
  offer mine;
  parts gathered;
  handle exchange;  ///< into those; last, so that it is over before they go
};

}  // namespace weft::detail
