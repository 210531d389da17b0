// Communicators made from communicators.
#include <algorithm>
#include <utility>
#include <weft/communicator.hpp>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/groups.hpp>

#include "argument_checks.hpp"
#include "communicator_state.hpp"

namespace weft {
namespace detail {

/// What each rank says of itself where a communicator is divided.
struct part {
  std::int64_t colour = 0;  ///< which of the new communicators it joins; negative: none
  std::int64_t key = 0;     ///< where in it: by key, then by rank
  std::uint64_t terms = 0;  ///< what all must have alike
  /// Of a communicator that this rank would lead. Used or not: where this fails, others may have got that far.
  std::int64_t number = 0;
};

namespace {

/// The node of this rank, where all ranks know it by the same number.
std::int64_t node_of(const communicator_state& state) {
  const auto rank = static_cast<std::size_t>(state.member.rank);
  return state.host.nodes()[static_cast<std::size_t>(state.member.members->process[rank])];
}

std::uint64_t hash_of(std::span<const int> ranks) {
  std::uint64_t hash = ranks.size();
  for (const int rank : ranks) {
    hash = (hash ^ static_cast<std::uint64_t>(rank)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

/// Every rank that is listed is one of the communicator's, and is listed once.
void check_list(const communicator_state& state, std::span<const int> ranks) {
  std::vector<bool> listed(static_cast<std::size_t>(state.size()), false);
  for (const int rank : ranks) {
    check_rank(state, "subset", "rank", rank, false);
    std::vector<bool>::reference its = listed[static_cast<std::size_t>(rank)];
    if (its)
      throw error(errc::invalid_argument,
                  where(state, "subset") + ": rank " + std::to_string(rank) + " is listed more than once");
    its = true;
  }
}

}  // namespace
}  // namespace detail

std::optional<communicator> communicator::divide(const char* operation, detail::part mine) {
  const detail::sole_call::making one(state_->self->dividing, *state_, operation);
  mine.number = state_->self->next_communicator++;
  std::vector<detail::part> all(static_cast<std::size_t>(size()));
  try {
    allgather(std::span(&mine, 1), all);
  } catch (const error&) {
    detail::rethrow(*state_, operation, std::current_exception());
  }
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r].terms != all[0].terms)
      throw error(errc::mismatched_call,
                  detail::where(*state_, operation) + ": rank " + std::to_string(r) + " lists others than rank 0 does");
  if (mine.colour < 0) return std::nullopt;

  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].colour == mine.colour) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) { return all[a].key < all[b].key; });
  auto members = std::make_shared<fabric::group>();
  int place = 0;
  for (const std::size_t r : ranks) {
    if (static_cast<int>(r) == rank()) place = members->size();
    members->world.push_back(state_->member.members->world[r]);
    members->process.push_back(state_->member.members->process[r]);
  }
  members->communicator =
      static_cast<std::uint64_t>(members->world[0]) << 32 | static_cast<std::uint64_t>(all[ranks[0]].number);
  return communicator(
      std::make_shared<detail::communicator_state>(state_->host, state_->self, std::move(members), place));
}

std::optional<communicator> communicator::split(int colour, int key) { return divide("split", {colour, key}); }

communicator communicator::dup() { return *divide("dup", {0, rank()}); }

communicator communicator::split_by_node(int key) { return *divide("split_by_node", {detail::node_of(*state_), key}); }

communicator communicator::split_by_numa(int key) {
  const int numa = topology::numa_node_of(state_->host.machine(), topology::this_thread_binding());
  return *divide("split_by_numa", {detail::node_of(*state_) << 32 | (numa + 1), key});
}

std::optional<communicator> communicator::subset(std::span<const int> ranks) {
  detail::check_list(*state_, ranks);
  const auto mine = std::find(ranks.begin(), ranks.end(), rank());
  return divide("subset", {mine == ranks.end() ? -1 : 0, mine - ranks.begin(), detail::hash_of(ranks)});
}

}  // namespace weft
