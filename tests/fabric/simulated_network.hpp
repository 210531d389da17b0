// SPDX-License-Identifier: Apache-2.0
// Processes that watch each other over a network that loses directions of pairs for a while or for good: all in one
// thread, with a time of their own, drawn from a seed. Each has the real `verdict`; connections, heartbeats and floods
// are as the monitor's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fabric/watch/verdict.hpp"
#include "fabric/watch/watch_targets.hpp"

namespace weft_test {

class simulated_network {
 public:
  using milliseconds = std::chrono::milliseconds;
  using time_point = weft::fabric::verdict::time_point;

  static constexpr milliseconds timeout{1000};
  static constexpr milliseconds heartbeat{100};
  static constexpr milliseconds silence = timeout - weft::fabric::verdict::time_to_decide(heartbeat);
  static constexpr milliseconds step{20};

  /// Something that happens at a time.
  struct happening {
    milliseconds at;
    std::function<void(simulated_network&)> what;
  };

  simulated_network(std::uint64_t seed, int processes, int slowest_message = 60)
      : random_(seed), slowest_message_(slowest_message), delivers_(size(processes)) {
    for (auto& row : delivers_) row.assign(size(processes), true);
    for (int i = 0; i < processes; ++i) all_.push_back(std::make_unique<process>(*this, i, processes));
  }

  int processes() const { return static_cast<int>(all_.size()); }
  /// From 0 to `most` - 1.
  int draw(int most) { return std::uniform_int_distribution<int>(0, most - 1)(random_); }

  void set_direction(int from, int to, bool delivers) { delivers_[size(from)][size(to)] = delivers; }
  void set_pair(int one, int other, bool delivers) {
    set_direction(one, other, delivers);
    set_direction(other, one, delivers);
  }
  void heal() {
    for (auto& row : delivers_) row.assign(row.size(), true);
  }
  /// Its system ends its connections.
  void kill(int victim) { at(victim).end(); }
  /// Its machine is gone.
  void unplug(int victim) {
    for (int i = 0; i < processes(); ++i) set_pair(victim, i, false);
    at(victim).running = false;
  }
  void leave(int which) {
    if (!at(which).running) return;
    at(which).learn_left(which, -1);
    at(which).end();
  }
  void stop(int which) { at(which).stopped = true; }
  void go_on(int which) { at(which).stopped = false; }
  /// By something that the others of its host know of. Hosts have two processes: 0 and 1, 2 and 3, ...
  void hold(int which) {
    stop(which);
    at(which).held = true;
  }
  void let_go(int which) {
    go_on(which);
    at(which).held = false;
  }

  void run(std::vector<happening> happenings, milliseconds how_long) {
    std::ranges::sort(happenings, {}, &happening::at);
    std::size_t next = 0;
    for (; now_ < time_point(how_long); now_ += step) {
      for (; next < happenings.size() && now_ >= time_point(happenings[next].at); ++next) happenings[next].what(*this);
      for (const auto& each : all_)
        if (each->running && !each->stopped) each->live();
      check();
    }
  }

  /// Those that run, and have not been given up, in the end.
  std::set<int> going_on() const {
    std::set<int> result;
    for (int i = 0; i < processes(); ++i)
      if (at(i).running) result.insert(i);
    return result;
  }
  bool lost(int by, int which) const { return at(by).fate[size(which)] == fate::lost; }
  std::uint32_t verdicts(int by) const { return at(by).part.verdicts(); }
  /// When the last verdict was known, or somebody gave itself up, last.
  milliseconds settled_after() const { return settled_after_; }

  /// What went wrong; empty: nothing.
  std::string fault() const {
    if (!fault_.empty()) return fault_;
    for (const int one : going_on())
      for (const int other : going_on())
        if (lost(one, other))
          return "process " + std::to_string(one) + " goes on without " + std::to_string(other) + ", which goes on";
    return "";
  }

 private:
  enum class fate { alive, lost, left };
  struct message {
    enum { heartbeat, vote, lost, left, end } what = heartbeat;
    int about = 0;
    std::uint64_t sequence = 0;
    std::vector<std::byte> said{};
    time_point due{};
  };

