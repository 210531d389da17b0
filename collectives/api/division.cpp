// SPDX-License-Identifier: Apache-2.0
// Communicators made from communicators.
#include <algorithm>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>
#include <weft/api/offer.hpp>
#include <weft/api/pending_division.hpp>
#include <weft/api/spares.hpp>
#include <weft/api/survivors.hpp>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/message_operations.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/groups.hpp>

namespace weft {
namespace detail {
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
void check_list(const communicator_state& state, const char* operation, std::span<const int> ranks) {
  std::vector<bool> listed(static_cast<std::size_t>(state.size()), false);
  for (const int rank : ranks) {
    check_rank(state, operation, "rank", rank, false);
    std::vector<bool>::reference its = listed[static_cast<std::size_t>(rank)];
    if (its)
      throw error(errc::invalid_rank,
                  where(state, operation) + ": rank " + std::to_string(rank) + " is listed more than once");
    its = true;
  }
}

/// Sends `parts` to that rank, or receives some of it: how many bytes. Blocks.
template <class Operation, class Byte>
std::size_t transfer(communicator_state& state, std::span<Byte> parts, int peer, std::int64_t tag) {
  awaited<Operation> message;
  prepare_message(message, state, parts, peer, tag);
  message.tag |= std::uint64_t{1} << 62;  // no message of a program has that
  static_assert(largest_tag >> 62 == 0);
  post(state, message);
  finish(state, "create", message);
  if constexpr (std::is_const_v<Byte>)
    return parts.size();
  else
    return message.received;
}

/// What the listed ranks say of themselves, by rank of the communicator: the first of the list gathers it and sends it
/// to the others, or nothing where that failed: they wait for it. Of those that are not listed: that they join nothing.
std::vector<part> exchange_among(communicator_state& state, std::span<const int> ranks, const part& mine,
                                 std::int64_t tag) {
  std::vector<part> listed(static_cast<std::size_t>(state.size()));  // as many as any list can have
  std::size_t listed_by_first = ranks.size();
  if (ranks[0] == state.member.rank) {
    listed[0] = mine;
    std::exception_ptr why;
    const auto trying = [&](auto part) {
      try {
        part();
      } catch (...) {
        if (why == nullptr) why = std::current_exception();
      }
    };
    for (std::size_t i = 1; i < ranks.size(); ++i)
      trying([&] {
        transfer<fabric::receive_operation>(state, std::as_writable_bytes(std::span(&listed[i], 1)), ranks[i], tag);
      });
    const auto told = std::as_bytes(std::span(listed).first(why == nullptr ? ranks.size() : 0));
    for (const int other : ranks.subspan(1)) trying([&] { transfer<fabric::send_operation>(state, told, other, tag); });
    if (why != nullptr) std::rethrow_exception(why);
  } else {
    transfer<fabric::send_operation>(state, std::as_bytes(std::span(&mine, 1)), ranks[0], tag);
    const auto room = std::as_writable_bytes(std::span(listed));
    listed_by_first = transfer<fabric::receive_operation>(state, room, ranks[0], tag) / sizeof(part);
  }
  listed.resize(listed_by_first);
  const auto is_mine = [&](const part& each) { return each.terms == mine.terms; };
  if (listed.size() != ranks.size() || !std::ranges::all_of(listed, is_mine))
    throw error(errc::mismatched_call, where(state, "create") + ": not all ranks of the list give the same one");
  std::vector<part> all(static_cast<std::size_t>(state.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) all[static_cast<std::size_t>(ranks[i])] = listed[i];
  return all;
}

/// What a rank of the job says where a communicator grows.
struct growing {
  static constexpr std::int64_t nobody = -1, spare = 0;
  part mine;                   ///< its key: the rank that it has there
  std::uint64_t id = 0;        ///< of the communicator
  std::int64_t size = nobody;  ///< of the same, or one of these

  bool grows() const noexcept { return size > 0; }
};

/// The rank of the job that has each rank of the communicator which grows, spares in place of the lost; negative:
/// nobody. Empty where there is none, or ranks grow several: those throw errc::mismatched_call.
std::vector<int> holders_of_ranks(const communicator_state& everyone, std::span<const growing> all) {
  const auto first = std::ranges::find_if(all, &growing::grows);
  if (first == all.end()) return {};
  const std::size_t size = std::min(static_cast<std::size_t>(first->size), all.size());
  std::vector<int> holders(size, -1), spares;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].size == growing::spare) spares.push_back(static_cast<int>(r));
    if (!all[r].grows()) continue;
    if (all[r].id != first->id) {
      if (!all[static_cast<std::size_t>(everyone.member.rank)].grows()) return {};
      throw error(errc::mismatched_call, where(everyone, "grow") + ": rank " + std::to_string(first - all.begin()) +
                                             " grows communicator " + std::to_string(first->id) + " where rank " +
                                             std::to_string(r) + " grows communicator " + std::to_string(all[r].id));
    }
    if (const auto rank = static_cast<std::size_t>(all[r].mine.key); rank < size) holders[rank] = static_cast<int>(r);
  }
  std::vector<int> nodes;
  for (const int process : everyone.member.members->process)
    nodes.push_back(everyone.host.nodes()[static_cast<std::size_t>(process)]);
  return with_spares(std::move(holders), std::move(spares), nodes);
}

