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

  /// Registers `memory` until `remove(context)`; `descriptor` is what to hand to the provider. False: it is busy.
  bool add(std::span<const std::byte> memory, std::uint64_t access, transfer& context, void*& descriptor) {
    return !on_ || memory.empty() || add_registered(memory, access, context, descriptor);
  }
  void remove(transfer& context) noexcept {
    if (on_) held_.erase(&context);
  }

  /// A registration that its caller keeps; null where none is needed. False: the provider is busy.
  bool keep(std::span<const std::byte> memory, std::uint64_t access, fabric_handle<fid_mr>& kept);

 private:
  bool add_registered(std::span<const std::byte> memory, std::uint64_t access, transfer& context, void*& descriptor);

  const libfabric_endpoint& endpoint_;
  const bool on_;
  std::uint64_t next_key_ = 1;
  std::unordered_map<transfer*, fabric_handle<fid_mr>> held_;
};

}  // namespace weft::fabric
