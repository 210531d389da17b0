// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "polled.hpp"

using weft::scheduler;
using weft_test::nothing;

namespace {

/// Appends a letter to a text when it is called and when it is destroyed after it was not moved away.
struct noisy {
  explicit noisy(std::string& text) : text(&text) {}
  noisy(noisy&& other) noexcept : text(std::exchange(other.text, nullptr)) {}
  ~noisy() {
    if (text != nullptr) *text += 'd';
  }
  void operator()() { *text += 'c'; }
  std::string* text;
};

}  // namespace

TEST_CASE("fibers take turns in the order in which they were spawned") {
  scheduler fibers;
  std::string order;
  for (char name : {'a', 'b', 'c'}) {
    fibers.spawn([&order, name] {
      for (int i = 0; i < 3; ++i) {
        order += name;
        scheduler::yield();
      }
    });
  }
  REQUIRE(fibers.size() == 3);
  REQUIRE(order.empty());
  fibers.run();
  REQUIRE(order == "abcabcabc");
  REQUIRE(fibers.size() == 0);
}

TEST_CASE("current scheduler and fiber are those that run") {
  REQUIRE(scheduler::current() == nullptr);
  REQUIRE(weft::fiber::current() == nullptr);
  scheduler::yield();  // outside of a fiber: nothing
  scheduler fibers;
  weft::fiber* seen = nullptr;
  weft::fiber& spawned = fibers.spawn([&] {
    seen = weft::fiber::current();
    REQUIRE(scheduler::current() == &fibers);
    REQUIRE(&seen->owner() == &fibers);
  });
  weft::fiber* const expected = &spawned;
  fibers.run();
  REQUIRE(seen == expected);
  REQUIRE(scheduler::current() == nullptr);
}

TEST_CASE("fibers spawn fibers, on stacks that others have left") {
  scheduler fibers;
  int depth = 0;
  std::function<void()> deeper = [&] {
    if (++depth < 1000) fibers.spawn(std::ref(deeper));
  };
  fibers.spawn(std::ref(deeper));
  fibers.run();
  REQUIRE(depth == 1000);
  fibers.spawn(std::ref(deeper));  // and once more
  fibers.run();
  REQUIRE(depth == 1001);
}

TEST_CASE("functions may be movable only and are destroyed once, also when they never ran") {
  std::string text;
  {
    scheduler fibers;
    fibers.spawn(noisy(text));
    fibers.spawn([owned = std::make_unique<int>(3), &text] { text += std::to_string(*owned); });
    fibers.run();
    REQUIRE(text == "cd3");
    fibers.spawn(noisy(text));
    REQUIRE(text == "cd3");
  }
  REQUIRE(text == "cd3d");
}

TEST_CASE("the first exception that leaves a fiber comes out of run after all have ended") {
  scheduler fibers;
  int ended = 0;
  for (int i = 0; i < 5; ++i) {
    fibers.spawn([&, i] {
      for (int k = 0; k < i; ++k) scheduler::yield();
      if (i == 1 || i == 3) throw std::runtime_error("fiber " + std::to_string(i));
      ++ended;
    });
  }
  REQUIRE_THROWS_WITH(fibers.run(), "fiber 1");
  REQUIRE(ended == 3);
  REQUIRE(fibers.size() == 0);
  fibers.run();  // it is thrown once
}

TEST_CASE("run within run is refused") {
  scheduler outer;
  std::string refused;
  outer.spawn([&] {
    scheduler inner;
    try {
      inner.run();
    } catch (const weft::error& why) {
      if (why.code() == weft::errc::invalid_argument) refused = why.what();
    }
  });
  outer.run();
  REQUIRE_THAT(refused, weft_test::ContainsSubstring("one scheduler at a time"));
}

TEST_CASE("many fibers live at once") {
#if defined(__SANITIZE_THREAD__)
  constexpr int count = 2000;  // GCC's ThreadSanitizer takes 8,128, at 0.9 MB each
#else
  constexpr int count = 10000;
#endif
  scheduler fibers(64 * 1024);
  weft::progress progress(nothing);
  std::vector<weft::event> started(count);
  weft::event all;
  long sum = 0;
  int waiting = 0;
  for (int i = 0; i < count; ++i) {
    fibers.spawn([&, i] {
      if (++waiting == count) all.set();
      started[i].wait(progress);
      sum += i;
    });
  }
  fibers.spawn([&] {
    all.wait(progress);
    for (weft::event& start : started) start.set();
  });
  fibers.run();
  REQUIRE(sum == long{count} * (count - 1) / 2);
}

