// SPDX-License-Identifier: Apache-2.0
// Messages of an MPI, for tools/message_table.py: as `weft bench` measures KIND, which is latency, bandwidth,
// bidirectional, message-rate, put or get.
//
//   mpi_messages PEER KIND FROM TO FACTOR MILLISECONDS WINDOW PAIRS UNMATCHED
//
// Two ranks for latency, otherwise twice PAIRS. Prints a JSON object a line for each size, which names PEER.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

enum tag : int { count_tag = 1, there_tag = 2, back_tag = 3, payload_tag = 4, answer_tag = 5, unmatched_tag = 6 };

struct settings {
  std::string peer, kind;
  std::size_t from, to, factor;
  double budget;  // seconds
  int window, pairs, unmatched;
};

int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int count_samples(double budget, double once) {
  return static_cast<int>(std::clamp(budget / std::max(once, 1e-7), 20.0, 20'000.0));
}

/// `messages` are those of a time, of which the rates are printed; 0: none.
void report(const settings& asked, std::size_t bytes, std::vector<double> seconds, double messages, int wrong) {
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::printf("{\"peer\": \"%s\", \"collective\": \"%s\", \"bytes\": %zu, \"samples\": %zu, \"min_us\": %.3f, ",
              asked.peer.c_str(), asked.kind.c_str(), bytes, seconds.size(), seconds[0] * 1e6);
  std::printf("\"median_us\": %.3f, \"p99_us\": %.3f, \"wrong\": %d", median * 1e6,
              seconds[seconds.size() * 99 / 100] * 1e6, wrong);
  std::printf(", \"bytes_per_s\": %.0f", std::max(messages, 1.0) * static_cast<double>(bytes) / median);
  if (messages > 0) std::printf(", \"messages_per_s\": %.0f", messages / median);
  std::printf("}\n");
  std::fflush(stdout);
}

/// The number of a message, at both of its ends.
void put_number(char* message, std::size_t bytes, const long long& number) {
  const std::size_t room = std::min(bytes, sizeof number);
  std::memcpy(message, &number, room);
  std::memcpy(message + bytes - room, &number, room);
}

bool has_number(const char* message, std::size_t bytes, const long long& number) {
  const std::size_t room = std::min(bytes, sizeof number);
  const bool overlap = bytes < 2 * sizeof number;  // of both ends: the last was put later
  return std::memcmp(message + bytes - room, &number, room) == 0 &&
         (overlap || std::memcmp(message, &number, room) == 0);
}

/// One rank of two between which a message goes to and fro.
struct one_way_side {
  std::vector<char> sent, received;
  long long number = 0;
  int wrong = 0;

  explicit one_way_side(std::size_t bytes) : sent(bytes), received(bytes) {}

  /// Seconds, half of those of the round trip.
  double one_way() {
    put_number(sent.data(), sent.size(), ++number);
    const int bytes = static_cast<int>(sent.size());
    const double start = MPI_Wtime();
    MPI_Send(sent.data(), bytes, MPI_CHAR, 1, there_tag, MPI_COMM_WORLD);
    MPI_Recv(received.data(), bytes, MPI_CHAR, 1, back_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    if (!has_number(received.data(), received.size(), number)) ++wrong;
    return (end - start) / 2;
  }

  void echo() {
    const int bytes = static_cast<int>(received.size());
    MPI_Recv(received.data(), bytes, MPI_CHAR, 0, there_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(received.data(), bytes, MPI_CHAR, 0, back_tag, MPI_COMM_WORLD);
  }
};

void measure_one_way(const settings& asked, std::size_t bytes) {
  constexpr int warm_up = 10, calls = 5;
  one_way_side mine(bytes);
  int samples = 0;
  if (rank_in_world() == 1) {
    for (int i = 0; i < warm_up + calls; ++i) mine.echo();
    MPI_Recv(&samples, 1, MPI_INT, 0, count_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < samples; ++i) mine.echo();
    return;
  }
  for (int i = 0; i < warm_up; ++i) mine.one_way();
  double once = mine.one_way();
  for (int i = 1; i < calls; ++i) once = std::min(once, mine.one_way());
  samples = count_samples(asked.budget, once);
  MPI_Send(&samples, 1, MPI_INT, 1, count_tag, MPI_COMM_WORLD);
  std::vector<double> seconds(static_cast<std::size_t>(samples));
  for (double& each : seconds) each = mine.one_way();
  report(asked, bytes, seconds, 0, mine.wrong);
}

int partner_in_pair(const settings& asked) {
  return rank_in_world() < asked.pairs ? rank_in_world() + asked.pairs : rank_in_world() - asked.pairs;
}

/// One rank of a pair between which windows go; its buffers are as those of `weft bench`.
struct window_side {
  int peer, window, bytes;
  bool sends, receives;
  int buffers;
  std::vector<char> sent, received;
  std::vector<MPI_Request> calls;
  long long number = 0;
  int wrong = 0;

  window_side(const settings& asked, std::size_t size)
      : peer(partner_in_pair(asked)),
        window(asked.window),
        bytes(static_cast<int>(size)),
        sends(asked.kind == "bidirectional" || rank_in_world() < asked.pairs),
        receives(asked.kind == "bidirectional" || rank_in_world() >= asked.pairs),
        buffers(asked.kind == "message-rate" ? window : 1),
        sent(sends ? static_cast<std::size_t>(buffers) * size : 0),
        received(receives ? static_cast<std::size_t>(buffers) * size : 0) {
    calls.reserve(2 * static_cast<std::size_t>(window));
  }

  char* message(std::vector<char>& all, int index) const {
    return all.data() + static_cast<std::size_t>(index % buffers) * static_cast<std::size_t>(bytes);
  }

  int to_last() const { return std::max(1, buffers - 1); }

  void exchange() {
    ++number;
    calls.clear();
    if (receives)
      for (int i = 0; i < window; ++i)
        MPI_Irecv(message(received, i), bytes, MPI_CHAR, peer, payload_tag, MPI_COMM_WORLD, &calls.emplace_back());
    if (sends) {
      for (int i = 0; i < buffers; i += to_last())
        put_number(message(sent, i), static_cast<std::size_t>(bytes), number);
      for (int i = 0; i < window; ++i)
        MPI_Isend(message(sent, i), bytes, MPI_CHAR, peer, payload_tag, MPI_COMM_WORLD, &calls.emplace_back());
    }
    MPI_Waitall(static_cast<int>(calls.size()), calls.data(), MPI_STATUSES_IGNORE);
    if (receives)
      for (int i = 0; i < buffers; i += to_last())
        wrong += has_number(message(received, i), static_cast<std::size_t>(bytes), number) ? 0 : 1;
    int answer = 0;
    if (!sends) MPI_Send(&answer, 1, MPI_INT, peer, answer_tag, MPI_COMM_WORLD);
    if (!receives) MPI_Recv(&answer, 1, MPI_INT, peer, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  int count_wrong() const { return wrong; }
};

#ifdef MPI_VERSION  // an MPI, not what tools/plain_libfabric has instead
/// One rank of a pair of which the first puts windows of messages into the other one's memory, or gets them from there.
struct one_sided_side {
  int peer, window, bytes;
  bool acts, puts;
  std::vector<char> buffers;
  char* memory = nullptr;
  MPI_Win memories;
  long long number = 1;

  one_sided_side(const settings& asked, std::size_t size)
      : peer(partner_in_pair(asked)),
        window(asked.window),
        bytes(static_cast<int>(size)),
        acts(rank_in_world() < asked.pairs),
        puts(asked.kind == "put"),
        buffers(acts ? static_cast<std::size_t>(window) * size : 0) {
    const MPI_Aint length = acts ? 0 : static_cast<MPI_Aint>(window) * bytes;
    MPI_Win_allocate(length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &memories);
    if (!puts && !acts)
      for (int i = 0; i < window; ++i) put_number(memory + place(i), size, number);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, memories);
  }
  one_sided_side(const one_sided_side&) = delete;
  one_sided_side& operator=(const one_sided_side&) = delete;
  ~one_sided_side() {
    MPI_Win_unlock_all(memories);
    MPI_Win_free(&memories);
  }

  MPI_Aint place(int index) const { return static_cast<MPI_Aint>(index) * bytes; }

  void exchange() {
    if (puts) ++number;
    if (!acts) return;
    if (puts)
      for (const int i : {0, window - 1})
        put_number(buffers.data() + place(i), static_cast<std::size_t>(bytes), number);
    for (int i = 0; i < window; ++i)
      if (puts)
        MPI_Put(buffers.data() + place(i), bytes, MPI_CHAR, peer, place(i), bytes, MPI_CHAR, memories);
      else
        MPI_Get(buffers.data() + place(i), bytes, MPI_CHAR, peer, place(i), bytes, MPI_CHAR, memories);
    MPI_Win_flush(peer, memories);
  }

  int count_wrong() {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(memories);
    if (puts == acts) return 0;
    const char* const all = puts ? memory : buffers.data();
    int wrong = 0;
    for (const int i : {0, window - 1})
      wrong += has_number(all + place(i), static_cast<std::size_t>(bytes), number) ? 0 : 1;
    return wrong;
  }
};
#endif

template <class Side>
void measure_windows(const settings& asked, std::size_t bytes) {
  constexpr int first_windows = 3, estimating_windows = 3;
  constexpr double shortest_sample = 100e-6;
  Side mine(asked, bytes);
  // Seconds of a window, on the first rank of each pair.
  const auto time = [&](int count) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < count; ++i) mine.exchange();
    return rank_in_world() < mine.peer ? (MPI_Wtime() - start) / count : 0;
  };
  time(first_windows);
  double once = time(estimating_windows);
  MPI_Allreduce(MPI_IN_PLACE, &once, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int windows = static_cast<int>(std::clamp(std::ceil(shortest_sample / std::max(once, 1e-7)), 1.0, 1000.0));
  std::vector<double> seconds(static_cast<std::size_t>(count_samples(asked.budget, once * windows)));
  for (double& each : seconds) each = time(windows);
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int wrong = mine.count_wrong();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const double messages = (asked.kind == "bidirectional" ? 2.0 : 1.0) * asked.window * asked.pairs;
  if (rank_in_world() == 0) report(asked, bytes, seconds, messages, wrong);
}

/// Receives that no window matches, until they are matched in the end.
struct unmatched_receives {
  int peer;
  bool sends;
  std::vector<int> numbers;
  std::vector<MPI_Request> calls;

  explicit unmatched_receives(const settings& asked)
      : peer(partner_in_pair(asked)),
        sends(rank_in_world() < asked.pairs),
        numbers(static_cast<std::size_t>(asked.unmatched)) {
    if (sends) return;
    for (int& each : numbers) MPI_Irecv(&each, 1, MPI_INT, peer, unmatched_tag, MPI_COMM_WORLD, &calls.emplace_back());
  }

  void match() {
    if (sends)
      for (const int& each : numbers) MPI_Send(&each, 1, MPI_INT, peer, unmatched_tag, MPI_COMM_WORLD);
    MPI_Waitall(static_cast<int>(calls.size()), calls.data(), MPI_STATUSES_IGNORE);
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 10) {
    std::fprintf(stderr, "usage: mpi_messages PEER KIND FROM TO FACTOR MILLISECONDS WINDOW PAIRS UNMATCHED\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const auto number = [&](int index) { return std::strtoull(argv[index], nullptr, 10); };
  const auto small = [&](int index) { return std::atoi(argv[index]); };
  const settings asked{argv[1],  argv[2],  number(3), number(4), number(5), std::atof(argv[6]) * 1e-3,
                       small(7), small(8), small(9)};
  const bool latency = asked.kind == "latency";
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 * asked.pairs || (latency && size != 2)) {
    std::fprintf(stderr, "mpi_messages: %d ranks, and not two a pair\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  unmatched_receives unmatched(asked);
  for (std::size_t bytes = asked.from; bytes <= asked.to; bytes *= asked.factor) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (latency) measure_one_way(asked, bytes);
#ifdef MPI_VERSION
    else if (asked.kind == "put" || asked.kind == "get")
      measure_windows<one_sided_side>(asked, bytes);
#endif
    else
      measure_windows<window_side>(asked, bytes);
  }
  unmatched.match();
  MPI_Finalize();
}
