// SPDX-License-Identifier: Apache-2.0
// Communicators whose ranks lie on a grid, and collectives among neighbours.
//
//   weft::grid cells(world, {0, 0}, {true, true});      // a torus, as square as the ranks permit
//   const auto [left, right] = cells.shift(1, 1);       // who sends to this rank, and whom it sends to
//   cells.neighbor_alltoall(faces, ghosts);             // a block for each neighbour: above, below, left, right
//   weft::grid row = cells.keep({false, true});         // of the ranks in the same row
//
// halo.hpp exchanges the faces of arrays.
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>
#include <weft/communicator.hpp>
#include <weft/counts.hpp>
#include <weft/grid_shape.hpp>

namespace weft {

namespace detail {
/// A neighbour collective without its types.
struct neighbor_call {
  const char* name;
  bool gathers;  ///< all neighbours get the whole input
  const std::byte* in;
  std::byte* out;
  std::size_t in_count, out_count, element_bytes;
  const given_counts *sent, *received;  ///< null: equal blocks
};

/// A message that goes along an edge of the grid.
struct edge_message {
  bool is_send;
  int peer;
  std::int64_t tag;
  std::byte* data;  ///< only read where it is sent
  std::size_t bytes;
};

template <class R, class S>
neighbor_call among_neighbors(const char* name, bool gathers, const R& in, S& out, const given_counts* sent = nullptr,
                              const given_counts* received = nullptr) {
  static_assert(std::is_same_v<std::ranges::range_value_t<R>, std::ranges::range_value_t<S>>,
                "weft: input and output are of different types");
  return {name,
          gathers,
          bytes_of(in).data(),
          writable_bytes_of(out).data(),
          std::ranges::size(in),
          std::ranges::size(out),
          sizeof(std::ranges::range_value_t<R>),
          sent,
          received};
}

template <class R, class S>
neighbor_call to_neighbors(const R& in, S& out, const given_counts* sent = nullptr,
                           const given_counts* received = nullptr) {
  return among_neighbors("neighbor_alltoall", false, in, out, sent, received);
}

template <class R, class S>
neighbor_call from_neighbors(const R& in, S& out, const given_counts* received = nullptr) {
  return among_neighbors("neighbor_allgather", true, in, out, nullptr, received);
}
}  // namespace detail

/// Which rank of a communicator lies where on its grid.
enum class placement : bool {
  as_ranked,  ///< row by row
  by_node,    ///< ranks get others, so that few neighbours are on different nodes
};

/// A communicator whose ranks lie on a grid, row by row.
///
/// Its neighbour collectives have a block for each neighbour, in the order of `neighbors`: two for each dimension. A
/// block of a neighbour that is not there, beyond the end of the grid, stays as it is. Where a rank is a neighbour
/// twice, what one sends in one direction comes from the other one. They go by messages between neighbours alone, apart
/// from the program's own; every rank calls them in the same order, but waits for its neighbours only. With an i or
/// plan_ in front as the other collectives. Input and output are apart. A message that is not as long as its block
/// throws errc::mismatched_call or errc::truncated.
class WEFT_API grid : public communicator {
 public:
  /// Of all ranks of `of`, collective, blocking. An extent of 0 is chosen (balanced_extents); without extents as many
  /// as `periodic` says. Throws errc::invalid_count where they do not make up the ranks; errc::mismatched_call where
  /// ranks give different ones.
  grid(communicator& of, std::vector<int> extents, std::vector<bool> periodic = {},
       placement where = placement::as_ranked);

  const grid_shape& shape() const noexcept { return shape_; }
  /// This rank's. Of others, and ranks of coordinates: grid_shape.
  std::vector<int> coordinates() const { return shape_.coordinates(rank()); }
  grid_shape::shifted shift(std::size_t dimension, int by) const { return shape_.shift(rank(), dimension, by); }
  std::span<const std::optional<int>> neighbors() const noexcept { return neighbors_; }
  /// The ranks that have the same coordinates as this one in the dimensions that are not kept, on a grid of those that
  /// are. Collective, blocking. Throws errc::invalid_count where `kept` is not as long as there are dimensions,
  /// errc::mismatched_call where ranks give different ones.
  grid keep(const std::vector<bool>& kept);

  /// Block i of `in` goes to neighbour i, and block i of `out` comes from it. Of equal blocks, or of as many elements
  /// as counts say, one for each neighbour.
  template <element_range R, element_range S>
  void neighbor_alltoall(const R& in, S&& out) {
    run(detail::to_neighbors(in, out));
  }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ineighbor_alltoall(R&& in, S&& out) { return start(detail::to_neighbors(in, out)); }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_neighbor_alltoall(R&& in, S&& out) { return make_plan(detail::to_neighbors(in, out)); }
  template <element_range R, element_range S>
  void neighbor_alltoall(const R& in, S&& out, const given_counts& sent, const given_counts& received) {
    run(detail::to_neighbors(in, out, &sent, &received));
  }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ineighbor_alltoall(R&& in, S&& out, const given_counts& sent, const given_counts& received) {
    return start(detail::to_neighbors(in, out, &sent, &received));
  }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_neighbor_alltoall(R&& in, S&& out, const given_counts& sent, const given_counts& received) {
    return make_plan(detail::to_neighbors(in, out, &sent, &received));
  }

  /// `in` goes to every neighbour, and block i of `out` comes from neighbour i.
  template <element_range R, element_range S>
  void neighbor_allgather(const R& in, S&& out) {
    run(detail::from_neighbors(in, out));
  }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ineighbor_allgather(R&& in, S&& out) { return start(detail::from_neighbors(in, out)); }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_neighbor_allgather(R&& in, S&& out) { return make_plan(detail::from_neighbors(in, out)); }
  template <element_range R, element_range S>
  void neighbor_allgather(const R& in, S&& out, const given_counts& received) {
    run(detail::from_neighbors(in, out, &received));
  }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ineighbor_allgather(R&& in, S&& out, const given_counts& received) {
    return start(detail::from_neighbors(in, out, &received));
  }
  template <element_range R, element_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_neighbor_allgather(R&& in, S&& out, const given_counts& received) {
    return make_plan(detail::from_neighbors(in, out, &received));
  }

 private:
  friend class halo;

  grid(communicator& of, grid_shape shape, placement where);
  grid(communicator ranks, grid_shape&& shape);
  static communicator placed(communicator& of, const grid_shape& shape, placement where);
  void run(const detail::neighbor_call& call);
  handle start(const detail::neighbor_call& call);
  detail::begun_operation begin(const detail::neighbor_call& call);
  plan make_plan(const detail::neighbor_call& call);
  plan plan_messages(const char* name, std::span<const detail::edge_message> messages);
  std::vector<detail::edge_message> messages_of(const detail::neighbor_call& call, std::int64_t first_tag) const;
  /// For the messages of a plan, as many as an array of four dimensions has neighbours: the same on every rank.
  std::int64_t take_tags() noexcept { return next_tag_ += 81; }

  grid_shape shape_;
  std::vector<std::optional<int>> neighbors_;
  communicator edges_;  ///< the same ranks, for messages between neighbours
  std::int64_t next_tag_ = 0;
};

}  // namespace weft
