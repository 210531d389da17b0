// SPDX-License-Identifier: Apache-2.0
// What happened in a simulation, and why it took as long as it did.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>
#include <weft/simulator/simulate.hpp>

namespace weft::simulator {

/// Keeps every activity: about 100 bytes each.
class timeline final : public observer {
 public:
  void happened(const activity& what) override { activities_.push_back(what); }
  const std::vector<activity>& activities() const noexcept { return activities_; }

 private:
  std::vector<activity> activities_;
};

/// The activities that the completion hangs from, the first one first: each could begin only when the one before it had
/// ended or, of a transfer, had left the port or the memory that it needs. Between two of them can lie the gap g of a
/// port, a rendezvous's handshake, or noise.
struct critical_path {
  /// Of more than `most_path_kept`, the first and the last half of so many.
  std::vector<activity> activities;
  std::uint64_t length = 0;         ///< how many there are
  std::array<double, 4> time_of{};  ///< of each activity_kind, up to where the next activity begins
  double other = 0;                 ///< between them
};

inline constexpr std::size_t most_path_kept = 1 << 16;

/// Of a simulation that `seen` has watched.
critical_path critical_path_of(const simulation& done, const timeline& seen);

struct explained_simulation {
  simulation done;
  critical_path path;
};
/// As `simulate`, twice: of the first run each activity's cause is kept, 8 bytes a step, of the second one the
/// activities that the completion hangs from. Throws std::length_error for 2^31 steps or more.
explained_simulation simulate_with_path(const workload& all, const machine_model& model,
                                        const network* links = nullptr);

/// An SVG document as Figure 1 of Canon and Antoniu 2012 draws schedules, a row for each rank, time going to the
/// right: what a CPU does above, what the rank receives below, and an arrow for each message from its sender's row to
/// its receiver's. Throws std::invalid_argument for more than `most_drawn` activities, of which nobody could see one.
std::string to_svg(const simulation& done, const timeline& seen);
inline constexpr std::size_t most_drawn = 100'000;

/// "send overhead"
const char* name(activity_kind kind);

}  // namespace weft::simulator
