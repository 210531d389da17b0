// What communicators do with a collective call: choose its algorithm, find or make its plan, and run that.
#include <cstring>
#include <utility>
#include <weft/communicator.hpp>
#include <weft/schedules/selection.hpp>

#include "accumulators.hpp"
#include "argument_checks.hpp"
#include "communicator_state.hpp"
#include "schedule_builder.hpp"

namespace weft {
namespace detail {
namespace {

class pending_collective final : public pending {
 public:
  pending_collective(std::shared_ptr<communicator_state> state, const char* operation,
                     std::shared_ptr<plan_cache::entry> plan, std::unique_ptr<dataflow_execution> run,
                     std::shared_ptr<const void> keeps)
      : pending(std::move(state), operation), plan_(std::move(plan)), run_(std::move(run)), keeps_(std::move(keeps)) {}
  ~pending_collective() override { state().plans.put_back(plan_, std::move(run_)); }
  event& done() noexcept override { return run_->finished(); }
  const std::exception_ptr& failure() const noexcept override { return run_->failure(); }

 private:
  std::shared_ptr<plan_cache::entry> plan_;
  std::unique_ptr<dataflow_execution> run_;
  std::shared_ptr<const void> keeps_;  // the caller's operator, or what stands in for its input
};

/// Where the values of a reproducible sum go, and of which accumulators.
struct value_target {
  void* out = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;
};

void write_values(const accumulators& of, const value_target& to) noexcept {
  if (to.count != 0) of.values(to.first, to.count, to.out);
}

/// A reproducible sum: another collective, of accumulators, that ends with their values.
class pending_reproducible final : public pending {
 public:
  pending_reproducible(std::shared_ptr<communicator_state> state, const char* operation, accumulators sums,
                       const value_target& to)
      : pending(std::move(state), operation), sums_(std::move(sums)), to_(to) {}
  event& done() noexcept override { return of_accumulators->done(); }
  const std::exception_ptr& failure() const noexcept override { return of_accumulators->failure(); }
  void deliver() noexcept override { write_values(sums_, std::exchange(to_, {})); }
  std::unique_ptr<pending> of_accumulators;

 private:
  accumulators sums_;
  value_target to_;
};

/// A collective call as it will run.
struct chosen {
  collective_call call;
  bool in_order = true;
};

/// As many bytes of each block.
std::vector<std::size_t> scaled(std::span<const std::size_t> sent, std::span<const std::size_t> received,
                                std::size_t by) {
  std::vector<std::size_t> all(sent.begin(), sent.end());
  all.insert(all.end(), received.begin(), received.end());
  for (std::size_t& count : all) count *= by;
  return all;
}

custom_operator custom_of(const user_function& function) {
  if (function.apply == nullptr) return custom_operator::none;
  return function.order == commutes ? custom_operator::commutes : custom_operator::keeps_order;
}

chosen choose(communicator_state& state, const request& wanted, const request_shape& shape) {
  schedules::demands asked;
  asked.root = wanted.root;
  asked.rank_order = custom_of(wanted.custom) == custom_operator::keeps_order;
  asked.groups_in_rows = asked.rank_order && state.groups().in_rows;
  asked.own_counts = wanted.uneven && wanted.what == collective::alltoall;
  const auto found =
      schedules::select(wanted.what, state.size(), shape.vector * wanted.element_bytes, state.host.selection(), asked);
  chosen c;
  c.in_order = found.in_order;
  c.call.how = found.how;
  c.call.segments = found.segments;
  c.call.root = wanted.root;
  std::size_t counted = 1;  // bytes, since ranks may see what is only moved as elements of different sizes
  if (schedules::combines(wanted.what)) {
    c.call.custom = custom_of(wanted.custom);
    if (c.call.custom == custom_operator::none) {
      c.call.op = wanted.op;
      c.call.type = wanted.type;
    }
    c.call.element_bytes = static_cast<std::uint32_t>(wanted.element_bytes);
  } else {
    counted = wanted.element_bytes;
  }
  if (wanted.uneven)
    c.call.counts = scaled(wanted.counts, wanted.received, counted);
  else
    c.call.count = (schedules::has_blocks(wanted.what) ? shape.block : shape.vector) * counted;
  return c;
}

std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call) {
  if (auto known = state.plans.find(call)) return known;
  const place here{state.size(), state.member.rank, &state.groups().members};
  return state.plans.add(call, build_schedule(call, here, state.host.settings()));
}

call_key key_of(const request& call, const request_shape& shape) {
  return {call.what, custom_of(call.custom), call.op,      call.type,
          call.root, call.element_bytes,     shape.vector, shape.block};
}

/// Until the next call.
const prepared_call& prepare(communicator_state& state, const request& call, const request_shape& shape) {
  prepared_call& latest = state.latest;
  const call_key key = key_of(call, shape);
  if (!call.uneven && latest.key == key) return latest;
  latest.key.reset();
  const chosen how = choose(state, call, shape);
  latest.plan = plan_for(state, how.call);
  latest.in_order = how.in_order;
  if (!call.uneven) latest.key = key;
  return latest;
}

/// An execution of `plan`: one at rest, or a new one.
template <class Execution>
std::unique_ptr<Execution> take(communicator_state& state, plan_cache::entry& plan) {
  if (auto at_rest = state.plans.take<Execution>(plan)) return at_rest;
  return std::make_unique<Execution>(state.host.messages(), state.member, plan.plan);
}

}  // namespace
}  // namespace detail

