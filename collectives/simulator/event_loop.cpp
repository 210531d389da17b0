// SPDX-License-Identifier: Apache-2.0
#include "event_loop.hpp"

#include <algorithm>

namespace weft::simulator {
namespace {

constexpr std::size_t ahead = 8;  // of what is fetched

bool has_costs(const network& of) {
  return std::ranges::any_of(of.links, [](const link& l) { return l.delay > 0 || l.overhead > 0 || l.gap > 0; });
}

}  // namespace

event_loop::event_loop(const workload& all, const machine_model& model, const network* links, observer* to)
    : all_(all),
      model_(model),
      links_(links),
      far_(links != nullptr && has_costs(*links)),
      observer_(to),
      clock_(model.noise, all.ranks()),
      resources_per_rank_(static_cast<std::uint32_t>(all.cpus() + 2 * all.nics())),
      states_(all) {
  resources_.resize(static_cast<std::size_t>(all.ranks()) * resources_per_rank_);
  result_.ranks.resize(static_cast<std::size_t>(all.ranks()));
  if (links != nullptr)
    flows_ =
        std::make_unique<fair_sharing>(*links, all.ranks(), model.gap_per_byte, model.ports == port_model::pipelined);
}

simulation event_loop::run(double latest) {
  for (int rank = 0; rank < all_.ranks(); ++rank) {
    const double entry = clock_.available(rank, 0);
    if (entry > 0) {
      push(entry, event_kind::enter, rank, 0, no_activity);
    } else {
      enter(rank);
    }
  }
  for (;;) {
    while (happen_now()) {
    }
    if (events_.empty()) break;
    now_ = events_.next_time();
    if (now_ > latest) {
      result_.completion = now_;
      return std::move(result_);
    }
  }
  if (done_ != all_.steps()) report_deadlock(all_, states_, model_);
  return std::move(result_);
}

/// Lets happen what happens next without time passing. False: nothing.
bool event_loop::happen_now() {
  if (!ready_.empty()) {
    // One that becomes ready meanwhile comes after those that are: they are many, and few follow from each.
    std::vector<ready_step> steps;
    steps.swap(ready_);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i + ahead < steps.size()) fetch(static_cast<std::uint32_t>(steps[i + ahead].rank));
      begin(steps[i]);
    }
    if (ready_.empty()) {
      steps.clear();
      ready_.swap(steps);
    }
    return true;
  }
  if (!events_.empty() && events_.next_time() <= now_) {
    const event next = events_.pop();
    if (!events_.empty()) fetch(events_.next_rank());
    handle(next);
    return true;
  }
  if (!to_serve_.empty()) {
    std::vector<std::uint32_t> numbers;
    numbers.swap(to_serve_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i + ahead < numbers.size()) fetch(numbers[i + ahead] / resources_per_rank_);
      serve(numbers[i]);
    }
    if (to_serve_.empty()) {
      numbers.clear();
      to_serve_.swap(numbers);
    }
    return true;
  }
  if (flows_ && flows_->changed()) {
    flows_->settle(now_);
    const double next = flows_->next_end();
    if (next < std::numeric_limits<double>::infinity())
      push(next, event_kind::flow_end, 0, flows_->version(), no_activity);
    return true;
  }
  return false;
}

void event_loop::handle(const event& e) {
  const int rank = static_cast<int>(e.rank);
  switch (e.kind) {
    case event_kind::enter:
      return enter(rank);
    case event_kind::cpu_done:
      return cpu_done(rank, e.step, e.cause);
    case event_kind::wake:
      resources_[e.step].waking = false;
      return list(e.step);
    case event_kind::head: {
      const std::uint32_t number = port_number(rank, e.step, port::in);
      requests_.want(resources_[number], {now_, e.sent, e.cause, e.step});
      return list(number);
    }
    case event_kind::sent:
      return complete(rank, e.step, e.cause);
    case event_kind::arrival:
      return arrived(rank, e.step, e.cause);
    case event_kind::request:
      return request_came(rank, e.step, e.cause);
    case event_kind::grant:
      return grant_came(rank, e.step, e.cause);
    case event_kind::flow_end:
      return flows_may_have_ended(e.step);
  }
}

void event_loop::enter(int rank) {
  for (const step_index step : all_.of(rank).independent) ready_.push_back({rank, step, no_activity});
}

void event_loop::begin(const ready_step& next) {
  const shape& of = all_.of(next.rank);
  const shape::step& step = of.steps[next.step];
  states_.set(next.rank, next.step, step_states::begun);
  release(next.rank, shape::part(of.dependents, step.begins_before), next.cause);
  switch (step.kind) {
    case operation_kind::send:
      return work(next, overhead(next.rank, next.step));
    case operation_kind::receive:
      return begin_receive(next);
    case operation_kind::combine:
    case operation_kind::fetch:
    case operation_kind::fetch_and_combine:
    case operation_kind::calculate:
      return work(next, duration(next.rank, next.step));
  }
}

void event_loop::complete(int rank, step_index step, activity_id cause) {
  states_.set(rank, step, step_states::done);
  ++done_;
  const double latest = result_.ranks[static_cast<std::size_t>(rank)].finish = now_;
  if (latest > result_.completion || result_.last == no_activity) {
    result_.completion = latest;
    result_.last = cause;
  }
  const shape& of = all_.of(rank);
  release(rank, shape::part(of.dependents, of.steps[step].ends_before), cause);
}

