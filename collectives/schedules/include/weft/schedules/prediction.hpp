// SPDX-License-Identifier: Apache-2.0
// How long each algorithm would take, by the formulas of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/schedules/algorithms.hpp>

namespace weft::schedules {

struct prediction {
  const algorithm* how = nullptr;
  std::uint32_t segments = 1;
  double seconds = 0;
  int degree = 0;  ///< the best, of rows that take it; of others 0
};

/// More segments than this cost more in steps than pipelining gains.
inline constexpr std::uint32_t most_segments = 256;

/// Into how many segments `how` cuts a vector of so many bytes so that none has more than `segment` bytes, but not more
/// than most_segments; 1 where it takes none.
std::uint32_t segments_of(const algorithm& how, int ranks, std::size_t bytes, std::size_t segment);

/// What `how` would take in each number of segments: the least, which `segment` bounds, and that times powers of two,
/// up to most_segments. Where it takes the best degree, all that of degree 2, and behind it in the least segments of
/// degree 3, 4, 8, 16 and the number of ranks, where that is less. `bytes` as algorithm::cost counts them.
std::vector<prediction> predict_each(const algorithm& how, const algorithm_arguments& of, std::size_t bytes,
                                     const path_costs& each, std::size_t segment);
/// The best of those; of several that are as good, the first.
prediction predict(const algorithm& how, const algorithm_arguments& of, std::size_t bytes, const path_costs& each,
                   std::size_t segment);

/// The value of the cost `unknown` with which a pattern takes so many seconds where its other costs are as `known`
/// says: formulas of patterns are linear in each of them. At least 0; 0 where it has no part in that pattern's.
double cost_from(const algorithm& pattern, const algorithm_arguments& of, std::size_t bytes, double seconds,
                 link_costs known, double link_costs::*unknown);

/// What an operand of so many bytes costs, in whole thousandths of the greatest of the three: for these a reduction's
/// greedy tree is made. A transfer and a combine alike where nothing costs anything.
struct operand_costs {
  double transfer = 1;  ///< that the ports are busy
  double compute = 1;
  double latency = 0;  ///< by which it comes later
  double unit = 0;     ///< of these, in seconds; 0: not known
  friend bool operator==(const operand_costs&, const operand_costs&) = default;
};
operand_costs operand_costs_of(double bytes, const path_costs& each);

/// Of every algorithm of `kind`, the fastest first; where they are as fast, in the order of the table.
std::vector<prediction> predict_all(collective kind, const algorithm_arguments& of, std::size_t bytes,
                                    const path_costs& each, std::size_t segment);

}  // namespace weft::schedules
