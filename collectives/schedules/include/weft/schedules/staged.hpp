// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks on several nodes: in the memory of each, by messages among one rank of each, in the memory of
// each. The same where it is recorded and where it is carried out.
//
// A party has for it, beside its type `place` (where a vector of this rank lies; one made of nothing is nowhere):
//
//     nodes(), node()          how many there are, and this rank's
//     is_alone()               whether this rank is the only one of its node
//     speaks()                 whether it is the first of its node, which speaks for that between the nodes
//     root_node(), root_seat() of the call
//     input(), output()        the caller's
//     memory()                 room for a vector, where this rank speaks
//     memory_of_rows()         in an all-to-all, for the inputs of all ranks of a node
//     of_node(place)           where the blocks of this node's ranks lie there
//     pieces()                 in which a vector flows
//
// Its stages, which return false where the communicator has failed:
//
//     on_node(stage)           among the ranks of this node, in their memory; nothing where one is alone
//     on_node(stage, piece)    the same of a piece
//     between(stage)           among those who speak, by messages; of others nothing
//     begin_between(stage, piece), end_between(piece)  the same of a piece, of which two may be on the way
//     blocks_on_node(stage), blocks_between(stage)     of the blocks of a node's ranks, or of all nodes'
//     hand_over(from, to)      a vector, from who speaks here to the root
//     gather_rows(rows), exchange(rows, columns), scatter_columns(columns)  of an all-to-all: all inputs to who speaks,
//                              between the nodes what is for each, and to each rank what is for it
//     exchange_alone()         the same of who is alone
//     combine(first, second, to), copy(from, to)       a vector, where this rank speaks
#pragma once

#include <cstddef>
#include <weft/schedules/collective.hpp>

namespace weft::schedules {

/// One step of a collective in stages.
template <class Place>
struct stage_of {
  collective what = collective::barrier;
  std::size_t root = 0;  ///< among those who take part
  Place in{}, out{};
};

/// Whether the vector of a collective flows; else it goes whole.
constexpr bool flows(collective what) {
  return what == collective::broadcast || what == collective::reduce || what == collective::allreduce;
}

/// A vector flows: one piece is between the nodes while the next is on its way there, and the one before behind it.
/// `before` and `behind` run a piece's stage on the node, `across` is the stage between the nodes.
template <class Party, class Before, class Behind>
bool flow(Party& p, Before before, const stage_of<typename Party::place>& across, Behind behind) {
  const std::size_t pieces = p.pieces();
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    if (!before(piece) || !p.begin_between(across, piece)) return false;
    if (piece != 0 && !(p.end_between(piece - 1) && behind(piece - 1))) return false;
  }
  return p.end_between(pieces - 1) && behind(pieces - 1);
}

template <class Party>
bool barrier_in_stages(Party& p) {
  return p.on_node({collective::reduce}) && p.between({collective::barrier}) && p.on_node({collective::broadcast});
}

/// A root that speaks sends first: the wire is slower than its node.
template <class Party>
bool broadcast_in_stages(Party& p) {
  const bool root_is_here = p.node() == p.root_node(), root_speaks = p.root_seat() == 0;
  const auto of_root = root_is_here && root_speaks ? p.input() : p.output();
  const auto to_first = [&](std::size_t piece) {
    return !root_is_here || root_speaks ||
           p.on_node({collective::broadcast, p.root_seat(), p.input(), p.output()}, piece);
  };
  const auto from_first = [&](std::size_t piece) {
    return (root_is_here && !root_speaks) || p.on_node({collective::broadcast, 0, of_root, p.output()}, piece);
  };
  return flow(p, to_first, {collective::broadcast, p.root_node(), of_root, p.output()}, from_first);
}

template <class Party>
bool allreduce_in_stages(Party& p) {
  const auto to_first = [&](std::size_t piece) {
    return p.on_node({collective::reduce, 0, p.input(), p.output()}, piece);
  };
  const auto from_first = [&](std::size_t piece) {
    return p.on_node({collective::broadcast, 0, p.output(), p.output()}, piece);
  };
  const auto of_node = p.is_alone() ? p.input() : p.output();
  return flow(p, to_first, {collective::allreduce, 0, of_node, p.output()}, from_first);
}

template <class Party>
bool reduce_in_stages(Party& p) {
  const bool root_is_here = p.node() == p.root_node(), root_speaks = p.root_seat() == 0;
  const auto total = root_is_here && root_speaks ? p.output() : p.memory();
  const auto to_first = [&](std::size_t piece) { return p.on_node({collective::reduce, 0, p.input(), total}, piece); };
  const auto of_node = p.is_alone() ? p.input() : total;
  return flow(p, to_first, {collective::reduce, p.root_node(), of_node, total}, [](std::size_t) { return true; }) &&
         (!root_is_here || root_speaks || p.hand_over(total, p.output()));
}

/// The first of a node scans with what the nodes before it have together before its own input, so that all behind it
/// have that, too. What the last node has together nobody asks for.
template <class Party>
bool scan_in_stages(Party& p, bool exclusive) {
  const auto total = p.memory(), before = p.memory();
  const bool is_first = p.node() == 0, is_last = p.node() + 1 == p.nodes();
  if (!is_last && !p.on_node({collective::reduce, 0, p.input(), total})) return false;
  if (!p.between({collective::exscan, 0, is_last || p.is_alone() ? p.input() : total, before})) return false;
  if (!is_first) p.combine(before, p.input(), total);
  const auto in = is_first || !p.speaks() ? p.input() : total;
  if (!p.on_node({exclusive ? collective::exscan : collective::scan, 0, in, p.output()})) return false;
  if (!exclusive && p.is_alone()) p.copy(in, p.output());
  if (exclusive && !is_first) p.copy(before, p.output());
  return true;
}

template <class Party>
bool allgather_in_stages(Party& p) {
  const auto of_node = p.of_node(p.output());
  return p.blocks_on_node({collective::gather, 0, p.input(), of_node}) &&
         p.blocks_between({collective::allgather, 0, p.is_alone() ? p.input() : of_node, p.output()}) &&
         p.on_node({collective::broadcast, 0, p.output(), p.output()});
}

template <class Party>
bool reduce_scatter_in_stages(Party& p) {
  if (p.is_alone()) return p.blocks_between({collective::reduce_scatter, 0, p.input(), p.output()});
  const auto total = p.memory(), of_node = p.of_node(total);
  return p.on_node({collective::reduce, 0, p.input(), total}) &&
         p.blocks_between({collective::reduce_scatter, 0, total, of_node}) &&
         p.blocks_on_node({collective::scatter, 0, of_node, p.output()});
}

template <class Party>
bool alltoall_in_stages(Party& p) {
  if (p.is_alone()) return p.exchange_alone();
  const auto rows = p.memory_of_rows(), columns = p.memory_of_rows();
  return p.gather_rows(rows) && p.exchange(rows, columns) && p.scatter_columns(columns);
}

/// Runs one that does. False where the communicator has failed.
template <class Party>
bool run_in_stages(Party& p, collective what) {
  switch (what) {
    case collective::broadcast:
      return broadcast_in_stages(p);
    case collective::reduce:
      return reduce_in_stages(p);
    case collective::allreduce:
      return allreduce_in_stages(p);
    case collective::scan:
    case collective::exscan:
      return scan_in_stages(p, what == collective::exscan);
    case collective::allgather:
      return allgather_in_stages(p);
    case collective::reduce_scatter:
      return reduce_scatter_in_stages(p);
    case collective::alltoall:
      return alltoall_in_stages(p);
    default:
      return barrier_in_stages(p);
  }
}

}  // namespace weft::schedules
