// Reduce-scatter for vectors of short and middle length.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Emits `rank`'s steps of a reduce-scatter by recursive halving, for any number of ranks:
///
///     0 1 2 | 3 4      5 ranks: 0 <-> 3, 1 <-> 4, 2 -> 4    each gives what belongs to the other half, and adds what
///     0 1 | 2   3 | 4           0 <-> 2, 1 -> 2, 3 <-> 4    it gets to what belongs to its own
///     0 | 1                     0 <-> 1
///
/// ceil(log2 p) α + (p - 1) / p n (β + γ) for a power of two (Thakur, Rabenseifner and Gropp 2005). Best for all but
/// long vectors, when operators commute.
///
/// The vector is a chunk a rank; the input is all of it, the output chunk `rank`, which in place is that chunk of the
/// input. The plan keeps half a vector of work memory and `window` pieces of scratch. Throws std::invalid_argument for
/// a bad rank or pipeline.
void recursive_halving_reduce_scatter(int ranks, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
