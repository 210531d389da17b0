#include "memory_plan.hpp"

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

memory_plan::memory_plan(communicator_state& on, const request& call, const known_call& known)
    : started_call(on.host.calls(), on.member, on.host.moved_by()),
      on_(on),
      what_(call, known),
      sequence_(on.next_sequence() | sequence_of_plan) {
  if (on_.here->alone()) {
    open_with({});
  } else {
    tell_board();
    started_call::start(true);
  }
}

memory_plan::~memory_plan() {
  wait();
  if (elsewhere_ == nullptr && board_) on_.host.boards()->give_back(board_);
}

void memory_plan::tell_board() {
  const leaders& between = on_.here->between();
  if (on_.host.boards() != nullptr && between.first_rank(between.here()) == on_.member.rank)
    board_ = on_.host.boards()->claim(boards_spared);
  boards_.resize(static_cast<std::size_t>(on_.size()));
  request all;
  all.what = collective::allgather;
  all.in = &board_;
  all.out = boards_.data();
  all.in_count = sizeof board_;
  all.out_count = boards_.size() * sizeof board_;
  const auto plan = prepare(on_, all, shape_of(all, on_.member.rank, on_.size()));
  telling_ = std::make_unique<dataflow_execution>(on_.host.messages(), on_.member, on_.host.arena(), plan->plan);
  run_arguments arguments;
  arguments.input = static_cast<const std::byte*>(all.in);
  arguments.output = static_cast<std::byte*>(all.out);
  arguments.sequence = on_.next_sequence();
  arguments.fingerprint = plan->fingerprint;
  telling_->start(arguments, on_.host.moved_by());
}

void memory_plan::open() {
  telling_->finished().wait(on_.host.moved_by());
  if (telling_->failure() != nullptr) rethrow(on_, schedules::call_name(what_.call.what), telling_->failure());
  open_with(std::move(boards_));
  telling_ = nullptr;
}

void memory_plan::open_with(std::vector<fabric::board_ticket> boards) {
  elsewhere_ =
      std::make_unique<communicator_state>(on_, meeting::of_plan(on_.here, on_.member, sequence_, std::move(boards)));
  const known_call& known = know(*elsewhere_, what_.call);
  what_.known.goes = known.goes;
  learn_ways();
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
  by_messages_ = std::make_unique<dataflow_execution>(on_.host.messages(), on_.member, on_.host.arena(), plan->plan);
}

void memory_plan::learn_ways() {
  const request& call = what_.call;
  if (what_.known.goes == way::joined) {
    among_ranks_.emplace(*elsewhere_, call, what_.known, sequence_);
    if (!among_ranks_->is_exchange()) among_ranks_.reset();
    return;
  }
  leaders& between = elsewhere_->here->between();
  const node_team* const team = between.team();
  if (what_.known.goes != way::node || team == nullptr || static_cast<int>(team->size()) != between.size()) return;
  if (elsewhere_->selection.wanted[static_cast<std::size_t>(call.what)] != nullptr || call.uneven) return;
  const std::size_t bytes = what_.known.shape.vector * call.element_bytes;
  awaited_ = !team->is_one_round(call, bytes);
  exchanges_on_node_ = team->is_one_exchange(call, bytes);
}

void memory_plan::start() {
  const bool opens = hold();
  started_ = true;
  if (opens) return go_on(true);
  if (!among_ranks_ && !exchanges_on_node_) return started_call::start(awaited_);
  shown_ = show();
  start_to_wait();
}

bool memory_plan::show() {
  return among_ranks_ ? among_ranks_->show() : show_on_node(*elsewhere_, what_.call, what_.known, sequence_);
}

void memory_plan::use_shown(bool shown) {
  if (among_ranks_)
    among_ranks_->use_shown(shown);
  else
    use_shown_on_node(*elsewhere_, what_.call, what_.known, shown);
}

void memory_plan::run() noexcept {
  try {
    failure_ = nullptr;
    if (elsewhere_ == nullptr) open();
    if (!std::exchange(started_, false)) return;
    if (what_.known.goes == way::messages) return run_by_messages();
    if (const auto shown = std::exchange(shown_, std::nullopt)) return use_shown(*shown);
    run_in_turn(*elsewhere_, what_.call, what_.known, sequence_);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void memory_plan::run_by_messages() {
  const request& call = what_.call;
  by_messages_->start(
      {static_cast<const std::byte*>(call.in), static_cast<std::byte*>(call.out), sequence_, fingerprint_, call.custom},
      on_.host.moved_by());
  by_messages_->finished().wait(on_.host.moved_by());
  if (by_messages_->failure() != nullptr) rethrow(on_, schedules::call_name(call.what), by_messages_->failure());
}

}  // namespace weft::detail
