// SPDX-License-Identifier: Apache-2.0
// What the machine of weak memory lets threads find, against what C++ does: the litmus tests of the literature (Alglave
// and others 2014, "Herding cats").
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fabric/weak_memory.hpp"
#include "seed.hpp"

using weft_test::weak_memory;

namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, seq_cst = std::memory_order_seq_cst;

/// A few atomic words, and what the threads have found.
class litmus {
 public:
  explicit litmus(weak_memory& on) : on_(on) { on.watch(&plain, sizeof plain, sizeof plain, "plain"); }

  void store(std::size_t word, std::uint64_t value, std::memory_order order) {
    on_.take_turn();
    on_.store(&words_[word], words_[word], value, order, std::source_location::current());
    words_[word] = value;
  }
  std::uint64_t load(std::size_t word, std::memory_order order) {
    on_.take_turn();
    return on_.load(&words_[word], words_[word], order, std::source_location::current());
  }
  void fence(std::memory_order order) {
    on_.take_turn();
    on_.fence(order, std::source_location::current());
  }
  void read() { on_.note_read(&plain, sizeof plain); }
  void write() { on_.note_write(&plain, sizeof plain); }

  std::array<std::uint64_t, 4> found{};

 private:
  weak_memory& on_;
  std::array<std::uint64_t, 2> words_{};
  std::uint64_t plain = 0;
};

constexpr std::size_t x = 0, y = 1;

using body = std::function<void(litmus&)>;
using findings = std::array<std::uint64_t, 4>;

struct outcomes {
  std::set<findings> found;
  bool wrong = false;  // of what is not atomic

  bool have(const findings& one) const { return found.count(one) != 0; }
};

outcomes outcomes_of(const std::vector<body>& threads) {
  const std::uint64_t seed = weft_test::test_seed();
  outcomes all;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    weak_memory on(seed + i);
    litmus words(on);
    std::vector<std::function<void()>> bodies;
    for (const body& each : threads) bodies.push_back([&] { each(words); });
    if (on.run(bodies) != "")
      all.wrong = true;
    else
      all.found.insert(words.found);
  }
  return all;
}

/// One thread shows what it has written, and another one looks; `found` of the flag.
outcomes message(const body& show, const std::function<std::uint64_t(litmus&)>& look) {
  return outcomes_of({[&](litmus& on) { on.write(), on.store(x, 1, relaxed), show(on); },
                      [&](litmus& on) {
                        on.found[0] = look(on);
                        on.found[1] = on.load(x, relaxed);
                        if (on.found[0] == 1) on.read();
                      }});
}

/// Each of two threads says something, and looks what the other has said.
outcomes both_say(std::memory_order store, std::memory_order first_fence, std::memory_order second_fence,
                  std::memory_order load) {
  const auto one = [&](std::size_t mine, std::memory_order fence) {
    return [=](litmus& on) {
      on.store(mine, 1, store);
      on.fence(fence);
      on.found[mine] = on.load(1 - mine, load);
    };
  };
  return outcomes_of({one(x, first_fence), one(y, second_fence)});
}

/// Two threads say something, and two look, each at one and then at the other.
outcomes seen_by_two(std::memory_order load, std::memory_order fence) {
  const auto looks = [&](std::size_t first, std::size_t at) {
    return [=](litmus& on) {
      on.found[at] = on.load(first, load);
      on.fence(fence);
      on.found[at + 1] = on.load(1 - first, load);
    };
  };
  return outcomes_of({[](litmus& on) { on.store(x, 1, release); }, [](litmus& on) { on.store(y, 1, release); },
                      looks(x, 0), looks(y, 2)});
}

}  // namespace

