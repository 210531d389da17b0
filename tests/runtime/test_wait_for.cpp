// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/wait_for.hpp>

#include "catch.hpp"
#include "polled.hpp"

using weft::coroutine;

namespace {

/// Comes, and is given up, when it has been asked so often. Writes down what it is asked: a look, woken, a pause.
struct awaited {
  int comes_at = 1, given_up_at = 1'000'000, most_looks = 3;
  std::string asked{};
  int times_asked = 0, looks_taken = -1;

  bool has_come() {
    asked += 'l';
    return ++times_asked >= comes_at;
  }
  bool is_given_up() const { return times_asked >= given_up_at; }
  int looks() const { return most_looks; }
  void came_after(int looks) { looks_taken = looks; }
  void before_pauses() { asked += 'w'; }
  void pause() { asked += 'p'; }
};

/// A coroutine that waits for it.
class waiting {
 public:
  explicit waiting(awaited& it) : it_(it), on_(weft::stack::default_size) {
    on_.begin([](void* self) { static_cast<waiting*>(self)->wait(); }, this);
  }
  bool go_on(coroutine::at_waits what) { return on_.resume(what); }
  bool came = false;

 private:
  void wait() { came = weft::wait_for(it_); }

  awaited& it_;
  coroutine on_;
};

}  // namespace

TEST_CASE("a wait looks first, wakes others before it pauses, and looks behind each pause", "[wait-for]") {
  awaited at_once;
  CHECK(weft::wait_for(at_once));
  CHECK(at_once.asked == "l");
  CHECK(at_once.looks_taken == 0);

  awaited soon{.comes_at = 3};
  CHECK(weft::wait_for(soon));
  CHECK(soon.asked == "lll");
  CHECK(soon.looks_taken == 2);

  awaited late{.comes_at = 6};
  CHECK(weft::wait_for(late));
  CHECK(late.asked == "lllwlplpl");
  CHECK(late.looks_taken == -1);

  awaited without_looks{.comes_at = 2, .most_looks = 0};
  CHECK(weft::wait_for(without_looks));
  CHECK(without_looks.asked == "wlpl");
}

TEST_CASE("a wait ends where what is awaited is given up, unless it has come", "[wait-for]") {
  awaited given_up{.comes_at = 100, .given_up_at = 5};
  CHECK_FALSE(weft::wait_for(given_up));
  CHECK(given_up.asked == "lllwlpl");
  awaited has_come{.comes_at = 4, .given_up_at = 1};
  CHECK(weft::wait_for(has_come));
}

TEST_CASE("others are woken before a fiber lets others run in the middle of its looks", "[wait-for]") {
  std::string woken_by_then;
  weft::scheduler fibers;
  awaited it{.comes_at = 100, .most_looks = 1000};
  fibers.spawn([&] { CHECK(weft::wait_for(it)); });
  fibers.spawn([&] { woken_by_then = it.asked; });
  fibers.run();
  CHECK(std::ranges::count(woken_by_then, 'l') < 100);
  CHECK(woken_by_then.ends_with('w'));
}

TEST_CASE("a coroutine is left at its first look, and once more each time", "[wait-for]") {
  awaited it{.comes_at = 4};
  waiting coroutine(it);
  for (int left = 0; left < 3; ++left) CHECK_FALSE(coroutine.go_on(coroutine::at_waits::leave));
  CHECK(it.asked == "lwlwlw");
  CHECK(coroutine.go_on(coroutine::at_waits::leave));
  CHECK(coroutine.came);

  awaited without_looks{.comes_at = 3, .most_looks = 0};
  waiting leaves(without_looks);
  for (int left = 0; left < 2; ++left) CHECK_FALSE(leaves.go_on(coroutine::at_waits::leave));
  CHECK(leaves.go_on(coroutine::at_waits::leave));
  CHECK(without_looks.asked == "wlll");

  awaited later{.comes_at = 6};
  waiting stays(later);
  CHECK_FALSE(stays.go_on(coroutine::at_waits::leave));
  CHECK(stays.go_on(coroutine::at_waits::wait));
  CHECK(later.asked == "lwlllwlpl");
}

TEST_CASE("a coroutine is not left for what is given up", "[wait-for]") {
  awaited it{.comes_at = 100, .given_up_at = 2};
  waiting coroutine(it);
  CHECK_FALSE(coroutine.go_on(coroutine::at_waits::leave));
  CHECK(coroutine.go_on(coroutine::at_waits::leave));
  CHECK_FALSE(coroutine.came);
}

TEST_CASE("what nothing tells of is looked for, while others run and it is polled", "[wait-for]") {
  int polls = 0, turns = 0;
  weft_test::calls counts([&] { return ++polls < 5; });
  weft::progress by(counts);
  weft::look_for(by, [&] { return polls >= 5; });
  CHECK(polls >= 5);
  CHECK_FALSE(weft::look_for(
      by, [] { return false; }, [&] { return polls > 10; }));

  weft::scheduler fibers;
  fibers.spawn([&] { weft::look_for(by, [&] { return turns == 3; }); });
  fibers.spawn([&] {
    for (; turns < 3; ++turns) weft::scheduler::yield();
  });
  fibers.run();
  CHECK(turns == 3);
}
