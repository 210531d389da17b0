// SPDX-License-Identifier: Apache-2.0
// Jobs of many ranks in this process: one runtime a thread, over the loopback network and a store in memory.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <weft/fabric/loopback.hpp>
#include <weft/process/membership.hpp>
#include <weft/runtime.hpp>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>

#include "catch.hpp"
#include "expect.hpp"
#include "seed.hpp"

namespace weft_test {

inline std::string text_of(const std::exception_ptr& failure) {
  return failure == nullptr ? "no error" : weft::message_of(failure);
}

/// The seed of this run's random choices: the same whoever asks.
inline std::uint64_t seed_of_this_run() {
  static const std::uint64_t seed = test_seed();
  return seed;
}

/// By which algorithms are chosen alike in every run, and hundreds of jobs need not be measured.
inline weft::options by_length() {
  weft::options settings;
  settings.tune = "off";
  return settings;
}

struct job {
  int processes = 1;
  int ranks_per_process = 1;
  std::vector<int> ranks_of;  ///< each process, if not all have as many
  weft::options settings = by_length();
  weft::fabric::loopback_options network;
  std::atomic<int>* opened = nullptr;  ///< counts the endpoints that are opened late; null: all are open before
  std::vector<std::string> nodes;      ///< of each process; none: all are on this machine
  std::vector<std::string> switches;   ///< above the node of each process; none: not known
  std::shared_ptr<const weft::topology::machine> machine;  ///< what each node is said to be
  std::chrono::seconds patience{60};  ///< after which the job hangs: the test program says so and ends

  int ranks_in(std::size_t process) const { return ranks_of.empty() ? ranks_per_process : ranks_of[process]; }
  int ranks() const {
    int all = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(processes); ++p) all += ranks_in(p);
    return all;
  }
};

/// Ends the test program, saying why, unless it is destroyed in time. Not before time under a sanitizer.
class watchdog {
 public:
  watchdog(std::chrono::seconds most, std::function<std::string()> what)
      : thread_([this, most, what = std::move(what)] {
          std::unique_lock lock(mutex_);
          begun_.count_down();
          if (changed_.wait_for(lock, most, [this] { return over_; })) return;
          std::fprintf(stderr, "HANG: after %lld s %s\n", static_cast<long long>(most.count()), what().c_str());
          std::fflush(stderr);
          std::abort();
        }) {
    begun_.wait();  // it locks nothing while locks are counted
  }
  ~watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::latch begun_{1};
  std::thread thread_;
};

/// Runs `body(process, membership)` on a thread a process, with what that joins the job by. What each threw, in order.
inline std::vector<std::exception_ptr> run_members(const job& what,
                                                   const std::function<void(int, weft::detail::membership)>& body) {
  const auto count = static_cast<std::size_t>(what.processes);
  weft::fabric::loopback_network network(what.processes, what.network);
  auto stores = weft::memory_stores(what.processes);
  std::vector<std::exception_ptr> failures(count);
  std::vector<std::atomic<bool>> ended(count);
  const watchdog guard(what.patience, [&] {
    std::string text = "these processes of " + std::to_string(count) + " have not ended:";
    for (std::size_t p = 0; p < count; ++p)
      if (!ended[p]) text.append(1, ' ').append(std::to_string(p));
    return text + " (seed " + std::to_string(seed_of_this_run()) + ")";
  });
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < count; ++p) {
    threads.emplace_back([&, p] {
      try {
        weft::detail::membership member;
        member.settings = what.settings;
        member.settings.address = "127.0.0.1";  // that of all its nodes
        // Every other progress thread takes its core for its own: ranks then leave all to it.
        if (p % 2 == 1) member.progress_cpus = {weft::topology::this_thread_binding().last()};
        member.rendezvous = std::move(stores[p]);
        member.provider = "loopback";
        member.open_network = [&](const weft::options&, const weft::detail::network_plan&) {
          what.opened->fetch_add(1);
          return network.endpoint(static_cast<int>(p));
        };
        if (what.opened == nullptr) member.network = network.endpoint(static_cast<int>(p));
        member.job = 0x1234'5678'9abc'def0;
        member.secret = "known to the job alone";
        member.ranks = what.ranks_in(p);
        if (!what.nodes.empty()) member.node = what.nodes[p];
        if (!what.switches.empty()) member.switches = what.switches[p];
        member.described = what.machine;
        body(static_cast<int>(p), std::move(member));
      } catch (...) {
        failures[p] = std::current_exception();
      }
      ended[p] = true;
    });
  }
  for (auto& thread : threads) thread.join();
  return failures;
}

/// The same with a runtime each, which is destroyed where `body` ends, by whatever it throws too.
inline std::vector<std::exception_ptr> run_processes(const job& what,
                                                     const std::function<void(int, weft::runtime&)>& body) {
  return run_members(what, [&](int process, weft::detail::membership member) {
    weft::runtime runtime(std::move(member));
    body(process, runtime);
  });
}

/// Runs `program` on every rank and lets every process leave in order, whatever the ranks throw. What each rank threw.
inline std::vector<std::exception_ptr> outcomes_of(const job& what,
                                                   const std::function<void(weft::communicator&)>& program) {
  std::vector<std::exception_ptr> outcomes(static_cast<std::size_t>(what.ranks()));
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    const auto noted = [&](weft::communicator& world) {
      try {
        program(world);
      } catch (...) {
        outcomes[static_cast<std::size_t>(world.rank())] = std::current_exception();
        throw;
      }
    };
    try {
      runtime.run(noted);
    } catch (...) {  // is among the outcomes
    }
  });
  for (const auto& failure : failures)
    if (failure != nullptr) std::rethrow_exception(failure);
  return outcomes;
}

/// Runs `program` on every rank; the test fails with what the ranks threw.
inline void run_ranks(const job& what, const std::function<void(weft::communicator&)>& program) {
  const auto outcomes = outcomes_of(what, program);
  std::string text;
  for (std::size_t r = 0; r < outcomes.size(); ++r)
    if (outcomes[r] != nullptr) text += "rank " + std::to_string(r) + ": " + text_of(outcomes[r]) + "\n";
  INFO("seed " << seed_of_this_run() << ", " << what.processes << " processes, " << what.ranks() << " ranks");
  if (!text.empty()) FAIL(text);
  SUCCEED();
}

/// The same with the runtime of the rank's process.
inline void run_with_runtime(const job& what, const std::function<void(weft::runtime&, weft::communicator&)>& program) {
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    runtime.run([&](weft::communicator& world) { program(runtime, world); });
  });
  CAPTURE(seed_of_this_run());
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

inline void run_ranks(int processes, int ranks_per_process, const weft::options& settings,
                      const std::function<void(weft::communicator&)>& program) {
  job what;
  what.processes = processes;
  what.ranks_per_process = ranks_per_process;
  what.settings = settings;
  run_ranks(what, program);
}

/// Limits so small that short vectors take every path: granted messages, pieces, windows, segments.
inline weft::options small_limits() {
  weft::options settings = by_length();
  settings.eager_limit = 512;
  settings.credit = 8 << 10;
  settings.unexpected_limit = 16 << 10;
  settings.piece = 4 << 10;
  settings.window = 8 << 10;
  settings.segment = 8 << 10;
  settings.ring_threshold = 2 << 10;
  settings.fiber_stack = 128 << 10;
  return settings;
}

inline job small_job(int processes, int ranks_per_process = 1) {
  job what;
  what.processes = processes;
  what.ranks_per_process = ranks_per_process;
  what.settings = small_limits();
  return what;
}

}  // namespace weft_test
