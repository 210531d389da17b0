/* SPDX-License-Identifier: Apache-2.0
 * Heat on a square plate, whose upper edge is hot, in C: each rank has some rows.  heat_c [SIDE [STEPS]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

/* Ends the program where a call has failed. */
static void check(int result) {
  if (result == WEFT_OK) return;
  fprintf(stderr, "heat: %s\n", weft_error_text());
  exit(1);
}

/* Rows that begin at row `first`, with one more before and behind, of side + 2 cells. */
static double* start(size_t first, size_t rows, size_t side) {
  double* cells = calloc((rows + 2) * (side + 2), sizeof *cells);
  if (cells == NULL) {
    perror("calloc");
    exit(1);
  }
  for (size_t i = 0; i < rows + 2; ++i)
    for (size_t j = 0; j < side + 2; ++j)
      cells[i * (side + 2) + j] = first + i == 0 ? 100 : (double)((first + i) * j % 7);
  return cells;
}

static void step(const double* now, double* next, size_t rows, size_t side) {
  const size_t width = side + 2;
  for (size_t i = 1; i <= rows; ++i)
    for (size_t at = i * width + 1; at <= i * width + side; ++at)
      next[at] = now[at] + 0.2 * (now[at - 1] + now[at + 1] + now[at - width] + now[at + width] - 4 * now[at]);
}

/* Of the whole plate, by one process. */
static double* serial(size_t side, int steps) {
  double *now = start(0, side, side), *next = start(0, side, side);
  for (int n = 0; n < steps; ++n) {
    step(now, next, side, side);
    double* const last = now;
    now = next;
    next = last;
  }
  free(next);
  return now;
}

int main(int argc, char** argv) {
  weft_runtime* runtime;
  weft_comm* world;
  check(weft_init(&argc, argv, &runtime));
  check(weft_world(runtime, &world));
  const size_t side = argc > 1 ? strtoul(argv[1], NULL, 10) : 64, width = side + 2;
  const int steps = argc > 2 ? atoi(argv[2]) : 100;
  const size_t rank = (size_t)weft_rank(world), ranks = (size_t)weft_size(world);
  const size_t first = side * rank / ranks, rows = side * (rank + 1) / ranks - first;

  weft_grid* slabs;
  weft_halo* ghosts[2];
  double* const fields[2] = {start(first, rows, side), start(first, rows, side)};
  check(weft_grid_create(world, 2, (int[]){0, 1}, NULL, 0, &slabs));
  for (int i = 0; i < 2; ++i)
    check(weft_halo_create(slabs, fields[i], WEFT_DOUBLE, (size_t[]){rows, side}, 1, WEFT_CORNERS_NONE, &ghosts[i]));
  for (int n = 0; n < steps; ++n) {
    check(weft_halo_exchange(ghosts[n % 2]));
    step(fields[n % 2], fields[(n + 1) % 2], rows, side);
  }

  size_t* counts = malloc(ranks * sizeof *counts);
  double* all = malloc(side * width * sizeof *all);
  if (counts == NULL || all == NULL) return perror("malloc"), 1;
  for (size_t r = 0; r < ranks; ++r) counts[r] = (side * (r + 1) / ranks - side * r / ranks) * width;
  check(weft_gatherv(world, fields[steps % 2] + width, rows * width, all, counts, NULL, WEFT_DOUBLE, 0));
  int status = 0;
  if (rank == 0) {
    double* const right = serial(side, steps);
    status = memcmp(all, right + width, side * width * sizeof *all) != 0;
    if (status != 0)
      fprintf(stderr, "heat: not what a serial run gives\n");
    else
      printf("%zu x %zu cells, %d steps on %zu ranks: as the serial run, to the bit\n", side, side, steps, ranks);
    free(right);
  }
  free(counts);
  free(all);
  for (int i = 0; i < 2; ++i) {
    weft_halo_free(ghosts[i]);
    free(fields[i]);
  }
  weft_grid_free(slabs);
  check(weft_finalize(runtime));
  return status;
}
