// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>
#include <weft/simulator/workload_builder.hpp>

namespace weft::simulator {
namespace {

using schedules::table_range;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccd;
  return hash ^ (hash >> 32);
}

bool same(const shape::step& a, const shape::step& b) {
  const auto equal = [](table_range x, table_range y) { return x.first == y.first && x.count == y.count; };
  return a.kind == b.kind && a.cpu == b.cpu && a.nic == b.nic && a.channel == b.channel && a.ordinal == b.ordinal &&
         equal(a.ends, b.ends) && equal(a.begins, b.begins);
}

std::uint64_t hash_of(const shape& steps) {
  std::uint64_t hash = steps.steps.size();
  for (const shape::step& s : steps.steps)
    hash = mix(
        hash, std::uint64_t{s.channel} << 32 | s.ordinal << 8 | s.ends.count << 2 | static_cast<std::uint64_t>(s.kind));
  for (const step_index s : steps.before) hash = mix(hash, s);
  return hash;
}

/// Puts `entries`, pairs of a row and a value, into one table, row after row, and says where each row lies.
template <class SetRow>
void fill_rows(std::vector<step_index>& table, std::size_t rows,
               const std::vector<std::pair<step_index, step_index>>& entries, SetRow&& set_row) {
  std::vector<std::uint32_t> next(rows + 1, 0);
  for (const auto& [row, value] : entries) ++next[row + 1];
  const auto base = static_cast<std::uint32_t>(table.size());
  for (std::size_t row = 0; row < rows; ++row) {
    set_row(row, table_range{base + next[row], next[row + 1]});
    next[row + 1] += next[row];
  }
  table.resize(base + entries.size());
  for (const auto& [row, value] : entries) table[base + next[row]++] = value;
}

/// Whether every step lets its dependents go in their order.
bool in_order_of_steps(std::span<const stated_dependency> stated, std::size_t steps) {
  std::vector<std::array<step_index, 2>> last(steps, {0, 0});
  return std::all_of(stated.begin(), stated.end(), [&](const stated_dependency& d) {
    step_index& before_it = last[d.before][d.on_end ? 1 : 0];
    return std::exchange(before_it, d.step) <= d.step;
  });
}

/// Everything that follows from kinds, channels and what comes before what.
void complete(shape& of, std::size_t channels, std::span<const stated_dependency> stated) {
  std::vector<std::pair<step_index, step_index>> ended, begun, sends, receives;
  for (const stated_dependency& d : stated) (d.on_end ? ended : begun).emplace_back(d.before, d.step);
  for (step_index s = 0; s < of.steps.size(); ++s) {
    const shape::step& step = of.steps[s];
    if (step.ends.count == 0 && step.begins.count == 0) of.independent.push_back(s);
    if (stated.empty()) {
      for (const step_index before : shape::part(of.before, step.ends)) ended.emplace_back(before, s);
      for (const step_index before : shape::part(of.before, step.begins)) begun.emplace_back(before, s);
    }
    if (step.kind == operation_kind::send) sends.emplace_back(step.channel, s);
    if (step.kind == operation_kind::receive) receives.emplace_back(step.channel, s);
  }
  of.channels.resize(channels);
  fill_rows(of.dependents, of.steps.size(), ended, [&](std::size_t s, table_range r) { of.steps[s].ends_before = r; });
  fill_rows(of.dependents, of.steps.size(), begun,
            [&](std::size_t s, table_range r) { of.steps[s].begins_before = r; });
  fill_rows(of.messages, channels, sends, [&](std::size_t c, table_range r) { of.channels[c].sends = r; });
  fill_rows(of.messages, channels, receives, [&](std::size_t c, table_range r) { of.channels[c].receives = r; });
}

}  // namespace

step_index workload_builder::add(const operation& what, std::span<const step_index> ended,
                                 std::span<const step_index> begun) {
  if (current_.steps.size() >= std::numeric_limits<step_index>::max())
    throw std::length_error("a rank has at most 2^32 - 1 steps");
  shape::step step{what.kind, what.cpu, what.nic, 0, 0, append_before(ended), append_before(begun), {}, {}};
  if (is_message(what.kind)) {
    step.channel = channel_of(what.peer, what.tag);
    step.ordinal = (what.kind == operation_kind::send ? sends_ : receives_)[step.channel]++;
  }
  built_.cpus_ = std::max(built_.cpus_, what.cpu + 1);
  built_.nics_ = std::max(built_.nics_, what.nic + 1);
  amounts_.push_back(amount_index(what.amount));
  current_.steps.push_back(step);
  return static_cast<step_index>(current_.steps.size() - 1);
}

table_range workload_builder::append_before(std::span<const step_index> steps) {
  auto& before = current_.before;
  const auto first = static_cast<std::uint32_t>(before.size());
  for (const step_index step : steps)
    if (step >= current_.steps.size())
      throw std::invalid_argument("step " + std::to_string(current_.steps.size()) + " cannot depend on step " +
                                  std::to_string(step) + ": only on earlier ones");
  before.insert(before.end(), steps.begin(), steps.end());
  const auto appended = before.begin() + first;
  if (!std::is_sorted(appended, before.end())) std::sort(appended, before.end());
  before.erase(std::unique(appended, before.end()), before.end());
  return {first, static_cast<std::uint32_t>(before.size() - first)};
}

