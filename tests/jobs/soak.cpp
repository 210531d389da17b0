// SPDX-License-Identifier: Apache-2.0
// soak SECONDS SEED LAP FAILURES: after so many communicators that failed mixed traffic for so long, the same again
// after each LAP rounds (0: never). Every element is compared. Each process prints what it holds every so often, and in
// the end how that grew in the last half.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <weft/weft.hpp>

#include "collectives/call_table.hpp"
#include "collectives/case_operands.hpp"
#include "draw.hpp"
#include "holding.hpp"
#include "jobs.hpp"
#include "parts.hpp"

namespace weft_test {
namespace {

using steady = std::chrono::steady_clock;

constexpr int samples = 60;

struct sample {
  double seconds = 0;
  holding held;
};

/// Growth a minute from the first third of the last half to its last third: between the least of each, since what is
/// held comes and goes.
void print_growth(int process, const std::vector<sample>& all) {
  const std::size_t half = all.size() / 2, third = (all.size() - half) / 3, last = all.size() - third;
  const double minutes = (all[last].seconds - all[half].seconds) / 60;
  const auto least = [&](std::size_t first, std::size_t what) {
    double value = all[first].held.of[what];
    for (std::size_t i = first; i < first + third; ++i) value = std::min(value, all[i].held.of[what]);
    return value;
  };
  holding growth;
  for (std::size_t i = 0; i < growth.of.size(); ++i) growth.of[i] = (least(last, i) - least(half, i)) / minutes;
  print_holding("growth of process " + std::to_string(process) + " a minute, over minutes " + std::to_string(minutes),
                growth);
}

class soaked {
 public:
  soaked(weft::runtime& runtime, weft::communicator& world, std::uint64_t seed)
      : runtime_(runtime), world_(world), seed_(seed) {}

