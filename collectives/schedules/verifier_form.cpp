// Whether each step of each rank is well formed.
#include "verifier_job.hpp"

namespace weft::schedules {
namespace {

constexpr std::uint32_t most_operands = 16;

bool inside(block_range part, block_range whole) {
  return part.count == 0 || (part.first >= whole.first && part.count <= whole.count &&
                             part.first - whole.first <= whole.count - part.count);
}

class form_check {
 public:
  form_check(const purpose& meant, std::span<const schedule> ranks) : meant_(meant), ranks_(ranks) {}

  void run() const {
    if (ranks_.empty()) fail(-1, "there are no ranks");
    const bool rooted = meant_.kind == collective::reduce || meant_.kind == collective::broadcast;
    if (rooted && !is_rank(meant_.root)) fail(-1, "root " + std::to_string(meant_.root) + " is none of the ranks");
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
    const block_range none{}, all{0, static_cast<std::uint32_t>(blocks)};
    const block_range own{static_cast<std::uint32_t>(rank) * cut.segments, cut.segments};
    const bool root = rank == meant_.root;
    switch (meant_.kind) {
      case collective::reduce:
        check_buffers(rank, all, root ? all : none);
        break;
      case collective::broadcast:
        check_buffers(rank, root ? all : none, all);
        break;
      case collective::allreduce:
        check_buffers(rank, all, all);
        break;
      case collective::reduce_scatter:
        check_buffers(rank, all, own);
        break;
      case collective::allgather:
        check_buffers(rank, own, all);
        break;
      case collective::barrier:
        check_buffers(rank, none, none);
        break;
    }
    const bool shared_out = meant_.kind == collective::reduce_scatter || meant_.kind == collective::allgather;
    if (shared_out && cut.chunks != ranks_.size()) fail(rank, who + "has not one chunk a rank");
  }

  void check_buffers(int rank, block_range input, block_range output) const {
    const auto same = [](block_range a, block_range b) { return a == b || (a.count == 0 && b.count == 0); };
    const layout& cut = of(rank).cut;
    const std::string who = "rank " + std::to_string(rank) + ": ";
    if (!same(cut.input, input))
      fail(rank, who + "the input should be " + name_of(input) + ", not " + name_of(cut.input));
    if (!same(cut.output, output))
      fail(rank, who + "the output should be " + name_of(output) + ", not " + name_of(cut.output));
  }

  void check_step(int rank, step_index index) const {
    const schedule& its = of(rank);
    const step& at = its.steps[index];
    const auto wrong = [&](const std::string& what) { fail(rank, index, at, what); };
    const auto outside = [](table_range part, std::size_t size) {
      return part.first > size || part.count > size - part.first;
    };
    if (outside(at.sources, its.sources.size()) || outside(at.after, its.dependencies.size()))
      wrong("its sources or dependencies lie outside of the schedule");
    for (const step_index before : its.after(at))
      if (before >= index) wrong("depends on step " + std::to_string(before) + ", which is not earlier");
    if (is_local(at.kind) ? at.peer != -1 : !is_rank(at.peer) || at.peer == rank) wrong("has no such peer");
    const bool many = at.kind == step_kind::combine;
    const bool one = at.kind == step_kind::send || at.kind == step_kind::copy;
    if (many ? at.sources.count < 1 || at.sources.count > most_operands : at.sources.count != (one ? 1u : 0u))
      wrong("has " + std::to_string(at.sources.count) + " sources");
    for (const segment& source : its.sources_of(at)) check_segment(rank, index, source);
    if (!is_local(at.kind) && at.kind != step_kind::receive) return;
    if (at.target.owner != me) wrong("writes the memory of another rank");
    if (at.target.in == buffer::input) wrong("writes the input");
    check_segment(rank, index, at.target);
    for (const segment& source : its.sources_of(at))
      if (source.elements != at.target.elements)
        wrong("makes " + name_of(at.target.elements) + " of " + name_of(source.elements));
  }

  void check_segment(int rank, step_index index, const segment& memory) const {
    const auto wrong = [&](const std::string& what) { fail(rank, index, of(rank).steps[index], what); };
    if (memory.owner != me && !is_rank(memory.owner)) wrong("names memory of rank " + std::to_string(memory.owner));
    const layout& cut = of(job::owner(rank, memory)).cut;
    if (!inside(memory.elements, {0, cut.chunks * cut.segments}))
      wrong(name_of(memory.elements) + " are not in the vector");
    switch (memory.in) {
      case buffer::input:
        if (!inside(memory.elements, cut.input)) wrong("the input does not hold " + name_of(memory.elements));
        break;
      case buffer::output:
        if (!inside(memory.elements, cut.output)) wrong("the output does not hold " + name_of(memory.elements));
        break;
      case buffer::scratch:
        if (memory.slot >= cut.scratch_slots) wrong("there is no " + name_of(memory));
        if (memory.elements.count > cut.slot_blocks)
          wrong("a slot of scratch does not hold " + name_of(memory.elements));
        break;
    }
  }

  const purpose& meant_;
  std::span<const schedule> ranks_;
};

}  // namespace

void check_form(const purpose& meant, std::span<const schedule> ranks) { form_check(meant, ranks).run(); }

}  // namespace weft::schedules
