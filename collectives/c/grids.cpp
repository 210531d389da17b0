// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <weft/grid.hpp>
#include <weft/halo.hpp>

#include "handles.hpp"

struct weft_grid {
  explicit weft_grid(weft::grid&& made) : it(std::move(made)), comm(it) {}
  weft::grid it;
  weft_comm comm;
};

struct weft_halo {
  weft::halo it;
};

namespace weft::c {
namespace {

grid& grid_of(weft_grid* given) { return at(given, "grid").it; }
const grid& grid_of(const weft_grid* given) { return at(given, "grid").it; }

std::size_t bytes_of(const weft_type* type) {
  if (!of(type).is_contiguous()) throw error(errc::invalid_argument, "elements that do not lie in one piece");
  return of(type).bytes();
}
std::span<const std::byte> reading_bytes(const void* data, std::size_t count, const weft_type* type) {
  return {static_cast<const std::byte*>(data), count * bytes_of(type)};
}
std::span<std::byte> writing_bytes(void* data, std::size_t count, const weft_type* type) {
  return {static_cast<std::byte*>(data), count * bytes_of(type)};
}

std::size_t blocks_of(weft_grid* given) { return grid_of(given).neighbors().size(); }
block_counts list_of(weft_grid* given, const std::size_t* counts) { return {&at(counts, "counts"), blocks_of(given)}; }
std::size_t all_of(block_counts counts) { return std::reduce(counts.begin(), counts.end()); }
std::vector<std::size_t> in_bytes(block_counts counts, const weft_type* type) {
  std::vector<std::size_t> all(counts.begin(), counts.end());
  for (std::size_t& each : all) each *= bytes_of(type);
  return all;
}

static_assert(WEFT_CORNERS_BY_DIMENSION == static_cast<int>(corners::by_dimension));
static_assert(WEFT_CORNERS_DIRECTLY == static_cast<int>(corners::directly));

}  // namespace
}  // namespace weft::c

using namespace weft::c;

int weft_grid_create(weft_comm* comm, size_t dimensions, const int* extents, const int* periodic, int by_node,
                     weft_grid** grid) {
  return give(grid, [&] {
    std::vector<int> wanted(dimensions);
    if (extents != nullptr) std::copy_n(extents, dimensions, wanted.begin());
    std::vector<bool> goes_round(dimensions);
    if (periodic != nullptr) std::copy_n(periodic, dimensions, goes_round.begin());
    return weft::grid(of(comm), wanted, goes_round,
                      by_node != 0 ? weft::placement::by_node : weft::placement::as_ranked);
  });
}
int weft_grid_keep(weft_grid* grid, const int* kept, weft_grid** part) {
  return give(part, [&] {
    const std::size_t dimensions = grid_of(grid).shape().dimensions();
    return grid_of(grid).keep(std::vector<bool>(&at(kept, "kept"), kept + dimensions));
  });
}
void weft_grid_free(weft_grid* grid) { delete grid; }

weft_comm* weft_grid_comm(weft_grid* grid) { return grid != nullptr ? &grid->comm : nullptr; }
size_t weft_grid_dimensions(const weft_grid* grid) { return grid != nullptr ? grid->it.shape().dimensions() : 0; }
const int* weft_grid_extents(const weft_grid* grid) {
  return grid != nullptr ? grid->it.shape().extents().data() : nullptr;
}
int weft_grid_coordinates(const weft_grid* grid, int rank, int* coordinates) {
  return guarded([&] { std::ranges::copy(grid_of(grid).shape().coordinates(rank), &at(coordinates, "coordinates")); });
}
int weft_grid_rank_at(const weft_grid* grid, const int* coordinates, int* rank) {
  return guarded([&] {
    const weft::grid_shape& shape = grid_of(grid).shape();
    at(rank, "rank") = shape.rank_at({&at(coordinates, "coordinates"), shape.dimensions()}).value_or(-1);
  });
}
int weft_grid_shift(const weft_grid* grid, size_t dimension, int by, int* source, int* destination) {
  return guarded([&] {
    const auto to = grid_of(grid).shift(dimension, by);
    if (source != nullptr) *source = to.source.value_or(-1);
    if (destination != nullptr) *destination = to.destination.value_or(-1);
  });
}
int weft_grid_neighbors(const weft_grid* grid, int* ranks) {
  return guarded([&] {
    int* place = &at(ranks, "ranks");
    for (const std::optional<int>& each : grid_of(grid).neighbors()) *place++ = each.value_or(-1);
  });
}