  /// The same on every rank.
  void round(std::uint64_t number) {
    const std::uint64_t seed = mix(seed_ ^ mix(number));
    switch (draw(seed, 0, 8)) {
      case 0:
      case 1:
        return check_rows(runtime_, world_, drawn_rows(11, seed), seed);
      case 2:
        return overlap_rows(runtime_, world_, drawn_rows(11, seed), seed);
      case 3:
        return messages(world_, seed);
      case 4:
        return exchange_messages(world_, draw(seed, 1, 2) == 0 ? draw(seed, 2, 200) : draw(seed, 2, 30'000), 50);
      case 5:
        return divisions(seed);
      case 6:
        return check_plans(world_, draw(seed, 1, 400), 3);
      default:
        return survivors(seed);
    }
  }

  /// Takes at once what is kept for good once it has been taken, up to a limit, so that what goes beyond that shows: of
  /// the heap that the node shares what each process keeps while nobody uses it, the boards of communicators with all
  /// of their slots, the rings between processes, and what stands for messages that come early. `each`: ranks of a
  /// process.
  void reach_limits(int each) {
    for (int root = 0; root < world_.size(); root += each) {
      if (world_.rank() == root) {
        weft::node_array<std::byte> all = runtime_.allocate<std::byte>(kept_of_heap);
        world_.bcast(all.span(), root);
      } else {
        std::vector<std::byte> all(kept_of_heap);
        world_.bcast(all, root);
      }
    }
    std::vector<weft::communicator> made;
    for (int i = 0; i < boards; ++i) made.push_back(world_.dup());
    for (const std::size_t count : {std::size_t{1'000}, std::size_t{100'000}}) {
      std::vector<double> in(count, 1.0), out(count);
      for (int again = 0; again < 8; ++again)
        for (weft::communicator& one : made) one.allreduce(in, out, weft::sum);
    }
    for (int deaf = 0; deaf < world_.size(); deaf += each)
      for (std::size_t bytes = 64; bytes <= std::size_t{8} << 10; bytes *= 2) send_to_deaf(deaf, each, bytes);
  }

  /// Gives back what depends on the latest calls: scratch, which is not kept where it was long, and what this program
  /// itself has found that they should return.
  void settle() {
    std::vector<double> in(150'000, 1.0), out(in.size());
    world_.scan(in, out, weft::sum);
    const auto forget = [](auto value) {
      cases::combined_by_all<decltype(value)>(1, 0, 0, weft::kernels::operation::sum);
    };
    forget(std::int64_t{}), forget(double{}), forget(float{}), forget(std::int32_t{}), forget(std::uint8_t{});
    forget(affine{});
  }

  /// A communicator whose calls end with an error, and messages there that nobody takes.
  weft::communicator revoked(std::uint64_t seed) {
    weft::communicator part = world_.dup();
    const std::array<int, 4> unwanted{};
    if (part.rank() == static_cast<int>(draw(seed, 1, static_cast<std::uint64_t>(part.size())))) part.revoke();
    try {
      part.send(unwanted, (part.rank() + 1) % part.size(), 5);
      for (;;) part.barrier();
    } catch (const weft::error& ended) {
      if (ended.code() != weft::errc::revoked) throw;
    }
    return part;
  }

 private:
  static constexpr std::size_t kept_of_heap = std::size_t{56} << 20;  ///< of 64 MiB, beside what lies there for good
  static constexpr int boards = 16;                                   ///< of a process: arena.hpp

  /// More messages of each of the others than are kept for later ones, to the process of rank `first`, which looks at
  /// none for a while.
  void send_to_deaf(int first, int each, std::size_t bytes) {
    constexpr int many = 100;
    std::vector<std::byte> text(bytes);
    const int me = world_.rank(), place = me % each;
    world_.barrier();
    if (me - place != first) {
      std::vector<weft::handle> sent;
      for (int i = 0; i < many; ++i) sent.push_back(world_.isend(text, first + place, 6));
      return weft::wait_all(sent);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (int from = place; from < world_.size(); from += each)
      for (int i = 0; from != me && i < many; ++i) world_.recv(text, from, 6);
  }

  static std::byte mark(int from, std::size_t message, std::size_t at) {
    return static_cast<std::byte>(static_cast<std::size_t>(from) * 31 + message * 7 + at * 13);
  }

  /// Everybody to everybody, of all lengths, all at once.
  static void messages(weft::communicator& on, std::uint64_t seed) {
    const int n = on.size(), me = on.rank();
    struct each {
      int other;
      std::size_t number;
      std::vector<std::byte> bytes;
    };
    std::vector<each> sent, got;
    for (int other = 0; other < n; ++other)
      for (std::size_t number = 0; number < 3; ++number) {
        const std::size_t most = draw(seed, number, 3) == 0 ? 300'000 : 9'000;
        const std::size_t bytes = draw(seed, 10 + number, most);
        got.push_back({other, number, std::vector<std::byte>(bytes)});
        sent.push_back({other, number, std::vector<std::byte>(bytes)});
        for (std::size_t at = 0; at < bytes; ++at) sent.back().bytes[at] = mark(me, number, at);
      }
    std::vector<weft::handle> all;
    for (each& one : sent) all.push_back(on.isend(one.bytes, one.other, static_cast<int>(one.number)));
    for (each& one : got) all.push_back(on.irecv(one.bytes, one.other, static_cast<int>(one.number)));
    weft::wait_all(all);
    for (const each& one : got)
      for (std::size_t at = 0; at < one.bytes.size(); ++at)
        if (one.bytes[at] != mark(one.other, one.number, at)) throw std::logic_error("a message's contents");
  }

  /// Communicators that are made, used and freed in some order.
  void divisions(std::uint64_t seed) {
    std::vector<weft::communicator> made;
    made.push_back(world_.dup());
    made.push_back(*world_.split(world_.rank() % 2, -world_.rank()));
    made.push_back(made.back().dup());
    made.push_back(world_.split_by_node());
    std::size_t number = 0;
    for (weft::communicator& each : made) {
      const std::uint64_t own = mix(seed + ++number);
      check_rows(runtime_, each, drawn_rows(4, own), own);
      messages(each, own);
    }
    while (!made.empty()) made.erase(made.begin() + static_cast<std::ptrdiff_t>(draw(seed, made.size(), made.size())));
  }

  /// What survives of a communicator whose calls have ended with an error.
  void survivors(std::uint64_t seed) {
    weft::communicator rest = revoked(seed).shrink();
    if (rest.size() != world_.size()) throw std::logic_error("a rank is missing that lives");
    check_rows(runtime_, rest, drawn_rows(2, seed), seed);
  }

  weft::runtime& runtime_;
  weft::communicator& world_;
  std::uint64_t seed_;
};

struct soaking {
  std::chrono::duration<double> time;
  std::uint64_t seed, lap, failures;
};

/// Whether rank 0's time is over, told to all.
bool is_over(weft::communicator& world, steady::time_point end) {
  std::array<int, 1> over{world.rank() == 0 && steady::now() >= end};
  world.bcast(over, 0);
  return over[0] != 0;
}

void soak_rank(weft::runtime& runtime, weft::communicator& world, const soaking& how) {
  const char* const ranks = std::getenv("WEFT_RANKS_PER_PROCESS");
  const int each = ranks == nullptr ? 1 : std::atoi(ranks), process = world.rank() / each;
  const bool looks = world.rank() % each == 0;
  soaked traffic(runtime, world, how.seed);
  traffic.reach_limits(each);
  // So much is remembered of failures, and of the notes of them: with enough of them no more from here on.
  for (std::uint64_t i = 0; i < how.failures; ++i) traffic.revoked(i).shrink();
  std::vector<sample> all;
  all.reserve(samples);
  const auto begin = steady::now();
  std::uint64_t round = 0;
  for (int number = 1; number <= samples; ++number) {
    const auto until = begin + std::chrono::duration_cast<steady::duration>(how.time / samples * number);
    do traffic.round(how.lap == 0 ? round : round % how.lap);
    while (++round % std::max<std::uint64_t>(how.lap, 1) != 0 || !is_over(world, until));
    traffic.settle();
    world.barrier();
    if (looks) {
      all.push_back({std::chrono::duration<double>(steady::now() - begin).count(), held_now()});
      print_holding("process " + std::to_string(process) + " after " + std::to_string(all.back().seconds) + " s",
                    all.back().held);
    }
    world.barrier();
  }
  if (looks) print_growth(process, all);
  if (world.rank() == 0) std::printf("%llu rounds\n", static_cast<unsigned long long>(round));
}

}  // namespace

int soak(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
  const soaking how{std::chrono::duration<double>(std::atof(argv[2])), number(3), number(4), number(5)};
  runtime.run([&](weft::communicator& world) { soak_rank(runtime, world, how); });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "soak: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
