// SPDX-License-Identifier: Apache-2.0
#include "fabric/simulation/simulated_rank.hpp"

#include <algorithm>
#include <utility>
#include <weft/runtime/error.hpp>

#include "fabric/simulation/simulated_world.hpp"

namespace weft_test {

namespace fabric = weft::fabric;

namespace {

/// By this counter each rank offers to lead what is made in that step; the world has 1.
std::uint32_t offered_in(std::size_t step) { return static_cast<std::uint32_t>(step) + 2; }

std::shared_ptr<fabric::group> part_of(const fabric::group& all, const std::vector<int>& chosen, std::size_t step) {
  auto made = std::make_shared<fabric::group>();
  for (const int rank : chosen) {
    made->world.push_back(all.world[static_cast<std::size_t>(rank)]);
    made->process.push_back(all.process[static_cast<std::size_t>(rank)]);
    made->offered.push_back(offered_in(step));
  }
  made->communicator = fabric::communicator_id(static_cast<std::uint64_t>(made->world[0]), offered_in(step));
  return made;
}

/// What the ranks have given: of each its number and how much, and that.
std::vector<std::byte> list(const fabric::group&, std::span<const fabric::contribution> all) {
  std::vector<std::byte> listed;
  const auto put = [&](std::uint32_t number) {
    const auto bytes = std::as_bytes(std::span(&number, 1));
    listed.insert(listed.end(), bytes.begin(), bytes.end());
  };
  for (const fabric::contribution& each : all) {
    put(static_cast<std::uint32_t>(each.rank));
    put(static_cast<std::uint32_t>(each.given.size()));
    listed.insert(listed.end(), each.given.begin(), each.given.end());
  }
  return listed;
}

std::uint64_t fingerprint_of(const fabric::group& in, std::uint32_t sequence) {
  return draws(in.communicator, sequence).next() | 1;
}

/// Of half of the collectives as much as a message, which goes at once where that is short.
std::size_t vector_of(const planned_transfer& planned, std::uint32_t sequence) {
  return sequence % 2 == 0 ? planned.bytes : SIZE_MAX;
}

}  // namespace

void simulated_send::finished() noexcept { owner.ended_with(*this); }
void simulated_receive::finished() noexcept { owner.ended_with(*this); }
void simulated_agreement::finished() noexcept { done = true; }

simulated_rank::simulated_rank(simulated_world& job, int world_rank, std::uint64_t seed)
    : job_(job), rank_(world_rank), random_(seed, static_cast<std::uint64_t>(world_rank)) {
  starts_at_ = random_.one_in(4) ? static_cast<std::int64_t>(random_.below(std::size_t{20'000'000})) : 0;
  memberships_.resize(job.plan().communicators());
}
simulated_rank::~simulated_rank() = default;

fabric::messenger& simulated_rank::messages() { return job_.of_rank(rank_); }

simulated_rank::membership* simulated_rank::in(int slot) {
  membership* const its = memberships_[static_cast<std::size_t>(slot)].get();
  return its == nullptr || its->left || its->is_leaving ? nullptr : its;
}

bool simulated_rank::act() {
  if (ended_) return false;
  if (!started_) {
    if (job_.now() < starts_at_) return false;
    started_ = true;
    auto world = std::make_shared<fabric::group>();
    world->communicator = 1;
    for (int each = 0; each < job_.plan().ranks(); ++each) {
      world->world.push_back(each);
      world->process.push_back(job_.plan().process_of(each));
    }
    return join(0, std::move(world)), true;
  }
  if (learn()) return true;
  if (!actions_.empty()) return perform();
  if (unwinding_ || next_step_ == job_.plan().steps.size()) return end(), true;
  return begin_step(), true;
}

void simulated_rank::join(int slot, std::shared_ptr<const fabric::group> members) {
  const auto mine = std::ranges::find(members->world, rank_) - members->world.begin();
  auto& its = memberships_[static_cast<std::size_t>(slot)] = std::make_unique<membership>();
  its->members = members;
  its->self = std::make_unique<fabric::participant>(members, static_cast<int>(mine));
  if (job_.traced()) job_.say("rank " + std::to_string(rank_) + " joins " + std::to_string(slot));
  messages().join(*its->self);
}

/// Whether something has failed meanwhile.
bool simulated_rank::learn() {
  bool any = false;
  for (std::size_t slot = 0; slot < memberships_.size(); ++slot) {
    membership* const its = memberships_[slot].get();
    if (its == nullptr || !std::exchange(its->has_news, false)) continue;
    if (its->failed || its->is_leaving || its->left) continue;
    take_failure(static_cast<int>(slot), *its);
    any = true;
  }
  return any;
}

/// The rank does nothing more there but agree; or it leaves, there alone or everywhere; unless the others hear of the
/// failure by themselves, it has told them.
void simulated_rank::take_failure(int slot, membership& its) {
  its.failed = true;
  const bool divides =
      std::ranges::any_of(actions_, [&](const action& each) { return each.on == slot && each.what == action::join; });
  if (divides) refuse_what_was_to_come();
  std::erase_if(actions_, [&](const action& each) {
    return each.on == slot && each.what != action::wait && each.what != action::leave && each.what != action::agree &&
           each.what != action::agreed;
  });
  const std::size_t way = random_.below(std::size_t{8});
  if (way < 2) return unwind();
  if (way < 4) return abandon(slot, true);
  tell_failure(slot, its);
}

/// Unless the others hear of it by themselves.
void simulated_rank::tell_failure(int slot, membership& its) {
  if (its.self->failure != nullptr && !its.self->failed_alone) return;
  job_.of(its.members->communicator).revoked = true;
  if (job_.traced()) job_.say("rank " + std::to_string(rank_) + " revokes " + std::to_string(slot));
  messages().break_communicator(its.members->communicator, weft::errc::revoked, "a rank has seen a failure");
}

void simulated_rank::refuse_what_was_to_come() {
  if (job_.traced())
    job_.say("rank " + std::to_string(rank_) + " does not get what step " + std::to_string(step_) + " makes");
  ++job_.counts.refused;
  for (std::uint64_t leader = 0; leader < static_cast<std::uint64_t>(job_.plan().ranks()); ++leader) {
    auto& events = job_.of(fabric::communicator_id(leader, offered_in(step_)));
    events.abandoned = true;
    events.left_in.insert(job_.plan().process_of(rank_));
  }
  messages().refuse(rank_, offered_in(step_));
}

void simulated_rank::abandon(int slot, bool at_once) {
  membership& its = *memberships_[static_cast<std::size_t>(slot)];
  its.is_leaving = true;
  auto& events = job_.of(its.members->communicator);
  events.abandoned = true;
  if (its.self->failure == nullptr) events.broken_on.insert(rank_);
  if (job_.traced()) job_.say("rank " + std::to_string(rank_) + " abandons " + std::to_string(slot));
  const bool called = call_ != nullptr && call_->at == its.self.get();
  // The others could wait for it before they agree, and it for them.
  if (called || (call_ != nullptr && !at_once)) tell_failure(slot, its);
  messages().break_here(*its.self);
  std::erase_if(actions_,
                [&](const action& each) { return each.on == slot && !(called && each.what == action::agreed); });
  if (at_once && !called) {  // else it has to wait for the answer
    actions_.push_front({action::leave, slot});
    actions_.push_front({action::wait, slot});
  } else {
    actions_.push_back({action::wait, slot});
    actions_.push_back({action::leave, slot});
  }
}

/// As an exception that nobody catches.
void simulated_rank::unwind() {
  unwinding_ = true;
  const bool divides = std::ranges::any_of(actions_, [](const action& each) { return each.what == action::join; });
  if (divides) refuse_what_was_to_come();
  std::vector<int> all;
  for (std::size_t slot = 0; slot < memberships_.size(); ++slot)
    if (in(static_cast<int>(slot)) != nullptr) all.push_back(static_cast<int>(slot));
  random_.shuffle(all);
  for (const int slot : all) abandon(slot, random_.one_in(2));
}

void simulated_rank::end() {
  std::vector<int> all;
  for (std::size_t slot = 0; slot < memberships_.size(); ++slot)
    if (in(static_cast<int>(slot)) != nullptr) all.push_back(static_cast<int>(slot));
  if (all.empty()) {
    ended_ = true;
    if (job_.traced()) job_.say("rank " + std::to_string(rank_) + " has ended");
    return;
  }
  random_.shuffle(all);
  for (const int slot : all) {
    actions_.push_back({action::wait, slot});
    actions_.push_back({action::leave, slot});
  }
}

void simulated_rank::begin_step() {
  step_ = next_step_++;
  if (job_.plan().ranks_throw && random_.one_in(40)) return unwind();
  const plan_step& step = job_.plan().steps[step_];
  membership* const its = in(step.on);
  if (its == nullptr) return;
  const bool goes_on_after_failures =
      step.what == plan_step::agree || step.what == plan_step::shrink || step.what == plan_step::leave;
  if (its->failed && !goes_on_after_failures) return;
  if (job_.traced()) job_.say("rank " + std::to_string(rank_) + " begins step " + std::to_string(step_));
  switch (step.what) {
    case plan_step::messages:
      return plan_messages(*its, false);
    case plan_step::probes:
      return plan_messages(*its, true);
    case plan_step::collective:
      return plan_collective(*its);
    case plan_step::divide:
      plan_collective(*its);
      return actions_.push_back({action::join, step.on});
    case plan_step::agree:
    case plan_step::shrink:
      actions_.push_back({action::agree, step.on});
      return actions_.push_back({action::agreed, step.on});
    case plan_step::revoke:
      if (its->self->rank == static_cast<int>(step.seed % its->members->world.size()))
        actions_.push_back({action::revoke, step.on});
      return;
    case plan_step::vain:
      return plan_vain(*its);
    case plan_step::leave:
      actions_.push_back({action::wait, step.on});
      return actions_.push_back({action::leave, step.on});
  }
}

void simulated_rank::plan_messages(membership& its, bool probes) {
  const int slot = job_.plan().steps[step_].on, self = its.self->rank;
  const auto& transfers = job_.transfers(step_, *its.members);
  std::vector<action> posts, looks;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].from == self) posts.push_back({action::send, slot, i});
    if (transfers[i].to == self)
      (probes ? looks : posts).push_back({probes ? action::probe : action::receive, slot, i});
  }
  random_.shuffle(posts);
  // What is found by a probe must not be taken by a receive that was posted before.
  if (probes) actions_.push_back({action::wait, slot});
  actions_.insert(actions_.end(), posts.begin(), posts.end());
  random_.shuffle(looks);
  actions_.insert(actions_.end(), looks.begin(), looks.end());
  if (probes || job_.plan().steps[step_].of_anybody || !random_.one_in(4)) actions_.push_back({action::wait, slot});
}

