#include <weft/selection_settings.hpp>

namespace weft::detail {

schedules::selection_parameters selection_of(const options& settings) {
  using parameters = schedules::selection_parameters;
  parameters agreed;
  if (settings.allreduce == "ring") agreed.allreduce = parameters::allreduce_choice::ring;
  if (settings.allreduce == "recursive_doubling") agreed.allreduce = parameters::allreduce_choice::recursive_doubling;
  if (settings.reduce == "binomial") agreed.reduce = parameters::reduce_choice::binomial;
  if (settings.reduce == "greedy") agreed.reduce = parameters::reduce_choice::greedy;
  agreed.ring_threshold = settings.ring_threshold;
  agreed.ring_threshold_pair = settings.ring_threshold_pair;
  agreed.segment = settings.segment;
  agreed.in_order_limit = settings.eager_limit;
  return agreed;
}

}  // namespace weft::detail
