// SPDX-License-Identifier: Apache-2.0
// The party that records: what a pattern does becomes a schedule.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>
#include <weft/patterns/alltoall_with_counts.hpp>
#include <weft/patterns/served.hpp>
#include <weft/schedules/collective.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// A call among ranks that share memory; its elements are the blocks of a schedule.
struct recorded_call {
  collective what = collective::barrier;
  int ranks = 1;
  int rank = 0;
  int root = 0;
  std::size_t count =
      0;                 ///< of the vector, or where there are blocks, of each rank's (in an all-to-all for each other)
  std::size_t room = 1;  ///< of a slot
  std::vector<bool> mapped = {};  ///< whose buffers lie where every rank can use them in place; empty: nobody's
  std::size_t line = 1;           ///< elements of a cache line
  std::size_t near = 2;           ///< elements that are worked on at a time
  bool shares_slots = true;       ///< where vectors are long enough
  std::vector<std::size_t> first_of = {};  ///< of each rank, where those of a group serve the others: served.hpp
};

/// One rank's, of one call. A step waits for the one before it, as it does where a pattern is carried out; publishing
/// waits for nobody. Throws std::logic_error for a pattern that shows more than its round has room for, or that takes a
/// round for one in which all were awaited where they were not.
class recording_party {
 public:
  explicit recording_party(const recorded_call& call);
  /// What was recorded.
  void emit(sink& to) const;

  struct place {
    std::int32_t owner = me;
    buffer in = buffer::input;
    std::size_t at = 0;
    place operator+(std::size_t count) const { return {owner, in, at + count}; }
  };

  std::size_t size() const { return operands_.size(); }
  std::size_t self() const { return self_; }
  std::size_t room() const { return call_.room; }
  std::size_t line() const { return call_.line; }
  std::size_t number() const { return rounds_; }
  bool shares_slots() const { return call_.shares_slots; }
  bool is_mapped(std::size_t member) const { return !call_.mapped.empty() && call_.mapped[member]; }

  place input(std::size_t at) const { return {me, apart_ ? buffer::work : buffer::input, at}; }
  place output(std::size_t at) const { return {me, buffer::output, at}; }
  place shown(std::size_t member, std::size_t at) const { return {owner(member), buffer::board, shown_.first + at}; }
  place shown_before(std::size_t member, std::size_t at) const {
    return {owner(member), buffer::board, before_.first + at};
  }
  place kept(patterns::range of);
  patterns::range block(std::size_t member) const { return {member * call_.count, call_.count}; }
  void apart(std::size_t count);
  patterns::range sent(std::size_t member) const { return block(member); }  // of an all-to-all with counts
  patterns::range received(std::size_t member) const { return block(member); }
  std::size_t room_behind_counts() const { return call_.room; }
  bool begin_counting() { return begin(call_.room); }
  void show_counts() {}
  bool hear_counts(std::size_t, patterns::range& its, std::size_t& all) const {
    its = block(self_);
    all = size() * call_.count;
    return true;
  }
  place behind_counts(std::size_t member, std::size_t at) const { return shown(member, at); }

  bool begin(std::size_t count);
  bool begin_telling(std::size_t count) { return begin(count); }
  void copy(place from, place to, std::size_t count);
  void copy_within(place from, place to, std::size_t count) { copy(from, to, count); }
  std::span<place> operands() { return operands_; }
  void combine(std::span<const place> from, place to, std::size_t count);
  void combine_two(place first, place second, place to, std::size_t count) {
    combine(std::array{first, second}, to, count);
  }
  void tell(patterns::offers what);
  void hear(std::size_t member, patterns::offers what);
  template <class Reads>
  void publish(patterns::shows, Reads reads) {
    for (std::size_t m = 0; m < size(); ++m)
      if (m != self_ && reads(m)) add({step_kind::notify, static_cast<int>(m), told_, {}});
    told_.clear();
  }
  bool await(std::size_t member);
  bool await_others();
  void end() {}
  void end_with_all() const;
  void end_with_all_in(std::size_t) {}

  bool take(std::size_t member, std::size_t at, place to, std::size_t count);
  bool give(std::size_t member, std::size_t at, place from, std::size_t count);
  bool combine_told(patterns::range of, place to);
  template <class Takes>
  bool combine_in_place(patterns::range of, Takes takes) {
    std::size_t first = self_;  // that takes it, this one before others
    for (std::size_t m = 0; m < size() && !takes(first); ++m) first = m;
    if (!takes(first)) return true;
    combine_told(of, taken(first, of.first));
    for (std::size_t m = 0; m < size(); ++m)
      if (m != first && takes(m)) copy(taken(first, of.first), taken(m, of.first), of.count);
    return true;
  }

  std::size_t first_of(std::size_t m) const { return call_.first_of[m]; }
  std::span<const std::size_t> served() const { return served_; }
  std::span<const std::size_t> firsts() const { return firsts_; }
  std::span<const std::size_t> everyone() const { return everyone_; }
  place given(std::size_t m, std::size_t at) const;
  place taken(std::size_t m, std::size_t at) const { return {owner(m), buffer::output, at}; }
  bool begin_showing(std::size_t each);
  place shown_of(std::size_t m) const;
  void use_shown(bool but_own);
  std::size_t near() const { return call_.near; }
  class asides {
   public:
    explicit asides(recording_party& of);
    place at(std::size_t which) const { return {me, buffer::scratch, which}; }
  };
  patterns::move pair(std::size_t giver, std::size_t taker) const {
    return {block(taker).first, call_.count, block(giver).first};
  }

 private:
  struct recorded {
    step_kind kind;
    int peer;
    std::vector<segment> sources, targets;
    std::vector<step_index> after = {};
  };

  std::int32_t owner(std::size_t member) const { return member == self_ ? me : static_cast<std::int32_t>(member); }
  bool takes_result(std::size_t member) const {
    return call_.what != collective::reduce || member == static_cast<std::size_t>(call_.root);
  }
  /// The blocks that a buffer of a member holds.
  block_set held(std::size_t member, buffer in) const;
  segment segment_of(const place& of, block_range elements) const;
  /// The blocks that lie there; none on a board or in scratch, which say nothing of what lies there.
  block_range blocks_at(const place& of, std::size_t count) const;
  /// The same of what a first has shown there of those that it serves.
  block_range shown_blocks_at(std::size_t first, std::size_t at, std::size_t count) const;
  std::vector<segment> offered(std::size_t member, patterns::offers what) const;
  void check_in_round(const place& of, std::size_t count) const;
  /// Those of the first of these places that says which they are.
  block_range blocks_of(std::span<const place> all, std::size_t count) const;
  void make(std::span<const place> from, const place& to, block_range blocks);
  void add(recorded one);

  const recorded_call call_;
  const std::size_t self_;
  layout cut_;
  std::vector<recorded> steps_;
  step_index last_;                 // that is no notify
  patterns::range before_, shown_;  // positions of the latest rounds
  std::size_t rounds_ = 0;
  std::vector<bool> awaited_;  // in this round
  std::vector<segment> told_;
  std::vector<patterns::offers> heard_;  // of each member, the latest
  std::vector<place> operands_;
  bool apart_ = false;
  std::vector<std::size_t> served_, firsts_, everyone_;
  std::size_t each_ = 0;  // elements shown of each that is served
  bool uses_shown_ = false, but_own_ = false;
};

}  // namespace weft::schedules
