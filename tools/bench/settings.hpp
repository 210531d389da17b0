// SPDX-License-Identifier: Apache-2.0
// What `weft bench` measures.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>
#include <weft/kernels/combine.hpp>
#include <weft/noise/interference.hpp>
#include <weft/runtime/options.hpp>

namespace weft::tools {

/// A rank that calls so much later than the others.
struct late_rank {
  int rank = -1;  ///< -1: none
  std::chrono::microseconds by{};
};

/// Why there is none where processes host several.
inline constexpr const char* late_holds_up = "a rank that is late holds up all of its process: with one rank each";

/// Of "RANK:US". Throws std::invalid_argument with the reason.
late_rank parse_late(const std::string& text);

struct bench_settings {
  std::string collective;  ///< one of bench_collectives()
  std::size_t from = 8;    ///< bytes of the first size
  std::size_t to = 16 << 20;
  std::size_t factor = 2;
  std::chrono::milliseconds budget{200};  ///< of the samples of one size
  kernels::type type = kernels::type::float32;
  kernels::operation op = kernels::operation::sum;
  std::string algorithm = "auto";
  bool check = false;       ///< the result of every sample, each on inputs of its own
  bool persistent = false;  ///< planned once for each size, and started again and again
  bool started = false;     ///< in the form that begins with i, and waited for
  bool arena = false;       ///< whether buffers are in memory that the node shares
  bool json = false;
  bool csv = false;                                ///< in this form what would be objects: json is set, too
  bool one_way = false;                            ///< latency of messages of these sizes, not of the shortest alone
  std::size_t window = 64;                         ///< of messages: how many are sent before they are waited for
  int pairs = 1;                                   ///< of ranks between which windows go
  std::size_t unmatched = 0;                       ///< of message-rate: receives that no window matches
  noise_pattern noise;                             ///< of consistency
  late_rank late;                                  ///< of collectives
  progress_mode progress = progress_mode::caller;  ///< of overlap and consistency
  bool explain = false;                            ///< every algorithm, its prediction beside
};

/// The collectives as options call them, "latency", "bandwidth", "bidirectional", "message-rate", "put", "get", "idle",
/// "overlap", "consistency", "agree" and "kernels".
std::vector<std::string> bench_collectives();

/// Whether windows of messages go between pairs of ranks: "bandwidth", "bidirectional", "message-rate", "put" and
/// "get".
bool sends_windows(const std::string& collective);
/// Whether one rank of a pair uses the memory of the other: the last two of these.
bool is_one_sided(const std::string& collective);

/// What is wrong with so many ranks for windows between the pairs of `settings`; empty: nothing.
std::string refuse_pairs(const bench_settings& settings, int ranks);

/// The values of --algorithm that `collective` has.
std::vector<std::string> bench_algorithms(const std::string& collective);

}  // namespace weft::tools
