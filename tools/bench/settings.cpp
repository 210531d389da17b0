// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <cstdio>
#include <stdexcept>
#include <weft/schedules/algorithms.hpp>

namespace weft::tools {

late_rank parse_late(const std::string& text) {
  late_rank late;
  long microseconds = 0;
  int end = 0;
  const bool taken = std::sscanf(text.c_str(), "%9d:%9ld%n", &late.rank, &microseconds, &end) == 2;
  if (!taken || static_cast<std::size_t>(end) != text.size() || late.rank < 0 || microseconds < 1)
    throw std::invalid_argument(text + ": not RANK:US, such as 3:1000: a rank from 0, and microseconds from 1");
  late.by = std::chrono::microseconds(microseconds);
  return late;
}

std::vector<std::string> bench_collectives() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < schedules::collectives; ++i)
    names.emplace_back(schedules::option_name(static_cast<schedules::collective>(i)));
  names.emplace_back("latency");
  names.emplace_back("bandwidth");
  names.emplace_back("bidirectional");
  names.emplace_back("message-rate");
  names.emplace_back("put");
  names.emplace_back("get");
  names.emplace_back("idle");
  names.emplace_back("overlap");
  names.emplace_back("consistency");
  names.emplace_back("agree");
  names.emplace_back("kernels");
  return names;
}

bool sends_windows(const std::string& collective) {
  return collective == "bandwidth" || collective == "bidirectional" || collective == "message-rate" ||
         is_one_sided(collective);
}

bool is_one_sided(const std::string& collective) { return collective == "put" || collective == "get"; }

std::string refuse_pairs(const bench_settings& settings, int ranks) {
  if (ranks == 2 * settings.pairs) return "";
  const std::string wanted = std::to_string(2 * settings.pairs);
  return settings.collective + " with --pairs " + std::to_string(settings.pairs) + " takes " + wanted + " ranks (-n " +
         wanted + "), not " + std::to_string(ranks);
}

std::vector<std::string> bench_algorithms(const std::string& collective) {
  std::vector<std::string> names{"auto"};
  if (const auto kind = schedules::find_collective(collective))
    for (const auto& each : schedules::algorithms_of(*kind)) names.emplace_back(each.name);
  return names;
}

}  // namespace weft::tools
