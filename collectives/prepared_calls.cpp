#include "prepared_calls.hpp"

#include <weft/choices.hpp>
#include <weft/tuning.hpp>

#include "schedule_builder.hpp"

namespace weft::detail {
namespace {

/// A collective call as it will run.
struct chosen {
  collective_call call;
  bool in_order = true;
  schedules::operand_costs operand;  ///< follows from the call and from what the job agreed on
};

chosen choose(communicator_state& state, const request& wanted, const request_shape& shape) {
  choice_request of{wanted.what, shape.vector * wanted.element_bytes, {}, combine_seconds_of(state.host, wanted)};
  of.asked.root = wanted.root;
  of.asked.rank_order = custom_of(wanted.custom) == custom_operator::keeps_order;
  of.asked.groups_in_rows = of.asked.rank_order && state.groups().in_rows;
  of.asked.own_counts = wanted.uneven && wanted.what == collective::alltoall;
  const schedules::selected found = detail::choose(state, of);
  chosen c{planned_call(wanted, found, wanted.root, schedules::has_blocks(wanted.what) ? shape.block : shape.vector),
           found.in_order, found.operand};
  if (wanted.uneven) set_counts(c.call, wanted, counts_of(wanted));
  return c;
}

}  // namespace

call_key key_of(const request& call, const request_shape& shape) {
  return {call.what, custom_of(call.custom), call.op,      call.type,
          call.root, call.element_bytes,     shape.vector, shape.block};
}

std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call,
                                            const schedules::operand_costs& operand) {
  if (auto known = state.plans.find(call)) return known;
  const place here{state.size(), state.member.rank, &state.groups(), operand};
  return state.plans.add(call, build_schedule(call, here, state.host.settings()));
}

double combine_seconds_of(const process& host, const request& wanted) {
  const tuning* const measured = host.measured();
  if (measured == nullptr || !schedules::combines(wanted.what)) return 0;
  if (custom_of(wanted.custom) != custom_operator::none) return combine_seconds_of_custom(*measured);
  return combine_seconds(*measured, wanted.op, wanted.type);
}

collective_call planned_call(const request& wanted, const schedules::selected& found, int root, std::size_t count) {
  collective_call call;
  call.how = found.how;
  call.segments = found.segments;
  call.root = root;
  call.count = count;
  if (!schedules::combines(wanted.what)) {
    call.count *= wanted.element_bytes;  // bytes, since ranks may see what is only moved as elements of different sizes
    return call;
  }
  call.custom = custom_of(wanted.custom);
  if (call.custom == custom_operator::none) {
    call.op = wanted.op;
    call.type = wanted.type;
  }
  call.element_bytes = static_cast<std::uint32_t>(wanted.element_bytes);
  return call;
}

collective_call agreed_call(const request& wanted, const request_shape& shape) {
  schedules::selected any;
  any.how = schedules::algorithms_of(wanted.what).data();
  collective_call all =
      planned_call(wanted, any, wanted.root, schedules::has_blocks(wanted.what) ? shape.block : shape.vector);
  if (wanted.uneven) set_counts(all, wanted, counts_of(wanted));
  return all;
}

void set_counts(collective_call& call, const request& wanted, std::vector<std::size_t> counts) {
  call.count = 0;
  call.counts = std::move(counts);
  if (!schedules::combines(wanted.what))
    for (std::size_t& count : call.counts) count *= wanted.element_bytes;
}

std::vector<std::size_t> counts_of(const request& wanted) {
  std::vector<std::size_t> all(wanted.counts.begin(), wanted.counts.end());
  all.insert(all.end(), wanted.received.begin(), wanted.received.end());
  return all;
}

const prepared_call& prepare(communicator_state& state, const request& call, const request_shape& shape) {
  prepared_call& latest = state.latest;
  const call_key key = key_of(call, shape);
  if (!call.uneven && latest.key == key) return latest;
  latest.key.reset();
  const chosen how = choose(state, call, shape);
  latest.plan = plan_for(state, how.call, how.operand);
  latest.in_order = how.in_order;
  if (!call.uneven) latest.key = key;
  return latest;
}

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

}  // namespace weft::detail
