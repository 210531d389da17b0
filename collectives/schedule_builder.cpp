#include "schedule_builder.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/ordered_reduce.hpp>
#include <weft/schedules/schedule_sink.hpp>

namespace weft::detail {
namespace {

schedules::collective kind_of(collective what) {
  switch (what) {
    case collective::barrier:
      return schedules::collective::barrier;
    case collective::broadcast:
      return schedules::collective::broadcast;
    case collective::reduce:
      return schedules::collective::reduce;
    case collective::allreduce:
      break;
  }
  return schedules::collective::allreduce;
}

const schedules::algorithm& algorithm_of(const collective_call& call) {
  std::string name = detail::name(call.how);
  std::replace(name.begin(), name.end(), '_', '-');
  const schedules::algorithm* const found = schedules::find_algorithm(kind_of(call.what), name);
  if (found == nullptr) throw std::logic_error(std::string("there is no ") + detail::name(call.what) + " by " + name);
  return *found;
}

}  // namespace

schedules::schedule build_schedule(const collective_call& call, int rank, int ranks, const options& settings) {
  schedules::algorithm_arguments shape;
  shape.ranks = ranks;
  shape.rank = rank;
  shape.root = call.root;
  shape.by.segments = call.segments;
  shape.transfer = settings.transfer_cost;
  shape.compute = settings.compute_cost;
  return schedules::built_by([&](schedules::sink& to) {
    if (call.what == collective::reduce && call.custom == custom_operator::keeps_order)
      schedules::ordered_reduce(ranks, call.root, rank, shape.by, to);
    else
      algorithm_of(call).emit(shape, to);
  });
}

}  // namespace weft::detail
