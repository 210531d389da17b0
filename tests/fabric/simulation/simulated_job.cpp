// SPDX-License-Identifier: Apache-2.0
#include "fabric/simulation/simulated_job.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include <weft/fabric/loopback.hpp>
#include <weft/runtime/error.hpp>

#include "fabric/collecting_receiver.hpp"

namespace weft_test {

namespace fabric = weft::fabric;
using weft::errc;

namespace {

constexpr std::int64_t millisecond = 1'000'000;

/// So many looks at the clock of half a second each, with nothing ended between: far above the messenger's own periods
/// (engine_inquiry.cpp asks within 16); for each process, since an agreement asks one after another.
constexpr std::size_t most_jumps = 100;

/// Without a step by anybody: then time jumps.
std::size_t most_idle(int processes) { return static_cast<std::size_t>(6 * processes + 20); }

/// Enough for a long job, and for all jumps twice.
std::size_t most_steps(int processes) {
  return 3'000'000 + 2 * most_jumps * static_cast<std::size_t>(processes) * most_idle(processes);
}

}  // namespace

simulated_job::simulated_job(std::uint64_t seed, bool traced)
    : seed_(seed),
      traced_(traced),
      random_(seed, 1),
      plan_(seed),
      network_(plan_.processes, plan_.network),
      declared_(index(plan_.processes)),
      outcast_(declared_.size()),
      noticed_(declared_.size()),
      stopped_until_(declared_.size()),
      reluctance_(declared_.size(), 1) {
  messages_.emplace_back();  // none is number 0, so that a message without contents is not taken for one
  delay_ = random_.of(std::vector<std::int64_t>{millisecond / 10, 5 * millisecond, 100 * millisecond});
  pace_ = random_.of(std::vector<std::int64_t>{4'000, 4'000, 400'000, 4 * millisecond});
  pace_ = std::max<std::int64_t>(pace_ / plan_.processes, 1'000);  // they go on side by side
  time_.advance(std::chrono::hours(1));
  make_messengers();
  for (int rank = 0; rank < plan_.ranks(); ++rank) ranks_.emplace_back(*this, rank, seed);
}

simulated_job::~simulated_job() {
  allocation_faults::here() = {};
  messengers_.clear();
}

void simulated_job::make_messengers() {
  std::vector<fabric::address> addresses;
  for (int process = 0; process < plan_.processes; ++process) {
    auto link = std::make_unique<simulated_link>(
        network_.endpoint(process), plan_.processes,
        [this, process](const std::string& what) { wrong("process " + std::to_string(process) + ": " + what); });
    link->may_suspect = plan_.memory_fails_at >= 0;
    addresses.push_back(link->local_address());
    links_.push_back(link.get());
    fabric::messenger_settings mine = plan_.settings;
    mine.time = &time_;
    mine.job = 4711;
    mine.process = process;
    for (int other = 0; other < plan_.processes; ++other) {
      mine.first_rank.push_back(other * plan_.ranks_each);
      mine.incarnations.push_back(static_cast<std::uint16_t>(other + 1));
    }
    mine.suspected = [this, process](int who, const std::string& why) {
      const allocations_that_succeed unharmed;
      suspected(process, who, why);
    };
    mine.broadcast = [this, process](std::span<const std::byte> note) {
      const allocations_that_succeed unharmed;
      broadcast(process, note);
    };
    mine.ended = [this](int who) { return is_dead(who); };
    messengers_.push_back(std::make_unique<fabric::messenger>(std::move(link), std::move(mine)));
  }
  connect(addresses, 0);
}

/// One thread connects them all: while one waits, the next begins.
void simulated_job::connect(const std::vector<fabric::address>& addresses, int first) {
  bool others = first + 1 == plan_.processes;
  messengers_[index(first)]->connect(addresses, time_.now() + std::chrono::hours(1), [&] {
    if (!std::exchange(others, true)) connect(addresses, first + 1);
    for (int i = 0; i < plan_.processes; ++i) messengers_[index(random_.below(plan_.processes))]->poll();
  });
}

void simulated_job::wrong(const std::string& what) {
  say("WRONG: " + what);
  if (fault_.empty()) fault_ = what;
}

void simulated_job::say(const std::string& what) {
  if (traced_)
    std::fprintf(stderr, "%10.3f ms  %s\n", static_cast<double>(now() % (3'600'000 * millisecond)) / 1e6, what.c_str());
}

// What goes on, and in which order.

void simulated_job::run() {
  allocation_faults& faults = allocation_faults::here();
  faults = {plan_.memory_fails_at, plan_.memory_failures, 0, 1};
  while (fault_.empty() && !is_finished()) {
    if (++counts.steps == most_steps(plan_.processes)) return wrong("it does not come to rest:\n" + pending());
    pass_time();
    trigger_faults();
    const bool told = tell();
    const bool moved = go_on(pick());
    idle_ = told || moved ? 0 : idle_ + 1;
    if (idle_ < most_idle(plan_.processes)) continue;
    idle_ = 0;
    if (!jump()) return wrong("nothing moves any more:\n" + pending());
  }
  counts.memory_failures += faults.fail_at >= 0 && faults.count > faults.fail_at;
  faults = {};
  if (!fault_.empty()) return;
  drain();
  check_order();
  check_endings();
}

bool simulated_job::is_finished() const {
  return std::ranges::all_of(
      ranks_, [&](const simulated_rank& each) { return each.ended() || is_dead(plan_.process_of(each.world_rank())); });
}

void simulated_job::pass_time() {
  time_.advance(std::chrono::nanoseconds(random_.below(static_cast<std::size_t>(pace_))));
}

int simulated_job::pick() {
  if (random_.one_in(300))
    for (std::size_t& each : reluctance_) each = random_.one_in(3) ? std::size_t{1} << random_.below(9) : 1;
  if (random_.one_in(2000))
    stopped_until_[random_.below(stopped_until_.size())] =
        now() + static_cast<std::int64_t>(random_.below(std::size_t{30})) * millisecond;
  for (int tries = 0;; ++tries) {
    const int process = random_.below(plan_.processes);
    if (tries > 20 || random_.one_in(reluctance_[index(process)])) return process;
  }
}

bool simulated_job::go_on(int process) {
  if (is_dead(process) || now() < stopped_until_[index(process)]) return false;
  if (random_.one_in(8)) messengers_[index(process)]->listen();  // it looks at the clock
  return random_.one_in(2) ? poll(process) : act(process);
}

bool simulated_job::poll(int process) {
  if (process != plan_.short_process) return messengers_[index(process)]->poll();
  const allocations_that_may_fail harmed;
  return messengers_[index(process)]->poll();
}

bool simulated_job::act(int process) {
  const int first = process * plan_.ranks_each;
  simulated_rank& rank = ranks_[index(first + random_.below(plan_.ranks_each))];
  if (!rank.act()) return false;
  jumps_in_a_row_ = 0;
  const auto has_ended = [&](int each) { return ranks_[index(first + each)].ended(); };
  bool all = rank.ended();
  for (int each = 0; each < plan_.ranks_each; ++each) all = all && has_ended(each);
  if (all && random_.one_in(2)) messengers_[index(process)]->retire(0);
  return true;
}

/// Nothing moves: what is to come comes now, or time passes. False where it has passed for too long.
bool simulated_job::jump() {
  ++counts.jumps;
  for (std::int64_t& each : stopped_until_) each = 0;
  std::ranges::fill(reluctance_, 1);
  if (!to_come_.empty()) {
    const std::int64_t until = to_come_.begin()->first;
    if (until > now()) time_.advance(std::chrono::nanoseconds(until - now()));
  } else {
    const std::int64_t longest = jumps_in_a_row_ < 4 ? 20 * millisecond : 600 * millisecond;
    time_.advance(std::chrono::nanoseconds(random_.below(static_cast<std::size_t>(longest))));
    if (++jumps_in_a_row_ == 8) allocation_faults::here().failures = 0;  // there is memory again
    if (jumps_in_a_row_ == most_jumps * index(plan_.processes)) {
      if (!give_up_any_source()) return false;
      jumps_in_a_row_ = 0;
    }
  }
  for (int process = 0; process < plan_.processes; ++process)
    if (!is_dead(process)) messengers_[index(process)]->listen();  // the next poll looks at the clock
  return true;
}

bool simulated_job::give_up_any_source() {
  bool any = false;
  for (simulated_rank& each : ranks_)
    if (!is_dead(plan_.process_of(each.world_rank()))) any = each.gives_up_any_source() || any;
  return any;
}

std::string simulated_job::pending() const {
  std::string all;
  for (const simulated_rank& each : ranks_)
    if (!is_dead(plan_.process_of(each.world_rank()))) all += each.waits_for();
  return all;
}

// What befalls the job.

int simulated_job::living_process() {
  std::vector<int> living;
  for (int process = 0; process < plan_.processes; ++process)
    if (!is_lost(process) && !noticed_[index(process)]) living.push_back(process);
  return living.size() < 2 ? -1 : random_.of(living);
}

void simulated_job::trigger_faults() {
  if (next_death_ < plan_.deaths.size() && posted_ >= plan_.deaths[next_death_]) {
    ++next_death_;
    kill(living_process(), random_.one_in(2) ? 0 : random_.below(std::size_t{12}));
  }
  if (next_false_loss_ < plan_.false_losses.size() && posted_ >= plan_.false_losses[next_false_loss_]) {
    ++next_false_loss_;
    const int process = living_process();
    if (process >= 0) ++counts.false_losses, declare(process);
  }
  notice_deaths();
}

void simulated_job::agreement_begins() {
  if (plan_.dies_in_agreements && counts.deaths < 4 && random_.one_in(6))
    kill(living_process(), random_.below(std::size_t{2} * index(plan_.processes)));
}

void simulated_job::kill(int process, std::size_t posts) {
  if (process < 0) return;
  if (traced_) say("process " + std::to_string(process) + " dies in " + std::to_string(posts) + " posts");
  links_[index(process)]->die(posts);
  noticed_[index(process)] = posts != 0 && noticed_[index(process)];
}

/// Some have died since: their messages vanish, and the others hear of it, each in its time.
void simulated_job::notice_deaths() {
  for (int process = 0; process < plan_.processes; ++process) {
    if (!is_dead(process) || noticed_[index(process)]) continue;
    noticed_[index(process)] = true;
    ++counts.deaths;
    if (traced_) say("process " + std::to_string(process) + " is dead");
    cut_notes(process);
    const auto delay = [&] {
      return now() + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(delay_)));
    };
    to_come_.emplace(delay(), event{event::vanish, process, process, 0});
    if (!declared_[index(process)])
      for (int to = 0; to < plan_.processes; ++to) to_come_.emplace(delay(), event{event::lose, to, process, 0});
  }
}

/// It is taken for lost, and hears of that, too.
void simulated_job::declare(int process) {
  if (declared_[index(process)] || (is_dead(process) && noticed_[index(process)])) return;
  declared_[index(process)] = true;
  for (simulated_link* const each : links_)
    each->may_suspect = true;  // who still sends to it may see the connection cut
  if (traced_) say("process " + std::to_string(process) + " is taken for lost");
  cut_notes(process);
  for (int to = 0; to < plan_.processes; ++to)
    to_come_.emplace(now() + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(delay_))),
                     event{event::lose, to, process, 0});
}

