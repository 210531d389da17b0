// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <weft/calls/agreement.hpp>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/make_plan.hpp>
#include <weft/calls/prepared_calls.hpp>
#include <weft/calls/traced_call.hpp>

#include "planned_in_memory.hpp"

namespace weft::detail {
namespace {

/// Room for a plan's messages, while the plan lives.
class reserved_messages {
 public:
  reserved_messages(communicator_state& at, const bound_schedule& of) : at_(at) {
    for (const bound_step& step : of.steps)
      if (step.is_transfer()) each_run_.push_back({step.is_send(), step.peer, step.bytes, of.vector_bytes});
    at_.host.messages().reserve(at_.member, each_run_);
  }
  reserved_messages(const reserved_messages&) = delete;
  reserved_messages& operator=(const reserved_messages&) = delete;
  ~reserved_messages() { at_.host.messages().release(at_.member, each_run_); }

 private:
  communicator_state& at_;
  std::vector<fabric::planned_message> each_run_;
};

/// In the checked mode: all ranks have made this plan, by their call of this number.
void agree_on_plan(communicator_state& state, const collective_call& call, std::uint32_t number) {
  if (!state.host.settings().check) return;
  const auto mine = announcement::of(call, true, state.member.rank, state.size());
  state.turns.await_all();
  agree(state, mine, number, schedules::call_name(call.what()));
}

class planned_by_messages final : public planned_collective {
 public:
  planned_by_messages(std::shared_ptr<communicator_state> its, const request& call, const request_shape& shape)
      : planned_collective(std::move(its), call, shape) {
    const auto prepared = telling_refusals(state(), [&] { return prepare(state(), bound(), shape); });
    const std::uint32_t number = state().next_sequence();
    arguments_ = {static_cast<const std::byte*>(bound().in), static_cast<std::byte*>(bound().out),
                  number | sequence_of_plan, prepared->fingerprint, bound().custom};
    agree_on_plan(state(), prepared->call, number);
    reserved_.emplace(state(), *prepared->plan);
    run_ = state().plans.make<dataflow_execution>(state().host.messages(), state().member, state().host.arena(),
                                                  prepared->plan);
    run_->post_ahead(arguments_);
  }
  ~planned_by_messages() override { run_->retire(state().host.moved_by()); }

  event& done() override { return run_->finished(); }
  const std::exception_ptr& failure() const noexcept override { return run_->failure(); }

 private:
  void begin_run() override { run_->start(arguments_, state().host.moved_by()); }

  run_arguments arguments_;
  std::optional<reserved_messages> reserved_;
  std::unique_ptr<dataflow_execution> run_;
};

}  // namespace

std::unique_ptr<planned_collective> make_plan(const std::shared_ptr<communicator_state>& of, const request& wanted) {
  const sole_call::making mine(of->collecting, *of, schedules::call_name(wanted.what));
  const traced_call traced(*of, "plan");
  std::optional<packed_buffers> packed;
  if (wanted.in_pieces) packed = packed_buffers::of(*of, wanted);
  const request& call = packed ? packed->call() : wanted;
  const known_call& known = telling_refusals(*of, [&]() -> decltype(auto) { return know(*of, call); });
  const request_shape shape = known.shape;
  const counted_calls counted = known.counted;
  std::unique_ptr<planned_collective> made;
  if (known.goes == way::messages) {
    made = std::make_unique<planned_by_messages>(of, call, shape);
  } else {
    if (of->host.settings().check) agree_on_plan(*of, agreed_call(call, shape), of->next_sequence());
    made = std::make_unique<planned_in_memory>(of, call, shape);
  }
  made->count_by(counted);
  if (packed) made->pack_by(std::move(*packed));
  return made;
}

}  // namespace weft::detail