TEST_CASE("a message is there behind its flag where that is released and acquired", "[weak]") {
  const body store_released = [](litmus& on) { on.store(y, 1, release); };
  const body fence_and_store = [](litmus& on) { on.fence(release), on.store(y, 1, relaxed); };
  const body store_relaxed = [](litmus& on) { on.store(y, 1, relaxed); };
  const auto load_acquired = [](litmus& on) { return on.load(y, acquire); };
  const auto load_relaxed = [](litmus& on) { return on.load(y, relaxed); };
  const auto load_and_fence = [](litmus& on) {
    const std::uint64_t found = on.load(y, relaxed);
    on.fence(acquire);
    return found;
  };
  for (const body& show : {store_released, fence_and_store})
    for (const std::function<std::uint64_t(litmus&)>& look :
         {std::function(load_acquired), std::function(load_and_fence)}) {
      const outcomes all = message(show, look);
      CHECK_FALSE(all.wrong);
      CHECK(all.have({1, 1}));
      CHECK(all.have({0, 0}));
      CHECK_FALSE(all.have({1, 0}));
    }
  CHECK(message(store_relaxed, load_acquired).wrong);
  CHECK(message(store_released, load_relaxed).wrong);
  const auto only_words = [&](std::memory_order store, std::memory_order load) {
    return outcomes_of({[=](litmus& on) { on.store(x, 1, relaxed), on.store(y, 1, store); },
                        [=](litmus& on) { on.found[0] = on.load(y, load), on.found[1] = on.load(x, relaxed); }});
  };
  CHECK(only_words(relaxed, acquire).have({1, 0}));
  CHECK(only_words(release, relaxed).have({1, 0}));
  CHECK_FALSE(only_words(release, acquire).have({1, 0}));
}

TEST_CASE("of two that say something and look one finds it where all is seq_cst, or both have such fences", "[weak]") {
  CHECK(both_say(release, relaxed, relaxed, acquire).have({0, 0}));
  CHECK_FALSE(both_say(seq_cst, relaxed, relaxed, seq_cst).have({0, 0}));
  CHECK(both_say(seq_cst, relaxed, relaxed, acquire).have({0, 0}));
  CHECK(both_say(release, relaxed, relaxed, seq_cst).have({0, 0}));
  CHECK_FALSE(both_say(relaxed, seq_cst, seq_cst, relaxed).have({0, 0}));
  CHECK(both_say(relaxed, seq_cst, std::memory_order_acq_rel, relaxed).have({0, 0}));
}

TEST_CASE("of a seq_cst fence and of seq_cst operations one finds the other", "[weak]") {
  const auto mixed = [](std::memory_order store, std::memory_order load) {
    return outcomes_of({[](litmus& on) {
                          on.store(x, 1, relaxed);
                          on.fence(seq_cst);
                          on.found[0] = on.load(y, relaxed);
                        },
                        [=](litmus& on) {
                          on.store(y, 1, store);
                          on.found[1] = on.load(x, load);
                        }});
  };
  CHECK_FALSE(mixed(seq_cst, seq_cst).have({0, 0}));
  CHECK(mixed(relaxed, seq_cst).have({0, 0}));
  CHECK(mixed(seq_cst, relaxed).have({0, 0}));
}

TEST_CASE("two that look may find two stores in different orders, unless they have seq_cst fences", "[weak]") {
  CHECK(seen_by_two(acquire, relaxed).have({1, 0, 1, 0}));
  CHECK_FALSE(seen_by_two(relaxed, seq_cst).have({1, 0, 1, 0}));
}

TEST_CASE("what a seq_cst fence shows is no order of what is not atomic", "[weak]") {
  const outcomes all = outcomes_of({[](litmus& on) { on.write(), on.store(x, 1, relaxed), on.fence(seq_cst); },
                                    [](litmus& on) {
                                      on.fence(seq_cst);
                                      if (on.load(x, relaxed) == 1) on.read();
                                    }});
  CHECK(all.wrong);
}

TEST_CASE("nobody finds an earlier store than before", "[weak]") {
  const outcomes all = outcomes_of({[](litmus& on) { on.store(x, 1, relaxed), on.store(x, 2, relaxed); },
                                    [](litmus& on) {
                                      for (std::uint64_t& each : on.found) each = on.load(x, relaxed);
                                    }});
  for (const findings& each : all.found) CHECK(std::is_sorted(each.begin(), each.end()));
  CHECK(all.have({0, 0, 1, 2}));
}
