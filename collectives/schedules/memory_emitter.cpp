// SPDX-License-Identifier: Apache-2.0
#include "memory_emitter.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft::schedules {
namespace {

/// The cells that a segment takes in the history of its memory.
block_range cells_of(const segment& s) { return s.in == buffer::scratch ? block_range{s.slot, 1} : s.elements; }

}  // namespace

memory_emitter::memory_emitter(sink& to, const layout& cut, std::uint32_t window)
    : to_(to), cut_(cut), window_(window), first_(lane_of(0, cut.scratch_slots)) {
  to_.begin(cut);
}

void memory_emitter::begin_beside(std::uint32_t first_slot, std::uint32_t slots) {
  first_ = lane_of(first_slot, slots);
  lane_ = &first_;
}

memory_emitter::lane memory_emitter::lane_of(std::uint32_t first_slot, std::uint32_t slots) const {
  return {first_slot, slots, 0, std::vector<step_index>(window_, no_step), 0};
}

access_history& memory_emitter::history(buffer in) {
  if (in == buffer::scratch) return slots_;
  return in == buffer::work ? work_ : vector_;
}

step_index memory_emitter::emit(step_kind kind, int peer, std::span<const segment> sources,
                                std::span<const segment> targets, std::span<const step_index> after) {
  after_.clear();
  const auto wait_for = [&](step_index before) {
    if (before != no_step) after_.push_back(before);
  };
  for (const step_index before : after) wait_for(before);
  for (const segment& source : sources)
    if (source.owner == me)
      for (const auto* const use : history(source.in).pieces(cells_of(source))) wait_for(use->writer);
  for (const segment& target : targets)
    for (const auto* const use : history(target.in).pieces(cells_of(target))) {
      if (use->readers == access_history::no_reader) wait_for(use->writer);  // else the readers have waited for it
      history(target.in).for_each_reader(*use, wait_for);
    }
  if (after_.size() > 1) {
    std::sort(after_.begin(), after_.end());
    after_.erase(std::unique(after_.begin(), after_.end()), after_.end());
  }
  const step_index made = to_.emit(kind, peer, sources, targets, after_);
  for (const segment& source : sources)
    if (source.owner == me && kind != step_kind::notify) history(source.in).add_reader(cells_of(source), made);
  for (const segment& target : targets) history(target.in).set_writer(cells_of(target), made);
  return made;
}

step_index memory_emitter::send(int peer, std::span<const segment> parts, step_index after) {
  return emit(step_kind::send, peer, parts, {}, {&after, 1});
}

step_index memory_emitter::receive(int peer, std::span<const segment> parts, step_index after) {
  return emit(step_kind::receive, peer, {}, parts, {&after, 1});
}

void memory_emitter::copy(const segment& source, const segment& target) { copy(source, target, {}); }

void memory_emitter::combine(const segment& first, const segment& second, const segment& target) {
  const segment sources[] = {first, second};
  combine(sources, target, {});
}

step_index memory_emitter::notify(int peer, std::span<const step_index> done) {
  return emit(step_kind::notify, peer, {}, {}, done);
}

step_index memory_emitter::notify(int peer, const segment& offer) {
  return emit(step_kind::notify, peer, {&offer, 1}, {}, {});
}

step_index memory_emitter::await(int peer) { return emit(step_kind::await, peer, {}, {}, {}); }

step_index memory_emitter::await(int peer, const segment& offer) {
  segment theirs = offer;
  theirs.owner = peer;
  return emit(step_kind::await, peer, {&theirs, 1}, {}, {});
}

step_index memory_emitter::copy(const segment& source, const segment& target, std::span<const step_index> after) {
  return emit(step_kind::copy, -1, {&source, 1}, {&target, 1}, after);
}

step_index memory_emitter::combine(std::span<const segment> sources, const segment& target,
                                   std::span<const step_index> after) {
  return emit(step_kind::combine, -1, sources, {&target, 1}, after);
}

step_index memory_emitter::send_value(int peer, block_range blocks, step_index after) {
  return blocks.count == 0 ? no_step : send(peer, value(blocks), after);
}

