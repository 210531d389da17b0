// SPDX-License-Identifier: Apache-2.0
// Where ranks lie on a grid: arithmetic alone.
//
//   const weft::grid_shape torus({4, 3}, {true, false});  // 12 ranks, row by row: rank 5 lies at (1, 2)
//
//        (0,0) 0   (0,1) 1   (0,2) 2
//        (1,0) 3   (1,1) 4   (1,2) 5      dimension 0 goes down, and round; dimension 1 to the right, and ends there
//        (2,0) 6   (2,1) 7   (2,2) 8
//        (3,0) 9   (3,1) 10  (3,2) 11
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// `wanted` with a positive number in place of each 0, so that all multiply to `ranks`: of those the ones with the
/// least sum, which cut a cube with the least surface, in descending order (as MPI_Dims_create). Throws
/// errc::invalid_count where what is given does not divide `ranks`, and for negative numbers.
WEFT_API std::vector<int> balanced_extents(int ranks, std::span<const int> wanted);
/// The same of so many dimensions, all chosen.
WEFT_API std::vector<int> balanced_extents(int ranks, std::size_t dimensions);

/// Extents, and whether each dimension is periodic. Ranks go row by row: the last coordinate changes fastest.
class WEFT_API grid_shape {
 public:
  /// Of the extents, each at least 1. `periodic` is as long, or empty: then none is. Throws errc::invalid_count.
  explicit grid_shape(std::vector<int> extents, std::vector<bool> periodic = {});

  /// How many ranks it has.
  int size() const noexcept { return size_; }
  std::size_t dimensions() const noexcept { return extents_.size(); }
  std::span<const int> extents() const noexcept { return extents_; }
  /// Throws errc::invalid_argument where there is no such dimension, as all calls that take one.
  bool periodic(std::size_t dimension) const;

  /// Throws errc::invalid_rank where it has no such rank, as all calls that take one.
  std::vector<int> coordinates(int rank) const;
  /// The rank there: around a periodic dimension, none outside of one that is not. Throws errc::invalid_count where
  /// there are not as many coordinates as dimensions.
  std::optional<int> rank_at(std::span<const int> coordinates) const;

  /// Who `rank` receives from and sends to where all send `by` further along a dimension.
  struct shifted {
    std::optional<int> source, destination;
  };
  shifted shift(int rank, std::size_t dimension, int by) const;
  /// Of each dimension in turn the rank one before and that one behind, none where the grid ends. A rank is there twice
  /// where a periodic dimension has two, and is its own neighbour where that has one.
  std::vector<std::optional<int>> neighbors(int rank) const;

  friend bool operator==(const grid_shape&, const grid_shape&) = default;

 private:
  void check(std::size_t dimension) const;

  std::vector<int> extents_;
  std::vector<bool> periodic_;
  int size_ = 1;
};

}  // namespace weft