void simulated_job::broadcast(int by, std::span<const std::byte> note) {
  if (is_lost(by)) return;
  notes_.push_back({by, {note.begin(), note.end()}});
  if (traced_) say("process " + std::to_string(by) + " has a note sent");
  for (int to = 0; to < plan_.processes; ++to) {
    if (to == by) continue;
    std::int64_t& when = last_note_[{by, to}];
    when = std::max(when, now() + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(delay_))));
    to_come_.emplace(when, event{event::take_note, to, by, notes_.size() - 1});
  }
}

/// Each note of a lost process that nobody has heard yet reaches nobody, from one of them on.
void simulated_job::cut_notes(int of) {
  bool drops = false;
  for (note& each : notes_) {
    if (each.by != of || each.heard) continue;
    drops = drops || random_.one_in(2);
    each.dropped = drops;
  }
}

bool simulated_job::tell() {
  bool any = false;
  while (!to_come_.empty() && to_come_.begin()->first <= now()) {
    const event first = to_come_.begin()->second;
    to_come_.erase(to_come_.begin());
    any = true;
    if (first.what == event::vanish) {
      network_.kill(first.process);
      continue;
    }
    if (is_dead(first.to)) continue;
    fabric::messenger& to = *messengers_[index(first.to)];
    if (first.what == event::lose) {
      if (traced_)
        say("process " + std::to_string(first.to) + " hears that " + std::to_string(first.process) + " is lost");
      to.lose(first.process, "it was lost in a simulation");
      continue;
    }
    note& its = notes_[first.which];
    if (its.dropped) continue;
    its.heard = true;
    to.take_note(its.contents);
  }
  jumps_in_a_row_ = any ? 0 : jumps_in_a_row_;
  return any;
}

