// SPDX-License-Identifier: Apache-2.0
// memory_limit RANKS_HERE: under the option memory-limit what the processes hold together has grown by no more than
// their limits, and some that is not counted, whatever they do until they are refused more; and they go on.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

/// Of a process, beside its limit: objects that are not counted, stacks that have been used more deeply, what malloc
/// keeps.
constexpr std::size_t slack = 12 << 20;

constexpr std::size_t most_tries = 100'000;

/// What this process has of its own, and its part of what it shares: pages of memory, not of files.
std::size_t memory_now() {
  std::ifstream all("/proc/self/smaps_rollup");
  std::size_t bytes = 0;
  for (std::string line; std::getline(all, line);)
    for (const std::string name : {"Pss_Anon:", "Pss_Shmem:"})
      if (line.starts_with(name)) bytes += std::stoull(line.substr(name.size())) << 10;
  return bytes;
}

class job {
 public:
  job(weft::runtime& runtime, weft::communicator& world, std::size_t ranks_here)
      : runtime_(runtime), world_(world), ranks_here_(ranks_here), limit_(limit_of_environment()) {
    base_ = memory_of_all();
  }

  /// Makes one after another of what `make` gives until one is refused on some rank, and checks what they hold. Then
  /// frees half of them, and the next one passes.
  template <class Make>
  void until_refused(const char* what, Make&& make) {
    std::vector<decltype(make())> all;
    const auto one_more = [&] {
      bool passed = true;
      try {
        all.push_back(make());
      } catch (const weft::error& refused) {
        passed = false;
        if (refused.code() == weft::errc::out_of_memory && refusal_.empty()) refusal_ = refused.what();
      }
      return world_.allreduce(passed ? 1 : 0, weft::min) == 1;
    };
    std::size_t made = 0;
    while (made < most_tries && one_more()) ++made;
    if (made == most_tries) fail(what, "is never refused");
    check(what, made);
    while (all.size() > made / 2) all.pop_back();
    world_.barrier();
    if (!one_more()) fail(what, "is refused though half has been freed: " + refusal_);
    refusal_.clear();
  }

  void run() {
    until_refused("communicators", [&] {
      weft::communicator made = world_.dup();
      made.allreduce(std::span(in_).first(1000), std::span(out_).first(1000), weft::sum);
      return made;
    });
    until_refused("plans", [&] { return make_planned(); });
    until_refused("arrays", [&] { return runtime_.allocate<double>(100'000); });
    calls_of_many_shapes();
    messages_unreceived();
    fibers();
  }

 private:
  /// A plan, and a communicator of its own, which fails on all ranks where the plan does on one.
  struct planned {
    weft::communicator own;
    weft::plan sum;
  };

  planned make_planned() {
    planned made{world_.dup(), {}};
    try {
      made.sum = made.own.plan_allreduce(std::span(in_).first(1000), std::span(out_).first(1000), weft::sum);
      made.sum.start();
      made.sum.wait();
    } catch (...) {
      made.own.revoke();
      throw;
    }
    return made;
  }

  static std::size_t limit_of_environment() { return std::stoull(std::getenv("WEFT_MEMORY_LIMIT")); }

  [[noreturn]] void fail(const std::string& what, const std::string& how) const {
    throw std::logic_error(what + " on rank " + std::to_string(world_.rank()) + ": " + how);
  }

  std::size_t memory_of_all() {
    world_.barrier();
    const bool speaks = world_.rank() % static_cast<int>(ranks_here_) == 0;
    const auto all = world_.allreduce(speaks ? std::uint64_t{memory_now()} : 0, weft::sum);
    world_.barrier();
    return all;
  }

  void check(const char* what, std::size_t made) {
    const std::size_t processes = static_cast<std::size_t>(world_.size()) / ranks_here_;
    const std::size_t now = memory_of_all(), grown = now - std::min(now, base_);
    const std::size_t counted = runtime_.statistics().most_memory;
    if (world_.rank() == 0)
      std::printf("%s, %zu: %zu processes hold %zu B more, of limits of %zu B; %zu B counted at most\n", what, made,
                  processes, grown, limit_, counted);
    if (counted > limit_) fail(what, std::to_string(counted) + " bytes are counted of " + std::to_string(limit_));
    if (grown > processes * (limit_ + slack)) fail(what, "processes hold " + std::to_string(grown) + " bytes more");
  }

  /// More than fit: those that were used the longest ago go.
  void calls_of_many_shapes() {
    std::vector<weft::communicator> some;
    for (int i = 0; i < 4; ++i) some.push_back(world_.dup());
    std::size_t calls = 0;
    for (std::size_t count = 1000; count <= in_.size(); count += count / 8)
      for (weft::communicator& each : some) {
        each.allreduce(std::span(in_).first(count), std::span(out_).first(count), weft::sum);
        if (out_[count - 1] != world_.size()) fail("calls", "a wrong sum");
        each.iexscan(std::span(in_).first(count), std::span(out_).first(count), weft::sum).wait();
        ++calls;
      }
    check("calls of many shapes", calls);
  }

  void messages_unreceived() {
    constexpr std::size_t many = 4000, each = 1000;  // 32 MB
    const int next = (world_.rank() + 1) % world_.size(), last = (world_.rank() + world_.size() - 1) % world_.size();
    std::vector<weft::handle> sent;
    for (std::size_t i = 0; i < many; ++i) sent.push_back(world_.isend(std::span(in_).first(each), next, 1));
    check("messages that are not received", many);
    for (std::size_t i = 0; i < many; ++i) world_.recv(std::span(out_).first(each), last, 1);
    for (weft::handle& one : sent) one.wait();
    if (out_[each - 1] != 1) fail("messages", "a wrong one");
  }

  void fibers() {
    bool over = false;
    std::size_t running = 0, made = 0;
    try {
      for (; made < most_tries; ++made) {
        runtime_.spawn([&] {
          while (!over) runtime_.yield();
          --running;
        });
        ++running;
      }
      fail("fibers", "are never refused");
    } catch (const weft::error& refused) {
      if (refused.code() != weft::errc::out_of_memory) throw;
    }
    for (int i = 0; i < 3; ++i) runtime_.yield();
    check("fibers", made);
    over = true;
    while (running != 0) runtime_.yield();
    world_.barrier();
  }

  weft::runtime& runtime_;
  weft::communicator& world_;
  const std::size_t ranks_here_, limit_;
  std::size_t base_ = 0;
  std::vector<double> in_ = std::vector<double>(1'000'000, 1), out_ = std::vector<double>(1'000'000);
  std::string refusal_;
};

}  // namespace

int main(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  runtime.run([&](weft::communicator& world) { job(runtime, world, argc > 1 ? std::stoul(argv[1]) : 1).run(); });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "memory_limit: %s\n", e.what());
  return 3;
}
