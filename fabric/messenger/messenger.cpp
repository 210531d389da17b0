// SPDX-License-Identifier: Apache-2.0
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/limits.hpp>

#include "engine.hpp"

namespace weft::fabric {

static_assert(sizeof(header) == messenger::frame_overhead);

namespace {

/// The token, and at the end everything that has ended because of what was done with it.
class engine_holder {
 public:
  explicit engine_holder(engine& held) : held_(held), holder_(held.guard()) { held_.take_submissions(); }
  ~engine_holder() { held_.finish_ended(); }

 private:
  engine& held_;
  token_holder holder_;
};

}  // namespace

messenger::messenger(std::unique_ptr<transport> network, messenger_settings settings)
    : engine_(std::make_unique<engine>(std::move(network), std::move(settings))) {}
messenger::~messenger() = default;

void messenger::connect(std::span<const address> endpoints, clock::time_point deadline,
                        const std::function<void()>& interrupted) {
  while_held([&] { engine_->flow().start(endpoints); });
  backoff pause;
  for (bool done = false; !done;) {
    if (poll())
      pause.reset();
    else
      pause.pause();
    while_held([&] { done = engine_->flow().connected(); });
    if (interrupted) interrupted();
    if (!done && engine_->settings().time->now() > deadline)
      throw error(errc::timed_out, "no connection over " + limits().provider + " to the processes " +
                                       engine_->flow().missing() + file_limit_met());
  }
  while_held([&] { engine_->flow().name_connections(); });
}

std::uint32_t messenger::links_in_contact() {
  std::uint32_t result = 0;
  while_held([&] { result = engine_->network().links_in_contact(); });
  return result;
}
void messenger::keep_links(std::uint32_t kept) {
  while_held([&] { engine_->flow().keep_links(kept); });
}

void messenger::join(participant& member) {
  while_held([&] { engine_->join(member); });
}
void messenger::leave(participant& member) {
  while_held([&] { engine_->leave(member); });
}

void messenger::reserve(participant& member, std::span<const planned_message> each_run) {
  while_held([&] { engine_->reserve(member, each_run); });
}
void messenger::release(participant& member, std::span<const planned_message> each_run) {
  const engine_holder holder(*engine_);  // a std::function of that would take memory
  engine_->release(member, each_run);
}

[[gnu::flatten]] void messenger::post(operation& begun) {
  if (!engine_->guard().try_acquire()) return engine_->left().add(begun);
  const bool others = engine_->take_submissions();
  engine_->begin(begun);
  engine_->finish_begun(begun, others);
  engine_->guard().release();
}

[[gnu::flatten]] bool messenger::send_now(participant& by, int peer, std::uint64_t tag,
                                          std::span<const std::byte> data) {
  if (!engine_->guard().try_acquire()) return false;
  if (engine_->take_submissions()) engine_->finish_ended();
  const bool sent = engine_->send_now(by, peer, tag, data);
  engine_->guard().release();
  return sent;
}

void messenger::post(task& begun) noexcept {
  if (!engine_->guard().try_acquire()) return engine_->left().add(begun);
  engine_->take_submissions();
  begun.run_held();
  engine_->finish_ended();
  engine_->guard().release();
}

void messenger::post_held(operation& begun) noexcept { engine_->begin(begun); }

void messenger::take_back_held(receive_operation& posted) noexcept { engine_->take_back(posted); }

bool messenger::cancel(receive_operation& posted) noexcept {
  const engine_holder holder(*engine_);
  return engine_->cancel(posted);
}

void messenger::hand_over(task& task) noexcept { engine_->left().add(task); }

void messenger::while_held(const std::function<void()>& function) {
  const engine_holder holder(*engine_);
  function();
}

bool messenger::look_held(std::chrono::nanoseconds longest, const std::function<void()>& function) {
  const auto deadline = engine_->settings().time->now() + longest;
  for (backoff pause; !engine_->guard().try_acquire(); pause.pause())
    if (engine_->settings().time->now() > deadline) return false;
  const struct release_at_end {
    token& held;
    ~release_at_end() { held.release(); }
  } release{engine_->guard()};
  function();
  return true;
}

void messenger::look_at_unreceived(const participant& member,
                                   const std::function<bool(const unexpected_message&)>& function) {
  if (member.here != nullptr) member.here->messages.look_at_unexpected(function);
}

std::optional<probed_message> messenger::probe(participant& member, int source, std::uint64_t tag, bool set_aside) {
  const engine_holder holder(*engine_);
  return engine_->probe(member, source, tag, set_aside);
}
void messenger::discard(participant& member, std::uint64_t number) noexcept {
  const engine_holder holder(*engine_);
  engine_->discard(member, number);
}

void messenger::flush() noexcept {
  const engine_holder holder(*engine_);
  engine_->flush();
}

bool messenger::poll() { return engine_->poll(); }
bool messenger::idle() const noexcept { return processes() == 1 && quiet(); }
bool messenger::rings() const noexcept { return engine_->rings(); }
void messenger::listen() noexcept { engine_->listen(); }
std::uint64_t messenger::events() const noexcept { return engine_->events(); }
bool messenger::quiet() const noexcept { return engine_->quiet(); }

void messenger::lose(int process, const std::string& why) {
  engine_->left().call_later([this, process, why] { engine_->lose(process, why); });
}
void messenger::break_communicator(std::uint64_t communicator, errc code, const std::string& text) {
  while_held([&] { engine_->break_communicator(communicator, {code, text}, true); });
}
void messenger::break_communicator(const participant& member, const std::exception_ptr& why) {
  while_held([&] { engine_->break_communicator(member, why); });
}
void messenger::miss(const participant& member, int rank) {
  while_held([&] {
    if (member.failure == nullptr) engine_->break_communicator(member, engine_->left_error(member, rank));
  });
}
std::vector<int> messenger::lost() {
  const engine_holder holder(*engine_);
  std::vector<int> all;
  for (const auto& each : engine_->flow().peers())
    if (each->lost) all.push_back(each->process);
  return all;
}
void messenger::refuse(int rank, std::uint64_t offered) {
  while_held([&] { engine_->refuse(rank, offered); });
}
void messenger::begin_division(int rank) {
  while_held([&] { engine_->members().begin_division(rank); });
}
void messenger::end_division(int rank) {
  while_held([&] { engine_->end_division(rank); });
}
bool messenger::has_left(std::uint64_t communicator, std::int32_t rank) {
  const engine_holder holder(*engine_);
  return engine_->members().has_left({communicator, rank});
}
void messenger::retire(std::uint64_t but) {
  while_held([&] {
    engine_->members().retire(but);
    engine_->agreed().look_again();
  });
}
void messenger::agree(agreement_call& begun) {
  while_held([&] { engine_->agreed().begin(begun); });
}
void messenger::agrees_no_more(int rank) noexcept {
  const engine_holder holder(*engine_);
  engine_->agree_no_more(rank);
}
std::vector<int> messenger::missing(const agreement_call& of) {
  const engine_holder holder(*engine_);
  return engine_->agreed().missing(of);
}
void messenger::withdraw(const agreement_call& begun) noexcept {
  const engine_holder holder(*engine_);
  engine_->agreed().withdraw(begun);
}
void messenger::break_held(std::uint64_t communicator, const std::exception_ptr& why) noexcept {
  engine_->found().owe_break(communicator, why);
}
void messenger::suspect_held(int process, const std::string& why) noexcept {
  engine_->flow().suspect_connection(process, why);
}
void messenger::break_here(participant& member) noexcept {
  std::exception_ptr why;
  try {
    throw error(errc::revoked, "the rank has left");
  } catch (...) {  // or that there is no memory for that
    why = std::current_exception();
  }
  const engine_holder holder(*engine_);
  if (member.failure == nullptr) engine_->break_participant(member, why, true);
}
void messenger::take_note(std::span<const std::byte> note) {
  engine_->left().call_later(
      [this, copy = std::vector<std::byte>(note.begin(), note.end())] { engine_->take_note(copy); });
}

void messenger::belongs_to_this_thread() noexcept { engine_->guard().give_to_this_thread(); }

void messenger::drain(clock::time_point deadline) {
  backoff pause;
  for (bool done = false; !done && engine_->settings().time->now() < deadline;) {
    if (poll())
      pause.reset();
    else
      pause.pause();
    while_held([&] { done = engine_->flow().drained(); });
  }
}

const message_counts& messenger::counts() const noexcept { return engine_->counts(); }
const transport_limits& messenger::limits() const noexcept { return engine_->network().limits(); }
std::size_t messenger::longest_at_once() const noexcept { return engine_->flow().longest_at_once(); }
const std::shared_ptr<memory_budget>& messenger::memory() const noexcept { return engine_->settings().memory; }
int messenger::process() const noexcept { return engine_->settings().process; }
int messenger::processes() const noexcept { return static_cast<int>(engine_->settings().first_rank.size()); }

}  // namespace weft::fabric