bool simulated_job::can_suspect(int by, int process) const {
  return is_lost(by) || is_lost(process) || (plan_.memory_fails_at >= 0 && by == plan_.short_process && process == by);
}

void simulated_job::suspected(int by, int process, const std::string& why) {
  if (traced_) say("process " + std::to_string(by) + " suspects " + std::to_string(process) + ": " + why);
  if (!can_suspect(by, process))
    return wrong("process " + std::to_string(by) + " suspects " + std::to_string(process) + ", which lives: " + why);
  if (is_lost(by) && process != by)
    outcast_[index(by)] = true;
  else
    declare(process);
}

// What the ranks ask.

const std::vector<planned_transfer>& simulated_job::transfers(std::size_t step, const fabric::group& among) {
  const auto [known, is_new] = transfers_.try_emplace({among.communicator, step});
  if (is_new) {
    known->second = transfers_of(plan_, step, among.size());
    first_message_[known->first] = messages_.size();
    const plan_step::kind kind = plan_.steps[step].what;
    const bool collective = kind == plan_step::collective || kind == plan_step::divide;
    std::size_t which = 0;
    for (const planned_transfer& each : known->second)
      messages_.push_back({among.communicator, step, which++, each.from, each.to, each.tag, each.bytes, collective});
  }
  return known->second;
}

