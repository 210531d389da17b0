// SPDX-License-Identifier: Apache-2.0
// What the processes of a job have done, counted.
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <weft/process/process.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/sleeps.hpp>

#include "gather_at_end.hpp"
#include "statistics_table.hpp"

namespace weft::detail {
namespace {

statistics::volume volume_of(const tally& its) noexcept { return {its.count, its.bytes}; }

statistics::sent_messages sent_by(const fabric::message_counts& all, fabric::message_counts::road by) noexcept {
  return {volume_of(all.at_once[by]), volume_of(all.granted[by])};
}

/// "rank 3" or "ranks 2-3".
std::string name_of(int first, int end) {
  if (end - first == 1) return "rank " + std::to_string(first);
  return "ranks " + std::to_string(first) + "-" + std::to_string(end - 1);
}

}  // namespace

statistics process::counts() const noexcept {
  using words = std::array<std::uint64_t, sizeof(statistics) / sizeof(std::uint64_t)>;
  static_assert(std::has_unique_object_representations_v<statistics>);
  const statistics all = counts_in_all();
  auto since = std::bit_cast<words>(all);
  const auto before = std::bit_cast<words>(before_);
  for (std::size_t i = 0; i < since.size(); ++i) since[i] -= before[i];
  auto its = std::bit_cast<statistics>(since);
  its.most_unexpected = all.most_unexpected;  // peaks
  its.most_memory = all.most_memory;
  return its;
}

statistics process::counts_in_all() const noexcept {
  using fabric::message_counts;
  statistics its;
  roll_->add_calls(its);
  const message_counts& messages = messages_->counts();
  its.sent_here = sent_by(messages, message_counts::own_process);
  its.sent_by_node_memory = sent_by(messages, message_counts::node_memory);
  its.sent_by_network = sent_by(messages, message_counts::network);
  its.received = volume_of(messages.received);
  its.refused = messages.refused;
  its.without_credit = messages.without_credit;
  its.most_unexpected = messages.most_stored;
  its.most_memory = budget_->most_taken();
  const sleep_counts slept = count_sleeps();
  its.sleeps = slept.sleeps;
  its.wakes = slept.wakes;
  return its;
}

void process::tell_statistics() noexcept {
  try {
    const statistics mine = counts();
    const auto told = gather_at_end(*messages_, *progress_, *processes_, std::as_bytes(std::span(&mine, 1)));
    if (told.empty()) return;  // another process says it
    std::vector<told_statistics> all;
    for (std::size_t p = 0; p < told.size(); ++p) {
      const int first = processes_->world[p];
      const int end = p + 1 < told.size() ? processes_->world[p + 1] : everyone_->size();
      told_statistics& its = all.emplace_back();
      its.who = name_of(first, end);
      if (told[p].empty()) continue;
      std::memcpy(&its.counts.emplace(), told[p].data(), sizeof(statistics));
    }
    std::fputs(statistics_table(all).c_str(), stderr);
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "weft: the statistics are not told: %s\n", failed.what());
  }
}

}  // namespace weft::detail