void simulated_rank::plan_collective(membership& its) {
  const plan_step& step = job_.plan().steps[step_];
  const std::uint32_t sequence = its.collectives++;
  const auto& transfers = job_.transfers(step_, *its.members);
  std::size_t rounds = 0;
  for (const planned_transfer& each : transfers) rounds = std::max(rounds, each.round + 1);
  const bool at_once = step.what == plan_step::collective && !step.barrier && random_.one_in(4);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<action> posts;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      if (transfers[i].round != round) continue;
      if (transfers[i].from == its.self->rank) posts.push_back({action::send, step.on, i, sequence});
      if (transfers[i].to == its.self->rank) posts.push_back({action::receive, step.on, i, sequence});
    }
    random_.shuffle(posts);
    actions_.insert(actions_.end(), posts.begin(), posts.end());
    if (!posts.empty() && !at_once) actions_.push_back({action::wait, step.on});
  }
  if (step.what == plan_step::divide || step.barrier || !random_.one_in(6)) actions_.push_back({action::wait, step.on});
}

void simulated_rank::plan_vain(membership& its) {
  const int slot = job_.plan().steps[step_].on;
  if (its.self->rank != 0 || its.members->size() == 1) return;
  job_.of(its.members->communicator).abandoned = true;
  actions_.push_back({action::receive_nothing, slot});
  actions_.push_back({action::wait, slot});
}