/// What all ranks of the job say of themselves where a communicator grows.
std::vector<part> parts_of_growing(const communicator_state& everyone, std::span<const growing> all) {
  std::vector<part> parts(all.size());
  const auto holders = holders_of_ranks(everyone, all);
  for (std::size_t rank = 0; rank < holders.size(); ++rank) {
    if (holders[rank] < 0) continue;
    part& its = parts[static_cast<std::size_t>(holders[rank])];
    its = all[static_cast<std::size_t>(holders[rank])].mine;
    its.colour = 0;
    its.key = static_cast<std::int64_t>(rank);
  }
  return parts;
}

/// The ranks that have this colour, by key, then by rank.
std::vector<std::size_t> ranks_of(std::int64_t colour, std::span<const part> all) {
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].colour == colour) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) { return all[a].key < all[b].key; });
  return ranks;
}

/// Of those ranks, in no order: the first, and how many are before `rank`.
struct standing {
  standing(std::size_t rank, std::span<const part> all) : first(rank) {
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r].colour != all[rank].colour) continue;
      const auto before = [&](std::size_t other) {
        return std::pair(all[r].key, r) < std::pair(all[other].key, other);
      };
      if (before(rank)) ++place;
      if (before(first)) first = r;
    }
  }
  std::size_t first;
  int place = 0;
};

/// The communicator that the rank at `first` leads. The first rank of a process that asks makes it for the others.
std::shared_ptr<const fabric::group> group_of(communicator_state& state, std::size_t first, std::span<const part> all) {
  const fabric::group& from = *state.member.members;
  const auto id = fabric::communicator_id(static_cast<std::uint64_t>(from.world[first]), all[first].number);
  if (const auto known = state.self->meets_at->find(id)) return known->members();
  auto members = std::make_shared<fabric::group>();
  members->communicator = id;
  for (const std::size_t r : ranks_of(all[first].colour, all)) {
    members->world.push_back(from.world[r]);
    members->process.push_back(from.process[r]);
    members->board.push_back(all[r].board);
    members->offered.push_back(all[r].number);
  }
  return members;
}

/// `gather` returns what all ranks say of themselves, with `mine` among it.
template <class Gather>
std::optional<communicator> divide_by(communicator_state& state, const char* operation, const part& as,
                                      const Gather& gather) {
  const sole_call::making one(state.self->dividing, state, operation);
  const traced_call traced(state, operation);
  offer mine(state, as);
  return mine.join(gather(mine.says()));
}

}  // namespace

