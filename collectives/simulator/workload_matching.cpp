// SPDX-License-Identifier: Apache-2.0
// Which send meets which receive.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <weft/simulator/workload_builder.hpp>

namespace weft::simulator {
namespace {

[[noreturn]] void mismatch(const workload& all, int rank, step_index step, const std::string& what) {
  throw std::invalid_argument("rank " + std::to_string(rank) + ", " + name_of(all, rank, step) + ": " + what);
}

}  // namespace

/// Finds channels by rank, peer and tag.
class workload_builder::channel_finder {
 public:
  explicit channel_finder(const workload& all) : all_(all), sorted_(all.channels_.size()) {
    for (int rank = 0; rank < all.ranks(); ++rank) {
      const auto mine = of(rank);
      for (std::uint32_t c = 0; c < mine.size(); ++c) mine[c] = c;
      std::sort(mine.begin(), mine.end(),
                [&](std::uint32_t a, std::uint32_t b) { return key(rank, a) < key(rank, b); });
    }
  }

  std::optional<std::uint32_t> find(int rank, int peer, std::uint32_t tag) {
    const auto mine = of(rank);
    const std::pair wanted(peer, tag);
    const auto found = std::lower_bound(mine.begin(), mine.end(), wanted,
                                        [&](std::uint32_t c, const auto& than) { return key(rank, c) < than; });
    if (found == mine.end() || key(rank, *found) != wanted) return std::nullopt;
    return *found;
  }

 private:
  std::span<std::uint32_t> of(int rank) {
    return {sorted_.data() + all_.at(rank).first_channel, all_.of(rank).channels.size()};
  }
  std::pair<std::int32_t, std::uint32_t> key(int rank, std::uint32_t number) const {
    const workload::channel& c = all_.channels_[all_.at(rank).first_channel + number];
    return {c.peer, c.tag};
  }

  const workload& all_;
  std::vector<std::uint32_t> sorted_;  ///< of each rank, its channels by peer and tag
};

void workload_builder::connect_channels() {
  channel_finder channels(built_);
  for (int rank = 0; rank < built_.ranks(); ++rank) {
    const shape& of = built_.of(rank);
    for (std::uint32_t c = 0; c < of.channels.size(); ++c) {
      workload::channel& mine = built_.channels_[built_.at(rank).first_channel + c];
      const auto [sends, receives] = of.channels[c];
      if (mine.peer < 0 || mine.peer >= built_.ranks())
        mismatch(built_, rank, of.messages[sends.count > 0 ? sends.first : receives.first],
                 "there are ranks 0 to " + std::to_string(built_.ranks() - 1));
      const auto found = channels.find(mine.peer, rank, mine.tag);
      const shape::channel other = found ? built_.of(mine.peer).channels[*found] : shape::channel{};
      mine.reverse = found.value_or(0);
      if (sends.count > other.receives.count)
        mismatch(built_, rank, of.messages[sends.first + other.receives.count], "nothing receives it");
      if (receives.count > other.sends.count)
        mismatch(built_, rank, of.messages[receives.first + other.sends.count], "nothing is sent to it");
    }
  }
}

void workload_builder::check_lengths() const {
  for (int rank = 0; rank < built_.ranks(); ++rank)
    for (step_index s = 0; s < built_.of(rank).steps.size(); ++s) {
      if (built_.of(rank).steps[s].kind != operation_kind::send) continue;
      const meeting there = built_.other_side(rank, s);
      if (built_.amount(there.rank, there.step) != built_.amount(rank, s))
        mismatch(built_, rank, s,
                 "its length differs from that of rank " + std::to_string(there.rank) + ", " +
                     name_of(built_, there.rank, there.step));
    }
}

workload workload_builder::finish() {
  connect_channels();
  check_lengths();
  built_.amount_indices_.shrink_to_fit();
  return std::exchange(built_, {});
}

}  // namespace weft::simulator
