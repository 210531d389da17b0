// SPDX-License-Identifier: Apache-2.0
#include <weft/choice/trial_times.hpp>

namespace weft::detail {

slowest_times::slowest_times(std::span<const double> mine) : seconds(mine.begin(), mine.end()) {
  call = combining(collective::allreduce, seconds, seconds, max);
}

schedules::selected by_messages_of_times() {
  schedules::selected how;
  how.how = schedules::find_algorithm(collective::allreduce, "recursive-doubling");
  return how;
}

}  // namespace weft::detail
