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

/// Seconds for each byte of an operand, as far as they were measured.
double combine_seconds_of(communicator_state& state, const request& wanted) {
  const tuning* const measured = state.host.measured();
  if (measured == nullptr || !schedules::combines(wanted.what)) return 0;
  if (custom_of(wanted.custom) != custom_operator::none) return combine_seconds_of_custom(*measured);
  return combine_seconds(*measured, wanted.op, wanted.type);
}

chosen choose(communicator_state& state, const request& wanted, const request_shape& shape) {
  choice_request of{wanted.what, shape.vector * wanted.element_bytes, {}, combine_seconds_of(state, wanted)};
  of.asked.root = wanted.root;
  of.asked.rank_order = custom_of(wanted.custom) == custom_operator::keeps_order;
  of.asked.groups_in_rows = of.asked.rank_order && state.groups().in_rows;
  of.asked.own_counts = wanted.uneven && wanted.what == collective::alltoall;
  const schedules::selected found = detail::choose(state, of);
  chosen c;
  c.in_order = found.in_order;
  c.operand = found.operand;
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

call_key key_of(const request& call, const request_shape& shape) {
  return {call.what, custom_of(call.custom), call.op,      call.type,
          call.root, call.element_bytes,     shape.vector, shape.block};
}

}  // namespace

std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call,
                                            const schedules::operand_costs& operand) {
  if (auto known = state.plans.find(call)) return known;
  const place here{state.size(), state.member.rank, &state.groups().members, operand};
  return state.plans.add(call, build_schedule(call, here, state.host.settings()));
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