void memory_emitter::receive_value(int peer, block_range blocks) {
  if (blocks.count == 0) return;
  const segment target = home(blocks);
  receive_directly(peer, {&target, 1});
}

void memory_emitter::send_values(int peer, std::span<const block_range> ranges, std::span<const step_index> after) {
  std::vector<segment> parts;
  for (const block_range range : ranges)
    for (const segment& part : value(range)) parts.push_back(part);
  if (!parts.empty()) emit(step_kind::send, peer, parts, {}, after);
}

step_index memory_emitter::receive_values(int peer, std::span<const block_range> ranges) {
  std::vector<segment> parts;
  for (const block_range range : ranges) parts.push_back(home(range));
  return parts.empty() ? no_step : receive_directly(peer, parts);
}

step_index memory_emitter::receive_directly(int peer, std::span<const segment> parts) {
  step_index& earlier = lane_->direct[lane_->next_direct++ % window_];
  return earlier = receive(peer, parts, earlier);
}

void memory_emitter::settle(block_range blocks) {
  for (const segment& part : value(blocks))
    if (part.in != buffer::output) copy(part, in_output(part.elements));
}

std::span<const segment> memory_emitter::value(block_range blocks) {
  value_.clear();
  while (blocks.count > 0) {
    const auto [put_out, out_count] = vector_.writer(blocks);
    const auto [worked, count] = work_.writer({blocks.first, out_count});
    buffer in = buffer::input;
    if (put_out != no_step) in = buffer::output;
    if (worked != no_step && (put_out == no_step || worked > put_out)) in = buffer::work;
    if (!value_.empty() && value_.back().in == in)
      value_.back().elements.count += count;
    else
      value_.push_back({me, in, 0, {blocks.first, count}});
    blocks = {blocks.first + count, blocks.count - count};
  }
  return value_;
}

segment memory_emitter::only_value(block_range blocks) {
  const auto parts = value(blocks);
  if (parts.size() != 1) throw std::logic_error("the value of an operand lies in several places");
  return parts[0];
}

segment memory_emitter::home(block_range blocks) const {
  return {me, cut_.output.holds(blocks) ? buffer::output : buffer::work, 0, blocks};
}

segment memory_emitter::slot(block_range blocks) {
  return in_scratch(lane_->first_slot + lane_->next_slot++ % lane_->slots, blocks);
}

incoming_operands::incoming_operands(memory_emitter& emit, std::span<const block_range> ranges)
    : emit_(emit),
      home_(std::ranges::all_of(ranges, [&](block_range range) { return emit.cut().output.holds(range); })
                ? buffer::output
                : buffer::work) {}

void incoming_operands::add(int peer, std::span<const block_range> ranges, bool first) {
  const std::size_t begin = parts_.size();
  for (const block_range range : ranges) parts_.push_back(in_scratch(0, range));
  all_.push_back({peer, first, begin, parts_.size()});
}

void incoming_operands::post_next() {
  const operand& next = all_[posted_++];
  for (segment& part : parts_of(next)) part = emit_.slot(part.elements);
  emit_.receive(next.peer, parts_of(next));
}

void incoming_operands::post() {
  while (posted_ < std::min<std::size_t>(all_.size(), emit_.window())) post_next();
}

void incoming_operands::combine(const operand& one, const segment& received, const segment& own, const segment& sum) {
  if (one.first)
    emit_.combine(received, own, sum);
  else
    emit_.combine(own, received, sum);
}

void incoming_operands::post_another() {
  if (posted_ < all_.size()) post_next();
}

void incoming_operands::combine_next() {
  const operand& next = all_[combined_++];
  const auto parts = parts_of(next);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    combine(next, *part, emit_.only_value(part->elements), {me, home_, 0, part->elements});
  post_another();
}

void incoming_operands::combine_next(const segment& own, const segment& sum) {
  const operand& next = all_[combined_++];
  combine(next, parts_of(next).front(), own, sum);
  post_another();
}

void incoming_operands::combine_all() {
  while (combined_ < all_.size()) combine_next();
}

}  // namespace weft::schedules