offer::offer(communicator_state& state, const part& as) : state_(state), says_(as) {
  std::uint64_t& next = state_.self->next_communicator;
  if (next > fabric::largest_counter)
    throw error(errc::operation_failed, where(state, "dividing") + ": this rank has taken part in " +
                                            std::to_string(fabric::largest_counter) + " divisions, and can in no more");
  says_.number = next++;
  state_.host.messages().begin_division(state_.self->job_rank);
  if (fabric::arena_boards* const boards = state_.host.boards()) says_.board = boards->claim();
}

offer::~offer() {
  const int rank = state_.self->job_rank;
  if (!has_joined_) {
    if (fabric::arena_boards* const boards = state_.host.boards()) boards->abandon(says_.board);
    try {
      state_.host.messages().refuse(rank, says_.number);
    } catch (const std::bad_alloc&) {  // then they hear of it when this rank ends
    }
  }
  state_.host.messages().end_division(rank);
}

std::optional<communicator> offer::join(std::span<const part> all) {
  fabric::arena_boards* const boards = state_.host.boards();
  const auto rank = static_cast<std::size_t>(state_.member.rank);
  if (all[rank].colour < 0) {
    if (boards != nullptr) boards->give_back(says_.board);
    has_joined_ = true;
    return std::nullopt;
  }
  const standing here(rank, all);
  auto members = group_of(state_, here.first, all);
  auto made = std::make_shared<communicator_state>(state_.host, state_.self, std::move(members), here.place);
  has_joined_ = true;
  if (boards != nullptr && !made->uses(says_.board)) boards->give_back(says_.board);
  return communicator(std::move(made));
}

std::span<const part> parts::all(const communicator_state& state, const char* operation) const {
  const std::span<const part> all = gathered::all();
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r].terms != all[0].terms)
      throw error(errc::mismatched_call,
                  where(state, operation) + ": rank " + std::to_string(r) + " gives others than rank 0 does");
  return all;
}

void communicator_names::go_on_from(communicator& of, std::uint64_t counter) noexcept {
  std::uint64_t& next = of.state_->self->next_communicator;
  next = std::max(next, counter);
}

std::uint64_t communicator_names::id_of(const communicator& one) noexcept { return one.state_->id(); }

}  // namespace detail

std::optional<communicator> communicator::divide(const char* operation, const detail::part& as) {
  detail::parts gathered;
  return detail::divide_by(*state_, operation, as, [&](const detail::part& mine) {
    std::optional<std::vector<int>> missing;
    try {
      run(gathered.gathering(*state_, mine));
    } catch (const timed_out& late) {
      missing.emplace(late.missing().begin(), late.missing().end());
    } catch (const error&) {
      detail::rethrow(*state_, operation, std::current_exception());
    }
    // What was in flight, into memory of this call, has been dropped with the error that owned it.
    if (missing) detail::throw_timed_out(detail::where(*state_, operation), std::move(*missing));
    return gathered.all(*state_, operation);
  });
}

pending_communicator communicator::start_division(const char* operation, const detail::part& as) {
  const detail::sole_call::making one(state_->self->dividing, *state_, operation);
  auto begun = std::make_unique<detail::division>(state_, operation, as);
  begun->exchange = start(begun->gathered.gathering(*state_, begun->mine.says()));
  return pending_communicator(std::move(begun));
}

communicator communicator::shrink() {
  return *detail::divide_by(*state_, "shrink", {0, rank()}, [&](const detail::part& mine) {
    auto given = detail::gather_of_survivors<detail::survivors_call::shrink>(*state_, mine);
    if (given.all()[static_cast<std::size_t>(rank())].colour < 0)
      throw error(errc::operation_failed,
                  detail::where(*state_, "shrink") + ": the others took this rank for one that has left");
    return given;
  });
}

