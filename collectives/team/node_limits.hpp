// From which length on vectors are read from the other processes' memory on a node, and not written into slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <weft/fabric/participant.hpp>
#include <weft/schedules/collective.hpp>
#include <weft/schedules/machine_costs.hpp>

namespace weft::detail {

class node_team;

/// Bytes of the vector or, where there are blocks, of what the process that gives most gives to others.
struct node_limits {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  std::size_t allreduce = never;
  std::size_t broadcast = never;
  std::size_t allgather = never;
  std::size_t alltoall = never;
  bool measured = false;

  /// What was found good on an EPYC of 2 cores, for so many processes on a node, which may have fewer CPUs. By long
  /// slots (node_long_slots.cpp) everything took less time than by reading, which pays the kernel for each page.
  static node_limits assumed(std::size_t processes, bool crowded, bool long_slots) noexcept;
  /// The limit for one of so many processes.
  std::size_t of(schedules::collective what, std::size_t processes) const noexcept {
    using schedules::collective;
    if (what == collective::allreduce || (what == collective::reduce && processes > 2)) return allreduce;
    // Between two a reduction goes one way, as a broadcast does.
    if (what == collective::broadcast || what == collective::reduce) return broadcast;
    return what == collective::allgather || what == collective::gather ? allgather : alltoall;
  }
};

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

struct measured_node {
  node_limits limits;
  schedules::board_costs costs;
};

/// Times all-reduces, broadcasts, all-gathers and all-to-alls of the team's processes both ways, the shortest first, as
/// long as `seconds` last; the same on all of them. What was not come to is as assumed. To be called by all processes,
/// before any other call. Blocks, and leaves the team without limits of its own. Where the communicator fails
/// meanwhile, its next call says so. `combine`: seconds to add up a byte of floats.
measured_node measure_node(node_team& team, fabric::participant& member, const node_limits& assumed, double combine,
                           double seconds);

}  // namespace weft::detail
