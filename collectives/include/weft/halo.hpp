// SPDX-License-Identifier: Apache-2.0
// Ghost cells: what an array that is spread over a grid of ranks has of its neighbours' elements.
//
//   weft::grid cells(world, {0, 0}, {true, false});
//   std::vector<double> field((rows + 2) * (columns + 2));     // row by row, with ghosts around
//   weft::halo ghosts(cells, field, {rows, columns}, 1);
//   for (...) {
//     ghosts.start();   // sends the faces
//     ...               // what needs no ghosts
//     ghosts.wait();    // the neighbours' faces are in the ghosts
//   }
//
//        . g g g g .      g: ghosts of width 1, from the neighbours' faces
//        g f f f f g      f: the faces that go to the neighbours; i: the rest of the interior
//        g f i i f g      .: corners, which are exchanged on demand
//        g f f f f g
//        . g g g g .
#pragma once

#include <weft/api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>
#include <weft/counts.hpp>
#include <weft/grid.hpp>
#include <weft/layout.hpp>
#include <weft/plan.hpp>
#include <weft/request.hpp>
#include <weft/type.hpp>

namespace weft {

/// Whether ghosts at an array's corners and edges are exchanged, too, and how.
enum class corners {
  none,
  by_dimension,  ///< one dimension after another, two messages in each, which carry the ghosts of those before
  directly,      ///< by a message from each of the up to 3^n - 1 neighbours, all at a time
};

/// Exchanges the ghosts of one array, again and again. Made once, by every rank of the grid, in the same order as its
/// other halos and planned collectives; blocks for nobody. Movable; gone before the array, and before the grid's
/// runtime. Each rank exchanges as often as the others.
class WEFT_API halo {
 public:
  /// Of an array with as many dimensions as the grid, up to four, which lies row by row: in each `interior` elements
  /// and `width` ghosts at both ends. Ranks that are neighbours in one dimension have the same interior in the others.
  /// Where the grid ends ghosts stay as they are, but for corners by dimension: there they are as those of the
  /// neighbours. Throws errc::invalid_count where the array has not as many elements, or an interior is shorter than
  /// the width.
  template <element_range R>
  requires lasting<R> halo(grid& cells, R&& array, const given_counts& interior, std::size_t width = 1,
                           corners with = corners::none)
      : halo(cells, detail::writable_bytes_of(array), sizeof(std::ranges::range_value_t<R>), interior.all(), width,
             with) {}

  /// The same of elements whose type is known only when the program runs, each of which is in one piece.
  halo(grid& cells, const buffer& array, const given_counts& interior, std::size_t width = 1,
       corners with = corners::none);

  /// Copies the faces and begins to send them. The interior may be changed then; the ghosts are the exchange's.
  void start();
  /// Polls once; true when the ghosts are there, and then it can be started again. Does not block, but lets other
  /// fibers run.
  bool test();
  /// Blocks until the ghosts are there. With corners by dimension the faces of the second dimension and those behind it
  /// are sent in here, or in `test`. Throws what `plan::wait` throws.
  void wait();
  void exchange() {
    start();
    wait();
  }

 private:
  static constexpr std::size_t most = 4;
  /// Of each dimension. An array that has fewer has some of one element before them.
  using each_dimension = std::array<std::size_t, most>;
  using direction = std::array<int, most>;
  /// A part of the array, from its first byte on.
  struct part {
    std::byte* at;
    detail::layout lies;
  };
  /// Messages that go at a time.
  struct phase {
    std::vector<part> sent, received;
    std::vector<std::byte> out, in;  ///< these parts, one after another
    plan messages;                   ///< behind them, since it is over before they go
  };

  halo(grid& cells, std::span<std::byte> array, std::size_t element_bytes, block_counts interior, std::size_t width,
       corners with);
  phase make_phase(grid& cells, std::span<const direction> to, std::size_t done, std::int64_t tags) const;
  /// The face in that direction, or the ghosts there: those of the first `done` dimensions, too.
  part part_of(const direction& to, std::size_t done, bool ghosts) const;
  void begin(phase& which);
  void end(phase& which);
  template <class IsOver>
  bool go_on(const IsOver& is_over);

  std::byte* data_;
  std::size_t element_bytes_;
  each_dimension interior_, width_, stride_;  ///< elements; from one to the next
  std::vector<phase> phases_;
  std::size_t now_ = 0;  ///< which is in flight
  bool started_ = false;
};

}  // namespace weft