std::size_t simulated_job::message_number(const fabric::group& among, std::size_t step, std::size_t which) {
  return first_message_.at({among.communicator, step}) + which;
}

std::vector<std::byte> simulated_job::contents(std::size_t number) const {
  std::vector<std::byte> made = pattern(messages_[number].bytes, number ^ seed_);
  if (made.size() >= sizeof number) std::memcpy(made.data(), &number, sizeof number);
  return made;
}

simulated_send& simulated_job::new_send(simulated_rank& of, int slot, std::size_t number) {
  ++counts.messages;
  messages_[number].posted = ++posted_;
  return sends_.emplace_back(of, slot, number);
}

simulated_receive& simulated_job::new_receive(simulated_rank& of, int slot, std::size_t capacity) {
  ++posted_;
  return receives_.emplace_back(of, slot, receives_.size(), capacity);
}

void simulated_job::check_received(simulated_receive& got) {
  const fabric::participant& at = *got.at;
  std::size_t number = 0;
  if (got.waits_in_vain) return wrong("a message came that nobody has sent");
  if (got.collective) {
    number = got.expected;
  } else if (got.received >= sizeof number) {
    std::memcpy(&number, got.memory.get(), sizeof number);
  } else {  // its tag says which one it is
    const std::size_t step = (got.received_tag - own_tags) / 1000, which = (got.received_tag - own_tags) % 1000;
    const auto first = first_message_.find({at.members->communicator, step});
    number = first == first_message_.end() ? 0 : first->second + which;
  }
  if (number == 0 || number >= messages_.size()) return wrong("a message came that is none");
  message& its = messages_[number];
  const bool right = its.communicator == at.members->communicator && its.from == got.source && its.to == at.rank &&
                     its.bytes == got.received && its.posted != 0 && (its.collective == got.collective) &&
                     (its.collective || its.tag == got.received_tag);
  if (!right)
    return wrong("rank " + std::to_string(got.owner.world_rank()) + " received message " + std::to_string(number) +
                 " where it cannot be");
  const auto expected = contents(number);
  if (!std::equal(expected.begin(), expected.end(), got.memory.get()))
    return wrong("message " + std::to_string(number) + " came altered");
  if (its.receive != SIZE_MAX) return wrong("message " + std::to_string(number) + " came twice");
  its.receive = got.place;
  got.got = number;
}

