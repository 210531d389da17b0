// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <weft/simulator/loggopsim.hpp>

#include "event_loop.hpp"
#include "goal_amounts.hpp"
#include "loggopsim_matching.hpp"

namespace weft::simulator {
namespace {

/// Whole numbers modulo 2^64, as there: a message of no bytes counts -1 of them.
using whole = std::uint64_t;

whole whole_number(double value, const char* name) {
  constexpr double beyond = 2147483648;  // 2^31
  if (!(value >= 0 && value < beyond) || value != std::trunc(value))
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) +
                                ": LogGOPSim's are whole numbers from 0 to 2^31 - 1");
  return static_cast<whole>(value);
}

struct parameters {
  explicit parameters(const machine_model& model)
      : latency(whole_number(model.latency, "latency")),
        overhead(whole_number(model.overhead, "overhead")),
        gap(whole_number(model.gap, "gap")),
        gap_per_byte(whole_number(model.gap_per_byte, "gap per byte")),
        overhead_per_byte(whole_number(model.overhead_per_byte, "overhead per byte")),
        eager_limit(model.eager_limit) {
    if (model.ports != port_model::pipelined) throw std::invalid_argument("LogGOPSim's ports are pipelined");
    if (model.noise.period > 0 || model.noise.trace)
      throw std::invalid_argument("LogGOPSim's model is simulated without noise");
    if (model.preposted) throw std::invalid_argument("LogGOPSim's receivers grant nothing ahead");
  }

  whole latency, overhead, gap, gap_per_byte, overhead_per_byte;
  std::uint64_t eager_limit;
};

/// A step that may begin, or a message that comes.
struct entry {
  whole time;
  whole order;  ///< since when it is there: earlier ones come first where times are equal
  int rank;
  step_index step;
  bool is_message;  ///< that `step`, a send, of `rank`

  bool operator>(const entry& other) const { return time != other.time ? time > other.time : order > other.order; }
};

class loggopsim_loop {
 public:
  loggopsim_loop(const workload& all, const machine_model& model)
      : all_(all),
        model_(model),
        costs_(model),
        cpus_(static_cast<std::size_t>(all.ranks()) * static_cast<std::size_t>(all.cpus())),
        ports_out_(static_cast<std::size_t>(all.ranks()) * static_cast<std::size_t>(all.nics())),
        ports_in_(ports_out_.size()),
        missing_(all.steps()),
        states_(all),
        matching_(all) {
    result_.ranks.resize(static_cast<std::size_t>(all.ranks()));
  }

  simulation run() {
    for (int rank = 0; rank < all_.ranks(); ++rank) begin_rank(rank);
    while (!queue_.empty()) {
      const entry next = queue_.top();
      queue_.pop();
      happen(next);
      enqueue_freed();
    }
    if (done_ != all_.steps()) report_deadlock(all_, states_, model_);
    finish();
    return std::move(result_);
  }

 private:
  struct freed_step {
    int rank;
    step_index step;
  };

  void begin_rank(int rank) {
    const shape& of = all_.of(rank);
    for (step_index s = 0; s < of.steps.size(); ++s)
      missing_[all_.number(rank, s)] = of.steps[s].ends.count + of.steps[s].begins.count;
    for (const step_index s : of.independent) freed_.push_back({rank, s});
    enqueue_freed();
  }

