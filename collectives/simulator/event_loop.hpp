// SPDX-License-Identifier: Apache-2.0
// The run of a workload: what is under way, and what may begin.
//
//     a step's dependencies end --> ready_ --> begin() --> CPU --> complete() --> the next steps' dependencies
//                                              send: CPU --> [grant] --> port out --> port in --> receive: CPU
//
// All that happens at one time happens first; then who waits for a CPU or a port is served, in an order that does not
// depend on the order of events; until nothing more happens at that time.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>
#include <weft/simulator/simulate.hpp>

#include "event_queue.hpp"
#include "fair_sharing.hpp"
#include "noise_clock.hpp"
#include "resource.hpp"
#include "step_states.hpp"

namespace weft::simulator {

class event_loop {
 public:
  event_loop(const workload& all, const machine_model& model, const network* links, observer* to);

  /// Ends early, with a completion behind `latest`, when that has gone by.
  simulation run(double latest = std::numeric_limits<double>::infinity());

 private:
  struct ready_step {
    int rank;
    step_index step;
    activity_id cause;
  };
  enum class port : std::uint8_t { out, in };

  // event_loop.cpp: steps
  bool happen_now();
  void handle(const event& e);
  void enter(int rank);
  void begin(const ready_step& next);
  void begin_receive(const ready_step& next);
  void complete(int rank, step_index step, activity_id cause);
  void release(int rank, std::span<const step_index> dependents, activity_id cause);
  bool may_begin(int rank, step_index step) const;
  void work(const ready_step& by, double duration);
  void serve_cpu(resource& cpu, int rank);
  void cpu_done(int rank, step_index step, activity_id cause);

  // event_loop_messages.cpp: transfers
  void overhead_over(int rank, step_index send, activity_id cause);
  void request_came(int rank, step_index receive, activity_id cause);
  void grant_came(int rank, step_index send, activity_id cause);
  void arrived(int rank, step_index receive, activity_id cause);
  void queue_transfer(int rank, step_index send, activity_id cause);
  void serve_out(resource& out, int rank);
  void serve_in(resource& in, int rank);
  void start_transfer(int rank, step_index send, activity_id cause);
  void flow_ended(const fair_sharing::flow& ended);
  void flows_may_have_ended(std::uint32_t version);
  void wake_later(resource& of, std::uint32_t number);

  /// Fetches what an event of `rank` will read while others are handled: of a million ranks it is in no cache.
  void fetch(std::uint32_t rank) const {
    __builtin_prefetch(&resources_[std::size_t{rank} * resources_per_rank_]);
    __builtin_prefetch(&result_.ranks[rank]);
    all_.fetch(static_cast<int>(rank));
  }

  int cpus() const { return all_.cpus(); }
  std::uint32_t cpu_number(int rank, step_index step) const;
  std::uint32_t port_number(int rank, step_index step, port which) const;
  void list(std::uint32_t number);
  void serve(std::uint32_t number);

  std::uint64_t bytes(int rank, step_index step) const { return all_.amount(rank, step); }
  double duration(int rank, step_index step) const;
  /// Of a message, at this end.
  double overhead(int rank, step_index step) const {
    const auto of_bytes = static_cast<double>(bytes(rank, step)) * model_.overhead_per_byte;
    if (!far_) return model_.overhead + of_bytes;
    const bool sends = all_.of(rank).steps[step].kind == operation_kind::send;
    const int peer = all_.other_side(rank, step).rank;
    return std::max(model_.overhead, way_between(sends ? rank : peer, sends ? peer : rank).overhead) + of_bytes;
  }
  double gap(int from, int to) const { return far_ ? std::max(model_.gap, way_between(from, to).gap) : model_.gap; }
  double flow_time(std::uint64_t bytes) const { return static_cast<double>(bytes) * model_.gap_per_byte; }
  double latency(int from, int to) const {
    return far_ ? model_.latency + way_between(from, to).delay : model_.latency;
  }
  way_costs way_between(int from, int to) const {
    const auto node = [&](int rank) { return links_->node_of[static_cast<std::size_t>(rank)]; };
    return costs_between(*links_, node(from), node(to));
  }
  bool eager(std::uint64_t bytes) const { return bytes <= model_.eager_limit; }
  activity_id work_id(int rank, step_index step) const { return 2 * all_.number(rank, step); }
  activity_id transfer_id(int rank, step_index send) const { return work_id(rank, send) + 1; }
  activity_id incoming_id(int rank, step_index receive) const {
    if (receive == resource::unused) return no_activity;
    const meeting sender = all_.other_side(rank, receive);
    return transfer_id(sender.rank, sender.step);
  }
  void push(double time, event_kind kind, int rank, step_index step, activity_id cause, double sent = 0) {
    events_.push({time, sent, cause, static_cast<std::uint32_t>(rank), step, kind});
  }
  void report_work(int rank, step_index step, double end, activity_id cause);
  void report_transfer(int rank, step_index send, double sent, double start, double end, activity_id cause);

  const workload& all_;
  const machine_model& model_;
  const network* links_;  ///< null: there are none
  const bool far_;        ///< there are links that cost more than their bytes
  observer* observer_;
  noise_clock clock_;
  std::unique_ptr<fair_sharing> flows_;  ///< where there is a network

  double now_ = 0;
  event_queue events_;
  std::vector<ready_step> ready_;
  std::vector<resource> resources_;  ///< of each rank: CPUs, ports out, ports in
  std::uint32_t resources_per_rank_;
  request_pool requests_;
  std::vector<std::uint32_t> to_serve_;  ///< resources
  step_states states_;
  std::uint64_t done_ = 0;
  simulation result_;
};

/// Says who waits for whom. For a run that has come to its end with steps left.
[[noreturn]] void report_deadlock(const workload& all, const step_states& states, const machine_model& model);

}  // namespace weft::simulator
