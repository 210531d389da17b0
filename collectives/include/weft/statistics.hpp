// SPDX-License-Identifier: Apache-2.0
// What a process has done so far, in numbers.
#pragma once

#include <weft/api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <weft/schedules/collective.hpp>

namespace weft {

/// Of all ranks of a process together, since it joined its job: what it did to join, as measuring the network, is left
/// out. See runtime::statistics.
struct WEFT_API statistics {
  struct volume {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;

    friend volume operator+(volume one, volume other) noexcept {
      return {one.count + other.count, one.bytes + other.bytes};
    }
    friend bool operator==(const volume&, const volume&) = default;
  };

  /// How a collective was called. One with a deadline counts as started.
  enum class form : std::uint8_t { blocking, started, planned };
  /// Which way it went first: by messages; through the buffers of the ranks of each process, and then on among the
  /// processes; through the memory that the processes of a node share, and then on among the nodes.
  enum class road : std::uint8_t { messages, process_memory, node_memory };
  static constexpr std::size_t forms = 3, roads = 3;

  /// Calls of collectives that have begun, each counted on each rank, by kind, road and form. The bytes of a call are
  /// those of the longer of its rank's two buffers; of a reproducible sum, of its accumulators.
  std::array<std::array<std::array<volume, forms>, roads>, schedules::collectives> collectives{};
  /// Those of the collective that communicators call so ("allreduce"); of all. Throws errc::invalid_argument for
  /// another name.
  volume of(std::string_view call, road by, form as) const;
  volume of(std::string_view call) const;

  /// Messages that ranks here have sent, by how the receiver's process is reached: it is this one, it shares memory of
  /// the node with this one, or it is reached over the network. Those of collectives, and weft's own, are among them.
  struct sent_messages {
    /// Without asking: of at most the option eager-limit; of four times that between ranks by the node's memory, and
    /// over the network where one is alone on its way or the vector of a collective is no longer; all within a process.
    volume at_once;
    volume granted;  ///< longer ones, into memory that the receiver has posted (rendezvous)
  };
  sent_messages sent_here{}, sent_by_node_memory{}, sent_by_network{};
  /// Messages that ranks here have received.
  volume received{};

  /// Times that the provider of the network, or a ring of the node's memory, had no room: each was tried again.
  std::uint64_t refused = 0;
  /// Times that a frame could not be sent since its receiver had not yet read those before (the option credit).
  std::uint64_t without_credit = 0;
  /// The most bytes at a time of messages here that no receive matched yet, from the very start.
  std::uint64_t most_unexpected = 0;
  /// The most bytes at a time that weft has taken here, as the option memory-limit counts them, from the very start.
  std::uint64_t most_memory = 0;

  /// Times that threads of this operating system's process went to sleep in a wait of weft's, and had others woken; of
  /// all runtimes in it.
  std::uint64_t sleeps = 0, wakes = 0;
};

}  // namespace weft