communicator communicator::grow() {
  if (state_->host.settings().spares == 0) return shrink();
  communicator* const everyone = state_->self->everyone;
  if (everyone == nullptr)
    throw error(errc::invalid_argument, detail::where(*state_, "grow") + ": the program of this rank has ended");
  // None of them calls another of these.
  detail::gather_of_survivors<detail::survivors_call::grow>(*state_, std::byte{});
  auto grown = detail::divide_by(*everyone->state_, "grow", {0, rank()}, [&](const detail::part& mine) {
    detail::communicator_state& all = *everyone->state_;
    const detail::growing says{mine, state_->id(), size()};
    return detail::parts_of_growing(all, detail::gather_of_survivors<detail::survivors_call::grow>(all, says).all());
  });
  if (!grown)
    throw error(errc::operation_failed,
                detail::where(*state_, "grow") + ": the others took this rank for one that has left");
  return std::move(*grown);
}

/// By an agreement, so that a death meanwhile is one of the world's, not of those that start.
std::optional<communicator> communicator::without_spares() {
  const auto ranks = static_cast<std::size_t>(size() - state_->host.settings().spares);
  return detail::divide_by(
      *state_, "start", {state_->self->is_spare ? detail::part::nobody : 0, rank()}, [&](const detail::part& mine) {
        const auto given = detail::gather_of_survivors<detail::survivors_call::start>(*state_, mine);
        std::vector<detail::part> all(given.all().begin(), given.all().end());
        for (std::size_t r = 0; r < ranks; ++r)  // the dead, too, have their ranks
          if (all[r].colour < 0) all[r] = {0, static_cast<std::int64_t>(r), 0, mine.number};
        return all;
      });
}

std::optional<communicator> communicator::await_rank() {
  for (;;) {
    bool grows = false;
    auto got = detail::divide_by(*state_, "grow", {}, [&](const detail::part& mine) {
      const detail::growing says{mine, 0, detail::growing::spare};
      const auto given = detail::gather_of_survivors<detail::survivors_call::grow>(*state_, says);
      grows = std::ranges::any_of(given.all(), &detail::growing::grows);
      return detail::parts_of_growing(*state_, given.all());
    });
    if (got || !grows) return got;
  }
}

bool communicator::is_replacement() const noexcept { return state_->self->is_spare; }

std::optional<communicator> communicator::split(int colour, int key) { return divide("split", {colour, key}); }

pending_communicator communicator::isplit(int colour, int key) { return start_division("isplit", {colour, key}); }

communicator communicator::dup() { return *divide("dup", {0, rank()}); }

pending_communicator communicator::idup() { return start_division("idup", {0, rank()}); }

communicator communicator::alone() {
  return *detail::divide_by(*state_, "alone", {0, 0}, [&](const detail::part& mine) {
    std::vector<detail::part> all(static_cast<std::size_t>(size()));
    all[static_cast<std::size_t>(rank())] = mine;
    return all;
  });
}

communicator communicator::create(std::span<const int> ranks, std::int64_t tag) {
  detail::check_list(*state_, "create", ranks);
  detail::check_tag(*state_, "create", tag, false);
  const auto mine = std::ranges::find(ranks, rank());
  if (mine == ranks.end())
    throw error(errc::invalid_rank,
                detail::where(*state_, "create") + ": this rank is not listed; those that are call it, and they alone");
  return *detail::divide_by(*state_, "create", {0, mine - ranks.begin(), detail::hash_of(ranks)},
                            [&](const detail::part& own) { return detail::exchange_among(*state_, ranks, own, tag); });
}

communicator communicator::split_by_node(int key) { return *divide("split_by_node", {detail::node_of(*state_), key}); }

communicator communicator::split_by_numa(int key) {
  const int numa = topology::numa_node_of(state_->host.machine(), topology::this_thread_binding());
  return *divide("split_by_numa", {detail::node_of(*state_) << 32 | (numa + 1), key});
}

std::optional<communicator> communicator::subset(std::span<const int> ranks) {
  detail::check_list(*state_, "subset", ranks);
  const auto mine = std::find(ranks.begin(), ranks.end(), rank());
  return divide("subset", {mine == ranks.end() ? -1 : 0, mine - ranks.begin(), detail::hash_of(ranks)});
}

}  // namespace weft
