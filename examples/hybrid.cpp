// SPDX-License-Identifier: Apache-2.0
// Heat in a plate, on ranks that each run threads of OpenMP.
//   weft run -n 4 --cpus-per-rank 2 hybrid [CELLS [STEPS]]
// Each rank has a part of the plate of CELLS x CELLS. In every step the ranks exchange the edges of their parts while
// their threads compute the inside; then the threads compute the edges. In the end rank 0 compares all parts with the
// same plate computed alone: they are the same to the bit, since each cell is computed in the same way.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

using size = std::size_t;

/// Rows and columns of cells with one more all around.
class plate {
 public:
  /// A part of a plate of `all` x `all`, from this row and column of it on.
  plate(size rows, size columns, size first_row, size first_column, size all)
      : rows(rows), columns(columns), now_((rows + 2) * (columns + 2)) {
    for (size i = 1; i <= rows; ++i)
      for (size j = 1; j <= columns; ++j) {
        const size row = first_row + i, column = first_column + j;
        now_[place(i, j)] = row > all / 4 && row <= all / 2 && column > all / 3 && column <= all / 2 ? 100 : 0;
      }
    next_ = now_;
  }

  /// One step for the cells of these rows and columns; the largest change of one.
  double step(size first_row, size last_row, size first_column, size last_column) {
    double most = 0;
#pragma omp parallel for reduction(max : most) schedule(static)
    for (size i = first_row; i <= last_row; ++i)
      for (size j = first_column; j <= last_column; ++j) {
        const size at = place(i, j);
        next_[at] = now_[at] + 0.2 * (now_[at - 1] + now_[at + 1] + now_[at - columns - 2] + now_[at + columns + 2] -
                                      4 * now_[at]);
        most = std::max(most, std::abs(next_[at] - now_[at]));
      }
    return most;
  }
  /// What has been computed holds now, in the same memory, which a halo knows.
  void take() {
#pragma omp parallel for schedule(static)
    for (size i = 1; i <= rows; ++i)
      std::copy_n(next_.begin() + static_cast<std::ptrdiff_t>(place(i, 1)), columns,
                  now_.begin() + static_cast<std::ptrdiff_t>(place(i, 1)));
  }

  std::vector<double>& cells() { return now_; }
  double at(size row, size column) const { return now_[place(row, column)]; }

  const size rows, columns;

 private:
  size place(size row, size column) const { return row * (columns + 2) + column; }

  std::vector<double> now_, next_;
};

/// The inside first, which needs nothing from others, then the four edges.
double step(plate& part, weft::halo& ghosts) {
  const size rows = part.rows, columns = part.columns;
  ghosts.start();
  double most = part.step(2, rows - 1, 2, columns - 1);
  ghosts.wait();
  for (const double edge : {part.step(1, 1, 1, columns), part.step(rows, rows, 1, columns),
                            part.step(2, rows - 1, 1, 1), part.step(2, rows - 1, columns, columns)})
    most = std::max(most, edge);
  part.take();
  return most;
}

/// Where the part of that coordinate begins.
size begin_of(int part, int parts, size cells) { return cells * static_cast<size>(part) / static_cast<size>(parts); }

int run_rank(weft::communicator& world, size cells, int steps) {
  weft::grid grid(world, {0, 0}, {false, false}, weft::placement::by_node);
  const auto extents = grid.shape().extents();
  if (cells < 2 * static_cast<size>(extents[0])) throw std::invalid_argument("hybrid: too few cells for so many ranks");
  const auto part_of = [&](int rank) {
    const auto at = grid.shape().coordinates(rank);
    const size top = begin_of(at[0], extents[0], cells), left = begin_of(at[1], extents[1], cells);
    return plate(begin_of(at[0] + 1, extents[0], cells) - top, begin_of(at[1] + 1, extents[1], cells) - left, top, left,
                 cells);
  };
  plate mine = part_of(grid.rank());
  weft::halo ghosts(grid, mine.cells(), {mine.rows, mine.columns});
  double change = 0;
  for (int i = 0; i < steps; ++i) change = step(mine, ghosts);
  change = grid.allreduce(change, weft::max);

  const int threads = grid.allreduce(omp_get_max_threads(), weft::min);
  std::vector<std::size_t> counts;
  const std::vector<double> all = grid.gatherv(mine.cells(), 0, &counts);
  int wrong = 0;
  if (grid.rank() == 0) {
    plate alone(cells, cells, 0, 0, cells);
    double expected = 0;
    for (int i = 0; i < steps; ++i) {
      expected = alone.step(1, cells, 1, cells);
      alone.take();
    }
    wrong = expected != change;
    size at = 0;
    for (int rank = 0; rank < grid.size(); ++rank) {
      plate its = part_of(rank);
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(at), counts[static_cast<size>(rank)], its.cells().begin());
      at += counts[static_cast<size>(rank)];
      const auto where = grid.shape().coordinates(rank);
      const size top = begin_of(where[0], extents[0], cells), left = begin_of(where[1], extents[1], cells);
      for (size i = 1; i <= its.rows; ++i)
        for (size j = 1; j <= its.columns; ++j) wrong += its.at(i, j) != alone.at(top + i, left + j);
    }
    std::printf("%d x %d ranks of %d threads: %zu x %zu cells, %d steps, the last one changed up to %.3g; check: %s\n",
                extents[0], extents[1], threads, cells, cells, steps, change, wrong == 0 ? "passed" : "failed");
    std::fflush(stdout);
  }
  return grid.bcast(wrong, 0) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    const size cells = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 400;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
    // A parallel loop keeps its thread until all of it is done: with a rank a worker, none waits for another rank's.
    std::atomic<int> status = EXIT_SUCCESS;
    runtime.run([&](weft::communicator& world) {
      if (const int its = run_rank(world, cells, steps); its != EXIT_SUCCESS) status = its;
    });
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
