// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <weft/runtime/error.hpp>
#include <weft/statistics.hpp>

namespace weft {
namespace {

std::size_t number_of(std::string_view call) {
  for (std::size_t i = 0; i < schedules::collectives; ++i)
    if (schedules::call_names[i] == call) return i;
  throw error(errc::invalid_argument,
              "statistics: there is no collective \"" + std::string(call) + "\"; one is called allreduce");
}

}  // namespace

statistics::volume statistics::of(std::string_view call, road by, form as) const {
  return collectives[number_of(call)][static_cast<std::size_t>(by)][static_cast<std::size_t>(as)];
}

statistics::volume statistics::of(std::string_view call) const {
  volume sum;
  for (const auto& by : collectives[number_of(call)])
    for (const volume& as : by) sum = sum + as;
  return sum;
}

}  // namespace weft
