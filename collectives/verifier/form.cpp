// SPDX-License-Identifier: Apache-2.0
// Whether each step of each rank is well formed.
#include "job.hpp"

namespace weft::schedules {
namespace {

constexpr std::uint32_t most_operands = 16;

class form_check {
 public:
  form_check(const purpose& meant, std::span<const schedule> ranks) : meant_(meant), ranks_(ranks) {}

  void run() const {
    if (ranks_.empty()) fail(-1, "there are no ranks");
    if (is_rooted(meant_.kind) && !is_rank(meant_.root))
      fail(-1, "root " + std::to_string(meant_.root) + " is none of the ranks");
    for (int rank = 0; rank < size(); ++rank) {
      check_layout(rank);
      const schedule& its = of(rank);
      if (its.steps.size() >= std::numeric_limits<step_index>::max()) fail(rank, "too many steps");
      for (step_index i = 0; i < its.steps.size(); ++i) check_step(rank, i);
    }
  }

 private:
  int size() const { return static_cast<int>(ranks_.size()); }
  bool is_rank(int number) const { return number >= 0 && number < size(); }
  const schedule& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  void check_layout(int rank) const {
    const layout& cut = of(rank).cut;
    const std::string who = "rank " + std::to_string(rank) + ": ";
    if (cut.chunks != of(0).cut.chunks || cut.segments != of(0).cut.segments)
      fail(rank, who + "cuts the vector in another way than rank 0");
    const std::uint64_t blocks = std::uint64_t{cut.chunks} * cut.segments;
    if (blocks == 0 || blocks > std::numeric_limits<std::uint32_t>::max())
      fail(rank, who + "cuts the vector in " + std::to_string(blocks) + " blocks");
    const auto n = static_cast<std::uint32_t>(ranks_.size());
    const std::uint64_t chunks = chunks_of(meant_.kind);
    if (chunks != 0 && cut.chunks != chunks)
      fail(rank, who + "has not one chunk a " + (chunks == n ? "rank" : "pair of ranks"));
    const block_set none, all(block_range{0, static_cast<std::uint32_t>(blocks)});
    const block_range first{0, cut.segments};
    const auto chunk = [&](std::uint32_t number) { return block_range{number * first.count, first.count}; };
    const auto mine = static_cast<std::uint32_t>(rank);
    const bool root = rank == meant_.root;
    switch (meant_.kind) {
      case collective::reduce:
        return check_buffers(rank, all, root ? all : none);
      case collective::broadcast:
        return check_buffers(rank, root ? all : none, all);
      case collective::allreduce:
      case collective::scan:
        return check_buffers(rank, all, all);
      case collective::exscan:
        return check_buffers(rank, all, rank == 0 ? none : all);
      case collective::reduce_scatter:
        return check_buffers(rank, all, chunk(mine));
      case collective::allgather:
        return check_buffers(rank, chunk(mine), all);
      case collective::gather:
        return check_buffers(rank, chunk(mine), root ? all : none);
      case collective::scatter:
        return check_buffers(rank, root ? all : none, chunk(mine));
      case collective::alltoall:
        return check_buffers(rank, block_range{mine * n * first.count, n * first.count},
                             {chunk(mine), n, n * first.count});
      case collective::barrier:
        return check_buffers(rank, none, none);
    }
  }

  /// How many chunks the purpose asks for; 0: any number.
  std::uint64_t chunks_of(collective kind) const {
    switch (kind) {
      case collective::reduce_scatter:
      case collective::allgather:
      case collective::gather:
      case collective::scatter:
        return ranks_.size();
      case collective::alltoall:
        return std::uint64_t{ranks_.size()} * ranks_.size();
      case collective::reduce:
      case collective::broadcast:
      case collective::allreduce:
      case collective::scan:
      case collective::exscan:
      case collective::barrier:
        break;
    }
    return 0;
  }

  void check_buffers(int rank, const block_set& input, const block_set& output) const {
    const layout& cut = of(rank).cut;
    const std::string who = "rank " + std::to_string(rank) + ": ";
    if (cut.input != input) fail(rank, who + "the input should be " + name_of(input) + ", not " + name_of(cut.input));
    if (cut.output != output)
      fail(rank, who + "the output should be " + name_of(output) + ", not " + name_of(cut.output));
    const auto work = cut.work;
    if (work.count > 0 && (work.run == 0 || work.stride < work.run || work.count % work.run != 0 ||
                           work.at(work.count - 1) >= cut.chunks * cut.segments))
      fail(rank, who + "the work memory is " + name_of(work) + ", which are not in the vector");
  }

