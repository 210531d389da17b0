#include "random_run.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace weft_test {
namespace {

using namespace weft::schedules;
using numbers = std::vector<std::uint64_t>;

std::uint64_t contribution(std::size_t rank, std::size_t element) {
  return ((rank + 1) * 0x9e3779b97f4a7c15u + (element + 1) * 0xc2b2ae3d27d4eb4fu) | std::uint64_t{1} << 32;
}

/// First y, then x, where a number stands for the function f(t) = (upper half) t + (lower half) modulo 2^32.
std::uint64_t composed(std::uint64_t x, std::uint64_t y) {
  const auto upper = [](std::uint64_t f) { return static_cast<std::uint32_t>(f >> 32); };
  const auto lower = [](std::uint64_t f) { return static_cast<std::uint32_t>(f); };
  return std::uint64_t{upper(x) * upper(y)} << 32 | (upper(x) * lower(y) + lower(x));
}

struct message {
  int receiver = -1;
  step_index receive = 0;
  bool receive_begun = false;
  bool captured = false;
  numbers content;
};

class runner {
 public:
  runner(const run_options& options, std::span<const schedule> ranks, std::mt19937_64& random)
      : options_(options), ranks_(ranks), random_(random), memories_(ranks.size()) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) set_up(rank);
  }

  bool run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add_begins(rank);
    while (!possible_.empty()) {
      std::swap(possible_[random_() % possible_.size()], possible_.back());
      const auto event = std::move(possible_.back());
      possible_.pop_back();
      event();
    }
    return ended_ == steps_ && outputs_right();
  }

 private:
  enum class state { waiting, begun, ended };

  struct memory {
    std::vector<numbers> input, output, work;  // of each block held
    std::vector<numbers> input_before;
    std::vector<numbers> slots;
    std::vector<state> steps;
    step_index next = 0;  // to begin, in order
  };

  void set_up(std::size_t rank) {
    const schedule& its = ranks_[rank];
    memory& here = memories_[rank];
    for (std::uint32_t i = 0; i < its.cut.input.count; ++i) {
      const auto [first, count] = elements_of(its.cut, options_.elements, {its.cut.input.at(i), 1});
      numbers& block = here.input.emplace_back();
      for (std::size_t e = 0; e < count; ++e) block.push_back(contribution(rank, first + e));
    }
    here.input_before = here.input;
    for (std::uint32_t i = 0; i < its.cut.output.count; ++i)
      here.output.push_back(poison(elements_of(its.cut, options_.elements, {its.cut.output.at(i), 1}).count));
    for (std::uint32_t i = 0; i < its.cut.work.count; ++i)
      here.work.push_back(poison(elements_of(its.cut, options_.elements, {its.cut.work.at(i), 1}).count));
    for (std::uint32_t i = 0; i < its.cut.scratch_slots; ++i)
      here.slots.push_back(poison(most_elements(its.cut, options_.elements, its.cut.slot_blocks)));
    here.steps.assign(its.steps.size(), state::waiting);
    steps_ += its.steps.size();
  }

  numbers poison(std::size_t count) {
    numbers made(count);
    std::generate(made.begin(), made.end(), std::ref(random_));
    return made;
  }

  /// In place, the input is the memory of every block that both buffers hold.
  numbers& block_at(std::size_t rank, buffer in, std::uint32_t block) {
    const layout& cut = ranks_[rank].cut;
    memory& here = memories_[rank];
    if (in == buffer::work) return here.work[cut.work.position(block)];
    const bool use_input = in == buffer::input || (options_.in_place && cut.input.holds({block, 1}));
    return use_input ? here.input[cut.input.position(block)] : here.output[cut.output.position(block)];
  }

  numbers read(std::size_t rank, std::span<const segment> parts) {
    numbers all;
    for (const segment& from : parts) {
      if (from.in == buffer::scratch) {
        const numbers& slot = memories_[rank].slots[from.slot];
        all.insert(all.end(), slot.begin(), slot.begin() + count_of(rank, from));
        continue;
      }
      for (std::uint32_t b = 0; b < from.elements.count; ++b) {
        const numbers& block = block_at(rank, from.in, from.elements.first + b);
        all.insert(all.end(), block.begin(), block.end());
      }
    }
    return all;
  }
  void write(std::size_t rank, std::span<const segment> parts, const numbers& content) {
    auto next = content.begin();
    for (const segment& to : parts) {
      if (to.in == buffer::scratch) {
        std::copy_n(next, count_of(rank, to), memories_[rank].slots[to.slot].begin());
        next += count_of(rank, to);
        continue;
      }
      for (std::uint32_t b = 0; b < to.elements.count; ++b) {
        numbers& block = block_at(rank, to.in, to.elements.first + b);
        std::copy_n(next, block.size(), block.begin());
        next += static_cast<std::ptrdiff_t>(block.size());
      }
    }
  }
  std::ptrdiff_t count_of(std::size_t rank, const segment& of) const {
    return static_cast<std::ptrdiff_t>(elements_of(ranks_[rank].cut, options_.elements, of.elements).count);
  }

  bool may_begin(std::size_t rank, step_index i) const {
    const memory& here = memories_[rank];
    if (here.steps[i] != state::waiting || (options_.in_order && i != here.next)) return false;
    const auto after = ranks_[rank].after(ranks_[rank].steps[i]);
    return std::all_of(after.begin(), after.end(),
                       [&](step_index before) { return here.steps[before] == state::ended; });
  }

  void add_begins(std::size_t rank) {
    memory& here = memories_[rank];
    for (step_index i = here.next; i < here.steps.size(); ++i) {
      if (!may_begin(rank, i)) continue;
      here.steps[i] = state::begun;
      const bool local = ranks_[rank].steps[i].peer == -1;
      possible_.push_back([this, rank, i, local] {
        begin(rank, i);
        if (options_.in_order && !local) pass(rank, i);
      });
    }
  }

  void pass(std::size_t rank, step_index i) {
    memories_[rank].next = i + 1;
    add_begins(rank);
  }

  void end(std::size_t rank, step_index i) {
    memories_[rank].steps[i] = state::ended;
    ++ended_;
    const bool local = ranks_[rank].steps[i].peer == -1;
    if (options_.in_order && local) pass(rank, i);
    add_begins(rank);
  }

  void begin(std::size_t rank, step_index i) {
    const schedule& its = ranks_[rank];
    const step& s = its.steps[i];
    const int self = static_cast<int>(rank);
    switch (s.kind) {
      case step_kind::send:
      case step_kind::notify:
        begin_send(rank, i, messages_[{self, s.peer, s.ordinal}]);
        return;
      case step_kind::receive:
      case step_kind::await:
        begin_receive(rank, i, messages_[{s.peer, self, s.ordinal}]);
        return;
      case step_kind::copy:
        write(rank, its.targets_of(s), read(rank, its.sources_of(s)));
        break;
      case step_kind::combine: {
        numbers sum = read(rank, its.sources_of(s).first(1));
        for (std::size_t next = 1; next < s.sources.count; ++next) {
          const numbers operand = read(rank, its.sources_of(s).subspan(next, 1));
          for (std::size_t e = 0; e < sum.size(); ++e) sum[e] = combined(sum[e], operand[e]);
        }
        write(rank, its.targets_of(s), sum);
        break;
      }
    }
    end(rank, i);
  }

  /// Reads its source at some later moment: at once possible when buffered, else when its receive has begun.
  void begin_send(std::size_t rank, step_index i, message& through) {
    const auto capture = [this, rank, i, &through] {
      const schedule& its = ranks_[rank];
      if (its.steps[i].kind == step_kind::send) through.content = read(rank, its.sources_of(its.steps[i]));
      through.captured = true;
      possible_.push_back([this, rank, i] { end(rank, i); });
      if (through.receive_begun) deliver(through);
    };
    if (through.receive_begun || (options_.buffered && random_() % 2 == 0))
      possible_.push_back(capture);
    else
      when_received_[&through] = capture;
  }

  void begin_receive(std::size_t rank, step_index i, message& through) {
    through.receiver = static_cast<int>(rank);
    through.receive = i;
    through.receive_begun = true;
    const step& s = ranks_[rank].steps[i];
    if (s.kind == step_kind::receive) {  // nobody may look at what is being received
      std::ptrdiff_t count = 0;
      for (const segment& part : ranks_[rank].targets_of(s)) count += count_of(rank, part);
      write(rank, ranks_[rank].targets_of(s), poison(static_cast<std::size_t>(count)));
    }
    if (through.captured) deliver(through);
    const auto waiting = when_received_.find(&through);
    if (waiting == when_received_.end()) return;
    possible_.push_back(waiting->second);
    when_received_.erase(waiting);
  }

  void deliver(message& through) {
    possible_.push_back([this, &through] {
      const auto rank = static_cast<std::size_t>(through.receiver);
      const step& s = ranks_[rank].steps[through.receive];
      if (s.kind == step_kind::receive) write(rank, ranks_[rank].targets_of(s), through.content);
      end(rank, through.receive);
    });
  }

  std::uint64_t combined(std::uint64_t first, std::uint64_t second) const {
    const bool ordered = options_.meant.kind == collective::scan || options_.meant.kind == collective::exscan;
    return ordered ? composed(first, second) : first + second;
  }

  std::uint64_t sum(std::size_t element, std::size_t ranks) const {
    std::uint64_t all = contribution(0, element);
    for (std::size_t rank = 1; rank < ranks; ++rank) all = combined(all, contribution(rank, element));
    return all;
  }

  std::uint64_t expected(std::size_t rank, std::size_t element, std::uint32_t block) const {
    const std::uint32_t chunk = block / ranks_[0].cut.segments;
    switch (options_.meant.kind) {
      case collective::broadcast:
      case collective::scatter:
        return contribution(static_cast<std::size_t>(options_.meant.root), element);
      case collective::allgather:
      case collective::gather:
        return contribution(chunk, element);
      case collective::alltoall:
        return contribution(chunk / ranks_.size(), element);
      case collective::scan:
        return sum(element, rank + 1);
      case collective::exscan:
        return sum(element, rank);
      case collective::reduce:
      case collective::allreduce:
      case collective::reduce_scatter:
      case collective::barrier:
        break;
    }
    return sum(element, ranks_.size());
  }

  bool outputs_right() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const layout& cut = ranks_[rank].cut;
      if (!options_.in_place && memories_[rank].input != memories_[rank].input_before) return false;
      for (std::uint32_t i = 0; i < cut.output.count; ++i) {
        const std::uint32_t block = cut.output.at(i);
        const std::size_t first = elements_of(cut, options_.elements, {block, 1}).first;
        const numbers& held = block_at(rank, buffer::output, block);
        for (std::size_t e = 0; e < held.size(); ++e)
          if (held[e] != expected(rank, first + e, block)) return false;
      }
    }
    return true;
  }

  run_options options_;
  std::span<const schedule> ranks_;
  std::mt19937_64& random_;
  std::vector<memory> memories_;
  std::map<std::tuple<int, int, std::uint32_t>, message> messages_;  // by sender, receiver and ordinal; never moved
  std::map<const message*, std::function<void()>> when_received_;
  std::vector<std::function<void()>> possible_;  // events that may happen next, in any order
  std::size_t steps_ = 0;
  std::size_t ended_ = 0;
};

}  // namespace

bool runs_right(const run_options& options, std::span<const schedule> ranks, std::mt19937_64& random) {
  return runner(options, ranks, random).run();
}

}  // namespace weft_test
