// SPDX-License-Identifier: Apache-2.0
#include "staged_recorder.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <weft/schedules/pattern_call.hpp>
#include <weft/schedules/selection.hpp>

#include "arguments.hpp"
#include "layouts.hpp"
#include "recording_party.hpp"

namespace weft::schedules {
namespace {

/// Those that are said, or one of all ranks.
bool in_rows(const std::vector<std::vector<int>>& nodes) {
  int next = 0;
  for (const std::vector<int>& node : nodes)
    for (const int rank : node)
      if (rank != next++) return false;
  return true;
}

}  // namespace

/// Takes the steps of a stage: its ranks, blocks and memory become the call's.
class staged_recorder::embedding final : public sink {
 public:
  embedding(staged_recorder& into, const std::vector<int>& ranks, const part& of, place in, place out)
      : into_(into), ranks_(ranks), of_(of), in_(in), out_(out), first_(into.steps_.size()) {}

  void begin(const layout& cut) override {
    if (cut.chunks * cut.segments + 1 != of_.begin.size()) throw std::logic_error("a stage has other blocks than said");
    work_ = into_.cut_.scratch_slots;
    scratch_ = work_ + (cut.work.count != 0 ? of_.begin.back() : 0);
    for (std::size_t b = 0; b + cut.slot_blocks < of_.begin.size(); ++b)
      width_ = std::max(width_, of_.begin[b + cut.slot_blocks] - of_.begin[b]);
    into_.cut_.scratch_slots = scratch_ + cut.scratch_slots * width_;
    if (into_.cut_.scratch_slots != 0) into_.cut_.slot_blocks = 1;
    board_ = into_.cut_.board;
    into_.cut_.board += cut.board;
  }

  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index> after) override {
    std::vector<step_index> follows;
    for (const step_index each : after) follows.insert(follows.end(), made_[each].begin(), made_[each].end());
    if (after.empty()) follows = into_.done_;
    made_.emplace_back();
    if (kind == step_kind::copy || kind == step_kind::combine) {
      for (std::uint32_t i = begin_of(targets[0]); i < end_of(targets[0]); ++i)
        add({kind, -1, ith(sources, targets[0], i), ith(targets, targets[0], i), follows});
      if (made_.back().empty()) made_.back() = follows;
    } else {
      add({kind, ranks_[static_cast<std::size_t>(peer)], all(sources), all(targets), follows});
    }
    return static_cast<step_index>(made_.size() - 1);
  }

  /// The steps that no other one of the stage follows.
  std::vector<step_index> last() const {
    std::vector<bool> is_last(into_.steps_.size() - first_, true);
    for (std::size_t i = first_; i < into_.steps_.size(); ++i)
      for (const step_index each : into_.steps_[i].after)
        if (each >= first_) is_last[each - first_] = false;
    std::vector<step_index> some;
    for (std::size_t i = 0; i < is_last.size(); ++i)
      if (is_last[i]) some.push_back(static_cast<step_index>(first_ + i));
    return some.empty() ? into_.done_ : some;
  }

 private:
  std::uint32_t begin_of(const segment& some) const { return of_.begin[some.elements.first]; }
  std::uint32_t end_of(const segment& some) const { return of_.begin[some.elements.first + some.elements.count]; }

  void add(recorded one) {
    made_.back().push_back(static_cast<step_index>(into_.steps_.size()));
    into_.steps_.push_back(std::move(one));
  }

  /// Of segments of the same blocks, that of the block which number `i` of the list is.
  std::vector<segment> ith(std::span<const segment> some, const segment& like, std::uint32_t i) const {
    std::vector<segment> found;
    for (const segment& each : some) {
      if (each.elements != like.elements) throw std::logic_error("a stage combines blocks with others");
      found.push_back(mapped(each, i));
    }
    return found;
  }

  std::vector<segment> all(std::span<const segment> some) const {
    std::vector<segment> found;
    for (const segment& each : some)
      for (std::uint32_t i = begin_of(each); i < end_of(each); ++i) {
        const segment next = mapped(each, i);
        const bool goes_on = !found.empty() && !has_slots(next.in) && found.back().in == next.in &&
                             found.back().elements.first + found.back().elements.count == next.elements.first;
        if (goes_on)
          ++found.back().elements.count;
        else
          found.push_back(next);
      }
    return found;
  }

