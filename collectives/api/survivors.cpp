// SPDX-License-Identifier: Apache-2.0
// Communicators on which something has failed: who is lost, how its calls are ended, what the living agree on.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <weft/api/survivors.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/communicator.hpp>
#include <weft/fabric/wire_bytes.hpp>
#include <weft/process/started_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {
namespace detail {
namespace {

using bytes = std::vector<std::byte>;

survivors_call call_of(const fabric::contribution& of) {
  return of.given.empty() ? survivors_call::different : static_cast<survivors_call>(of.given[0]);
}

const char* name_of(survivors_call call) {
  switch (call) {
    case survivors_call::agree:
      return "agree";
    case survivors_call::grow:
      return "grow";
    case survivors_call::start:
      return "start";
    default:
      return "shrink";
  }
}

/// The flags by and; and a bit of each rank, whether it takes part.
bytes and_of(const fabric::group& members, std::span<const fabric::contribution> all) {
  bytes answer = begin_answer(survivors_call::agree, all);
  if (answer[0] != static_cast<std::byte>(survivors_call::agree)) return answer;
  std::uint32_t flag = ~std::uint32_t{0};
  bytes present((members.world.size() + 7) / 8);
  for (const fabric::contribution& each : all) {
    flag &= fabric::byte_reader(given_by(each)).number<std::uint32_t>();
    const auto rank = static_cast<std::size_t>(each.rank);
    present[rank / 8] |= static_cast<std::byte>(1u << rank % 8);
  }
  fabric::put(answer, flag);
  fabric::put(answer, present);
  return answer;
}

fabric::byte_reader content_of(const survivors_answer& answer) {
  return fabric::byte_reader(std::span(*answer).subspan(answer_begin));
}

}  // namespace

/// Of different calls: the first rank and that which makes another one, and the calls of both.
bytes begin_answer(survivors_call call, std::span<const fabric::contribution> all) {
  bytes answer(answer_begin);
  answer[0] = static_cast<std::byte>(call);
  const auto other = std::ranges::find_if(all, [&](const auto& each) { return call_of(each) != call_of(all[0]); });
  if (other == all.end()) return answer;
  answer[0] = static_cast<std::byte>(survivors_call::different);
  for (const fabric::contribution& each : {all[0], *other}) {
    fabric::put(answer, static_cast<std::uint32_t>(each.rank));
    fabric::put(answer, static_cast<std::uint32_t>(call_of(each)));
  }
  return answer;
}

namespace {

/// Begins the next one of this rank.
void begin(communicator_state& state, survivors_call call, std::span<const std::byte> given,
           fabric::combination combine) {
  awaited_agreement& mine = state.agreement;
  mine.at = &state.member;
  mine.number = state.next_agreement;
  mine.call = static_cast<std::byte>(call);
  mine.given = {mine.call};
  fabric::put(mine.given, given);
  mine.combine = combine;
  mine.agreed = nullptr;
  mine.failure = nullptr;
  mine.done.reset();
  state.host.messages().agree(mine);
  ++state.next_agreement;
  mine.open = true;
  if (state.host.moved_by().threaded()) state.host.moved_by().notify();
}

/// Waits for its end, until the deadline that is in force.
void await_end(communicator_state& state, const char* operation) {
  awaited_agreement& mine = state.agreement;
  progress& by = state.host.moved_by();
  const time_limit* const limit = time_limit::current();
  if (limit == nullptr)
    mine.done.wait(by);
  else if (!mine.done.wait_until(by, limit->when()))
    throw_timed_out(where(state, operation), state.host.messages().missing(mine));
  mine.open = false;
}

}  // namespace

survivors_answer agree_with_survivors(communicator_state& state, survivors_call call, std::span<const std::byte> given,
                                      fabric::combination combine) {
  const char* const operation = name_of(call);
  const sole_call::making one(state.agreeing, state, operation);
  const traced_call traced(state, operation);
  awaited_agreement& mine = state.agreement;
  // One that was late: the others may be in it still. An answer that all get is for the next call of the same kind; of
  // the other kinds it is of no use any more.
  const bool goes_on =
      mine.open && call == survivors_call::agree && mine.call == static_cast<std::byte>(survivors_call::agree);
  if (mine.open) await_end(state, operation);
  if (!goes_on) {
    begin(state, call, given, combine);
    await_end(state, operation);
  }
  if (mine.failure != nullptr) rethrow(state, operation, mine.failure);
  if ((*mine.agreed)[0] == static_cast<std::byte>(call)) return mine.agreed;
  fabric::byte_reader answer = content_of(mine.agreed);
  const auto called = [&] {
    const auto rank = answer.number<std::uint32_t>();
    const auto its = static_cast<survivors_call>(answer.number<std::uint32_t>());
    return "rank " + std::to_string(rank) + " called " + name_of(its);
  };
  const std::string first = called();
  throw error(errc::mismatched_call, where(state, operation) + ": " + first + " where " + called());
}

}  // namespace detail

agreed communicator::agree(int flag) {
  std::vector<std::byte> given;
  fabric::put(given, static_cast<std::uint32_t>(flag));
  const auto all = detail::agree_with_survivors(*state_, detail::survivors_call::agree, given, detail::and_of);
  fabric::byte_reader answer = detail::content_of(all);
  agreed result;
  result.flag = static_cast<int>(answer.number<std::uint32_t>());
  const auto present = answer.bytes((static_cast<std::size_t>(size()) + 7) / 8);
  for (int rank = 0; rank < size() && answer.good(); ++rank) {
    const auto bits = present[static_cast<std::size_t>(rank) / 8];
    if ((bits >> rank % 8 & std::byte{1}) == std::byte{0}) result.missing.push_back(rank);
  }
  return result;
}

std::vector<int> communicator::failed() {
  state_->host.moved_by().help();
  return detail::lost_ranks(state_->host, *state_->member.members);
}

namespace detail {
namespace {

void revoke(communicator_state& state, const char* how) {
  break_with_beside(state,
                    "rank " + std::to_string(state.member.rank) + how + "communicator " + std::to_string(state.id()));
}

/// Blocks until nobody touches buffers of its calls.
void await_quiet(communicator_state& state) {
  fabric::messenger& messages = state.host.messages();
  for (patience until_it_ends(state.host.moved_by());; until_it_ends.wait()) {
    bool quiet = false;
    messages.while_held([&] { quiet = state.member.active.empty(); });
    if (quiet) break;
  }
  state.host.calls().end(state.member, state.host.moved_by());
}

}  // namespace
}  // namespace detail

void communicator::revoke() { detail::revoke(*state_, " revoked "); }

void communicator::abort() {
  detail::revoke(*state_, " aborted ");
  detail::await_quiet(*state_);
  if (const auto beside = state_->beside.lock()) detail::await_quiet(*beside);
}

}  // namespace weft