void event_loop::release(int rank, std::span<const step_index> dependents, activity_id cause) {
  for (const step_index next : dependents)
    if (may_begin(rank, next)) ready_.push_back({rank, next, cause});
}

bool event_loop::may_begin(int rank, step_index step) const {
  const shape& of = all_.of(rank);
  const shape::step& s = of.steps[step];
  const auto ends = shape::part(of.before, s.ends), begins = shape::part(of.before, s.begins);
  const auto is = [&](step_states::flag wanted) {
    return [this, rank, wanted](step_index before) { return states_.is(rank, before, wanted); };
  };
  // The last ones end last, as a rule.
  return std::all_of(ends.rbegin(), ends.rend(), is(step_states::done)) &&
         std::all_of(begins.rbegin(), begins.rend(), is(step_states::begun));
}

/// Of a step's CPU.
double event_loop::duration(int rank, step_index step) const {
  const auto each = static_cast<double>(bytes(rank, step));
  switch (all_.of(rank).steps[step].kind) {
    case operation_kind::combine:
      return each * model_.compute_per_byte;
    case operation_kind::fetch:
      return each * model_.gap_per_byte;
    case operation_kind::fetch_and_combine:
      return each * (model_.compute_per_byte + model_.gap_per_byte);
    case operation_kind::calculate:
      return each;
    case operation_kind::send:
    case operation_kind::receive:
      break;
  }
  return overhead(rank, step);
}

/// Work of a step's CPU. None that takes no time takes the CPU, but it waits for noise to end.
void event_loop::work(const ready_step& by, double duration) {
  if (duration > 0) {
    const std::uint32_t number = cpu_number(by.rank, by.step);
    requests_.want(resources_[number], {now_, 0, by.cause, by.step});
    return list(number);
  }
  const double end = clock_.finish_step(by.rank, now_, 0);
  if (end > now_) return push(end, event_kind::cpu_done, by.rank, by.step, by.cause);
  cpu_done(by.rank, by.step, by.cause);
}

void event_loop::serve_cpu(resource& cpu, int rank) {
  while (cpu.wanted() && cpu.free_at <= now_) {
    const request next = requests_.take_next(cpu);
    const double takes = duration(rank, next.step);
    const double end = clock_.finish_step(rank, now_, takes);
    report_work(rank, next.step, end, next.time < now_ ? work_id(rank, cpu.last) : next.cause);
    result_.ranks[static_cast<std::size_t>(rank)].busy += takes;
    cpu.free_at = end;
    cpu.last = next.step;
    push(end, event_kind::cpu_done, rank, next.step, work_id(rank, next.step));
  }
}

void event_loop::cpu_done(int rank, step_index step, activity_id cause) {
  const std::uint32_t number = cpu_number(rank, step);
  if (resources_[number].wanted()) list(number);
  if (all_.of(rank).steps[step].kind == operation_kind::send) return overhead_over(rank, step, cause);
  complete(rank, step, cause);
}

std::uint32_t event_loop::cpu_number(int rank, step_index step) const {
  return static_cast<std::uint32_t>(rank) * resources_per_rank_ + all_.of(rank).steps[step].cpu;
}

std::uint32_t event_loop::port_number(int rank, step_index step, port which) const {
  const auto nics = static_cast<std::uint32_t>(all_.nics());
  return static_cast<std::uint32_t>(rank) * resources_per_rank_ + static_cast<std::uint32_t>(cpus()) +
         (which == port::in ? nics : 0) + all_.of(rank).steps[step].nic;
}

void event_loop::list(std::uint32_t number) {
  if (resources_[number].listed) return;
  resources_[number].listed = true;
  to_serve_.push_back(number);
}

void event_loop::serve(std::uint32_t number) {
  resource& next = resources_[number];
  next.listed = false;
  const int rank = static_cast<int>(number / resources_per_rank_);
  const int which = static_cast<int>(number % resources_per_rank_);
  if (which < cpus()) return serve_cpu(next, rank);
  which < cpus() + all_.nics() ? serve_out(next, rank) : serve_in(next, rank);
  wake_later(next, number);
}

/// An event for when a port that is wanted will be free.
void event_loop::wake_later(resource& of, std::uint32_t number) {
  if (!of.wanted() || of.waking || of.free_at == std::numeric_limits<double>::infinity()) return;
  of.waking = true;
  push(of.free_at, event_kind::wake, 0, number, no_activity);
}

void event_loop::report_work(int rank, step_index step, double end, activity_id cause) {
  if (observer_ == nullptr || !observer_->wants(work_id(rank, step), cause)) return;
  const operation what = all_.describe(rank, step);
  const activity_kind kind = what.kind == operation_kind::send      ? activity_kind::send_overhead
                             : what.kind == operation_kind::receive ? activity_kind::receive_overhead
                                                                    : activity_kind::compute;
  observer_->happened({kind, rank, step, what.peer, what.amount, now_, now_, end, work_id(rank, step), cause});
}

simulation simulate(const workload& all, const machine_model& model, const network* links, observer* to) {
  check(model);
  if (links != nullptr) check(*links, all.ranks());
  return event_loop(all, model, links, to).run();
}

std::optional<double> completion_by(double latest, const workload& all, const machine_model& model,
                                    const network* links) {
  check(model);
  if (links != nullptr) check(*links, all.ranks());
  const double completion = event_loop(all, model, links, nullptr).run(latest).completion;
  return completion <= latest ? std::optional(completion) : std::nullopt;
}

}  // namespace weft::simulator