TEST_CASE("the idle hook is called while nothing is runnable, in no fiber") {
  scheduler fibers;
  weft::progress progress(nothing);
  weft::event done;
  int calls = 0;
  bool in_fiber = false;
  fibers.set_idle([&] {
    in_fiber |= weft::fiber::current() != nullptr;
    if (++calls == 10) done.set();
  });
  std::string order;
  fibers.spawn([&] {
    done.wait(progress);
    order += "waited";
  });
  fibers.spawn([&] {
    scheduler::yield();
    order += "yielded,";
  });
  fibers.run();
  REQUIRE(calls == 10);
  REQUIRE_FALSE(in_fiber);
  REQUIRE(order == "yielded,waited");
}

TEST_CASE("the busy hook is called although fibers never stop being runnable") {
  scheduler fibers;
  weft::progress progress(nothing);
  weft::event arrived;
  int calls = 0;
  bool stop = false;
  fibers.set_busy([&] {
    if (++calls == 3) arrived.set();
  });
  fibers.spawn([&] {
    arrived.wait(progress);
    stop = true;
  });
  long turns = 0;
  for (int i = 0; i < 2; ++i) {
    fibers.spawn([&] {
      while (!stop) {
        ++turns;
        scheduler::yield();
      }
    });
  }
  fibers.run();
  REQUIRE(calls >= 3);
  REQUIRE(turns <= 4 * scheduler::busy_interval);
}

TEST_CASE("a wake from another thread ends the idle hook's sleep") {
  scheduler fibers;
  weft::progress progress(nothing);
  weft::event done;
  fibers.set_idle([&] { fibers.sleep(std::chrono::minutes(10)); });
  fibers.spawn([&] { done.wait(progress); });
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done.set();
  });
  const auto before = std::chrono::steady_clock::now();
  fibers.run();
  REQUIRE(std::chrono::steady_clock::now() - before < std::chrono::minutes(1));
  other.join();
}

TEST_CASE("several threads wake many fibers of one scheduler") {
  const bool polls = GENERATE(false, true);
  constexpr int threads = 4, waits = 500;
  scheduler fibers;
  weft::progress progress(nothing);
  if (polls) fibers.set_idle([] { std::this_thread::yield(); });
  std::vector<std::vector<weft::event>> asked(threads), answered(threads);
  std::vector<long> payload(threads), sum(threads);
  std::vector<std::thread> wakers;
  for (int t = 0; t < threads; ++t) {
    asked[t] = std::vector<weft::event>(waits);
    answered[t] = std::vector<weft::event>(waits);
    fibers.spawn([&, t] {
      for (int i = 0; i < waits; ++i) {
        asked[t][i].set();
        answered[t][i].wait(progress);
        sum[t] += payload[t];
      }
    });
    wakers.emplace_back([&, t] {
      weft::progress own(nothing);
      for (int i = 0; i < waits; ++i) {
        asked[t][i].wait(own);
        payload[t] = i;
        answered[t][i].set();
      }
    });
  }
  fibers.run();
  for (std::thread& waker : wakers) waker.join();
  REQUIRE(sum == std::vector<long>(threads, long{waits} * (waits - 1) / 2));
}

TEST_CASE("a scheduler may be gone as soon as the last wake has let its fibers end") {
  weft::progress progress(nothing);
  for (int round = 0; round < 300; ++round) {
    auto fibers = std::make_unique<scheduler>(16 * 1024);
    auto done = std::make_unique<weft::event>();
    fibers->spawn([&] {
      done->wait(progress);
      done.reset();
    });
    std::thread other([wakes = done.get(), round] {
      for (int i = 0; i < round % 7; ++i) std::this_thread::yield();
      wakes->set();
    });
    fibers->run();
    fibers.reset();
    other.join();
  }
}
