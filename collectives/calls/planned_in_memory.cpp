// SPDX-License-Identifier: Apache-2.0
#include "planned_in_memory.hpp"

#include <utility>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/memory_way.hpp>
#include <weft/calls/prepared_calls.hpp>
#include <weft/hierarchy/leaders.hpp>
#include <weft/ranks/process_team.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {
namespace {

/// Boards that plans leave to communicators.
constexpr std::size_t boards_spared = 3;

}  // namespace

planned_in_memory::planned_in_memory(const std::shared_ptr<communicator_state>& its, const request& call,
                                     const request_shape& shape)
    : planned_collective(its, call, shape),
      started_call(its->host.calls(), its->member, its->host.moved_by()),
      what_(bound(), know(*its, bound())),
      sequence_(its->next_sequence() | sequence_of_plan) {
  if (its->here->alone()) {
    open_with({});
  } else {
    tell_board();
    started_call::start();
  }
}

planned_in_memory::~planned_in_memory() {
  if (unwinding() && !started_call::advance()) break_communicator();
  started_call::wait();
  if (elsewhere_ == nullptr && board_) state().host.boards()->give_back(board_);
}

void planned_in_memory::tell_board() {
  const leaders& between = state().here->between();
  if (state().host.boards() != nullptr && between.first_rank(between.here()) == state().member.rank)
    board_ = state().host.boards()->claim(boards_spared);
  boards_.resize(static_cast<std::size_t>(state().size()));
  request all;
  all.what = collective::allgather;
  all.in = &board_;
  all.out = boards_.data();
  all.in_count = sizeof board_;
  all.out_count = boards_.size() * sizeof board_;
  const auto plan = prepare(state(), all, shape_of(all, state().member.rank, state().size()));
  telling_ =
      state().plans.make<dataflow_execution>(state().host.messages(), state().member, state().host.arena(), plan->plan);
  run_arguments arguments;
  arguments.in = static_cast<const std::byte*>(all.in);
  arguments.out = static_cast<std::byte*>(all.out);
  arguments.sequence = state().next_sequence();
  arguments.fingerprint = plan->fingerprint;
  telling_->start(arguments, state().host.moved_by());
}

void planned_in_memory::open() {
  telling_->finished().wait(state().host.moved_by());
  if (telling_->failure() != nullptr) rethrow(state(), schedules::call_name(what_.call.what), telling_->failure());
  try {
    open_with(std::move(boards_));
  } catch (...) {
    steps_.reset();
    state().host.break_communicator(state().member);  // the others would wait for it there
    throw;
  }
  telling_ = nullptr;
}

void planned_in_memory::open_with(std::vector<fabric::board_ticket> boards) {
  elsewhere_ = std::make_unique<communicator_state>(
      state(), meeting::of_plan(state().here, state().member, sequence_, std::move(boards)));
  const known_call& known = know(*elsewhere_, what_.call);
  what_.known.goes = known.goes;
  what_.known.between.on_node.found = 0;  // by another team
  steps_.emplace(*elsewhere_, what_);
  if (!steps_->learn(sequence_)) steps_.reset();
  if (known.goes == way::joined) {
    meeting& here = *elsewhere_->here;
    const auto shown = shown_bytes(here, what_.call, known.shape, elsewhere_->selection);
    if (shown && *shown * here.most_on_a_worker() > worker_rounds::line_bytes) here.rounds().make_room();
  }
  const request& call = what_.call;  // the first look for a kernel allocates
  if (schedules::combines(call.what) && call.custom.apply == nullptr) kernels::combine(call.op, call.type);
  if (known.goes != way::messages) return;
  const auto plan = prepare(*elsewhere_, what_.call, known.shape);  // the rank may be using its own plans
  fingerprint_ = plan->fingerprint;
  by_messages_ = elsewhere_->plans.make<dataflow_execution>(state().host.messages(), state().member,
                                                            state().host.arena(), plan->plan);
}

void planned_in_memory::begin_run() {
  const bool opens = hold();
  in_flight_ = true;
  if (opens) [[unlikely]]
    return go_on();
  if (!steps_) return started_call::start();
  const auto left = steps_->show();
  shows_ = true;
  start_to_wait();
  if (left == call_in_steps::left::more) go_on();
}

inline void planned_in_memory::use_shown() noexcept {
  in_flight_ = shows_ = false;
  try {
    if (failure_ != nullptr) failure_ = nullptr;
    steps_->use_shown();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void planned_in_memory::await() {
  started_call::wait_by([this] { shows_ ? use_shown() : run(); });
}

void planned_in_memory::run() noexcept {
  try {
    if (failure_ != nullptr) failure_ = nullptr;
    if (elsewhere_ == nullptr) open();
    if (shows_) return use_shown();
    if (!std::exchange(in_flight_, false)) return;
    if (what_.known.goes == way::messages) return run_by_messages();
    run_in_turn(*elsewhere_, what_.call, what_.known, sequence_);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void planned_in_memory::run_by_messages() {
  const request& call = what_.call;
  by_messages_->start(
      {static_cast<const std::byte*>(call.in), static_cast<std::byte*>(call.out), sequence_, fingerprint_, call.custom},
      state().host.moved_by());
  by_messages_->finished().wait(state().host.moved_by());
  if (by_messages_->failure() != nullptr) rethrow(state(), schedules::call_name(call.what), by_messages_->failure());
}

}  // namespace weft::detail
