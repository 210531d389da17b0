// SPDX-License-Identifier: Apache-2.0
// A rank's part in an agreement of the living.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>
#include <weft/fabric/group.hpp>

namespace weft::fabric {

class participant;

/// What a rank of a communicator has given to an agreement.
struct contribution {
  int rank = -1;
  std::span<const std::byte> given;
};

/// Makes of what ranks have given, by rank, the value that all get: the same on every process. Where the token is held.
/// What is given comes from other processes and is not trusted.
using combination = std::vector<std::byte> (*)(const group& members, std::span<const contribution> all);

/// What `messenger::agree` begins. Its owner keeps it in place until `finished` is called.
struct agreement_call {
  /// With the token held: must not block, throw, or call the messenger. Its last access to this.
  virtual void finished() noexcept = 0;

  participant* at = nullptr;
  std::uint32_t number = 0;  ///< of the agreements of this communicator, from 0: each rank makes them in this order
  std::vector<std::byte> given;
  combination combine = nullptr;

  std::shared_ptr<const std::vector<std::byte>> agreed;  ///< the answer; null where `failure` says why there is none
  std::exception_ptr failure;

 protected:
  agreement_call() = default;
  ~agreement_call() = default;
  agreement_call(const agreement_call&) = delete;
  agreement_call& operator=(const agreement_call&) = delete;
};

}  // namespace weft::fabric
