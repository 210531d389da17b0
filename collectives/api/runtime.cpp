// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>
#include <weft/api/moved_by.hpp>
#include <weft/calls/communicator_state.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/hierarchy/leaders.hpp>
#include <weft/process/process.hpp>
#include <weft/process/workers.hpp>
#include <weft/runtime.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/helper_threads.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/team/node_measurement.hpp>

namespace weft {
namespace detail {

/// The runtime's own: the process, and of each rank here the communicators that it begins with.
struct runtime_state {
  explicit runtime_state(membership member) : host(std::move(member)) {
    const auto met = std::make_shared<meetings>();
    const bool has_spares = host.settings().spares > 0;
    for (int i = 0; i < host.local_ranks(); ++i) {
      const int rank = host.first_rank() + i;
      auto self = std::make_shared<rank_identity>(rank, met, host.is_spare(rank));
      const auto state = std::make_shared<communicator_state>(host, self, host.everyone(), rank);
      if (i == 0) measure(*state);
      (has_spares ? everyone : worlds).emplace_back(communicator(state));
      identities.push_back(std::move(self));
    }
    if (has_spares) part_from_spares();
    host.begin_counting();
  }

  void measure(communicator_state& all) {
    leaders& between = all.here->between();
    if (node_team* const team = between.team()) measure_boards(host, *team, all.member);
    between.agree_on_boards(all.member);
  }

  void part_from_spares() {
    worlds.resize(everyone.size());
    for_each_rank(
        [&](std::size_t rank) {
          identities[rank]->everyone = &*everyone[rank];
          worlds[rank] = everyone[rank]->without_spares();
        },
        [](std::size_t, const std::exception_ptr&) {});
  }

  /// Calls `function(rank)` for each of this process, on its fiber; where that throws, `failed(rank, exception)`, too,
  /// and for all where they could not be called. Throws the first of the exceptions in the end.
  template <class Function, class Failed>
  void for_each_rank(const Function& function, const Failed& failed) {
    std::mutex failing;
    std::exception_ptr first;
    try {
      run_on_workers(host, [&](int i) {
        const auto rank = static_cast<std::size_t>(i);
        try {
          function(rank);
        } catch (...) {
          const std::exception_ptr failure = std::current_exception();
          {
            const std::lock_guard lock(failing);
            if (first == nullptr) first = failure;
          }
          failed(rank, failure);
        }
      });
    } catch (...) {  // no memory for the fibers, or what left one that a rank has made
      for (std::size_t rank = 0; rank < identities.size(); ++rank) failed(rank, std::current_exception());
      throw;
    }
    if (first != nullptr) std::rethrow_exception(first);
  }

  /// The rank's program has ended: it replaces nobody, and nobody waits for it to grow a communicator.
  void leave_everyone(std::size_t rank) {
    identities[rank]->everyone = nullptr;
    if (rank < everyone.size()) everyone[rank].reset();
  }

