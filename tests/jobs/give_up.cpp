// SPDX-License-Identifier: Apache-2.0
// give_up: communicators are aborted while long messages travel both ways, and the memory is taken away at once.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>
#include <weft/weft.hpp>

#include "draw.hpp"
#include "jobs.hpp"

namespace weft_test {
namespace {

constexpr std::size_t bytes = 6 << 20;

/// Pages that are gone when this is: whoever touches them then ends the process.
class pages {
 public:
  pages() : memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~pages() { ::munmap(memory_, bytes); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  std::span<double> all() const { return {static_cast<double*>(memory_), bytes / sizeof(double)}; }

 private:
  void* memory_;
};

using memory = std::vector<std::unique_ptr<pages>>;

/// An operation and what it must have for itself until it is over.
struct job_part {
  memory held;
  weft::handle running;

  /// Whether it was interrupted. Its memory is gone afterwards.
  bool finish() {
    try {
      running.wait();
    } catch (const weft::error& e) {
      held.clear();
      if (e.code() != weft::errc::revoked) throw;
      return true;
    }
    held.clear();
    return false;
  }
};

template <class Start>
job_part start(std::size_t buffers, Start begin) {
  job_part part;
  for (std::size_t i = 0; i < buffers; ++i) part.held.push_back(std::make_unique<pages>());
  part.running = begin(part.held);
  return part;
}

/// Everybody sends to and receives from both neighbours and sums; one rank aborts at some moment, the others find out.
bool attempt(weft::communicator& doomed, std::uint64_t seed) {
  const int n = doomed.size(), right = (doomed.rank() + 1) % n, left = (doomed.rank() + n - 1) % n;
  std::vector<job_part> parts;
  parts.push_back(start(1, [&](memory& of) { return doomed.irecv(of[0]->all(), left, 1); }));
  parts.push_back(start(1, [&](memory& of) { return doomed.irecv(of[0]->all(), right, 2); }));
  parts.push_back(start(1, [&](memory& of) { return doomed.isend(of[0]->all(), right, 1); }));
  parts.push_back(start(1, [&](memory& of) { return doomed.isend(of[0]->all(), left, 2); }));
  parts.push_back(start(2, [&](memory& of) { return doomed.iallreduce(of[0]->all(), of[1]->all(), weft::sum); }));
  if (doomed.rank() == static_cast<int>(draw(seed, 1, static_cast<std::uint64_t>(n)))) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(draw(seed, 2, 12'000));
    while (std::chrono::steady_clock::now() < until)
      parts.back().running.wait_until(std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
    doomed.abort();
    for (job_part& each : parts) each.held.clear();
  }
  bool any = false;
  for (job_part& each : parts) any = each.finish() || any;
  return any;
}

void refuse_further_calls(weft::communicator& gone) {
  try {
    gone.barrier();
  } catch (const weft::error& e) {
    if (e.code() == weft::errc::revoked) return;
    throw;
  }
  throw std::logic_error("a barrier of an aborted communicator returned");
}

}  // namespace

int give_up(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  const auto seed = std::strtoull(argv[2], nullptr, 10);
  const int times = std::atoi(argv[3]);
  int interrupted = 0;
  runtime.run([&](weft::communicator& world) {
    for (int i = 0; i < times; ++i) {
      weft::communicator doomed = world.dup();
      const bool any = attempt(doomed, seed + static_cast<std::uint64_t>(i));
      world.barrier();  // the news may come after the last of this rank's transfers
      refuse_further_calls(doomed);
      std::vector<std::int64_t> ones(50'000, 1), sums(50'000);
      world.allreduce(ones, sums, weft::sum);
      if (sums.front() != world.size() || sums.back() != world.size())
        throw std::logic_error("the world does not go on");
      if (world.rank() == 0) interrupted += any;
    }
  });
  std::printf("%d of %d interrupted\n", interrupted, times);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "give_up: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