  struct process {
    process(simulated_network& its, int number, int processes)
        : network(its),
          self(number),
          fate(size(processes), fate::alive),
          up(size(processes), false),
          heard(size(processes)),
          trying(size(processes)),
          expected(size(processes)),
          incoming(size(processes)),
          last_live(its.now_),
          part({.self = number,
                .processes = processes,
                .timeout = timeout,
                .heartbeat = simulated_network::heartbeat,
                .seed = its.random_(),
                .flood =
                    [this](std::uint64_t sequence, std::span<const std::byte> said) {
                      pass_on({message::vote, self, sequence, {said.begin(), said.end()}}, -1);
                    }}),
          next_heartbeat(its.now_ + milliseconds(its.draw(heartbeat.count()))) {}

    void live() {
      const auto now = network.now_;
      if (const auto late = now - last_live - step; late > step) forgive(late);
      last_live = now;
      for (int i = 0; i < network.processes(); ++i) receive(i);
      if (!running) return;
      link();
      if (now >= next_heartbeat) {
        next_heartbeat = now + simulated_network::heartbeat;
        pass_on({}, -1);
      }
      auto around = listen();
      for (const int other : around.silent)
        if (part.held(other, now)) heard[size(other)] = now;  // forgiven
      if (around.silent.empty() && !part.open()) return;
      part.hear(std::move(around), now);
      obey();
    }

    void forgive(std::chrono::nanoseconds late) {
      for (auto& each : heard) each += late;
      for (auto& each : trying)
        if (each) *each += late;
      part.postpone(late);
    }

    void receive(int from) {
      auto& queue = incoming[size(from)];
      while (running && !queue.empty() && queue.front().due <= network.now_ &&
             network.delivers_[size(from)][size(self)]) {
        const message next = std::move(queue.front());
        queue.pop_front();
        if (!up[size(from)]) continue;
        heard[size(from)] = network.now_;
        if (fate[size(from)] == fate::lost) continue;  // what an excluded one says
        take(next, from);
      }
    }

    void take(const message& next, int from) {
      switch (next.what) {
        case message::heartbeat:
          return;
        case message::vote:
          if (!part.open()) part.hear(listen(), network.now_);
          if (part.take(next.about, next.sequence, next.said, network.now_)) pass_on(next, from);
          return obey();
        case message::lost:
          return learn_lost(next.about, from);
        case message::left:
          return learn_left(next.about, from);
        case message::end:
          up[size(from)] = false;
          if (fate[size(from)] == fate::alive) learn_lost(from, -1);
      }
    }

    void learn_lost(int which, int from) {
      if (which == self) return give_up();
      if (fate[size(which)] != fate::alive) return;
      fate[size(which)] = fate::lost;
      pass_on({message::lost, which}, from);
      close(which);
      part.lose(which, network.now_);
      obey();
    }

    void learn_left(int which, int from) {
      if (fate[size(which)] != fate::alive) return;
      fate[size(which)] = fate::left;
      pass_on({message::left, which}, from);
      if (which == self) return;
      part.lose(which, network.now_);
      obey();
    }

    /// Connections to those that this one is to watch, or that are to watch it.
    void link() {
      const auto alive = [this](int other) { return fate[size(other)] == fate::alive; };
      const auto targets = weft::fabric::watch_targets(self, network.processes(), alive);
      for (int other = 0; other < network.processes(); ++other) {
        auto& since = trying[size(other)];
        if (std::ranges::find(targets, other) == targets.end() || up[size(other)]) {
          since.reset();
          continue;
        }
        if (!since) {
          since = network.now_;
          expected[size(other)] = !part.open();
        }
        connect(other);
      }
      seek();
    }

    void seek() {
      if (!part.open()) return sought.clear();
      for (const int other : part.take_sought()) sought.insert(other);
      for (const int other : sought)
        if (!up[size(other)] && !trying[size(other)] && fate[size(other)] == fate::alive) connect(other);
    }

    void connect(int other) {
      process& its = network.at(other);
      const auto& delivers = network.delivers_;
      if (!delivers[size(self)][size(other)] || !delivers[size(other)][size(self)]) return;
      if (!its.running) {
        if (trying[size(other)] && network.now_ >= *trying[size(other)] + timeout / 2) learn_lost(other, -1);
        return;
      }
      if (its.stopped || its.fate[size(self)] != fate::alive) return;
      its.meet(self);
      meet(other);
    }

    void meet(int other) {
      up[size(other)] = true;
      heard[size(other)] = network.now_;
      trying[size(other)].reset();
      for (auto& [whose, sequence, said] : part.everything()) send(other, {message::vote, whose, sequence, said});
      for (int i = 0; i < network.processes(); ++i) {
        if (fate[size(i)] == fate::lost) send(other, {message::lost, i});
        if (fate[size(i)] == fate::left) send(other, {message::left, i});
      }
    }