  process host;
  std::vector<std::shared_ptr<rank_identity>> identities;
  std::vector<std::optional<communicator>> everyone;  ///< where there are spares: all ranks of the job
  std::vector<std::optional<communicator>> worlds;    ///< those that are none
  const int exceptions = std::uncaught_exceptions();
  std::atomic<bool> runs{false};  ///< within `run`
  helper_threads helpers;
};

std::shared_ptr<node_memory> memory_of(runtime& of) noexcept { return of.state_->host.memory(); }
progress& moved_by(runtime& of) noexcept { return of.state_->host.moved_by(); }

void await_set(const event& soon) noexcept {
  while (!soon.ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

namespace {

/// What `start` makes. Where memory is short, throws an error that says which limit it has met.
template <class Start>
auto starting(Start&& start) {
  try {
    return start();
  } catch (const std::bad_alloc&) {
    throw_system_error(ENOMEM, "operator new", "starting the runtime");
  }
}

/// A rank's program threw: every rank that waits for it is told, without memory as soon as there is some.
void break_communicators_of(process& host, const rank_identity& self, const std::exception_ptr& failure) noexcept {
  fabric::messenger& messages = host.messages();
  try {
    const std::string why =
        "the program of rank " + std::to_string(self.job_rank) + " ended with an error: " + message_of(failure);
    std::vector<std::uint64_t> ids;
    messages.while_held([&] { ids = self.communicators; });
    for (const std::uint64_t id : ids) messages.break_communicator(id, errc::operation_failed, why);
  } catch (const std::bad_alloc&) {
    const auto owe = [&] {
      for (const std::uint64_t id : self.communicators) messages.break_held(id, failure);
    };
    messages.while_held(std::cref(owe));
  }
}

}  // namespace
}  // namespace detail

runtime::runtime(int& argc, char** argv)
    : runtime(detail::starting([&] { return detail::join_by_environment(argc, argv); })) {}
runtime::runtime(launch_description job)
    : runtime(detail::starting([&] { return detail::join_by_description(std::move(job)); })) {}
runtime::runtime(detail::membership member)
    : state_(detail::starting([&] { return std::make_unique<detail::runtime_state>(std::move(member)); })) {}

runtime::~runtime() {
  if (std::uncaught_exceptions() > state_->exceptions) {
    state_->host.abandon();
  } else {
    for (std::size_t rank = 0; rank < state_->everyone.size(); ++rank) state_->leave_everyone(rank);
    state_->host.leave();
  }
}

communicator& runtime::world() {
  if (state_->worlds.size() != 1)
    throw error(errc::invalid_argument, "world(): this process hosts " + std::to_string(state_->worlds.size()) +
                                            " ranks; use run([](weft::communicator& world) { ... })");
  if (!state_->worlds[0])
    throw error(errc::invalid_argument,
                "world(): this rank is a spare, and in no communicator before it replaces another; "
                "use run([](weft::communicator& world) { ... })");
  return *state_->worlds[0];
}

void runtime::run(const std::function<void(communicator& world)>& program) {
  if (state_->runs.exchange(true, std::memory_order_acquire))  // acquire: what the last one has left
    throw error(errc::invalid_argument,
                "run: the ranks of this process run already; a thread that they start calls their communicators");
  const struct ends_run {
    ~ends_run() { runs.store(false, std::memory_order_release); }
    std::atomic<bool>& runs;
  } ending{state_->runs};
  state_->for_each_rank(
      [&](std::size_t rank) {
        std::optional<communicator>& world = state_->worlds[rank];
        if (!world && state_->everyone[rank]) world = state_->everyone[rank]->await_rank();
        if (world) program(*world);
        state_->leave_everyone(rank);
      },
      [&](std::size_t rank, const std::exception_ptr& failure) {
        detail::break_communicators_of(state_->host, *state_->identities[rank], failure);
        state_->host.messages().agrees_no_more(state_->identities[rank]->job_rank);
        state_->leave_everyone(rank);
      });
}

statistics runtime::statistics() const noexcept { return state_->host.counts(); }

void runtime::spawn(std::function<void()> function) {
  scheduler* const fibers = scheduler::current();
  if (fibers == nullptr)
    throw error(errc::invalid_argument,
                "spawn: this is not a fiber of a rank's; call it within run, or make a std::thread");
  fibers->spawn([this, function = std::move(function)] {
    try {
      function();
    } catch (...) {
      for (const auto& self : state_->identities)
        detail::break_communicators_of(state_->host, *self, std::current_exception());
      throw;
    }
  });
}

void runtime::yield() {
  const trace::on_track_if here(state_->host.records());
  state_->host.moved_by().help();
  if (fiber::current() != nullptr)
    scheduler::yield();
  else
    std::this_thread::yield();
}

void runtime::sleep(std::chrono::nanoseconds time) {
  const trace::on_track_if here(state_->host.records());
  progress& by = state_->host.moved_by();
  event never;
  never.wait_until(by, by.time().now() + time);
}

void runtime::wait(event& awaited) {
  const trace::on_track_if here(state_->host.records());
  progress& by = state_->host.moved_by();
  const time_limit* const limit = time_limit::current();
  if (limit == nullptr) return awaited.wait(by);
  if (!awaited.wait_until(by, limit->when())) detail::throw_timed_out("wait for an event", {});
}

void runtime::run_elsewhere(const std::function<void()>& function) {
  event done;
  state_->helpers.run([&] {
    function();
    done.set();
  });
  try {
    done.wait(state_->host.moved_by());
  } catch (...) {  // by polling
    detail::await_set(done);
    throw;
  }
}

}  // namespace weft