void simulated_job::check_failure(const simulated_rank& rank, const fabric::group& in,
                                  const std::exception_ptr& failure) {
  const int process = plan_.process_of(rank.world_rank());
  const std::string who = "rank " + std::to_string(rank.world_rank());
  const events& its = events_[in.communicator];
  bool explained = false;
  std::string text;
  try {
    std::rethrow_exception(failure);
  } catch (const weft::peer_lost& lost) {
    text = lost.what();
    explained = declared_[index(process)] ||
                (lost.rank() >= 0 && lost.rank() < plan_.ranks() && is_lost(plan_.process_of(lost.rank())));
    counts.left_errors += text.find("has left") != std::string::npos;
  } catch (const weft::error& error) {
    text = error.what();
    if (error.code() == errc::revoked) explained = its.revoked || its.broken_on.contains(rank.world_rank());
    if (error.code() == errc::mismatched_call) explained = its.abandoned;
    if (error.code() == errc::operation_failed) explained = !its.broken_on.empty() || plan_.memory_fails_at >= 0;
    explained = explained || (plan_.memory_fails_at >= 0 && text.find("memory") != std::string::npos);
  } catch (const std::bad_alloc&) {
    text = "std::bad_alloc";
    explained = plan_.memory_fails_at >= 0;
  } catch (const std::exception& other) {
    text = std::string("not a weft::error: ") + other.what();
  }
  if (traced_) say(who + ", communicator " + std::to_string(in.communicator) + ": " + text);
  if (!explained)
    wrong(who + " fails in communicator " + std::to_string(in.communicator) + " without a reason: " + text);
}

void simulated_job::note_call(const simulated_rank& rank, const fabric::group& in, std::uint32_t number) {
  events_[in.communicator].called[number].insert(
      static_cast<int>(std::ranges::find(in.world, rank.world_rank()) - in.world.begin()));
}

void simulated_job::check_answer(const simulated_rank& rank, const simulated_agreement& call) {
  const fabric::group& in = *call.at->members;
  ++counts.agreements;
  events& its = events_[in.communicator];
  // Who is lost and takes others for lost, of which nobody hears, is alone.
  if (outcast_[index(plan_.process_of(rank.world_rank()))]) return;
  const auto [first, is_new] = its.answers.try_emplace(call.number, *call.agreed);
  const bool survivor_among = std::ranges::any_of(in.process, [&](int process) { return !is_lost(process); });
  const auto text = [&] {
    return "agreement " + std::to_string(call.number) + " of communicator " + std::to_string(in.communicator);
  };
  // Of those who are all taken for lost each may go on alone.
  if (!is_new && first->second != *call.agreed && survivor_among)
    wrong("rank " + std::to_string(rank.world_rank()) + " gets another answer of " + text());
  const auto& called = its.called[call.number];
  bool is_in = false;
  for (std::size_t at = 0; at < call.agreed->size();) {
    std::uint32_t entry[2] = {};
    if (call.agreed->size() - at < sizeof entry) return wrong("the answer is cut short, of " + text());
    std::memcpy(entry, call.agreed->data() + at, sizeof entry);
    at += sizeof entry + entry[1];
    if (at > call.agreed->size()) return wrong("the answer is cut short, of " + text());
    is_in = is_in || static_cast<int>(entry[0]) == call.at->rank;
    if (!called.contains(static_cast<int>(entry[0])))
      wrong("a rank is in the answer that has not called, of " + text());
  }
  if (!is_in && !is_lost(plan_.process_of(rank.world_rank())))
    wrong("rank " + std::to_string(rank.world_rank()) + " lives, and is not in the answer of " + text());
}

