// How long a short message takes, alone and while a long one goes the same way.
#pragma once

#include <chrono>
#include <weft/communicator.hpp>

#include "measurement.hpp"

namespace weft::tools {

struct latencies {
  measurement idle, loaded;
};

/// The long messages that follow each other without a pause.
inline constexpr std::size_t stream_bytes = 64 << 20;

/// Messages of 16 bytes between the first and the last rank of `world`, to and fro: half the time of a round trip,
/// as many of them as `budget` has room for. Collective; at least two ranks. What it returns holds on rank 0.
latencies measure_latency(communicator& world, std::chrono::milliseconds budget);

}  // namespace weft::tools
