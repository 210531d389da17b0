// Broadcast for long vectors.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// How the second phase gathers.
enum class gather_by : std::uint8_t { ring, recursive_doubling };

/// Emits `rank`'s steps of a broadcast as a scatter over the minimum spanning tree and an all-gather (van de Geijn;
/// reviewed by Matsuda and others 2006).
///
///     root --scatter--> chunk r to rank r --all-gather--> everything to everyone
///
/// By ring: (ceil(log2 p) + p - 1) α + 2 (p - 1) / p n β; by recursive doubling 2 ceil(log2 p) α and the same β. Best
/// for long vectors: a tree that is not pipelined takes log2 p n β.
///
/// The vector is a chunk a rank, of `segments` segments in the all-gather. The root's input is all of it, every output
/// is, and the root's may be the same memory as its input. No scratch. Throws std::invalid_argument for a bad rank,
/// root or pipeline.
void van_de_geijn_broadcast(int ranks, int root, int rank, gather_by second, const pipeline& by, sink& to);

}  // namespace weft::schedules
