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
  return (rank + 1) * 0x9e3779b97f4a7c15u + (element + 1) * 0xc2b2ae3d27d4eb4fu;
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
    numbers input, output, scratch, input_before;
    std::vector<state> steps;
    step_index next = 0;  // to begin, in order
  };

  void set_up(std::size_t rank) {
    const schedule& its = ranks_[rank];
    memory& here = memories_[rank];
    const auto [first, count] = elements_of(its.cut, options_.elements, its.cut.input);
    for (std::size_t i = 0; i < count; ++i) here.input.push_back(contribution(rank, first + i));
    here.input_before = here.input;
    const auto output = elements_of(its.cut, options_.elements, its.cut.output);
    const auto poisoned = [&](std::size_t size) {
      numbers poison(size);
      std::generate(poison.begin(), poison.end(), std::ref(random_));
      return poison;
    };
    here.output = poisoned(output.count);
    here.scratch = poisoned(most_elements(its.cut, options_.elements, its.cut.slot_blocks) * its.cut.scratch_slots);
    if (options_.in_place)  // the larger of the two buffers is the memory of both
      for (std::size_t i = 0; i < count; ++i)
        if (first + i >= output.first && first + i < output.first + output.count)
          here.output[first + i - output.first] = here.input[i];
    here.steps.assign(its.steps.size(), state::waiting);
    steps_ += its.steps.size();
  }

  std::uint64_t* at(std::size_t rank, const segment& where) {
    const layout& cut = ranks_[rank].cut;
    memory& here = memories_[rank];
    const auto [first, count] = elements_of(cut, options_.elements, where.elements);
    if (count == 0) return nullptr;
    if (where.in == buffer::scratch)
      return here.scratch.data() + where.slot * most_elements(cut, options_.elements, cut.slot_blocks);
    const auto input = elements_of(cut, options_.elements, cut.input),
               output = elements_of(cut, options_.elements, cut.output);
    const auto holds = [&](element_range buffer) {
      return first >= buffer.first && first + count <= buffer.first + buffer.count;
    };
    const bool use_output =
        where.in == buffer::output ? !options_.in_place || holds(output) : options_.in_place && holds(output);
    return use_output ? here.output.data() + (first - output.first) : here.input.data() + (first - input.first);
  }

  numbers read(std::size_t rank, const segment& from) {
    const std::size_t count = elements_of(ranks_[rank].cut, options_.elements, from.elements).count;
    const std::uint64_t* const begin = at(rank, from);
    return count == 0 ? numbers{} : numbers(begin, begin + count);
  }
  void write(std::size_t rank, const segment& to, const numbers& content) {
    std::copy(content.begin(), content.end(), at(rank, to));
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
        write(rank, s.target, read(rank, its.sources_of(s)[0]));
        break;
      case step_kind::combine: {
        numbers sum = read(rank, its.sources_of(s)[0]);
        for (const segment& more : its.sources_of(s).subspan(1)) {
          const numbers operand = read(rank, more);
          for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += operand[e];
        }
        write(rank, s.target, sum);
        break;
      }
    }
    end(rank, i);
  }

  /// Reads its source at some later moment: at once possible when buffered, else when its receive has begun.
  void begin_send(std::size_t rank, step_index i, message& through) {
    const auto capture = [this, rank, i, &through] {
      const schedule& its = ranks_[rank];
      if (its.steps[i].kind == step_kind::send) through.content = read(rank, its.sources_of(its.steps[i])[0]);
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
      numbers poison(elements_of(ranks_[rank].cut, options_.elements, s.target.elements).count);
      std::generate(poison.begin(), poison.end(), std::ref(random_));
      write(rank, s.target, poison);
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
      if (s.kind == step_kind::receive) write(rank, s.target, through.content);
      end(rank, through.receive);
    });
  }

  std::uint64_t expected(std::size_t element, std::uint32_t block) const {
    const auto& cut = ranks_[0].cut;
    if (options_.meant.kind == collective::broadcast)
      return contribution(static_cast<std::size_t>(options_.meant.root), element);
    if (options_.meant.kind == collective::allgather) return contribution(block / cut.segments, element);
    std::uint64_t sum = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) sum += contribution(rank, element);
    return sum;
  }

  bool outputs_right() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const layout& cut = ranks_[rank].cut;
      if (!options_.in_place && memories_[rank].input != memories_[rank].input_before) return false;
      for (std::uint32_t b = cut.output.first; b < cut.output.first + cut.output.count; ++b) {
        const auto [first, count] = elements_of(cut, options_.elements, {b, 1});
        const std::uint64_t* const held = at(rank, {me, buffer::output, 0, {b, 1}});
        for (std::size_t e = 0; e < count; ++e)
          if (held[e] != expected(first + e, b)) return false;
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
