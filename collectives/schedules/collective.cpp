// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <weft/schedules/collective.hpp>

namespace weft::schedules {
namespace {

struct names {
  std::string_view prose, option;
};

constexpr names all[] = {
    {"reduce", "reduce"},        {"broadcast", "bcast"},
    {"all-reduce", "allreduce"}, {"reduce-scatter", "reduce-scatter"},
    {"all-gather", "allgather"}, {"barrier", "barrier"},
    {"gather", "gather"},        {"scatter", "scatter"},
    {"all-to-all", "alltoall"},  {"scan", "scan"},
    {"exscan", "exscan"},
};
static_assert(std::size(all) == collectives);

const names& of(collective kind) { return all[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view name(collective kind) { return of(kind).prose; }
std::string_view option_name(collective kind) { return of(kind).option; }

std::optional<collective> find_collective(std::string_view option_name) {
  const auto found =
      std::find_if(std::begin(all), std::end(all), [&](const names& each) { return each.option == option_name; });
  if (found == std::end(all)) return std::nullopt;
  return static_cast<collective>(found - std::begin(all));
}

}  // namespace weft::schedules
