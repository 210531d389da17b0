// SPDX-License-Identifier: Apache-2.0
#include "emitted_steps.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::simulator {
namespace {

bool is_mine(const schedules::segment& from) { return from.owner == schedules::me; }

}  // namespace

emitted_steps::emitted_steps(const schedules::partition& counts, std::size_t element_size, workload_builder& into,
                             double arrival)
    : counts_(counts), element_size_(element_size), into_(into) {
  if (arrival <= 0) return;
  operation work;
  work.kind = operation_kind::calculate;
  work.amount = static_cast<std::uint64_t>(std::llround(arrival));
  into_.add(work, {});
  behind_ = 1;
}

step_index emitted_steps::emit(schedules::step_kind kind, std::int32_t peer,
                               std::span<const schedules::segment> sources, std::span<const schedules::segment> targets,
                               std::span<const step_index> after) {
  operation what;
  what.peer = peer;
  switch (kind) {
    case schedules::step_kind::send:
      what.kind = operation_kind::send;
      what.amount = bytes(sources);
      break;
    case schedules::step_kind::notify:
      what.kind = operation_kind::send;
      break;
    case schedules::step_kind::receive:
      what.kind = operation_kind::receive;
      what.amount = bytes(targets);
      break;
    case schedules::step_kind::await:
      what.kind = operation_kind::receive;
      break;
    case schedules::step_kind::copy:
      what.kind = is_mine(sources[0]) ? operation_kind::combine : operation_kind::fetch;
      what.amount = is_there(sources[0], targets[0]) ? 0 : bytes(targets);
      break;
    case schedules::step_kind::combine:
      what.kind = std::ranges::all_of(sources, is_mine) ? operation_kind::combine : operation_kind::fetch_and_combine;
      what.amount = bytes(targets) * std::max<std::size_t>(1, sources.size() - 1);
      break;
  }
  if (alike_ != likeness::none && is_message(what.kind)) {
    const bool as_sender_counts = what.kind == operation_kind::send || alike_ == likeness::exchanging;
    what.tag = static_cast<std::uint32_t>(as_sender_counts ? peer : ranks_ - peer);
    what.peer = 0;
  }
  if (behind_ == 0) return into_.add(what, after);
  std::vector<step_index> ended(after.begin(), after.end());
  for (step_index& each : ended) each += behind_;
  if (ended.empty()) ended.push_back(0);
  return into_.add(what, ended) - behind_;
}

bool emitted_steps::is_there(const schedules::segment& source, const schedules::segment& target) const {
  return in_place_ && is_mine(source) && source.in == schedules::buffer::input &&
         target.in == schedules::buffer::output && source.elements == target.elements;
}

std::uint64_t emitted_steps::bytes(std::span<const schedules::segment> parts) const {
  std::size_t elements = 0;
  for (const schedules::segment& part : parts) elements += counts_.count(cut_, part.elements);
  return elements * element_size_;
}

}  // namespace weft::simulator
