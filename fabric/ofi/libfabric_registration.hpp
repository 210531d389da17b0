// SPDX-License-Identifier: Apache-2.0
// Local memory registered with a provider that wants it (FI_MR_LOCAL), for as long as a transfer takes.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <weft/fabric/transport.hpp>

#include "libfabric_endpoint.hpp"

namespace weft::fabric {

/// Costs nothing where the provider does not ask. Throws weft::error (errc::provider_failed).
class libfabric_registration {
 public:
  libfabric_registration(const libfabric_endpoint& of, bool force)
      : endpoint_(of), on_(force || (of.info().domain_attr->mr_mode & FI_MR_LOCAL) != 0) {}

  /// Registers `memory` until `remove(context)`; returns the descriptor to hand to the provider.
  void* add(std::span<const std::byte> memory, std::uint64_t access, transfer& context) {
    return on_ && !memory.empty() ? add_registered(memory, access, context) : nullptr;
  }
  void remove(transfer& context) noexcept {
    if (on_) held_.erase(&context);
  }

  /// A registration that its caller keeps; null where none is needed.
  fabric_handle<fid_mr> keep(std::span<const std::byte> memory, std::uint64_t access);

 private:
  void* add_registered(std::span<const std::byte> memory, std::uint64_t access, transfer& context);

  const libfabric_endpoint& endpoint_;
  const bool on_;
  std::uint64_t next_key_ = 1;
  std::unordered_map<transfer*, fabric_handle<fid_mr>> held_;
};

}  // namespace weft::fabric
