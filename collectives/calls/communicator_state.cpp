// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/calls/communicator_state.hpp>
#include <weft/fabric/mailbox.hpp>
#include <weft/hierarchy/leaders.hpp>
#include <weft/process/started_call.hpp>
#include <weft/request/fingerprint.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/roll_line.hpp>

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

/// The rank in this communicator, in the roll.
class communicator_state::listing final : public roll_entry {
 public:
  explicit listing(const communicator_state& of) : of_(of) { of_.host.roll().add(*this); }
  ~listing() { of_.host.roll().take_back(*this); }
  listing(const listing&) = delete;
  listing& operator=(const listing&) = delete;

  int job_rank() const noexcept override { return of_.self->job_rank; }
  standing where() const noexcept override { return {of_.id(), of_.member.rank, of_.sequence()}; }
  std::uint64_t moves() const noexcept override;
  void add_calls(statistics& sum) const noexcept override { of_.counts.add_to(sum); }
  bool describe(std::string& to, const std::function<bool(const void*)>& on_stack,
                std::chrono::nanoseconds longest) const override;

 private:
  const communicator_state& of_;
};

std::uint64_t communicator_state::listing::moves() const noexcept {
  return of_.sequence() + of_.member.moves.load(std::memory_order_relaxed) +  // relaxed: it is compared
         2 * of_.turns.taken() - of_.turns.open() + reinterpret_cast<std::uintptr_t>(of_.collecting.operation()) +
         reinterpret_cast<std::uintptr_t>(of_.agreeing.operation());
}

bool communicator_state::listing::describe(std::string& to, const std::function<bool(const void*)>& on_stack,
                                           std::chrono::nanoseconds longest) const {
  constexpr int most_operations = 16;
  const auto add = [&to](std::string_view key, auto value) { add_to_roll_line(to, key, std::to_string(value)); };
  to += "member";
  add("communicator", of_.id());
  add("size", of_.size());
  add("rank", of_.member.rank);
  const std::uint32_t begun = of_.sequence();
  add("begun", begun);
  add("started", of_.turns.open());
  if (const char* const collects = of_.collecting.operation()) add_to_roll_line(to, "call", collects);
  if (const char* const agrees = of_.agreeing.operation()) add_to_roll_line(to, "agrees", agrees);
  if (const char* const divides = of_.self->dividing.operation()) add_to_roll_line(to, "divides", divides);
  std::string operations;
  const std::uint32_t latest = (begun - 1) & last_sequence;
  std::optional<std::uint64_t> fingerprint = of_.member.silent.find(latest);
  const bool held = of_.host.messages().look_held(longest, [&] {
    if (const auto last = of_.member.begun.find(latest)) fingerprint = last;
    const auto note = [&](std::string_view key, auto value) {
      add_to_roll_line(operations, key, std::to_string(value));
    };
    int listed = 0;
    for (const fabric::operation& each : of_.member.active) {
      if (++listed > most_operations) break;
      operations += "operation";
      add_to_roll_line(operations, "kind", each.is_send ? "send" : "recv");
      note("peer", each.peer);
      note("bytes", each.bytes);
      if (each.collective)
        note("sequence", each.tag >> 32);
      else if (each.tag != fabric::any_message_tag)
        note("tag", each.tag);
      note("blocks", !each.collective && on_stack(&each) ? 1 : 0);
      add_to_roll_line(operations, "stage", each.now == fabric::operation::stage::posted ? "unmatched" : "moving");
      operations += '\n';
    }
    if (const auto& probed = of_.member.probed; probed.waits) {
      operations += "operation kind=probe";
      note("peer", probed.source);
      operations += '\n';
    }
    int unreceived = 0;
    of_.host.messages().look_at_unreceived(of_.member, [&](const fabric::unexpected_message& each) {
      operations += "operation kind=message";
      note("peer", each.source);
      note("tag", each.tag);
      note("bytes", each.bytes);
      operations += '\n';
      return ++unreceived < most_operations;
    });
  });
  if (!held) add_to_roll_line(to, "unknown", "the messenger is held by another thread");
  if (begun != 0 && fingerprint) add_to_roll_line(to, "latest", describe_fingerprint(*fingerprint));
  (to += '\n') += operations;
  return held;
}

communicator_state::communicator_state(process& hosting, std::shared_ptr<rank_identity> own,
                                       std::shared_ptr<const fabric::group> members, int rank)
    : host(hosting),
      self(std::move(own)),
      here(self->meets_at->find_or_make(members->communicator,
                                        [&] {
                                          auto made = std::make_shared<meeting>(hosting, members);
                                          made->miss_who_left();
                                          if (hosting.tunes_online()) made->between().try_out();
                                          return made;
                                        })),
      seat(here->seat_of(rank)),
      objects_(hosting.budget(), objects_of_communicator, "a communicator"),
      joined_(std::make_unique<fabric::participant>(here->members(), rank, here->between().size() == 1)),
      member(*joined_),
      plans(hosting.plan_bytes(), hosting.budget()),
      selection(hosting.selection()),
      tries(hosting.tunes_online()),
      watches(hosting.watches_arrivals()) {
  if (here->joins()) among_ranks.emplace(*here, seat, selection);
  if (here->joins() || here->between().board()) member.told = here.get();
  listed_ = std::make_unique<listing>(*this);
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
      objects_(host.budget(), objects_of_communicator, "a plan"),
      member(of.member),
      plans(host.plan_bytes(), host.budget()),
      selection(of.selection),
      tries(false),
      watches(false) {
  if (here->joins()) among_ranks.emplace(*here, seat, selection);
}

communicator_state::~communicator_state() {
  listed_.reset();
  tried.clear();       // the messages of an agreement end while this rank is a member,
  looks_away.clear();  // and those of a look
  here->leave(seat);
  if (joined_ == nullptr) return;
  if (here->has_several()) member.next_collective = sequence() & last_sequence;
  if (agreement.open) host.messages().withdraw(agreement);
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

void break_with_beside(communicator_state& state, const std::string& why) {
  fabric::messenger& messages = state.host.messages();
  // In this order, which others see, too: where a call of this one has failed, what is beside it is broken.
  if (const auto beside = state.beside.lock()) messages.break_communicator(beside->id(), errc::revoked, why);
  messages.break_communicator(state.id(), errc::revoked, why);
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
