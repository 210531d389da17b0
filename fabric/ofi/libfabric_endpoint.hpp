// SPDX-License-Identifier: Apache-2.0
// One libfabric endpoint and the objects under it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>
#include <weft/fabric/provider.hpp>
#include <weft/fabric/transport.hpp>

#include "fabric_handle.hpp"

namespace weft::fabric {

/// Opened and enabled by the constructor, without a receive posted. Throws weft::error (errc::provider_failed), also
/// from `insert`. One thread at a time.
class libfabric_endpoint {
 public:
  /// `frame` bytes are the most that a frame takes.
  libfabric_endpoint(const provider_choice& chosen, std::size_t frame);

  fid_ep* get() const noexcept { return endpoint_.get(); }
  fid_cq* completions() const noexcept { return completions_.get(); }
  fid_domain* domain() const noexcept { return domain_.get(); }
  const fi_info& info() const noexcept { return *info_; }
  const transport_limits& limits() const noexcept { return limits_; }

  address local_address() const;
  std::vector<fi_addr_t> insert(std::span<const address> peers);
  /// Ends every transfer in flight: the provider touches no memory of theirs from here on.
  void close() noexcept { endpoint_.reset(); }

 private:
  void open_domain();
  void open_endpoint();
  void set_smallest_rest();

  transport_limits limits_;
  provider_info info_;
  // Each uses those above it, and is closed before them.
  fabric_handle<fid_fabric> fabric_;
  fabric_handle<fid_domain> domain_;
  fabric_handle<fid_av> addresses_;
  fabric_handle<fid_cq> completions_;
  fabric_handle<fid_ep> endpoint_;
};

}  // namespace weft::fabric
