#include <cerrno>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/hierarchy/leaders.hpp>
#include <weft/process/process.hpp>
#include <weft/process/workers.hpp>
#include <weft/runtime.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/team/node_measurement.hpp>

namespace weft {
namespace detail {

/// The runtime's own: the process, and the world as each rank here sees it.
struct runtime_state {
  explicit runtime_state(membership member) : host(std::move(member)) {
    const auto met = std::make_shared<meetings>();
    for (int i = 0; i < host.local_ranks(); ++i) {
      auto self = std::make_shared<rank_identity>(host.first_rank() + i, met);
      const auto state = std::make_shared<communicator_state>(host, self, host.world(), self->world_rank);
      if (i == 0) measure(*state);
      worlds.emplace_back(state);
      identities.push_back(std::move(self));
    }
  }

  void measure(communicator_state& world) {
    leaders& between = world.here->between();
    if (node_team* const team = between.team()) measure_boards(host, *team, world.member);
    between.agree_on_boards(world.member);
  }

  process host;
  std::vector<std::shared_ptr<rank_identity>> identities;
  std::vector<communicator> worlds;
  const int exceptions = std::uncaught_exceptions();
};

std::shared_ptr<node_memory> memory_of(runtime& of) noexcept { return of.state_->host.memory(); }

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

/// A rank's program threw: every rank that waits for it is told.
void break_communicators_of(process& host, rank_identity& self, const std::string& why) {
  std::vector<std::uint64_t> ids;
  host.messages().while_held([&] { ids = self.communicators; });
  for (const std::uint64_t id : ids)
    host.messages().break_communicator(
        id, errc::operation_failed,
        "the program of rank " + std::to_string(self.world_rank) + " ended with an error: " + why);
}

}  // namespace
}  // namespace detail

runtime::runtime(int& argc, char** argv)
    : runtime(detail::starting([&] { return detail::join_by_environment(argc, argv); })) {}
runtime::runtime(detail::membership member)
    : state_(detail::starting([&] { return std::make_unique<detail::runtime_state>(std::move(member)); })) {}

runtime::~runtime() {
  if (std::uncaught_exceptions() > state_->exceptions)
    state_->host.abandon();
  else
    state_->host.leave();
}

communicator& runtime::world() {
  if (state_->worlds.size() != 1)
    throw error(errc::invalid_argument, "world(): this process hosts " + std::to_string(state_->worlds.size()) +
                                            " ranks; use run([](weft::communicator& world) { ... })");
  return state_->worlds[0];
}

void runtime::run(const std::function<void(communicator& world)>& program) {
  detail::process& host = state_->host;
  std::mutex failing;
  std::exception_ptr first;
  detail::run_on_workers(host, [&](int i) {
    const auto rank = static_cast<std::size_t>(i);
    try {
      program(state_->worlds[rank]);
    } catch (...) {
      const std::exception_ptr failure = std::current_exception();
      {
        const std::lock_guard lock(failing);
        if (first == nullptr) first = failure;
      }
      detail::break_communicators_of(host, *state_->identities[rank], message_of(failure));
    }
  });
  if (first != nullptr) std::rethrow_exception(first);
}

void runtime::spawn(std::function<void()> function) {
  scheduler* const fibers = scheduler::current();
  if (fibers == nullptr)
    throw error(errc::invalid_argument,
                "spawn: this is not a fiber of a rank's; call it within run, or make a std::thread");
  fibers->spawn([this, function = std::move(function)] {
    try {
      function();
    } catch (...) {
      const std::string why = message_of(std::current_exception());
      for (const auto& self : state_->identities) detail::break_communicators_of(state_->host, *self, why);
      throw;
    }
  });
}

void runtime::yield() {
  state_->host.moved_by().help();
  if (fiber::current() != nullptr)
    scheduler::yield();
  else
    std::this_thread::yield();
}

void runtime::sleep(std::chrono::nanoseconds time) {
  progress& by = state_->host.moved_by();
  event never;
  never.wait_until(by, by.time().now() + time);
}

void runtime::wait(event& awaited) { awaited.wait(state_->host.moved_by()); }

}  // namespace weft