bool simulated_rank::perform() {
  const action next = actions_.front();
  membership& its = *memberships_[static_cast<std::size_t>(next.on)];
  if (next.what == action::wait && !its.pending.empty()) return false;
  if (next.what == action::agreed && !call_->done) return false;
  if (next.what == action::probe) return probe(next, its);
  if (next.what == action::agree && !agree(its)) return false;
  actions_.pop_front();
  return perform_on(next, its);
}

bool simulated_rank::perform_on(const action& next, membership& its) {
  switch (next.what) {
    case action::send:
      return send(next, its), true;
    case action::receive:
      return receive(next, its, nullptr), true;
    case action::receive_nothing:
      return receive_nothing(next, its), true;
    case action::join: {
      const plan_step& step = job_.plan().steps[step_];
      const auto chosen = chosen_of(step, its.members->size());
      if (std::ranges::find(chosen, its.self->rank) == chosen.end()) return true;
      ++job_.counts.divided;
      return join(step.makes, part_of(*its.members, chosen, step_)), true;
    }
    case action::agreed:
      return take_answer(next.on);
    case action::revoke:
      job_.of(its.members->communicator).revoked = true;
      ++job_.counts.revokes;
      messages().break_communicator(its.members->communicator, weft::errc::revoked, "as planned");
      return true;
    case action::leave:
      return leave(its), true;
    case action::wait:
    case action::agree:
    case action::probe:
      break;
  }
  return true;
}

