// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <weft/process/process.hpp>
#include <weft/process/workers.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/thread.hpp>
#include <weft/runtime/trace.hpp>
#include <weft/topology/affinity.hpp>

namespace weft::detail {
namespace {

/// The fibers of one thread.
class worker {
 public:
  worker(process& host, int number)
      : host_(host),
        number_(number),
        fibers_(host.settings().fiber_stack, steady_clock_source(), host.budget()),
        pause_(host.moved_by()) {
    fibers_.set_idle([this] {
      if (host_.moved_by().help())
        pause_.reset();
      else
        pause_.pause([this](auto longest, progress* rung_by) {
          if (fibers_.sleep(longest, rung_by)) pause_.reset();
        });
    });
    fibers_.set_busy([this] { host_.moved_by().help(); });
  }

  scheduler& fibers() noexcept { return fibers_; }

  /// What left a fiber that a rank has made beside itself: the first of it, or null. Once `run` has returned.
  const std::exception_ptr& failure() const noexcept { return failure_; }

  /// Runs them to their ends on this thread.
  void run() noexcept {
    topology::cpu_set before;
    bind([&](const topology::cpu_set& mine) {
      before = topology::this_thread_binding();
      topology::bind_this_thread(mine);
    });
    trace::track* const outside = std::exchange(trace::current_track, track());
    try {
      fibers_.run();
    } catch (...) {
      failure_ = std::current_exception();
    }
    trace::current_track = outside;
    bind([&](const topology::cpu_set&) { topology::bind_this_thread(before); });
  }

 private:
  /// Calls `how` with this worker's cpus, if it has been given some.
  template <class How>
  void bind(How&& how) const {
    const auto& cpus = host_.worker_cpus();
    if (static_cast<int>(cpus.size()) != host_.workers()) return;
    try {
      how(cpus[static_cast<std::size_t>(number_)]);
    } catch (const error& e) {  // costs speed, not correctness
      std::fprintf(stderr, "weft: warning: binding worker %d failed: %s\n", number_, e.what());
    }
  }

  /// Where it is recorded what the thread does while no fiber runs: of the rank, if there is but one.
  trace::track* track() const {
    if (host_.records() == nullptr) return nullptr;
    if (host_.local_ranks() == 1) return &host_.records()->of_rank(0);
    return &host_.records()->of_thread("worker " + std::to_string(number_));
  }

  process& host_;
  int number_;
  scheduler fibers_;
  rest pause_;
  std::exception_ptr failure_;
};

}  // namespace

int worker_of(const process& host, int local) noexcept {
  return static_cast<int>(((std::int64_t{local} + 1) * host.workers() - 1) / host.local_ranks());
}

void run_on_workers(process& host, const std::function<void(int)>& rank) {
  const int ranks = host.local_ranks(), count = host.workers();
  std::vector<std::unique_ptr<worker>> workers;
  for (int w = 0; w < count; ++w) workers.push_back(std::make_unique<worker>(host, w));
  for (int i = 0; i < ranks; ++i) {
    fiber& its = workers[static_cast<std::size_t>(worker_of(host, i))]->fibers().spawn([&host, &rank, i] {
      const roll_call::seat seated(host.roll(), i);
      rank(i);
    });
    its.set_rank(host.first_rank() + i);
    if (host.records() != nullptr) its.set_track(&host.records()->of_rank(i));
  }
  std::promise<bool> all_are_there;
  std::vector<thread> threads;
  try {
    const std::shared_future<bool> start(all_are_there.get_future());
    for (int w = 1; w < count; ++w)
      threads.emplace_back("weft-worker", [start, &mine = *workers[static_cast<std::size_t>(w)]] {
        if (start.get()) mine.run();
      });
  } catch (...) {
    all_are_there.set_value(false);
    throw;
  }
  all_are_there.set_value(true);
  if (count == 1 && !host.moved_by().threaded()) host.messages().belongs_to_this_thread();
  workers[0]->run();
  threads.clear();
  for (const auto& each : workers)
    if (each->failure() != nullptr) std::rethrow_exception(each->failure());
}

}  // namespace weft::detail
