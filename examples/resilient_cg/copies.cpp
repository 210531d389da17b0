// SPDX-License-Identifier: Apache-2.0
#include "copies.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <weft/weft.hpp>

#include "agreement.hpp"

namespace cg {
namespace {

/// The node of each rank, by the first rank there.
std::vector<int> nodes_of(weft::communicator& world) {
  weft::communicator node = world.split_by_node();
  return world.allgather(node.bcast(world.rank(), 0));
}

/// Who is given the rows of `rank`: the next rank on another node, and the next one but that.
std::vector<int> keepers_of(int rank, std::span<const int> nodes) {
  const int ranks = static_cast<int>(nodes.size());
  std::vector<int> keepers;
  const auto add = [&](bool elsewhere) {
    for (int i = 1; i < ranks; ++i) {
      const int other = (rank + i) % ranks;
      const bool is_elsewhere = nodes[static_cast<std::size_t>(other)] != nodes[static_cast<std::size_t>(rank)];
      if ((elsewhere && !is_elsewhere) || std::ranges::count(keepers, other) != 0) continue;
      keepers.push_back(other);
      return;
    }
  };
  add(true);
  while (static_cast<int>(keepers.size()) < std::min(2, ranks - 1)) add(false);
  return keepers;
}

/// Of two stretches of rows that which both have.
row_range common(const row_range& a, const row_range& b) {
  const std::int64_t first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

}  // namespace

void copies::save(weft::communicator& world, const iterate& now, std::int64_t unknowns) {
  const balanced_blocks rows(unknowns, world.size());
  saved_state mine = std::exchange(spare_, {});
  mine.shared = {saved_, world.size(), now.iterations, now.rz, now.b_norm, now.residual};
  std::vector<int> ranks = kept_for_;
  ranks.push_back(world.rank());
  std::ranges::sort(ranks);
  mine.blocks.resize(ranks.size());
  std::vector<weft::handle> under_way;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    block& one = mine.blocks[i];
    one.rank = ranks[i];
    one.values.resize(vectors * rows.block(one.rank).size());
    if (one.rank != world.rank()) {
      under_way.push_back(world.irecv(one.values, one.rank, 1));
      continue;
    }
    auto next = one.values.begin();
    for (const auto* each : {&now.x, &now.r, &now.p}) next = std::ranges::copy(*each, next).out;
    for (const int keeper : keepers_) under_way.push_back(world.isend(one.values, keeper, 1));
  }
  weft::wait_all(under_way);
  ++saved_;
  kept_.push_back(std::move(mine));
  if (files_) {
    const saved_state& latest = kept_.back();
    const auto own = std::ranges::find(latest.blocks, world.rank(), &block::rank);
    together(world, [&] {
      if (world.rank() == 0) files_->remove_before_latest();
      files_->write(latest.shared, unknowns, *own);
    });
  }
  if (kept_.size() <= 2) return;
  spare_ = std::move(kept_.front());
  kept_.pop_front();
}

/// Since a rank keeps two, and nobody is more than one ahead of another, all have it but those that have nothing: they
/// were spares.
summary copies::latest_of_all(weft::communicator& world) {
  constexpr auto nothing = std::numeric_limits<std::int64_t>::max();
  const std::int64_t latest = world.allreduce(kept_.empty() ? nothing : kept_.back().shared.number, weft::min);
  while (!kept_.empty() && kept_.back().shared.number > latest) kept_.pop_back();
  if (latest == nothing) return {};
  const int who = world.allreduce(kept_.empty() ? world.size() : world.rank(), weft::min);
  return world.bcast(kept_.empty() ? summary{} : kept_.back().shared, who);
}

std::span<const block> copies::blocks() const {
  if (kept_.empty()) return {};
  return kept_.back().blocks;
}

void copies::choose_keepers(weft::communicator& world) {
  const std::vector<int> nodes = nodes_of(world);
  keepers_ = keepers_of(world.rank(), nodes);
  kept_for_.clear();
  for (int rank = 0; rank < world.size(); ++rank)
    if (std::ranges::count(keepers_of(rank, nodes), world.rank()) != 0) kept_for_.push_back(rank);
}

/// The lowest rank that has the rows of each; the number of ranks where nobody has.
std::vector<int> copies::holders_of(weft::communicator& world, const summary& from) {
  std::vector<int> holders(static_cast<std::size_t>(from.ranks), world.size());
  for (const block& each : blocks()) holders[static_cast<std::size_t>(each.rank)] = world.rank();
  world.allreduce(holders, holders, weft::min);
  return holders;
}

/// Each rank reads the rows of some.
void copies::read_files(weft::communicator& world, std::int64_t unknowns) {
  kept_.clear();
  if (!files_) return;
  saved_files::name latest;
  together(world, [&] {
    if (world.rank() == 0) latest = files_->latest();
  });
  latest = world.bcast(latest, 0);
  if (latest.ranks == 0) return;
  saved_state read;
  together(world, [&] {
    for (int rank = world.rank(); rank < latest.ranks; rank += world.size())
      read.shared = files_->read(latest, unknowns, read.blocks.emplace_back(block{rank}));
  });
  if (!read.blocks.empty()) kept_.push_back(std::move(read));
}

std::optional<iterate> copies::restore(weft::communicator& world, std::int64_t unknowns) {
  choose_keepers(world);
  summary from = latest_of_all(world);
  std::vector<int> holders = holders_of(world, from);
  if (from.ranks == 0 || std::ranges::count(holders, world.size()) != 0) {
    read_files(world, unknowns);
    from = latest_of_all(world);
    holders = holders_of(world, from);
  }
  saved_ = from.number + 1;
  if (files_)
    together(world, [&] {  // what some have written behind that is not to be mixed with what comes now
      if (world.rank() == 0) files_->remove_behind(from.number);
    });
  if (from.ranks == 0) return std::nullopt;
  return deal_out(world, from, holders, unknowns);
}

void copies::forget_files(weft::communicator& world) {
  if (files_)
    together(world, [&] {
      if (world.rank() == 0) files_->remove_behind(-1);
    });
}

iterate copies::deal_out(weft::communicator& world, const summary& from, std::span<const int> holders,
                         std::int64_t unknowns) {
  const balanced_blocks before(unknowns, from.ranks), after(unknowns, world.size());
  const auto ranks = static_cast<std::size_t>(world.size());
  std::vector<double> sent;
  std::vector<std::size_t> sent_counts(ranks), received_counts(ranks);
  const row_range mine = after.block(world.rank());
  for (int to = 0; to < world.size(); ++to)
    for (const block& each : blocks()) {
      if (holders[static_cast<std::size_t>(each.rank)] != world.rank()) continue;
      const row_range all = before.block(each.rank), part = common(all, after.block(to));
      if (part.size() == 0) continue;
      for (std::size_t v = 0; v < vectors; ++v) {
        const auto begin = each.values.begin() + static_cast<std::ptrdiff_t>(v * all.size()) + (part.first - all.first);
        sent.insert(sent.end(), begin, begin + static_cast<std::ptrdiff_t>(part.size()));
      }
      sent_counts[static_cast<std::size_t>(to)] += vectors * part.size();
    }
  for (int old = 0; old < from.ranks; ++old)
    received_counts[static_cast<std::size_t>(holders[static_cast<std::size_t>(old)])] +=
        vectors * common(before.block(old), mine).size();
  std::vector<double> received(vectors * mine.size());
  world.alltoall(sent, received, sent_counts, received_counts);

  iterate now;
  now.rz = from.rz;
  now.b_norm = from.b_norm;
  now.residual = from.residual;
  now.iterations = from.iterations;
  for (auto* each : {&now.x, &now.r, &now.p}) each->resize(mine.size());
  auto next = received.cbegin();
  for (int holder = 0; holder < world.size(); ++holder)
    for (int old = 0; old < from.ranks; ++old) {
      if (holders[static_cast<std::size_t>(old)] != holder) continue;
      const row_range part = common(before.block(old), mine);
      if (part.size() == 0) continue;
      for (auto* each : {&now.x, &now.r, &now.p}) {
        std::copy(next, next + static_cast<std::ptrdiff_t>(part.size()), each->begin() + (part.first - mine.first));
        next += static_cast<std::ptrdiff_t>(part.size());
      }
    }
  return now;
}

}  // namespace cg