std::uint32_t workload_builder::channel_of(std::int32_t peer, std::uint32_t tag) {
  const auto next = static_cast<std::uint32_t>(channels_.size());
  const auto key_of = [](std::int32_t of_peer, std::uint32_t of_tag) {
    return std::uint64_t{static_cast<std::uint32_t>(of_peer)} << 32 | of_tag;
  };
  constexpr std::uint32_t few = 16;  // which are faster looked through than looked up
  if (next <= few) {
    for (std::uint32_t c = 0; c < next; ++c)
      if (channels_[c].peer == peer && channels_[c].tag == tag) return c;
    if (next == few)
      for (std::uint32_t c = 0; c < next; ++c) channel_numbers_.emplace(key_of(channels_[c].peer, channels_[c].tag), c);
  }
  if (next >= few) {
    const auto [found, added] = channel_numbers_.emplace(key_of(peer, tag), next);
    if (!added) return found->second;
  }
  channels_.push_back({peer, tag});
  sends_.push_back(0);
  receives_.push_back(0);
  return next;
}

std::uint32_t workload_builder::amount_index(std::uint64_t amount) {
  if (!amounts_.empty() && built_.amounts_[amounts_.back()] == amount) return amounts_.back();
  const auto [found, added] = amount_numbers_.emplace(amount, static_cast<std::uint32_t>(built_.amounts_.size()));
  if (added) built_.amounts_.push_back(amount);
  return found->second;
}

void workload_builder::end_rank(std::span<const stated_dependency> stated) {
  workload::rank_data rank{};
  rank.first_step = built_.steps_;
  rank.first_channel = built_.channels_.size();
  built_.steps_ += current_.steps.size();
  built_.channels_.insert(built_.channels_.end(), channels_.begin(), channels_.end());
  rank.first_amount = intern_amounts(rank.amount_width);
  rank.shape = intern_shape(stated);
  built_.ranks_.push_back(rank);
  channels_.clear();
  if (!channel_numbers_.empty()) channel_numbers_.clear();
  sends_.clear();
  receives_.clear();
}

void workload_builder::end_rank_like(int rank, std::span<const std::int32_t> peers) {
  workload::rank_data made = built_.at(rank);
  const std::uint64_t first = made.first_channel;
  made.first_step = built_.steps_;
  made.first_channel = built_.channels_.size();
  built_.steps_ += built_.shapes_[made.shape].steps.size();
  for (std::size_t i = 0; i < peers.size(); ++i)
    built_.channels_.push_back({peers[i], built_.channels_[first + i].tag});
  built_.ranks_.push_back(made);
}

std::vector<std::int32_t> workload_builder::peers_of(int rank) const {
  std::vector<std::int32_t> peers;
  const std::size_t count = built_.of(rank).channels.size();
  for (std::size_t i = 0; i < count; ++i) peers.push_back(built_.channels_[built_.at(rank).first_channel + i].peer);
  return peers;
}

std::uint32_t workload_builder::intern_shape(std::span<const stated_dependency> stated) {
  const bool shared = in_order_of_steps(stated, current_.steps.size());
  const std::uint64_t hash = hash_of(current_);
  const auto [first, last] = shapes_.equal_range(hash);
  for (auto known = first; shared && known != last; ++known) {
    const shape& candidate = built_.shapes_[known->second];
    if (candidate.before == current_.before && std::equal(candidate.steps.begin(), candidate.steps.end(),
                                                          current_.steps.begin(), current_.steps.end(), same)) {
      current_.steps.clear();
      current_.before.clear();
      return known->second;
    }
  }
  const auto number = static_cast<std::uint32_t>(built_.shapes_.size());
  complete(current_, channels_.size(), shared ? std::span<const stated_dependency>() : stated);
  current_.steps.shrink_to_fit();
  current_.before.shrink_to_fit();
  built_.shapes_.push_back(std::exchange(current_, {}));
  if (shared) shapes_.emplace(hash, number);
  return number;
}

std::uint64_t workload_builder::intern_amounts(std::uint8_t& width) {
  std::uint32_t largest = 0;
  std::uint64_t hash = amounts_.size();
  for (const std::uint32_t index : amounts_) {
    largest = std::max(largest, index);
    hash = mix(hash, index);
  }
  width = largest < 1u << 8 ? 1 : largest < 1u << 16 ? 2 : 4;
  auto& bytes = built_.amount_indices_;
  const std::uint64_t first = bytes.size();
  bytes.resize(first + amounts_.size() * width);
  for (std::size_t i = 0; i < amounts_.size(); ++i)  // little end first, on every machine
    for (unsigned byte = 0; byte < width; ++byte)
      bytes[first + i * width + byte] = static_cast<std::uint8_t>(amounts_[i] >> (8 * byte));
  const std::uint64_t count = bytes.size() - first;
  amounts_.clear();
  const auto [begin, end] = stored_.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const stored_amounts& there = known->second;
    if (there.width != width || there.count != count ||
        !std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.end(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(there.first)))
      continue;
    bytes.resize(first);
    return there.first;
  }
  stored_.emplace(hash, stored_amounts{first, count, width});
  return first;
}

}  // namespace weft::simulator