void simulated_rank::post(fabric::operation& begun, membership& its) {
  its.pending.push_back(&begun);
  if (job_.traced())
    job_.say("rank " + std::to_string(rank_) + (begun.is_send ? " sends to " : " receives from ") +
             std::to_string(begun.peer) + " tag " + std::to_string(begun.tag) + ", " + std::to_string(begun.bytes) +
             " bytes, communicator " + std::to_string(its.members->communicator));
  job_.in_process_of(rank_, [&] { messages().post(begun); });
}

void simulated_rank::send(const action& what, membership& its) {
  const planned_transfer& planned = job_.transfers(step_, *its.members)[what.which];
  const std::size_t number = job_.message_number(*its.members, step_, what.which);
  simulated_send& begun = job_.new_send(*this, what.on, number);
  begun.at = its.self.get();
  begun.peer = planned.to;
  const plan_step::kind kind = job_.plan().steps[step_].what;
  begun.collective = kind == plan_step::collective || kind == plan_step::divide;
  begun.tag = begun.collective ? std::uint64_t{what.sequence} << 32 | planned.tag : planned.tag;
  if (begun.collective) {
    begun.fingerprint = fingerprint_of(*its.members, what.sequence);
    begun.vector = vector_of(planned, what.sequence);
  }
  begun.may_wait = !begun.collective && number % 3 != 0;
  begun.fill(job_.contents(number));
  post(begun, its);
}

void simulated_rank::receive(const action& what, membership& its, const fabric::probed_message* found) {
  const planned_transfer& planned = job_.transfers(step_, *its.members)[what.which];
  const plan_step::kind kind = job_.plan().steps[step_].what;
  const bool collective = kind == plan_step::collective || kind == plan_step::divide;
  const std::size_t capacity = found != nullptr ? found->bytes : collective ? planned.bytes : job_.plan().longest;
  simulated_receive& begun = job_.new_receive(*this, what.on, capacity);
  begun.at = its.self.get();
  begun.collective = collective;
  if (collective) {
    begun.peer = planned.from;
    begun.tag = std::uint64_t{what.sequence} << 32 | planned.tag;
    begun.fingerprint = fingerprint_of(*its.members, what.sequence);
    begun.vector = vector_of(planned, what.sequence);
    begun.expected = job_.message_number(*its.members, step_, what.which);
  } else if (found != nullptr) {
    begun.peer = found->source;
    begun.tag = found->tag;
  } else {
    const receive_manner manner = manner_of(job_.plan().steps[step_], its.self->rank);
    begun.peer = manner.takes_any_source(planned.tag) ? fabric::any_peer : planned.from;
    begun.tag = manner.takes_any_tag() ? fabric::any_message_tag : planned.tag;
  }
  post(begun, its);
}