// A neighbour collective in its three forms: `call` are the arguments of grid::name.
#define NEIGHBORS(c_name, name, call, ...)                             \
  int weft_##c_name(__VA_ARGS__) {                                     \
    return guarded([&] { grid_of(grid).name call; });                  \
  }                                                                    \
  int weft_i##c_name(__VA_ARGS__, weft_request** request) {            \
    return give(request, [&] { return grid_of(grid).i##name call; });  \
  }                                                                    \
  int weft_plan_##c_name(__VA_ARGS__, weft_plan** plan) {              \
    return give(plan, [&] { return grid_of(grid).plan_##name call; }); \
  }

NEIGHBORS(neighbor_alltoall, neighbor_alltoall,
          (reading_bytes(in, count* blocks_of(grid), type), writing_bytes(out, count* blocks_of(grid), type)),
          weft_grid* grid, const void* in, void* out, size_t count, const weft_type* type)
NEIGHBORS(neighbor_alltoallv, neighbor_alltoall,
          (reading_bytes(in, all_of(list_of(grid, sent)), type),
           writing_bytes(out, all_of(list_of(grid, received)), type), in_bytes(list_of(grid, sent), type),
           in_bytes(list_of(grid, received), type)),
          weft_grid* grid, const void* in, const size_t* sent, void* out, const size_t* received, const weft_type* type)
NEIGHBORS(neighbor_allgather, neighbor_allgather,
          (reading_bytes(in, count, type), writing_bytes(out, count* blocks_of(grid), type)), weft_grid* grid,
          const void* in, void* out, size_t count, const weft_type* type)
NEIGHBORS(neighbor_allgatherv, neighbor_allgather,
          (reading_bytes(in, count, type), writing_bytes(out, all_of(list_of(grid, received)), type),
           in_bytes(list_of(grid, received), type)),
          weft_grid* grid, const void* in, size_t count, void* out, const size_t* received, const weft_type* type)

int weft_halo_create(weft_grid* grid, void* array, const weft_type* type, const size_t* interior, size_t width,
                     enum weft_corners corners, weft_halo** halo) {
  return give(halo, [&] {
    const weft::block_counts inside(&at(interior, "interior"), grid_of(grid).shape().dimensions());
    std::size_t elements = 1, all = 0;
    for (const std::size_t each : inside)
      if (__builtin_mul_overflow(elements, each + 2 * width, &elements)) elements = 0;
    if (elements == 0 || __builtin_mul_overflow(elements, bytes_of(type), &all))
      throw weft::error(weft::errc::invalid_count, "halo: an array of more than there can be, or of nothing");
    const weft::buffer ghosted(&at(static_cast<std::byte*>(array), "array"), elements, of(type));
    return weft::halo(grid_of(grid), ghosted, inside, width, static_cast<weft::corners>(corners));
  });
}
int weft_halo_start(weft_halo* halo) {
  return guarded([&] { at(halo, "halo").it.start(); });
}
int weft_halo_test(weft_halo* halo, int* done) {
  return guarded([&] { at(done, "done") = at(halo, "halo").it.test(); });
}
int weft_halo_wait(weft_halo* halo) {
  return guarded([&] { at(halo, "halo").it.wait(); });
}
int weft_halo_exchange(weft_halo* halo) {
  return guarded([&] { at(halo, "halo").it.exchange(); });
}
void weft_halo_free(weft_halo* halo) { delete halo; }
