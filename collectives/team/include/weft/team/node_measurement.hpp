// What the processes of a node go by, found by measuring.
#pragma once

#include <cstddef>
#include <span>
#include <weft/choice/node_limits.hpp>
#include <weft/fabric/participant.hpp>

namespace weft::detail {

class node_team;
class process;

/// What calls of a length took by slots and by reading: seconds.
struct both_ways {
  std::size_t bytes = 0;
  double slots = 0;
  double reading = 0;
};

/// Each length is so many times the one before.
inline constexpr std::size_t length_factor = 4;

/// From which length on to read, after what these took, the shortest first. So that one outlier does not decide: where
/// the product of all times is the least, if those that go another way than was assumed are clearly faster by it, in
/// the geometric mean. As assumed where they do not come that far.
std::size_t limit_by(std::span<const both_ways> all, std::size_t assumed);

/// Finds from which lengths on the processes of `team` read each other's memory, where the job measures at all and
/// every one of them has a CPU, for all teams of as many processes of `host` that are made from then on, too. By all of
/// them, as `member`, before any other call. Blocks. Where the communicator fails meanwhile, its next call says so.
void measure_limits(process& host, node_team& team, fabric::participant& member);

}  // namespace weft::detail
