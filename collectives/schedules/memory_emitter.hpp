// SPDX-License-Identifier: Apache-2.0
// An emitter that knows which steps must wait for one another: those that use the same memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access_history.hpp"

namespace weft::schedules {

/// Emits the steps of an algorithm whose phases follow one another on one vector. Each step waits for the steps before
/// it that wrote what it reads, or used what it writes, and for nothing else; that input and output may be the same
/// memory is allowed for. So phases written apart may be joined in any order: see phases.hpp.
///
/// A rank's *value* of a block is what it has of it so far: the input, until a step has made or received another.
class memory_emitter {
 public:
  /// Slots of scratch that operands take in turn, and the window of receives: what each of several phases beside one
  /// another has for itself.
  struct lane {
    std::uint32_t first_slot = 0, slots = 0, next_slot = 0;
    std::vector<step_index> direct;  ///< the last receives of receive_directly, around
    std::size_t next_direct = 0;
  };

  memory_emitter(sink& to, const layout& cut, std::uint32_t window);
  memory_emitter(const memory_emitter&) = delete;
  memory_emitter& operator=(const memory_emitter&) = delete;

  step_index send(int peer, std::span<const segment> parts, step_index after = no_step);
  step_index receive(int peer, std::span<const segment> parts, step_index after = no_step);
  void copy(const segment& source, const segment& target);
  void combine(const segment& first, const segment& second, const segment& target);

  /// Tells `peer` that these steps are done.
  step_index notify(int peer, std::span<const step_index> done);
  /// Offers it memory of this rank's, as soon as that is written. It is for the caller not to write it again before the
  /// peer has told that it has been read.
  step_index notify(int peer, const segment& offer);
  /// Awaits what `peer` tells, or offers: memory of its own.
  step_index await(int peer);
  step_index await(int peer, const segment& offer);
  /// Copies and combines that read other ranks' memory, too, once these steps are done.
  step_index copy(const segment& source, const segment& target, std::span<const step_index> after);
  step_index combine(std::span<const segment> sources, const segment& target, std::span<const step_index> after);

  /// Sends the value of `blocks`, of which there are some or no step is made.
  step_index send_value(int peer, block_range blocks, step_index after = no_step);
  /// Receives the value of `blocks` where it belongs, at most `window` such receives at a time.
  void receive_value(int peer, block_range blocks);
  /// The same of several ranges, as one message.
  void send_values(int peer, std::span<const block_range> ranges, std::span<const step_index> after = {});
  step_index receive_values(int peer, std::span<const block_range> ranges);
  /// Receives into parts named, counted to the same window.
  step_index receive_directly(int peer, std::span<const segment> parts);
  /// Makes the output hold the value of `blocks`.
  void settle(block_range blocks);

  /// From here on takes other slots, and counts receives to another window: for a phase that goes on beside those
  /// before it.
  void begin_beside(std::uint32_t first_slot, std::uint32_t slots);
  /// A lane for one of several phases whose steps come in turn; and from here on the steps are of that phase.
  lane lane_of(std::uint32_t first_slot, std::uint32_t slots) const;
  void go_on_in(lane& of) { lane_ = &of; }

  /// Where the value of `blocks` lies. Until the next call.
  std::span<const segment> value(block_range blocks);
  /// The same where it lies in one place; throws std::logic_error where it does not.
  segment only_value(block_range blocks);
  /// Where a new value of `blocks` belongs: in the output if it holds them all, else in the work memory.
  segment home(block_range blocks) const;
  /// The next slot of scratch, around, for `blocks`.
  segment slot(block_range blocks);

  const layout& cut() const { return cut_; }
  std::uint32_t window() const { return window_; }

 private:
  step_index emit(step_kind kind, int peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index> after);
  access_history& history(buffer in);

  sink& to_;
  layout cut_;
  std::uint32_t window_;
  access_history vector_, work_, slots_;  // vector_: of input and output, which may be one memory
  lane first_;
  lane* lane_ = &first_;
  std::vector<step_index> after_;
  std::vector<segment> value_;
};

/// Operands on their way from other ranks: at most `window` at a time, combined in the order in which they were added.
class incoming_operands {
 public:
  /// Operands for `blocks` or parts of them, whose sums all lie in one memory.
  incoming_operands(memory_emitter& emit, block_range blocks) : incoming_operands(emit, {&blocks, 1}) {}
  incoming_operands(memory_emitter& emit, std::span<const block_range> ranges);
  /// `first`: it goes before this rank's value, else behind it.
  void add(int peer, block_range blocks, bool first) { add(peer, {&blocks, 1}, first); }
  /// One that is several ranges, each of which lies in a slot of its own; the last is combined first.
  void add(int peer, std::span<const block_range> ranges, bool first);
  /// Posts the first receives.
  void post();
  /// Combines the next operand with the value, and posts a receive into the slot read.
  void combine_next();
  /// The same of one of a single range, but with `own` for a value, to `sum`.
  void combine_next(const segment& own, const segment& sum);
  void combine_all();

 private:
  struct operand {
    int peer;
    bool first;
    std::size_t begin, end;  // in parts_
  };
  std::span<segment> parts_of(const operand& one) { return {parts_.data() + one.begin, one.end - one.begin}; }
  void post_next();
  void combine(const operand& one, const segment& received, const segment& own, const segment& sum);
  void post_another();

  memory_emitter& emit_;
  buffer home_;
  std::vector<operand> all_;
  std::vector<segment> parts_;
  std::size_t posted_ = 0;
  std::size_t combined_ = 0;
};

}  // namespace weft::schedules
