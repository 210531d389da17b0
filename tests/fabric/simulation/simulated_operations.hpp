// SPDX-License-Identifier: Apache-2.0
// What the ranks of a simulated job have in flight. Memory is an operation's own until it has ended, so that
// AddressSanitizer sees who touches it later.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <weft/fabric/agreement_call.hpp>
#include <weft/fabric/operation.hpp>

#include "fabric/failing_allocation.hpp"

namespace weft_test {

class simulated_rank;

struct simulated_send final : weft::fabric::send_operation {
  simulated_send(simulated_rank& whose, int communicator, std::size_t its_message)
      : owner(whose), slot(communicator), message(its_message) {}
  void fill(std::span<const std::byte> contents) {
    memory = std::make_unique_for_overwrite<std::byte[]>(contents.size());
    if (!contents.empty()) std::memcpy(memory.get(), contents.data(), contents.size());
    data = memory.get();
    bytes = contents.size();
  }
  void finished() noexcept override;

  simulated_rank& owner;
  const int slot;             ///< the communicator's number in the plan
  const std::size_t message;  ///< its number in the job
  std::unique_ptr<std::byte[]> memory;
  int endings = 0;
};

struct simulated_receive final : weft::fabric::receive_operation {
  simulated_receive(simulated_rank& whose, int communicator, std::size_t its_place, std::size_t capacity)
      : owner(whose),
        slot(communicator),
        place(its_place),
        memory(std::make_unique_for_overwrite<std::byte[]>(capacity)) {
    data = memory.get();
    bytes = capacity;
  }
  void finished() noexcept override;

  simulated_rank& owner;
  const int slot;
  const std::size_t place;             ///< among the job's receives
  std::size_t expected = any_message;  ///< which message, where that is known before
  bool waits_in_vain = false;          ///< nobody sends what it is to receive
  std::size_t got = any_message;       ///< which one has come
  std::unique_ptr<std::byte[]> memory;
  int endings = 0;
  static constexpr std::size_t any_message = SIZE_MAX;
};

struct simulated_agreement final : weft::fabric::agreement_call {
  explicit simulated_agreement(simulated_rank& whose) : owner(whose) {}
  void finished() noexcept override;

  simulated_rank& owner;
  bool done = false;
};

}  // namespace weft_test
