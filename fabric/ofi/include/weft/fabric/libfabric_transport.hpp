// SPDX-License-Identifier: Apache-2.0
// The transport over a libfabric provider.
#pragma once

#include <cstddef>
#include <memory>
#include <weft/fabric/provider.hpp>
#include <weft/fabric/transport.hpp>

namespace weft::fabric {

struct libfabric_options {
  std::size_t frame = std::size_t{8} << 10;  ///< largest frame, bytes (less where the provider's messages are shorter)
  /// Registers all local memory even where the provider does not ask for it: a test of what NICs demand.
  bool force_local_registration = false;
};

/// Opens a reliable datagram endpoint of `chosen`, which may be used again for more; two where all that goes to a peer
/// by one endpoint passes in turn (provider_traits::one_stream): then payloads have one of their own.
///
/// Frames travel untagged into multi-receive buffers, payloads tagged. No connection is made here: a provider that
/// connects does so on the first frame to a peer, while both sides poll, and says false meanwhile; that may take 0.1 s,
/// and connects that cross may loop, so the messenger sends the job's first frames in an order fixed by rank, as it
/// starts. A frame sent to an endpoint that has not called `start` waits in the provider.
///
/// Nothing tells that a peer has died: frames to it vanish or are refused for ever, receives from it stay silent.
/// Destroying the endpoint is what ends every transfer in flight for certain; they are not reported.
/// The signal handlers that shm installs are taken out again before this returns.
/// Throws weft::error (errc::provider_failed).
std::unique_ptr<transport> open_libfabric_transport(const provider_choice& chosen,
                                                    const libfabric_options& options = {});

}  // namespace weft::fabric