// When all is over.

void simulated_job::drain() {
  const auto all_quiet = [&] {
    for (int process = 0; process < plan_.processes; ++process)
      if (!is_dead(process) && !messengers_[index(process)]->quiet()) return false;
    return true;
  };
  // What is not heard yet, and orphans, which the messengers look for now and then.
  for (int round = 0, still = 0; round < 2000 && (still < 12 || !all_quiet() || !to_come_.empty()); ++round) {
    time_.advance(std::chrono::milliseconds(15));
    tell();
    notice_deaths();
    bool moved = false;
    for (int process = 0; process < plan_.processes; ++process)
      if (!is_dead(process)) moved = messengers_[index(process)]->poll() || moved;
    still = moved ? 0 : still + 1;
  }
  // Who did not get a communicator keeps what others had sent to it there, and does not know of it.
  for (int process = 0; process < plan_.processes; ++process)
    if (!is_dead(process) && !messengers_[index(process)]->quiet() && counts.refused == 0)
      wrong("process " + std::to_string(process) + " has something in flight after all");
}

/// A receive must not get a message while an earlier one of the same sender, which it matches too, went to a later
/// receive, or nowhere.
void simulated_job::check_order() {
  std::map<std::tuple<std::uint64_t, int, int>, std::vector<const message*>> pairs;
  for (const message& each : messages_)
    if (each.posted != 0 && !each.collective) pairs[{each.communicator, each.from, each.to}].push_back(&each);
  // Receives that have failed may have taken one.
  std::set<std::pair<std::uint64_t, int>> failed;
  for (const simulated_receive& each : receives_)
    if (each.at != nullptr && each.got == simulated_receive::any_message)
      failed.insert({each.at->members->communicator, each.at->rank});
  for (auto& [pair, sent] : pairs) {
    std::ranges::sort(sent, {}, &message::posted);
    const bool may_miss = failed.contains({std::get<0>(pair), std::get<2>(pair)});
    for (std::size_t later = 0; later < sent.size(); ++later) {
      if (sent[later]->receive == SIZE_MAX) continue;
      const simulated_receive& by = receives_[sent[later]->receive];
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const message& other = *sent[earlier];
        if (by.tag != fabric::any_message_tag && by.tag != other.tag) continue;
        if (other.receive == SIZE_MAX ? !may_miss : other.receive > sent[later]->receive)
          wrong("a message of communicator " + std::to_string(std::get<0>(pair)) + " from its rank " +
                std::to_string(std::get<1>(pair)) + " to " + std::to_string(std::get<2>(pair)) +
                (other.receive == SIZE_MAX ? " is lost" : " was overtaken"));
      }
    }
  }
}

void simulated_job::check_endings() {
  for (const auto& each : sends_)
    if (each.memory != nullptr && !is_dead(plan_.process_of(each.owner.world_rank()))) wrong("a send has not ended");
  for (const auto& each : receives_)
    if (each.memory != nullptr && !is_dead(plan_.process_of(each.owner.world_rank()))) wrong("a receive has not ended");
}

void simulated_job::add_to(simulation_counts& sum) const {
  ++sum.jobs;
  sum.messages += counts.messages;
  sum.failures += counts.failures;
  sum.deaths += counts.deaths;
  sum.false_losses += counts.false_losses;
  sum.agreements += counts.agreements;
  sum.revokes += counts.revokes;
  sum.jumps += counts.jumps;
  sum.divided += counts.divided;
  sum.given_up += counts.given_up;
  sum.memory_failures += counts.memory_failures;
  sum.steps += counts.steps;
  sum.refused += counts.refused;
  sum.left_errors += counts.left_errors;
}

}  // namespace weft_test
