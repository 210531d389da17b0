// SPDX-License-Identifier: Apache-2.0
// The times of 8-byte all-reduces of an MPI, for tools/consistency_table.py: all ranks on one machine.
//
//   mpi_consistency SECONDS
//
// Prints a JSON list of microseconds, a number for each call: from when the last rank entered it to when the last rank
// returned from it.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

long long now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // the same for every process of the machine
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc == 2 ? std::atof(argv[1]) : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: mpi_consistency SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  constexpr int warm_up = 100;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double mine = 1.0 + rank;
  double all = 0;
  std::vector<long long> begun, returned;
  const double end = MPI_Wtime() + seconds;
  for (int i = 0;; ++i) {
    int go_on = rank == 0 && i < 100'000 && (i < 2 * warm_up || MPI_Wtime() < end) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &go_on, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (go_on == 0) break;
    const long long start = now();
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const long long stop = now();
    if (i < warm_up) continue;
    begun.push_back(start);
    returned.push_back(stop);
  }
  const int count = static_cast<int>(begun.size());
  MPI_Allreduce(MPI_IN_PLACE, begun.data(), count, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, returned.data(), count, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("[");
    for (int i = 0; i < count; ++i)
      std::printf("%s%.3f", i == 0 ? "" : ", ", static_cast<double>(returned[i] - begun[i]) * 1e-3);
    std::printf("]\n");
  }
  MPI_Finalize();
}
