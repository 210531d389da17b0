// SPDX-License-Identifier: Apache-2.0
// Heat on a square plate, whose left edge is hot: each rank has a part of it, with a ghost cell around, and computes
// the inside of that while the edges are on their way.  heat [SIDE [STEPS]]
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <weft/weft.hpp>

namespace {

using field = std::vector<double>;

struct area {
  std::size_t first_row, first_column, rows, columns;  // of the plate's cells

  std::size_t width() const { return columns + 2; }
  /// Warm where the sine is, hot beyond the left edge.
  field start() const {
    field cells((rows + 2) * width());
    for (std::size_t i = 0; i < rows + 2; ++i)
      for (std::size_t j = 0; j < width(); ++j)
        cells[i * width() + j] =
            first_column + j == 0 ? 100 : 10 * std::sin(0.1 * double((first_row + i) * (first_column + j)));
    return cells;
  }
  /// One step of the rows [begin, end) and columns [left, right) of the part.
  void step(const field& now, field& next, std::size_t begin, std::size_t end, std::size_t left,
            std::size_t right) const {
    for (std::size_t i = begin + 1; i < end + 1; ++i)
      for (std::size_t at = i * width() + left + 1; at < i * width() + right + 1; ++at)
        next[at] = now[at] + 0.2 * (now[at - 1] + now[at + 1] + now[at - width()] + now[at + width()] - 4 * now[at]);
  }
};

std::size_t part_begin(std::size_t side, int part, int parts) { return side * std::size_t(part) / std::size_t(parts); }

field serial(std::size_t side, int steps) {
  const area plate{0, 0, side, side};
  field now = plate.start(), next = now;
  for (int n = 0; n < steps; ++n) {
    plate.step(now, next, 0, side, 0, side);
    std::swap(now, next);
  }
  return now;
}

area part_of(const weft::grid& cells, int rank, std::size_t side) {
  const std::vector<int> at = cells.shape().coordinates(rank);
  const std::span<const int> parts = cells.shape().extents();
  const std::size_t row = part_begin(side, at[0], parts[0]), column = part_begin(side, at[1], parts[1]);
  return {row, column, part_begin(side, at[0] + 1, parts[0]) - row, part_begin(side, at[1] + 1, parts[1]) - column};
}

void solve(weft::communicator& world, std::size_t side, int steps) {
  weft::grid cells(world, {0, 0});
  const area mine = part_of(cells, cells.rank(), side);
  field fields[] = {mine.start(), mine.start()};
  weft::halo halos[] = {{cells, fields[0], {mine.rows, mine.columns}}, {cells, fields[1], {mine.rows, mine.columns}}};
  for (int n = 0; n < steps; ++n) {
    const field& now = fields[n % 2];
    field& next = fields[(n + 1) % 2];
    halos[n % 2].start();
    if (mine.rows > 2 && mine.columns > 2) mine.step(now, next, 1, mine.rows - 1, 1, mine.columns - 1);
    halos[n % 2].wait();
    mine.step(now, next, 0, 1, 0, mine.columns);
    mine.step(now, next, mine.rows - 1, mine.rows, 0, mine.columns);
    mine.step(now, next, 0, mine.rows, 0, 1);
    mine.step(now, next, 0, mine.rows, mine.columns - 1, mine.columns);
  }
  // Every part goes straight to where it belongs on the plate of rank 0.
  field& last = fields[steps % 2];
  const auto inside = weft::view(last, mine.rows + 2, mine.width()).part({1, 1}, {mine.rows, mine.columns});
  weft::handle sent = cells.isend(inside, 0);
  if (cells.rank() == 0) {
    const area whole{0, 0, side, side};
    field plate = whole.start();
    for (int rank = 0; rank < cells.size(); ++rank) {
      const area its = part_of(cells, rank, side);
      const auto all = weft::view(plate, side + 2, side + 2);
      cells.recv(all.part({its.first_row + 1, its.first_column + 1}, {its.rows, its.columns}), rank);
    }
    if (plate != serial(side, steps))
      throw weft::error(weft::errc::operation_failed, "heat: not what a serial run gives");
    std::printf("%zu x %zu cells, %d steps on %d x %d ranks: as the serial run, to the bit\n", side, side, steps,
                cells.shape().extents()[0], cells.shape().extents()[1]);
  }
  sent.wait();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    const std::size_t side = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
    runtime.run([&](weft::communicator& world) { solve(world, side, steps); });
  } catch (const weft::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
