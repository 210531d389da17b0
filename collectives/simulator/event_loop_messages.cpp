// SPDX-License-Identifier: Apache-2.0
// How messages travel.
#include <algorithm>

#include "event_loop.hpp"

namespace weft::simulator {

namespace {

constexpr double not_known_yet = std::numeric_limits<double>::infinity();

}  // namespace

void event_loop::begin_receive(const ready_step& next) {
  const std::uint64_t length = bytes(next.rank, next.step);
  const bool met = states_.is(next.rank, next.step, step_states::met);
  if (eager(length)) {
    if (met) work(next, overhead(next.rank, next.step));
    return;
  }
  const shape::step& step = all_.of(next.rank).steps[next.step];
  const meeting sender = all_.other_side(next.rank, next.step);
  if (model_.preposted) {
    const bool ahead = step.ends.count == 0 && step.begins.count == 0;
    push(ahead ? now_ : now_ + latency(next.rank, sender.rank), event_kind::grant, sender.rank, sender.step,
         next.cause);
  } else if (met) {
    push(now_ + latency(next.rank, sender.rank), event_kind::grant, sender.rank, sender.step, next.cause);
  }
}

/// The sender's CPU has done its part.
void event_loop::overhead_over(int rank, step_index send, activity_id cause) {
  if (eager(bytes(rank, send))) {
    queue_transfer(rank, send, cause);
    return complete(rank, send, cause);
  }
  if (states_.is(rank, send, step_states::met)) return queue_transfer(rank, send, cause);
  states_.set(rank, send, step_states::waiting);
  if (model_.preposted) return;
  const meeting receiver = all_.other_side(rank, send);
  push(now_ + latency(rank, receiver.rank), event_kind::request, receiver.rank, receiver.step, cause);
}

void event_loop::request_came(int rank, step_index receive, activity_id cause) {
  if (!states_.is(rank, receive, step_states::begun)) return states_.set(rank, receive, step_states::met);
  const meeting sender = all_.other_side(rank, receive);
  push(now_ + latency(rank, sender.rank), event_kind::grant, sender.rank, sender.step, cause);
}

void event_loop::grant_came(int rank, step_index send, activity_id cause) {
  if (states_.is(rank, send, step_states::waiting)) return queue_transfer(rank, send, cause);
  states_.set(rank, send, step_states::met);
}

void event_loop::arrived(int rank, step_index receive, activity_id cause) {
  ++result_.messages;
  if (!states_.is(rank, receive, step_states::begun)) return states_.set(rank, receive, step_states::met);
  work({rank, receive, cause}, overhead(rank, receive));
}

void event_loop::queue_transfer(int rank, step_index send, activity_id cause) {
  if (model_.ports == port_model::many) return start_transfer(rank, send, cause);
  const std::uint32_t number = port_number(rank, send, port::out);
  requests_.want(resources_[number], {now_, now_, cause, send});
  list(number);
}

void event_loop::serve_out(resource& out, int rank) {
  while (out.wanted() && out.free_at <= now_) {
    const request next = requests_.take_next(out);
    const activity_id cause = next.time < now_ ? transfer_id(rank, out.last) : next.cause;
    if (model_.ports == port_model::pipelined) {
      out.last = next.step;
      start_transfer(rank, next.step, cause);
      continue;
    }
    // One port: it waits with its message for the receiver's.
    out.free_at = not_known_yet;
    const meeting receiver = all_.other_side(rank, next.step);
    const std::uint32_t number = port_number(receiver.rank, receiver.step, port::in);
    requests_.want(resources_[number], {now_, now_, cause, receiver.step});
    list(number);
  }
}

void event_loop::serve_in(resource& in, int rank) {
  while (in.wanted() && in.free_at <= now_) {
    const request next = requests_.take_next(in);
    const meeting sender = all_.other_side(rank, next.step);
    const bool waited = next.time < now_;
    const activity_id cause = waited ? incoming_id(rank, in.last) : next.cause;
    in.last = next.step;
    if (model_.ports == port_model::one) {
      resources_[port_number(sender.rank, sender.step, port::out)].last = sender.step;
      start_transfer(sender.rank, sender.step, cause);
      continue;
    }
    const double flow = flow_time(bytes(rank, next.step));
    in.free_at = now_ + std::max(gap(sender.rank, rank), flow);
    report_transfer(sender.rank, sender.step, next.sent, waited ? now_ : next.sent, now_ + flow, cause);
    push(now_ + flow, event_kind::arrival, rank, next.step, transfer_id(sender.rank, sender.step));
  }
}

/// The first byte leaves. The ports are the message's.
void event_loop::start_transfer(int rank, step_index send, activity_id cause) {
  const std::uint64_t length = bytes(rank, send);
  const meeting receiver = all_.other_side(rank, send);
  const bool piped = model_.ports == port_model::pipelined;
  if (flows_ && length > 0) {
    if (model_.ports != port_model::many) resources_[port_number(rank, send, port::out)].free_at = not_known_yet;
    if (model_.ports == port_model::one)
      resources_[port_number(receiver.rank, receiver.step, port::in)].free_at = not_known_yet;
    fair_sharing::flow flow;
    flow.rank = static_cast<std::uint32_t>(rank);
    flow.step = send;
    flow.start = now_;
    flow.cause = cause;
    return flows_->begin(std::move(flow), receiver.rank, length);
  }
  const double flow = flow_time(length);
  const double left = now_ + flow, end = now_ + (latency(rank, receiver.rank) + flow);
  const activity_id id = transfer_id(rank, send);
  if (!eager(length)) push(model_.ports == port_model::one ? end : left, event_kind::sent, rank, send, id);
  if (piped) {
    resources_[port_number(rank, send, port::out)].free_at = now_ + std::max(gap(rank, receiver.rank), flow);
    return push(now_ + latency(rank, receiver.rank), event_kind::head, receiver.rank, receiver.step, cause, now_);
  }
  if (model_.ports == port_model::one) {
    const std::uint32_t out = port_number(rank, send, port::out);
    resources_[out].free_at = std::max(end, now_ + gap(rank, receiver.rank));
    resources_[port_number(receiver.rank, receiver.step, port::in)].free_at = resources_[out].free_at;
    list(out);
  }
  report_transfer(rank, send, now_, now_, end, cause);
  push(end, event_kind::arrival, receiver.rank, receiver.step, id);
}

void event_loop::flows_may_have_ended(std::uint32_t version) {
  if (version != flows_->version()) return;
  for (const fair_sharing::flow& ended : flows_->take_ended(now_)) flow_ended(ended);
}

void event_loop::flow_ended(const fair_sharing::flow& ended) {
  const int rank = static_cast<int>(ended.rank);
  const meeting receiver = all_.other_side(rank, ended.step);
  const double on_the_way = latency(rank, receiver.rank);
  double arrival = now_ + on_the_way;
  const activity_id id = transfer_id(rank, ended.step);
  const std::uint32_t out = port_number(rank, ended.step, port::out);
  const std::uint32_t in = port_number(receiver.rank, receiver.step, port::in);
  const double each = gap(rank, receiver.rank), gap_over = ended.start + each;
  if (model_.ports == port_model::pipelined) {
    resources_[out].free_at = std::max(now_, gap_over);
    // The port in takes flows at the same time, but not more of them in a time than one after another.
    const double flow = flow_time(bytes(rank, ended.step));
    const double taken = std::max(resources_[in].free_at, ended.start + on_the_way);
    if (taken > ended.start + on_the_way) arrival = std::max(arrival, taken + flow);
    resources_[in].free_at = taken + std::max(each, flow);
  }
  if (model_.ports == port_model::one) resources_[out].free_at = resources_[in].free_at = std::max(arrival, gap_over);
  if (model_.ports != port_model::many) {
    list(out);
    list(in);
  }
  if (!eager(bytes(rank, ended.step)))
    push(model_.ports == port_model::one ? arrival : now_, event_kind::sent, rank, ended.step, id);
  report_transfer(rank, ended.step, ended.start, ended.start, arrival, ended.cause);
  push(arrival, event_kind::arrival, receiver.rank, receiver.step, id);
}

void event_loop::report_transfer(int rank, step_index send, double sent, double start, double end, activity_id cause) {
  if (observer_ == nullptr || !observer_->wants(transfer_id(rank, send), cause)) return;
  const operation what = all_.describe(rank, send);
  observer_->happened(
      {activity_kind::transfer, rank, send, what.peer, what.amount, sent, start, end, transfer_id(rank, send), cause});
}

}  // namespace weft::simulator