namespace detail {
namespace {

/// The same reduction of `sums` in place.
request of_accumulators(request call, const request_shape& shape, accumulators& sums) {
  call.type = sums.type();
  call.element_bytes = kernels::size_of(sums.type());
  call.in = sums.data();
  call.out = static_cast<std::byte*>(sums.data()) + shape.before * call.element_bytes;
  call.reproducible = false;
  return call;
}

value_target target_of(const request& call, const request_shape& shape) {
  if (!shape.with_output) return {};
  return {call.out, shape.before, call.out_count};
}

/// In place an all-to-all would write what it has still to send.
void keep_input(request& call) {
  if (call.what != collective::alltoall || call.in != call.out || call.in_count == 0) return;
  const std::size_t bytes = call.in_count * call.element_bytes;
  const auto copy = std::make_shared_for_overwrite<std::byte[]>(bytes);
  std::memcpy(copy.get(), call.in, bytes);
  call.in = copy.get();
  call.keeps = copy;
}

run_arguments arguments_of(communicator_state& state, const request& call, const plan_cache::entry& plan) {
  return {static_cast<const std::byte*>(call.in), static_cast<std::byte*>(call.out), state.sequence++, plan.fingerprint,
          call.custom};
}

}  // namespace
}  // namespace detail

void communicator::run(detail::request call) {
  const auto shape = detail::check(*state_, call);
  if (call.reproducible) {
    detail::accumulators sums(call.type, call.in, call.in_count);
    run(detail::of_accumulators(call, shape, sums));
    return detail::write_values(sums, detail::target_of(call, shape));
  }
  const auto& prepared = detail::prepare(*state_, call, shape);
  if (!prepared.in_order) {
    start(std::move(call)).wait();
    return;
  }
  detail::keep_input(call);
  const auto plan = prepared.plan;
  auto execution = detail::take<detail::in_order_execution>(*state_, *plan);
  execution->run(detail::arguments_of(*state_, call, *plan), state_->host.moved_by());
  const std::exception_ptr failure = execution->failure();
  state_->plans.put_back(plan, std::move(execution));
  if (failure != nullptr) detail::rethrow(*state_, schedules::call_name(call.what), failure);
}

handle communicator::start(detail::request call) { return handle(begin(std::move(call))); }

std::unique_ptr<detail::pending> communicator::begin(detail::request call) {
  const auto shape = detail::check(*state_, call);
  const char* const operation = schedules::call_name(call.what);
  if (call.reproducible) {
    detail::accumulators sums(call.type, call.in, call.in_count);
    const detail::request summed = detail::of_accumulators(call, shape, sums);
    auto begun = std::make_unique<detail::pending_reproducible>(state_, operation, std::move(sums),
                                                                detail::target_of(call, shape));
    begun->of_accumulators = begin(summed);
    return begun;
  }
  detail::keep_input(call);
  auto plan = detail::prepare(*state_, call, shape).plan;
  auto execution = detail::take<detail::dataflow_execution>(*state_, *plan);
  detail::dataflow_execution& started = *execution;
  const detail::plan_cache::entry& used = *plan;
  auto begun = std::make_unique<detail::pending_collective>(state_, operation, std::move(plan), std::move(execution),
                                                            call.keeps);
  started.start(detail::arguments_of(*state_, call, used));
  if (state_->host.moved_by().threaded()) state_->host.moved_by().notify();
  return begun;
}

}  // namespace weft