    weft::fabric::hearing listen() const {
      weft::fabric::hearing result;
      for (int other = 0; other < network.processes(); ++other) {
        if (other == self || fate[size(other)] != fate::alive) continue;
        const bool tries = trying[size(other)].has_value();
        if (!up[size(other)] && !tries) continue;
        const auto since = up[size(other)] ? heard[size(other)] : *trying[size(other)];
        if (network.now_ >= since + silence)
          result.silent.push_back(other);
        else if (up[size(other)] || expected[size(other)])
          result.hears.push_back(other);
      }
      if (const int sibling = self ^ 1; sibling < network.processes() && network.at(sibling).held)
        result.held.push_back(sibling);
      return result;
    }

    void obey() {
      if (!running) return;
      if (part.over()) return give_up();
      if (part.verdicts() == obeyed) return;
      obeyed = part.verdicts();
      network.settled();
      network.remember_view(*this);
      for (int other = 0; other < network.processes(); ++other) {
        if (part.goes_on(other) || fate[size(other)] != fate::alive) continue;
        fate[size(other)] = fate::lost;
        if (up[size(other)]) send(other, {message::end});
      }
    }

    void give_up() {
      network.settled();
      end();
    }

    void end() {
      if (!running) return;
      for (int other = 0; other < network.processes(); ++other)
        if (up[size(other)]) send(other, {message::end});
      running = false;
    }

    void close(int other) {
      if (!up[size(other)]) return;
      up[size(other)] = false;
      incoming[size(other)].clear();
      send(other, {message::end});
    }

    void pass_on(const message& what, int from) {
      for (int other = 0; other < network.processes(); ++other)
        if (other != from && up[size(other)] && fate[size(other)] != fate::lost) send(other, what);
    }

    void send(int to, message what) {
      process& its = network.at(to);
      auto& queue = its.incoming[size(self)];
      what.due = network.now_ + milliseconds(network.draw(network.slowest_message_));
      if (!queue.empty()) what.due = std::max(what.due, queue.back().due);
      queue.push_back(std::move(what));
    }

    simulated_network& network;
    const int self;
    bool running = true;
    bool stopped = false;
    bool held = false;
    std::vector<enum fate> fate;
    std::vector<bool> up;
    std::vector<time_point> heard;
    std::vector<std::optional<time_point>> trying;
    std::vector<bool> expected;  // to answer: tried since there was no vote
    std::set<int> sought;
    std::vector<std::deque<message>> incoming;
    time_point last_live;
    weft::fabric::verdict part;
    std::uint32_t obeyed = 0;
    time_point next_heartbeat;
  };

  static std::size_t size(int number) { return static_cast<std::size_t>(number); }
  process& at(int which) { return *all_[size(which)]; }
  const process& at(int which) const { return *all_[size(which)]; }

  void settled() { settled_after_ = std::chrono::duration_cast<milliseconds>(now_.time_since_epoch()); }

  /// All say the same of each view.
  void remember_view(const process& its) {
    std::vector<bool> members;
    for (int i = 0; i < processes(); ++i) members.push_back(its.part.goes_on(i));
    const auto [known, first] = views_.try_emplace(its.part.verdicts(), members);
    if (!first && known->second != members && fault_.empty())
      fault_ =
          "verdict " + std::to_string(its.part.verdicts()) + " is another one at process " + std::to_string(its.self);
  }

  /// Nobody who has accepted a verdict without another one goes on beside one that has accepted one without it.
  void check() {
    for (int one = 0; one < processes(); ++one)
      for (int other = 0; other < one; ++other)
        if (at(one).running && at(other).running && !at(one).part.goes_on(other) && !at(other).part.goes_on(one) &&
            fault_.empty())
          fault_ = "processes " + std::to_string(other) + " and " + std::to_string(one) + " go on without each other";
  }

  std::mt19937_64 random_;
  const int slowest_message_;  // milliseconds on one connection
  std::vector<std::vector<bool>> delivers_;
  time_point now_{};
  milliseconds settled_after_{};
  std::map<std::uint32_t, std::vector<bool>> views_;
  std::string fault_;
  std::vector<std::unique_ptr<process>> all_;
};

}  // namespace weft_test
