// SPDX-License-Identifier: Apache-2.0
// The libfabric endpoints of a transport and the objects under them: one for frames, and one for payloads where frames
// would else wait behind these (provider_traits::one_stream).
#pragma once

#include <cstddef>
#include <span>
#include <vector>
#include <weft/fabric/provider.hpp>
#include <weft/fabric/transport.hpp>

#include "fabric_handle.hpp"

namespace weft::fabric {

/// Where a peer is reached.
struct peer_addresses {
  fi_addr_t frames;
  fi_addr_t payloads;
};

/// Opened and enabled by the constructor, without a receive posted. Throws weft::error (errc::provider_failed), also
/// from `insert`. One thread at a time.
class libfabric_endpoint {
 public:
  /// `frame` bytes are the most that a frame takes.
  libfabric_endpoint(const provider_choice& chosen, std::size_t frame);

  /// For frames.
  fid_ep* get() const noexcept { return endpoint_.get(); }
  /// For payloads.
  fid_ep* payloads() const noexcept { return has_two() ? payload_endpoint_.get() : endpoint_.get(); }
  bool has_two() const noexcept { return two_; }
  fid_cq* completions() const noexcept { return completions_.get(); }
  fid_domain* domain() const noexcept { return domain_.get(); }
  const fi_info& info() const noexcept { return *info_; }
  const transport_limits& limits() const noexcept { return limits_; }

  /// Of all endpoints, one behind the other.
  address local_address() const;
  /// Of the endpoint for frames, and of the one for payloads, in such an address.
  address frames_of(const address& whole) const { return {whole.begin(), whole.begin() + split(whole)}; }
  address payloads_of(const address& whole) const {
    return has_two() ? address(whole.begin() + split(whole), whole.end()) : whole;
  }
  std::vector<peer_addresses> insert(std::span<const address> peers);
  /// Ends every transfer in flight: the provider touches no memory of theirs from here on.
  void close() noexcept {
    payload_endpoint_.reset();
    endpoint_.reset();
  }

 private:
  void open_domain();
  fabric_handle<fid_ep> opened_endpoint() const;
  void set_smallest_rest(fid_ep* of) const;
  fi_addr_t insert_one(address peer) const;
  std::ptrdiff_t split(const address& whole) const noexcept { return std::ssize(whole) / (has_two() ? 2 : 1); }

  transport_limits limits_;
  provider_info info_;
  bool two_ = false;
  // Each uses those above it, and is closed before them.
  fabric_handle<fid_fabric> fabric_;
  fabric_handle<fid_domain> domain_;
  fabric_handle<fid_av> addresses_;
  fabric_handle<fid_cq> completions_;
  fabric_handle<fid_ep> endpoint_;
  fabric_handle<fid_ep> payload_endpoint_;
};

}  // namespace weft::fabric