  const shape::step& step(int rank, step_index s) const { return all_.of(rank).steps[s]; }
  whole& cpu(int rank, const shape::step& s) {
    return cpus_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(all_.cpus()) + s.cpu];
  }
  whole& port(std::vector<whole>& ports, int rank, const shape::step& s) {
    return ports[static_cast<std::size_t>(rank) * static_cast<std::size_t>(all_.nics()) + s.nic];
  }

  void happen(const entry& next) {
    if (next.is_message) return arrive(next);
    switch (step(next.rank, next.step).kind) {
      case operation_kind::send:
        return send(next);
      case operation_kind::receive:
        return receive(next);
      default:
        return calculate(next);
    }
  }

  void come_back(entry later, whole time) {
    later.time = time;
    queue_.push(later);
  }

  void calculate(const entry& now) {
    const shape::step& s = step(now.rank, now.step);
    whole& free = cpu(now.rank, s);
    if (free > now.time) return come_back(now, free);
    free = now.time + hold(now.rank, goal_time(all_, now.rank, now.step, model_.compute_per_byte));
    begun(now.rank, now.step);
    done(now.rank, now.step);
  }

  void send(const entry& now) {
    const shape::step& s = step(now.rank, now.step);
    whole& free = cpu(now.rank, s);
    whole& out = port(ports_out_, now.rank, s);
    if (const whole both = std::max(free, out); both > now.time) return come_back(now, both);
    begun(now.rank, now.step);
    const whole bytes = goal_bytes(all_, now.rank, now.step);
    free = now.time + hold(now.rank, costs_.overhead + (bytes - 1) * costs_.overhead_per_byte);
    out = now.time + costs_.gap + (bytes - 1) * costs_.gap_per_byte;
    queue_.push({now.time + costs_.overhead + costs_.latency, order_++, now.rank, now.step, true});
    if (bytes <= costs_.eager_limit) done(now.rank, now.step);
  }

  void receive(const entry& now) {
    begun(now.rank, now.step);
    if (const auto sender = matching_.post(now.rank, now.step)) {
      let_sender_go(now, *sender, step(now.rank, now.step), goal_bytes(all_, now.rank, now.step));
      done(now.rank, now.step);
    }
  }

  void arrive(const entry& now) {
    // CPU and port are of the numbers that the sender uses.
    const shape::step& s = step(now.rank, now.step);
    const int to = all_.to(now.rank, s).peer;
    whole& free = cpu(to, s);
    whole& in = port(ports_in_, to, s);
    if (const whole both = std::max(free, in); both > now.time) return come_back(now, both);
    const whole bytes = goal_bytes(all_, now.rank, now.step);
    const whole more = bytes - 1;
    free = now.time + hold(to, costs_.overhead + std::max(more * costs_.overhead_per_byte, more * costs_.gap_per_byte));
    in = now.time + costs_.gap + more * costs_.gap_per_byte;
    ++result_.messages;
    const meeting sender{now.rank, now.step};
    if (const auto receive = matching_.arrive(sender)) {
      let_sender_go(now, sender, s, bytes);
      done(to, *receive);
    }
  }

  /// Of a long message, that `now` brings together with its receive; `by` names the CPU and the port.
  void let_sender_go(const entry& now, const meeting& sender, const shape::step& by, std::uint64_t bytes) {
    if (bytes <= costs_.eager_limit) return;
    done(sender.rank, sender.step);
    whole &free = cpu(sender.rank, by), &out = port(ports_out_, sender.rank, by);
    free = std::max(free, now.time);
    out = std::max(out, now.time);
  }

  /// Of a message of no bytes it may be less than nothing.
  whole hold(int rank, whole duration) {
    result_.ranks[static_cast<std::size_t>(rank)].busy += static_cast<double>(static_cast<std::int64_t>(duration));
    return duration;
  }

  void begun(int rank, step_index s) {
    states_.set(rank, s, step_states::begun);
    release(rank, step(rank, s).begins_before);
  }
  void done(int rank, step_index s) {
    states_.set(rank, s, step_states::done);
    ++done_;
    release(rank, step(rank, s).ends_before);
  }
  void release(int rank, schedules::table_range dependents) {
    for (const step_index next : shape::part(all_.of(rank).dependents, dependents))
      if (--missing_[all_.number(rank, next)] == 0) freed_.push_back({rank, next});
  }

  static int kind_order(operation_kind kind) {
    return kind == operation_kind::send ? 0 : kind == operation_kind::receive ? 1 : 2;
  }

  /// What became ready: rank by rank, by kind. Equal ones lie as the same std::sort leaves them, which is stable for a
  /// few: so the order is the same where theirs is.
  void enqueue_freed() {
    if (freed_.size() > 1)
      std::stable_sort(freed_.begin(), freed_.end(),
                       [](const freed_step& a, const freed_step& b) { return a.rank < b.rank; });
    for (auto first = freed_.begin(); first != freed_.end();) {
      const auto last =
          std::find_if(first, freed_.end(), [&](const freed_step& other) { return other.rank != first->rank; });
      std::sort(first, last, [&](const freed_step& a, const freed_step& b) {
        return kind_order(step(a.rank, a.step).kind) < kind_order(step(b.rank, b.step).kind);
      });
      for (; first != last; ++first) enqueue(*first);
    }
    freed_.clear();
  }

  void enqueue(const freed_step& next) {
    const shape::step& s = step(next.rank, next.step);
    whole time = cpu(next.rank, s);
    if (s.kind == operation_kind::send) time = std::max(time, port(ports_out_, next.rank, s));
    queue_.push({time, order_++, next.rank, next.step, false});
  }

  void finish() {
    const auto each = static_cast<std::size_t>(all_.cpus());
    for (std::size_t rank = 0; rank < result_.ranks.size(); ++rank) {
      const auto first = cpus_.begin() + static_cast<std::ptrdiff_t>(rank * each);
      result_.ranks[rank].finish = static_cast<double>(*std::max_element(first, first + all_.cpus()));
      result_.completion = std::max(result_.completion, result_.ranks[rank].finish);
    }
  }

  const workload& all_;
  const machine_model& model_;
  const parameters costs_;
  std::vector<whole> cpus_, ports_out_, ports_in_;  ///< when each is free; of each rank
  std::vector<std::uint32_t> missing_;              ///< of each step: what it still waits for
  step_states states_;
  loggopsim_matching matching_;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue_;
  std::vector<freed_step> freed_;
  whole order_ = 0;
  std::uint64_t done_ = 0;
  simulation result_;
};

}  // namespace

simulation simulate_as_loggopsim(const workload& all, const machine_model& model) {
  check(model);
  return loggopsim_loop(all, model).run();
}

}  // namespace weft::simulator