void simulated_rank::receive_nothing(const action& what, membership& its) {
  draws random(job_.plan().steps[step_].seed);
  simulated_receive& begun = job_.new_receive(*this, what.on, random.of(job_.plan().sizes));
  begun.at = its.self.get();
  begun.peer = 1 + random.below(its.members->size() - 1);
  begun.tag = tag_of_nothing;
  begun.collective = random.one_in(2);
  if (begun.collective) {
    const std::uint32_t sequence = its.collectives++;
    begun.tag = std::uint64_t{sequence} << 32;
    begun.fingerprint = fingerprint_of(*its.members, sequence);
  }
  begun.waits_in_vain = true;
  post(begun, its);
}

bool simulated_rank::probe(action what, membership& its) {
  const planned_transfer& planned = job_.transfers(step_, *its.members)[what.which];
  const receive_manner manner = manner_of(job_.plan().steps[step_], its.self->rank);
  const int source = manner.takes_any_source(planned.tag) ? fabric::any_peer : planned.from;
  const std::uint64_t tag = manner.takes_any_tag() ? fabric::any_message_tag : planned.tag;
  std::optional<fabric::probed_message> found;
  try {
    found = messages().probe(*its.self, source, tag);
  } catch (...) {
    job_.check_failure(*this, *its.members, std::current_exception());
    its.has_news = true;
    return true;
  }
  if (!found) return false;
  if ((source != fabric::any_peer && found->source != source) || (!manner.takes_any_tag() && found->tag != tag))
    job_.wrong("a probe found what it did not look for");
  actions_.pop_front();
  receive(what, its, &*found);  // which takes it at once
  return true;
}

/// False: there is no memory for it now.
bool simulated_rank::agree(membership& its) {
  auto call = std::make_unique<simulated_agreement>(*this);
  call->at = its.self.get();
  call->number = its.agreements;
  draws random(its.members->communicator + call->number, static_cast<std::uint64_t>(rank_));
  call->given.resize(random.below(std::size_t{20}) * random.below(std::size_t{10}), std::byte{7});
  call->combine = list;
  job_.note_call(*this, *its.members, call->number);
  bool began = true;
  call_ = std::move(call);
  job_.in_process_of(rank_, [&] {
    try {
      messages().agree(*call_);
    } catch (const std::bad_alloc&) {
      began = false;
    }
  });
  if (!began) return call_.reset(), false;
  ++its.agreements;
  if (job_.traced())
    job_.say("rank " + std::to_string(rank_) + " agrees in communicator " + std::to_string(its.members->communicator) +
             ", number " + std::to_string(call_->number));
  job_.agreement_begins();
  return true;
}

bool simulated_rank::take_answer(int slot) {
  membership& its = *memberships_[static_cast<std::size_t>(slot)];
  const plan_step& step = job_.plan().steps[step_];
  simulated_agreement& call = *calls_.emplace_back(std::move(call_));
  if (call.failure != nullptr) {
    const int process = job_.plan().process_of(rank_);
    // A process that is asked while no rank of it is there is absent if the first has left, or did not get it.
    if (!job_.is_lost(process) && !job_.of(its.members->communicator).left_in.contains(process))
      job_.wrong("an agreement fails on a process that is not lost: " + weft::message_of(call.failure));
    return unwind(), true;
  }
  job_.check_answer(*this, call);
  if (step.what != plan_step::shrink) return true;
  if (unwinding_) return refuse_what_was_to_come(), true;
  std::vector<int> living;
  for (std::size_t at = 0; at < call.agreed->size();) {
    std::uint32_t entry[2];
    std::memcpy(entry, call.agreed->data() + at, sizeof entry);
    living.push_back(static_cast<int>(entry[0]));
    at += sizeof entry + entry[1];
  }
  if (std::ranges::find(living, its.self->rank) == living.end()) return true;  // check_answer has said so
  join(step.makes, part_of(*its.members, living, step_));
  return true;
}

