// SPDX-License-Identifier: Apache-2.0
#include "random_run.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace weft_test {
namespace {

using namespace weft::schedules;

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
      : options_(options), ranks_(ranks), random_(random), memories_(options, ranks, random) {
    for (const schedule& its : ranks) {
      progress_.push_back({std::vector<state>(its.steps.size(), state::waiting)});
      steps_ += its.steps.size();
    }
  }

  bool run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add_begins(rank);
    while (!possible_.empty()) {
      std::swap(possible_[random_() % possible_.size()], possible_.back());
      const auto event = std::move(possible_.back());
      possible_.pop_back();
      event();
    }
    return ended_ == steps_ && memories_.outputs_right();
  }

 private:
  enum class state { waiting, begun, ended };

  struct rank_progress {
    std::vector<state> steps;
    step_index next = 0;  // to begin, in order
  };

  bool may_begin(std::size_t rank, step_index i) const {
    const rank_progress& here = progress_[rank];
    if (here.steps[i] != state::waiting || (options_.in_order && i != here.next)) return false;
    const auto after = ranks_[rank].after(ranks_[rank].steps[i]);
    return std::all_of(after.begin(), after.end(),
                       [&](step_index before) { return here.steps[before] == state::ended; });
  }

  void add_begins(std::size_t rank) {
    rank_progress& here = progress_[rank];
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
    progress_[rank].next = i + 1;
    add_begins(rank);
  }

  void end(std::size_t rank, step_index i) {
    progress_[rank].steps[i] = state::ended;
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
        memories_.write(rank, its.targets_of(s), memories_.read(rank, its.sources_of(s)));
        break;
      case step_kind::combine: {
        numbers sum = memories_.read(rank, its.sources_of(s).first(1));
        for (std::size_t next = 1; next < s.sources.count; ++next) {
          const numbers operand = memories_.read(rank, its.sources_of(s).subspan(next, 1));
          for (std::size_t e = 0; e < sum.size(); ++e) sum[e] = memories_.combined(sum[e], operand[e]);
        }
        memories_.write(rank, its.targets_of(s), sum);
        break;
      }
    }
    end(rank, i);
  }

  /// Reads its source at some later moment: at once possible when buffered, else when its receive has begun.
  void begin_send(std::size_t rank, step_index i, message& through) {
    const auto capture = [this, rank, i, &through] {
      const schedule& its = ranks_[rank];
      if (its.steps[i].kind == step_kind::send) through.content = memories_.read(rank, its.sources_of(its.steps[i]));
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
    // Nobody may look at what is being received.
    if (s.kind == step_kind::receive) memories_.spoil(rank, ranks_[rank].targets_of(s));
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
      if (s.kind == step_kind::receive) memories_.write(rank, ranks_[rank].targets_of(s), through.content);
      end(rank, through.receive);
    });
  }

  run_options options_;
  std::span<const schedule> ranks_;
  std::mt19937_64& random_;
  rank_memories memories_;
  std::vector<rank_progress> progress_;
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
