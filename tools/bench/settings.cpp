#include "settings.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>
#include <weft/schedules/algorithms.hpp>

namespace weft::tools {

std::vector<std::string> bench_collectives() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < schedules::collectives; ++i)
    names.emplace_back(schedules::option_name(static_cast<schedules::collective>(i)));
  names.emplace_back("latency");
  names.emplace_back("idle");
  names.emplace_back("overlap");
  names.emplace_back("consistency");
  names.emplace_back("agree");
  names.emplace_back("kernels");
  return names;
}

std::vector<std::string> bench_algorithms(const std::string& collective) {
  std::vector<std::string> names{"auto"};
  if (const auto kind = schedules::find_collective(collective))
    for (const auto& each : schedules::algorithms_of(*kind)) names.emplace_back(each.name);
  return names;
}

std::size_t parse_size(const std::string& text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const int shift = unit.empty() ? 0 : unit == "k" || unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (failure != std::errc{} || shift < 0 || number == 0 || number > (std::numeric_limits<std::size_t>::max() >> shift))
    throw std::invalid_argument("\"" + text + "\" is not a number of bytes such as 8, 64k or 16M");
  return number << shift;
}

}  // namespace weft::tools
