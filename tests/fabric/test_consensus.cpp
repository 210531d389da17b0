// SPDX-License-Identifier: Apache-2.0
// Agreement while members die, leave, and learn of it in any order: the whole job in one thread, drawn from a seed.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fabric/messenger/consensus.hpp"
#include "seed.hpp"

using weft::fabric::consensus;
using bytes = consensus::bytes;

namespace {

/// What each gave, one byte a member: 0 for those that take no part.
bytes listed(std::span<const std::optional<bytes>> given) {
  bytes all;
  for (const auto& each : given) all.push_back(each ? each->at(0) : std::byte{0});
  return all;
}

/// A job of members that call once each, on a network that keeps the order of two members' messages and no other.
class simulated_job {
 public:
  simulated_job(std::uint64_t seed, int members) : random_(seed), members_(members), all_(size()) {
    const bool some_leave = draw(2) == 0;
    for (int i = 0; i < members; ++i) {
      member& each = all_[index(i)];
      each.knows_gone.resize(size());
      each.calls = !some_leave || draw(6) != 0;  // or it leaves
      any_leave_ = any_leave_ || !each.calls;
    }
    deaths_ = draw(3) == 0 ? 0 : draw(size());
    run();
  }

  /// What went wrong; empty: nothing.
  std::string fault() const {
    if (steps_ == most_steps) return "it does not come to rest";
    std::optional<bytes> answer;
    for (int i = 0; i < members_; ++i) {
      const member& each = all_[index(i)];
      if (!each.answer) {
        if (each.alive && each.calls) return "member " + std::to_string(i) + " got no answer";
        continue;
      }
      if (!answer) answer = each.answer;
      if (*answer != *each.answer) return "member " + std::to_string(i) + " got another answer";
      if (each.answer->size() != size()) return "an answer of another length";
      if (each.alive && each.answer->at(index(i)) == std::byte{0}) return "who is alive is not in the answer";
    }
    for (int i = 0; answer && i < members_; ++i)
      if (!all_[index(i)].calls && answer->at(index(i)) != std::byte{0}) return "who has left is in the answer";
    return "";
  }

  std::size_t died() const {
    return static_cast<std::size_t>(std::ranges::count_if(all_, [](const member& each) { return !each.alive; }));
  }

 private:
  struct member {
    bool alive = true;
    bool calls = true;
    bool left = false;
    std::vector<bool> knows_gone;
    std::map<int, std::deque<bytes>> early;
    std::unique_ptr<consensus> part;
    std::optional<bytes> answer;
  };
  struct event {
    enum { message, loss } what;
    int from;
    bytes contents;
  };

