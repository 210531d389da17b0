// SPDX-License-Identifier: Apache-2.0
#include "swept_algorithms.hpp"

#include <algorithm>
#include <stdexcept>
#include <weft/algorithms/named_algorithm.hpp>
#include <weft/algorithms/shape_options.hpp>

namespace weft::tools {
namespace {

bool is_compared(const schedules::algorithm& how, bool grouped) {
  namespace takes = schedules::takes;
  const bool has_groups = (how.parameters & (takes::groups | takes::nodes)) != 0;
  return how.pattern == schedules::memory_pattern::none && (how.parameters & takes::arrivals_of_calls) == 0 &&
         (grouped || !has_groups);
}

}  // namespace

std::vector<const schedules::algorithm*> algorithms_asked(const std::string& collective,
                                                          const std::vector<std::string>& names, bool grouped) {
  std::vector<const schedules::algorithm*> found;
  const auto add = [&](const schedules::algorithm& how) {
    if (std::ranges::find(found, &how) == found.end()) found.push_back(&how);
  };
  try {
    const schedules::collective kind = collective_named(collective);
    if (names.empty()) add(algorithm_named(kind, ""));
    for (const std::string& name : names) {
      if (name != "all") {
        add(algorithm_named(kind, name));
        continue;
      }
      for (const schedules::algorithm& how : schedules::algorithms_of(kind))
        if (is_compared(how, grouped)) add(how);
    }
  } catch (const std::invalid_argument& failure) {
    throw CLI::ValidationError("COLLECTIVE, --algorithm", failure.what());
  }
  return found;
}

void check_options_of_any(const std::vector<const schedules::algorithm*>& all,
                          const std::vector<CLI::Option*>& options) {
  if (all.size() == 1) return check_options(*all.front(), options);
  std::vector<std::string> taken;
  for (const schedules::algorithm* const how : all)
    for (const std::string& each : options_of(*how))
      if (std::ranges::find(taken, each) == taken.end()) taken.push_back(each);
  for (const CLI::Option* const given : options)
    if (given->count() > 0 && std::ranges::find(taken, given->get_name()) == taken.end())
      throw CLI::ValidationError(given->get_name(),
                                 "none of these algorithms takes that; they take " +
                                     (taken.empty() ? "no parameters" : CLI::detail::join(taken, ", ")));
}

}  // namespace weft::tools