void simulated_rank::leave(membership& its) {
  its.left = true;
  job_.of(its.members->communicator).left_in.insert(job_.plan().process_of(rank_));
  if (its.self->failure != nullptr || its.failed) job_.of(its.members->communicator).abandoned = true;
  if (job_.plan().ranks_each > 1) its.self->next_collective = its.collectives;
  messages().leave(*its.self);
}

void simulated_rank::note_end(fabric::operation& ended, int slot) noexcept {
  membership& its = *memberships_[static_cast<std::size_t>(slot)];
  if (job_.traced())
    job_.say("rank " + std::to_string(rank_) + (ended.is_send ? " has sent to " : " has received from ") +
             std::to_string(ended.peer) + " tag " + std::to_string(ended.tag) + ", communicator " +
             std::to_string(its.members->communicator));
  if (std::erase(its.pending, &ended) != 1) job_.wrong("an operation has ended twice");
  if (ended.failure == nullptr) return;
  ++job_.counts.failures;
  job_.check_failure(*this, *its.members, ended.failure);
}

void simulated_rank::ended_with(simulated_send& send) noexcept {
  const allocations_that_succeed unharmed;
  if (job_.is_dead(job_.plan().process_of(rank_))) return;
  send.memory.reset();
  note_end(send, send.slot);
  if (send.failure != nullptr) memberships_[static_cast<std::size_t>(send.slot)]->has_news = true;
}

void simulated_rank::ended_with(simulated_receive& receive) noexcept {
  const allocations_that_succeed unharmed;
  if (job_.is_dead(job_.plan().process_of(rank_))) return;
  if (receive.failure == nullptr) job_.check_received(receive);
  receive.memory.reset();
  note_end(receive, receive.slot);
  if (receive.failure == nullptr) return;
  membership& its = *memberships_[static_cast<std::size_t>(receive.slot)];
  const bool was_to_come = receive.waits_in_vain && its.self->failure == nullptr;
  its.has_news = its.has_news || !was_to_come;
}

bool simulated_rank::gives_up_any_source() {
  if (ended_ || !started_ || !messages().lost().empty()) return false;
  bool any = false;
  for (auto& each : memberships_) {
    if (each == nullptr || each->left || each->self->failure != nullptr) continue;
    auto& events = job_.of(each->members->communicator);
    if (!events.abandoned) continue;
    const bool receives = std::ranges::any_of(
        each->pending, [](const auto* pending) { return pending->peer == fabric::any_peer && !pending->collective; });
    const bool probes = !actions_.empty() && actions_.front().what == action::probe &&
                        memberships_[static_cast<std::size_t>(actions_.front().on)] == each &&
                        each->self->probed.source == fabric::any_peer;
    if (!receives && !probes) continue;
    any = true;
    ++job_.counts.given_up;
    events.broken_on.insert(rank_);
    messages().break_here(*each->self);
  }
  return any;
}

std::string simulated_rank::waits_for() const {
  if (ended_) return "";
  std::string what = "rank " + std::to_string(rank_) + ": step " + std::to_string(step_);
  if (!started_) return what + ", not started";
  if (!actions_.empty())
    what += ", action " + std::to_string(actions_.front().what) + " on " + std::to_string(actions_.front().on);
  for (std::size_t slot = 0; slot < memberships_.size(); ++slot) {
    if (memberships_[slot] == nullptr) continue;
    for (const auto* const each : memberships_[slot]->pending)
      what += "; " + std::string(each->is_send ? "send to " : "receive from ") + std::to_string(each->peer) + " tag " +
              std::to_string(each->tag) + " of " + std::to_string(each->bytes) + " bytes on " + std::to_string(slot) +
              " in stage " + std::to_string(static_cast<int>(each->now)) + (each->collective ? ", collective" : "");
  }
  return what + "\n";
}

}  // namespace weft_test
