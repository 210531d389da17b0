// From a call's arguments to what will run: its algorithm is chosen, its plan found or made.
#pragma once

#include "accumulators.hpp"
#include "communicator_state.hpp"
#include "request_shape.hpp"

namespace weft::detail {

/// How `call` will run. Until the next call.
const prepared_call& prepare(communicator_state& state, const request& call, const request_shape& shape);

/// What of it a plan depends on, where the ranks' blocks are even.
call_key key_of(const request& call, const request_shape& shape);

/// The plan of that shape: one that was used before, or a new one. The costs are the greedy tree's.
std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call,
                                            const schedules::operand_costs& operand);

/// Seconds for each byte of an operand, as far as they were measured.
double combine_seconds_of(const process& host, const request& wanted);

/// The call by what was chosen: of `count` elements, in each block where there are blocks.
collective_call planned_call(const request& wanted, const schedules::selected& found, int root, std::size_t count);

/// The call as ranks must agree on it, by whatever algorithm.
collective_call agreed_call(const request& wanted, const request_shape& shape);

/// Gives `call` the counts of each of its blocks, which are in elements of `wanted`.
void set_counts(collective_call& call, const request& wanted, std::vector<std::size_t> counts);

/// The counts of the caller's blocks: in an all-to-all of what it sends and, behind these, receives.
std::vector<std::size_t> counts_of(const request& wanted);

/// Where the values of a reproducible sum go, and of which accumulators.
struct value_target {
  void* out = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;
};

inline void write_values(const accumulators& of, const value_target& to) noexcept {
  if (to.count != 0) of.values(to.first, to.count, to.out);
}

/// The same reduction of `sums` in place.
request of_accumulators(request call, const request_shape& shape, accumulators& sums);

/// Where the values of that reduction's result go.
value_target target_of(const request& call, const request_shape& shape);

}  // namespace weft::detail
