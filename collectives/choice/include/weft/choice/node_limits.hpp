// From which length on vectors are read from the other processes' memory on a node, and not written into slots.
#pragma once

#include <cstddef>
#include <limits>
#include <weft/schedules/collective.hpp>

namespace weft::detail {

/// Bytes of the vector or, where there are blocks, of what the process that gives most gives to others.
struct node_limits {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  std::size_t allreduce = never;
  std::size_t broadcast = never;
  std::size_t allgather = never;
  std::size_t alltoall = never;
  bool measured = false;

  /// What was found good on an EPYC of 2 cores, for so many processes on a node, which may have fewer CPUs. By long
  /// slots (team/board_party.cpp) everything took less time than by reading, which pays the kernel for each page.
  static node_limits assumed(std::size_t processes, bool crowded, bool long_slots) noexcept {
    if (long_slots) return {};
    // A process that has to wait for its core at every slot loses more than the kernel takes when there are many of
    // them.
    if (crowded) return {128 << 10, 128 << 10, 128 << 10, 128 << 10};
    // What goes one way goes through the slots: the one writes while the other reads, at no kernel's price for each
    // page.
    return {processes == 2 ? std::size_t{1} << 20 : 64 << 10, never, 64 << 10, 64 << 10};
  }
  std::size_t of(schedules::collective what) const noexcept {
    using schedules::collective;
    if (what == collective::allreduce || what == collective::reduce) return allreduce;
    if (what == collective::broadcast) return broadcast;
    return what == collective::allgather || what == collective::gather ? allgather : alltoall;
  }
};

}  // namespace weft::detail