  void check_step(int rank, step_index index) const {
    const schedule& its = of(rank);
    const step& at = its.steps[index];
    const auto wrong = [&](const std::string& what) { fail(rank, index, at, what); };
    const auto outside = [](table_range part, std::size_t size) {
      return part.first > size || part.count > size - part.first;
    };
    if (outside(at.sources, its.segments.size()) || outside(at.targets, its.segments.size()) ||
        outside(at.after, its.dependencies.size()))
      wrong("its segments or dependencies lie outside of the schedule");
    for (const step_index before : its.after(at))
      if (before >= index) wrong("depends on step " + std::to_string(before) + ", which is not earlier");
    if (is_local(at.kind) ? at.peer != -1 : !is_rank(at.peer) || at.peer == rank) wrong("has no such peer");
    check_parts(rank, index);
    for (const segment& source : its.sources_of(at)) {
      check_segment(rank, index, source);
      check_owner(rank, index, source);
    }
    for (const segment& target : its.targets_of(at)) {
      if (target.in == buffer::input) wrong("writes the input");
      check_segment(rank, index, target);
      if (target.owner == me) continue;
      check_owner(rank, index, target);
      if (target.in == buffer::board) wrong("writes the board of another rank");
    }
    if (!is_local(at.kind)) return;
    const block_range made = its.targets_of(at)[0].elements;
    for (const segment& source : its.sources_of(at))
      if (source.elements != made) wrong("makes " + name_of(made) + " of " + name_of(source.elements));
  }

  /// Whether a step has as many sources and targets as its kind asks for.
  void check_parts(int rank, step_index index) const {
    const step& at = of(rank).steps[index];
    const std::uint32_t sources = at.sources.count, targets = at.targets.count;
    bool right = false;
    switch (at.kind) {
      case step_kind::send:
        right = sources >= 1 && targets == 0;
        break;
      case step_kind::receive:
        right = sources == 0 && targets >= 1;
        break;
      case step_kind::copy:
        right = sources == 1 && targets == 1;
        break;
      case step_kind::combine:
        right = sources >= 1 && sources <= most_operands && targets == 1;
        break;
      case step_kind::notify:
      case step_kind::await:
        right = targets == 0;
        break;
    }
    if (!right)
      fail(rank, index, at, "has " + std::to_string(sources) + " sources and " + std::to_string(targets) + " targets");
  }

  /// Whether a step of that kind may name memory of that rank.
  void check_owner(int rank, step_index index, const segment& source) const {
    const step& at = of(rank).steps[index];
    if (source.owner == rank) fail(rank, index, at, "names its own memory as another rank's");
    if (at.kind == step_kind::await ? source.owner != at.peer : source.owner != me && !is_local(at.kind))
      fail(rank, index, at, "has no use for " + name_of(source));
  }

  void check_segment(int rank, step_index index, const segment& memory) const {
    const auto wrong = [&](const std::string& what) { fail(rank, index, of(rank).steps[index], what); };
    if (memory.owner != me && !is_rank(memory.owner)) wrong("names memory of rank " + std::to_string(memory.owner));
    const layout& cut = of(job::owner(rank, memory)).cut;
    if (!block_set(block_range{0, cut.chunks * cut.segments}).holds(memory.elements))
      wrong(name_of(memory.elements) + " are not in the vector");
    switch (memory.in) {
      case buffer::input:
        if (!cut.input.holds(memory.elements)) wrong("the input does not hold " + name_of(memory.elements));
        break;
      case buffer::output:
        if (!cut.output.holds(memory.elements)) wrong("the output does not hold " + name_of(memory.elements));
        break;
      case buffer::work:
        if (!cut.work.holds(memory.elements)) wrong("the work memory does not hold " + name_of(memory.elements));
        break;
      case buffer::scratch:
        if (memory.slot >= cut.scratch_slots) wrong("there is no " + name_of(memory));
        if (memory.elements.count > cut.slot_blocks)
          wrong("a slot of scratch does not hold " + name_of(memory.elements));
        break;
      case buffer::board:
        if (memory.slot > cut.board || memory.elements.count > cut.board - memory.slot)
          wrong("the board ends before " + name_of(memory));
        break;
    }
  }

  const purpose& meant_;
  std::span<const schedule> ranks_;
};

}  // namespace

void check_form(const purpose& meant, std::span<const schedule> ranks) { form_check(meant, ranks).run(); }

}  // namespace weft::schedules
