// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <weft/choice/selection_settings.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {
namespace {

using schedules::collective;

/// By collective, in the order of the enumeration.
constexpr std::string options::*members[] = {
    &options::reduce,    &options::bcast,   &options::allreduce, &options::reduce_scatter,
    &options::allgather, &options::barrier, &options::gather,    &options::scatter,
    &options::alltoall,  &options::scan,    &options::exscan,
};
static_assert(std::size(members) == schedules::collectives);

const schedules::algorithm* wanted(const options& settings, collective kind) {
  const std::string& given = settings.*members[static_cast<std::size_t>(kind)];
  if (given == "auto") return nullptr;
  std::string name = given;
  std::replace(name.begin(), name.end(), '_', '-');
  const schedules::algorithm* const found = schedules::find_algorithm(kind, name);
  if (found != nullptr) return found;
  const std::string option(schedules::option_name(kind));
  const auto origin = settings.origins.find(option);
  throw error(errc::invalid_argument, (origin == settings.origins.end() ? option : origin->second) + "=" + given +
                                          ": not a valid value; valid: " + algorithm_names(kind));
}

}  // namespace

schedules::selection_parameters selection_of(const options& settings) {
  schedules::selection_parameters agreed;
  for (std::size_t i = 0; i < schedules::collectives; ++i)
    agreed.wanted[i] = wanted(settings, static_cast<collective>(i));
  agreed.ring_threshold = settings.ring_threshold;
  agreed.ring_threshold_pair = settings.ring_threshold_pair;
  agreed.bruck_limit = settings.bruck_limit;
  agreed.segment = settings.segment;
  agreed.in_order_limit = settings.eager_limit;
  return agreed;
}

std::string& algorithm_option(options& settings, collective kind) {
  return settings.*members[static_cast<std::size_t>(kind)];
}

std::string algorithm_names(collective kind) {
  std::string names = "auto";
  for (const auto& each : schedules::algorithms_of(kind)) names += ", " + std::string(each.name);
  return names;
}

}  // namespace weft::detail