  std::size_t size() const { return static_cast<std::size_t>(members_); }
  static std::size_t index(int member) { return static_cast<std::size_t>(member); }
  std::size_t draw(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

  void send(int from, int to, std::span<const std::byte> contents) {
    const bool stops = (stops_after_ && (*stops_after_)-- == 0) || (deaths_ != 0 && draw(100) == 0);
    if (stops) return kill(from);
    if (!all_[index(from)].alive) return;
    channels_[{from, to}].push_back({event::message, from, {contents.begin(), contents.end()}});
  }

  void kill(int who) {
    if (!std::exchange(all_[index(who)].alive, false)) return;
    for (int i = 0; i < members_; ++i)
      if (i != who) channels_[{who, i}].push_back({event::loss, who, {}});
  }

  void call(int who) {
    member& mine = all_[index(who)];
    if (!mine.calls) {
      mine.left = true;
      for (const auto& [from, waiting] : mine.early) send(who, from, consensus::absence());
      return;
    }
    mine.part = std::make_unique<consensus>(
        consensus::setup{who, bytes{static_cast<std::byte>(who + 1)}, mine.knows_gone, listed,
                         [this, who](int to, std::span<const std::byte> message) { send(who, to, message); }});
    for (const auto& [from, waiting] : mine.early)
      for (const bytes& each : waiting) mine.part->take(from, each);
    mine.early.clear();
  }

  void hand_over(int to, const event& what) {
    member& mine = all_[index(to)];
    if (what.what == event::loss) {
      mine.knows_gone[index(what.from)] = true;
      if (mine.part) mine.part->lose(what.from);
    } else if (mine.knows_gone[index(what.from)]) {
      return;
    } else if (mine.left) {
      send(to, what.from, consensus::absence());
    } else if (mine.part) {
      if (!mine.part->take(what.from, what.contents)) mine.answer = bytes{};  // refused what another has sent
    } else {
      mine.early[what.from].push_back(what.contents);
    }
  }

  void look(int who) {
    member& mine = all_[index(who)];
    if (mine.alive && mine.part && mine.part->decision() && !mine.answer) mine.answer = mine.part->decision();
  }

  /// Messages are handed over, members call, die and remind each other, until nothing is left to be done.
  void run() {
    std::vector<int> to_call;
    for (int i = 0; i < members_; ++i) to_call.push_back(i);
    std::ranges::shuffle(to_call, random_);
    for (int idle = 0; idle < 3 * members_ + 20 && steps_ != most_steps; ++steps_) {
      std::vector<std::pair<int, int>> ready;
      for (const auto& [pair, waiting] : channels_)
        if (!waiting.empty()) ready.push_back(pair);
      const bool calls = !to_call.empty() && draw(4) == 0;
      if (deaths_ != 0 && draw(30) == 0) {
        --deaths_;
        if (draw(2) == 0)
          kill(static_cast<int>(draw(size())));
        else
          stops_after_ = draw(2 * size());  // in the middle of what it sends
      } else if (calls) {
        const int who = to_call.back();
        to_call.pop_back();
        if (all_[index(who)].alive) act(who, [&] { call(who); });
      } else if (!ready.empty()) {
        idle = 0;
        const auto pair = ready[draw(ready.size())];
        const event first = std::move(channels_[pair].front());
        channels_[pair].pop_front();
        if (all_[index(pair.second)].alive) act(pair.second, [&] { hand_over(pair.second, first); });
      } else if (to_call.empty()) {
        ++idle;
        if (!any_leave_) continue;  // then nobody has to be reminded
        const int who = static_cast<int>(draw(size()));
        member& mine = all_[index(who)];
        if (mine.alive && mine.part) act(who, [&] { mine.part->remind(); });
        if (idle % 5 == 0) remind_all();
      }
    }
  }
  void remind_all() {
    for (int i = 0; i < members_; ++i)
      if (all_[index(i)].alive && all_[index(i)].part) act(i, [&] { all_[index(i)].part->remind(); });
  }

  template <class Function>
  void act(int who, Function function) {
    function();
    look(who);
  }

  std::mt19937_64 random_;
  int members_;
  std::vector<member> all_;
  std::map<std::pair<int, int>, std::deque<event>> channels_;
  std::size_t deaths_ = 0;
  std::optional<std::size_t> stops_after_;
  bool any_leave_ = false;
  int steps_ = 0;
  static constexpr int most_steps = 100'000;
};

}  // namespace

TEST_CASE("whoever lives gets the answer, and nobody ever another one", "[consensus]") {
  const bool one = std::getenv("WEFT_TEST_SEED") != nullptr;
  const std::uint64_t first = weft_test::test_seed();
  std::size_t died = 0;
  for (std::uint64_t seed = first; seed < first + (one ? 1 : 30'000); ++seed) {
    const int members = 1 + static_cast<int>(seed % 8);
    const simulated_job job(seed, members);
    died += job.died();
    INFO("seed " << seed << ", " << members << " members");
    if (const std::string fault = job.fault(); !fault.empty()) FAIL(fault);
  }
  CHECK((one || died > 10'000));
}

TEST_CASE("an agreement takes four messages for each other member", "[consensus]") {
  for (const int members : {1, 2, 7, 64}) {
    std::deque<std::pair<int, std::pair<int, bytes>>> sent;
    std::vector<std::unique_ptr<consensus>> all;
    std::size_t messages = 0;
    for (int i = 0; i < members; ++i)
      all.push_back(std::make_unique<consensus>(consensus::setup{
          i, bytes{static_cast<std::byte>(i + 1)}, std::vector<bool>(static_cast<std::size_t>(members)), listed,
          [&sent, i](int to, std::span<const std::byte> message) {
            sent.push_back({to, {i, {message.begin(), message.end()}}});
          }}));
    for (; !sent.empty(); ++messages) {
      const auto [to, message] = std::move(sent.front());
      sent.pop_front();
      REQUIRE(all[static_cast<std::size_t>(to)]->take(message.first, message.second));
    }
    CHECK(messages == static_cast<std::size_t>(members - 1) * 4);
    for (const auto& each : all) CHECK(each->decision() == all[0]->decision());
    CHECK(all[0]->decision()->size() == static_cast<std::size_t>(members));
  }
}

TEST_CASE("only who has accepted a proposal counts as that", "[consensus]") {
  std::size_t sent = 0;
  consensus first({0, bytes{std::byte{1}}, std::vector<bool>(2), listed, [&](int, auto) { ++sent; }});
  CHECK(first.take(1, bytes{std::byte{1}, {}, {}, {}, {}, std::byte{2}}));  // given, as if by ballot 0
  CHECK(sent == 1);
  CHECK_FALSE(first.decision());
  CHECK(first.take(1, bytes{std::byte{2}, {}, {}, {}, {}}));  // accepted
  CHECK(first.decision() == bytes{std::byte{1}, std::byte{2}});
}

TEST_CASE("what is no message of an agreement is refused", "[consensus]") {
  std::size_t sent = 0;
  consensus one({1, bytes{std::byte{1}}, std::vector<bool>(3), listed, [&](int, auto) { ++sent; }});
  CHECK(sent == 1);
  const auto refuses = [&](std::initializer_list<int> message) {
    bytes contents;
    for (const int each : message) contents.push_back(static_cast<std::byte>(each));
    return !one.take(0, contents);
  };
  CHECK(refuses({}));
  CHECK(refuses({0, 0, 0, 0, 0}));
  CHECK(refuses({8, 0, 0, 0, 0}));
  CHECK(refuses({1, 0, 0}));
  CHECK(refuses({2, 3, 0, 0, 0}));                 // by the proposal of a member that there is not
  CHECK(refuses({2, 1, 0, 0, 0}));                 // this one has proposed nothing
  CHECK(refuses({2, 0xff, 0xff, 0xff, 0xff, 1}));  // by nobody's
  CHECK_FALSE(one.decision());
}
