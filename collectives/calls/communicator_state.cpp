#include <algorithm>
#include <weft/calls/communicator_state.hpp>
#include <weft/hierarchy/leaders.hpp>
#include <weft/process/started_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>

namespace weft::detail {

void call_turns::wait_for(std::uint32_t turn) const {
  calls_.offer_shown(of_);
  look_for(by_, [&] { return has_come(turn); });
}

bool call_turns::help_to_come(std::uint32_t turn) const {
  calls_.offer_shown(of_);
  by_.help();
  return has_come(turn);
}

communicator_state::communicator_state(process& hosting, std::shared_ptr<rank_identity> own,
                                       std::shared_ptr<const fabric::group> members, int rank)
    : host(hosting),
      self(std::move(own)),
      here(self->meets_at->find_or_make(members->communicator,
                                        [&] {
                                          auto made = std::make_shared<meeting>(hosting, members);
                                          made->miss_who_left();
                                          return made;
                                        })),
      seat(here->seat_of(rank)),
      joined_(std::make_unique<fabric::participant>(here->members(), rank)),
      member(*joined_),
      plans(hosting.plan_bytes()),
      selection(hosting.selection()) {
  if (here->joins()) among_ranks.emplace(*here, seat, selection);
  if (here->joins() || here->between().board()) member.told = here.get();
  host.messages().while_held([this] { self->communicators.push_back(id()); });
  try {
    host.messages().join(member);
  } catch (...) {
    forget();
    throw;
  }
}

communicator_state::communicator_state(communicator_state& of, std::shared_ptr<meeting> elsewhere)
    : host(of.host),
      self(of.self),
      here(std::move(elsewhere)),
      seat(of.seat),
      member(of.member),
      plans(host.plan_bytes()),
      selection(of.selection) {
  if (here->joins()) among_ranks.emplace(*here, seat, selection);
}

communicator_state::~communicator_state() {
  here->leave(seat);
  if (joined_ == nullptr) return;
  if (here->has_several()) member.next_collective = sequence_ & last_sequence;
  host.messages().leave(member);
  forget();
}

void communicator_state::forget() {
  host.messages().while_held([this] { std::erase(self->communicators, id()); });
}

bool communicator_state::uses(fabric::board_ticket board) const noexcept {
  const fabric::board_ticket its = here->between().board();
  return its && board && its.board == board.board;
}

std::string where(const communicator_state& state, const char* operation) {
  return std::string(operation) + " on rank " + std::to_string(state.member.rank) + " of communicator " +
         std::to_string(state.member.members->communicator);
}

void sole_call::making::refuse(const communicator_state& state, const char* operation, const char* other) {
  throw error(errc::invalid_argument, where(state, operation) + ": another fiber or thread of this rank is in " +
                                          other + "; a rank makes one such call at a time");
}

std::vector<int> lost_ranks(process& host, const fabric::group& of) {
  const std::vector<int> processes = host.messages().lost();
  std::vector<int> ranks;
  for (int r = 0; r < of.size() && !processes.empty(); ++r)
    if (std::ranges::binary_search(processes, of.process[static_cast<std::size_t>(r)])) ranks.push_back(r);
  return ranks;
}

void rethrow(const communicator_state& state, const char* operation, const std::exception_ptr& failure) {
  const std::string prefix = where(state, operation) + ": ";
  try {
    std::rethrow_exception(failure);
  } catch (const peer_lost& e) {
    std::vector<int> all = lost_ranks(state.host, *state.host.everyone());
    std::string also;
    for (const int each : all)
      if (each != e.rank()) also += (also.empty() ? "; lost too: rank " : ", ") + std::to_string(each);
    throw peer_lost(e.rank(), prefix + e.what() + also, std::move(all));
  } catch (const error& e) {
    throw error(e.code(), prefix + e.what());
  }
}

}  // namespace weft::detail