  segment mapped(const segment& of, std::uint32_t i) const {
    const std::uint32_t block = of_.blocks[i], within = i - begin_of(of);
    const block_range one{block, 1};
    if (of.in == buffer::board)
      return {of.owner == me ? me : ranks_[static_cast<std::size_t>(of.owner)], of.in, board_ + of.slot + within, one};
    if (of.owner != me) throw std::logic_error("a stage uses what others have not shown");
    if (of.in == buffer::scratch) return {me, of.in, scratch_ + of.slot * width_ + within, one};
    if (of.in == buffer::work) return {me, buffer::scratch, work_ + i, one};
    return at(of.in == buffer::input ? in_ : out_, block);
  }

  staged_recorder& into_;
  const std::vector<int>& ranks_;
  const part& of_;
  const place in_, out_;
  const std::size_t first_;
  std::uint32_t work_ = 0, scratch_ = 0, width_ = 0, board_ = 0;  // where those of the stage begin; blocks of a slot
  std::vector<std::vector<step_index>> made_;                     // of each of its steps
};

staged_recorder::staged_recorder(const algorithm_arguments& of, collective what)
    : members_(nodes_of(of)), at_(members_, of.rank), root_(of.root), window_(of.by.window), what_(what) {
  check_pipeline(of.by);
  check_rank(of.ranks, of.rank, "rank");
  check_rank(of.ranks, of.root, "root");
  if (at_.ranks() != of.ranks)
    throw std::invalid_argument("the nodes hold " + std::to_string(at_.ranks()) + " ranks, not " +
                                std::to_string(of.ranks));
  if ((what == collective::scan || what == collective::exscan) && !in_rows(members_))
    throw std::invalid_argument("a scan in stages needs nodes of consecutive ranks, in order");
  cut_ = layout_of(what, of.ranks, of.by.segments);
  cut_.input = held(what, cut_, of.ranks, of.root, of.rank, buffer::input);
  cut_.output = held(what, cut_, of.ranks, of.root, of.rank, buffer::output);
}

void staged_recorder::emit(sink& to) const {
  to.begin(cut_);
  for (const recorded& each : steps_) to.emit(each.kind, each.peer, each.sources, each.targets, each.after);
}

void staged_recorder::part::add(block_range some) {
  for (std::uint32_t i = 0; i < some.count; ++i) blocks.push_back(some.first + i);
}

void staged_recorder::part::add_each(block_range some) {
  for (std::uint32_t i = 0; i < some.count; ++i) {
    add({some.first + i, 1});
    end_block();
  }
}

staged_recorder::part staged_recorder::each_of(block_range some) {
  part all;
  all.add_each(some);
  return all;
}

staged_recorder::part staged_recorder::one_of(block_range some) {
  part all;
  all.add(some);
  all.end_block();
  return all;
}

segment staged_recorder::at(const place& of, std::uint32_t block) {
  return {me, of.in, of.in == buffer::scratch ? of.slot + block : 0, {block, 1}};
}

staged_recorder::place staged_recorder::memory() {
  if (!speaks()) return {};
  const place here{buffer::scratch, cut_.scratch_slots};
  cut_.scratch_slots += blocks();
  cut_.slot_blocks = 1;
  return here;
}

void staged_recorder::record_on_node(collective what, std::size_t root, std::uint32_t count, const part& of, place in,
                                     place out) {
  const party& here = at_.within();
  if (here.size() == 1) return;
  recorded_call call{what, here.size(), here.place, static_cast<int>(root), what_ == collective::barrier ? 0 : count};
  pattern_call by{what};
  by.root = root;
  by.count = call.count * (has_blocks(what) ? static_cast<std::size_t>(here.size()) : 1);
  call.room = std::max<std::size_t>(by.count, 1);
  recording_party party(call);
  run_pattern(party, by, nullptr);
  embedding steps(*this, here.ranks, of, in, out);
  party.emit(steps);
  done_ = steps.last();
}

