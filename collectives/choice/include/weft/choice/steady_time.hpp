// SPDX-License-Identifier: Apache-2.0
// How often to time what others may hold up, and what the times come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace weft::detail {

struct repeats {
  int warm_ups = 2;      ///< that do not count: what is first touched or connected takes longer
  int least = 8;         ///< that count
  int most = 1000;       ///< that count, about
  double budget = 0;     ///< seconds for those that count, if nothing holds them up
  double patience = 10;  ///< so many budgets may go by, or thrice as many while too few times agree
};

/// Times agree with the least one that are at most twice as long. So many have a mean that is no chance, where others
/// were held up.
inline constexpr std::ptrdiff_t times_that_agree = 12;

/// What something takes that other programs and the system may only hold up: the mean over the faster half, of which
/// those that do not agree with the least one were held up too. Of at least one time.
double steady_time(std::vector<double> times);

/// How many more times are needed, 0 where these will do: as many as there is a budget for by what they came to, and
/// more while not enough agree. At most thrice as many again as there are, which may know better. `spent` are the
/// seconds that have gone by since the first. Of at least one time.
std::int64_t more_repeats(const repeats& how, const std::vector<double>& times, double spent);

/// The steady time of what `run` runs and gives the seconds of. Where several run it together each of them calls this,
/// and `agreed` gives the same number to all of them, made of what each of them would do; a number that all of them
/// come to is taken as it is. `now` is a clock's seconds.
double steady_time(const repeats& how, const std::function<double()>& run,
                   const std::function<std::int64_t(std::int64_t)>& agreed, const std::function<double()>& now);

/// Of the clock that goes evenly.
double seconds_now();

}  // namespace weft::detail
