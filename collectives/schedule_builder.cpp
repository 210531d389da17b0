#include "schedule_builder.hpp"

#include <weft/schedules/dissemination_barrier.hpp>
#include <weft/schedules/recursive_doubling_allreduce.hpp>
#include <weft/schedules/ring_allreduce.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/schedules/tree_broadcast.hpp>
#include <weft/schedules/tree_reduce.hpp>

namespace weft::detail {

schedules::schedule build_schedule(const collective_call& call, int rank, int ranks, const options& settings) {
  schedules::schedule_sink built;
  schedules::pipeline by;
  by.segments = call.segments;
  switch (call.how) {
    case algorithm::dissemination: schedules::dissemination_barrier(ranks, rank, built); break;
    case algorithm::greedy:
      schedules::greedy_reduce(ranks, call.root, settings.transfer_cost, settings.compute_cost, rank, by, built);
      break;
    case algorithm::binomial:
      if (call.what == collective::broadcast)
        schedules::binomial_broadcast(ranks, call.root, rank, by, built);
      else
        schedules::binomial_reduce(ranks, call.root, rank, by, built);
      break;
    case algorithm::recursive_doubling: schedules::recursive_doubling_allreduce(ranks, rank, built); break;
    case algorithm::ring: schedules::ring_allreduce({ranks, {}, by}, rank, built); break;
  }
  return built.take();
}

}  // namespace weft::detail
