// SPDX-License-Identifier: Apache-2.0
// How long messages of an MPI take one way, for tools/message_table.py: as `weft bench latency -b FROM -e TO` measures.
//
//   mpi_one_way PEER FROM TO FACTOR MILLISECONDS
//
// Two ranks. Prints a JSON object a line for each size, which names PEER.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

enum tag : int { count_tag = 1, there_tag = 2, back_tag = 3 };

constexpr int warm_up = 10, calls = 5;

struct side {
  std::vector<char> sent, received;
  long long number = 0;
  int wrong = 0;

  explicit side(std::size_t bytes) : sent(bytes), received(bytes) {}

  /// Seconds, half of those of the round trip.
  double one_way() {
    const std::size_t room = std::min(sent.size(), sizeof number), last = sent.size() - room;
    std::memcpy(sent.data(), &++number, room);
    std::memcpy(sent.data() + last, &number, room);
    const int bytes = static_cast<int>(sent.size());
    const double start = MPI_Wtime();
    MPI_Send(sent.data(), bytes, MPI_CHAR, 1, there_tag, MPI_COMM_WORLD);
    MPI_Recv(received.data(), bytes, MPI_CHAR, 1, back_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    if (std::memcmp(received.data(), sent.data(), room) != 0 ||
        std::memcmp(received.data() + last, sent.data() + last, room) != 0)
      ++wrong;
    return (end - start) / 2;
  }

  void echo() {
    const int bytes = static_cast<int>(received.size());
    MPI_Recv(received.data(), bytes, MPI_CHAR, 0, there_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(received.data(), bytes, MPI_CHAR, 0, back_tag, MPI_COMM_WORLD);
  }
};

void time_size(const char* peer, std::size_t bytes, double budget) {
  side mine(bytes);
  for (int i = 0; i < warm_up; ++i) mine.one_way();
  double once = mine.one_way();
  for (int i = 1; i < calls; ++i) once = std::min(once, mine.one_way());
  const int samples = static_cast<int>(std::clamp(budget / std::max(once, 1e-9), 20.0, 20'000.0));
  MPI_Send(&samples, 1, MPI_INT, 1, count_tag, MPI_COMM_WORLD);
  std::vector<double> us(static_cast<std::size_t>(samples));
  for (double& each : us) each = mine.one_way() * 1e6;
  std::sort(us.begin(), us.end());
  std::printf("{\"peer\": \"%s\", \"bytes\": %zu, \"samples\": %d, \"median_us\": %.3f, \"wrong\": %d}\n", peer, bytes,
              samples, us[us.size() / 2], mine.wrong);
  std::fflush(stdout);
}

void answer(std::size_t bytes) {
  side mine(bytes);
  for (int i = 0; i < warm_up + calls; ++i) mine.echo();
  int samples = 0;
  MPI_Recv(&samples, 1, MPI_INT, 0, count_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < samples; ++i) mine.echo();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 6 || size != 2) {
    std::fprintf(stderr, "usage: mpirun -n 2 mpi_one_way PEER FROM TO FACTOR MILLISECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const std::size_t from = std::strtoull(argv[2], nullptr, 10), to = std::strtoull(argv[3], nullptr, 10);
  const std::size_t factor = std::strtoull(argv[4], nullptr, 10);
  for (std::size_t bytes = from; bytes <= to; bytes *= factor) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
      time_size(argv[1], bytes, std::atof(argv[5]) * 1e-3);
    else
      answer(bytes);
  }
  MPI_Finalize();
}
