// SPDX-License-Identifier: Apache-2.0
// A network in one process, for tests with many ranks: the transport interface with its contract checked, its queues
// bounded and, on request, its timing shaken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <weft/fabric/transport.hpp>

namespace weft::fabric {

/// What a loopback network pretends to be. The defaults are near to libfabric's net.
struct loopback_options {
  std::size_t inject = 128;                         ///< largest frame that `inject` takes, bytes
  std::size_t frame = std::size_t{16} << 10;        ///< largest frame that `send` takes, bytes
  std::size_t payload = std::size_t{1} << 30;       ///< largest payload transfer, bytes
  std::uint64_t tag_mask = ~std::uint64_t{0} >> 1;  ///< the bits that a payload's tag may use
  std::size_t receives = SIZE_MAX;                  ///< payload receives that an endpoint may have posted at a time
  bool in_turn = true;                              ///< see transport_limits
  std::size_t queue =
      256;  ///< frames and payloads on the way from one endpoint to another before posting calls say false
  /// Not 0: every poll delivers a random part of what is there, and one posting call in 16 says false. Frames keep
  /// their order pair by pair; all else (frames of different senders, payloads, completions) overtakes. With one thread
  /// driving every endpoint in a fixed order the same seed gives the same run.
  std::uint64_t jitter_seed = 0;
};

/// `endpoints` endpoints that reach one another. Endpoints may be driven by different threads (each by one at a time)
/// and may outlive the network object. What breaks the transport's contract throws std::logic_error in the call that
/// did it: a payload without a posted receive or longer than it, a frame above its limit, tag bits outside the mask, a
/// peer that `start` did not name. (Not a weft::error: nothing but the test may catch it.)
///
/// Closing an endpoint loses the sends that have not been reported done; frames that it injected still arrive.
/// Frames to an endpoint that has not started wait until it has.
class loopback_network {
 public:
  explicit loopback_network(int endpoints, const loopback_options& options = {});
  ~loopback_network();
  loopback_network(const loopback_network&) = delete;
  loopback_network& operator=(const loopback_network&) = delete;

  /// Opens endpoint `index`; each can be opened once, at any time, by any thread. Throws weft::error
  /// (errc::invalid_argument).
  std::unique_ptr<transport> endpoint(int index);

  /// Kills an endpoint, as SIGKILL would the process: nothing that it sent and that has not been delivered arrives, its
  /// later calls have no effect and report nothing. Its peers are not told: what they send to it succeeds and vanishes,
  /// until as much as the queue holds has gone that way; from then on their posting calls say false for ever. What they
  /// posted to receive from it stays posted. Any thread, at any moment.
  void kill(int index);

  struct state;  ///< loopback.cpp's

 private:
  std::shared_ptr<state> state_;
};

}  // namespace weft::fabric