bool staged_recorder::on_node(const stage& one) {
  record_on_node(one.what, one.root, blocks(), each_of({0, blocks()}), one.in, one.out);
  return true;
}

bool staged_recorder::on_node(const stage& one, std::size_t piece) {
  record_on_node(one.what, one.root, 1, each_of({static_cast<std::uint32_t>(piece), 1}), one.in, one.out);
  return true;
}

bool staged_recorder::blocks_on_node(const stage& one) {
  part all;
  for (const int rank : at_.within().ranks) all.add_each(block_of(rank));
  record_on_node(one.what, one.root, cut_.segments, all, one.in, one.out);
  return true;
}

std::vector<step_index> staged_recorder::record_between(const stage& one, const part& of) {
  const party among = among_speakers();
  demands asked;
  asked.root = static_cast<int>(one.root);
  asked.rank_order = true;
  asked.block_by_block = one.what == collective::alltoall;
  asked.no_reading = true;
  const selected by = select(one.what, among.size(), 0, {}, asked);
  algorithm_arguments shape;
  shape.ranks = among.size();
  shape.rank = among.place;
  shape.root = asked.root;
  shape.by.window = window_;
  shape.keep_order = true;
  embedding steps(*this, among.ranks, of, one.in, one.out);
  by.how->emit(shape, steps);
  return steps.last();
}

bool staged_recorder::go_between(const stage& one, const part& of) {
  if (speaks()) done_ = record_between(one, of);
  return true;
}

bool staged_recorder::between(const stage& one) { return go_between(one, one_of({0, blocks()})); }

bool staged_recorder::begin_between(const stage& one, std::size_t piece) {
  if (speaks()) on_the_way_[piece % 2] = record_between(one, one_of({static_cast<std::uint32_t>(piece), 1}));
  return true;
}

bool staged_recorder::end_between(std::size_t piece) {
  const std::vector<step_index>& over = on_the_way_[piece % 2];
  if (speaks()) done_.insert(done_.end(), over.begin(), over.end());
  return true;
}

bool staged_recorder::blocks_between(const stage& one) {
  part all;
  for (const std::vector<int>& node : members_) {
    for (const int rank : node) all.add(block_of(rank));
    all.end_block();
  }
  return go_between(one, all);
}

bool staged_recorder::hand_over(place from, place to) {
  part whole = each_of({0, blocks()});
  whole.begin.resize(static_cast<std::size_t>(at_.within().size()) * blocks() + 1, whole.begin.back());
  record_on_node(collective::gather, root_seat(), blocks(), whole, from, to);
  return true;
}

bool staged_recorder::rows_on_node(collective what, place in, place out) {
  part all;
  for (const int mine : at_.within().ranks)
    for (int other = 0; other < at_.ranks(); ++other)
      all.add_each(what == collective::gather ? block_of(mine, other) : block_of(other, mine));
  record_on_node(what, 0, blocks() / static_cast<std::uint32_t>(at_.ranks()), all, in, out);
  return true;
}

bool staged_recorder::exchange(place rows, place columns) {
  part all;
  for (const std::vector<int>& from : members_)
    for (const std::vector<int>& to : members_) {
      for (const int giver : from)
        for (const int taker : to) all.add(block_of(giver, taker));
      all.end_block();
    }
  return go_between({collective::alltoall, 0, rows, columns}, all);
}

void staged_recorder::add_at_speaker(step_kind kind, std::vector<place> from, place to) {
  if (!speaks()) return;
  std::vector<step_index> made;
  for (std::uint32_t block = 0; block < blocks(); ++block) {
    recorded one{kind, -1, {}, {at(to, block)}, done_};
    for (const place& each : from) one.sources.push_back(at(each, block));
    made.push_back(static_cast<step_index>(steps_.size()));
    steps_.push_back(std::move(one));
  }
  done_ = made;
}

void staged_recorder::combine(place first, place second, place to) {
  add_at_speaker(step_kind::combine, {first, second}, to);
}

void staged_recorder::copy(place from, place to) { add_at_speaker(step_kind::copy, {from}, to); }

}  // namespace weft::schedules
