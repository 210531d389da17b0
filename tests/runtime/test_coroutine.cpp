// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "polled.hpp"

using weft::coroutine;

namespace {

/// A coroutine that runs `body`.
class running {
 public:
  explicit running(std::function<void()> body) : body_(std::move(body)), on_(weft::stack::default_size) { begin(); }
  void begin() {
    on_.begin([](void* self) { static_cast<running*>(self)->body_(); }, this);
  }
  bool go_on() { return on_.resume(coroutine::at_waits::leave); }
  void finish() { CHECK(on_.resume(coroutine::at_waits::wait)); }

 private:
  std::function<void()> body_;
  coroutine on_;
};

}  // namespace

TEST_CASE("a coroutine is left where it would wait, and begins again", "[coroutine]") {
  weft::event first, second;
  weft::progress by(weft_test::nothing);
  std::string seen;
  running it([&] {
    seen += "a";
    first.wait(by);
    seen += "b";
    second.wait(by);
    seen += "c";
  });
  for (int round = 0; round < 3; ++round) {
    seen.clear();
    first.reset();
    second.reset();
    it.begin();
    CHECK_FALSE(it.go_on());
    CHECK_FALSE(it.go_on());
    CHECK(seen == "a");
    first.set();
    CHECK_FALSE(it.go_on());
    CHECK(seen == "ab");
    second.set();
    CHECK(it.go_on());
    CHECK(seen == "abc");
  }
}

TEST_CASE("a coroutine goes on on whichever thread resumes it, with its exceptions", "[coroutine]") {
  weft::progress by(weft_test::nothing);
  std::vector<weft::event> gates(6);
  std::string caught;
  running it([&] {
    try {
      throw std::runtime_error("what was thrown");
    } catch (const std::runtime_error&) {
      for (weft::event& each : gates) {
        each.wait(by);
        try {
          throw;
        } catch (const std::runtime_error& again) {
          caught = again.what();
        }
      }
    }
  });
  CHECK_FALSE(it.go_on());
  for (weft::event& each : gates) {
    each.set();
    std::thread([&] {
      try {
        throw 1;
      } catch (int) {
        const bool over = it.go_on();
        CHECK(over == (&each == &gates.back()));
      }
    }).join();
    CHECK(caught == "what was thrown");
  }
}

TEST_CASE("where it may wait a coroutine waits as whoever resumes it", "[coroutine]") {
  weft::event gate;
  weft::progress by(weft_test::nothing);
  weft::scheduler fibers;
  std::string seen;
  running it([&] {
    seen += "1";
    gate.wait(by);
    weft::scheduler::yield();
    seen += "3";
  });
  CHECK_FALSE(it.go_on());
  fibers.spawn([&] {
    it.finish();
    seen += "4";
  });
  fibers.spawn([&] {
    seen += "2";
    gate.set();
  });
  fibers.run();
  CHECK(seen == "1234");
}

TEST_CASE("a coroutine that waits no longer than to a deadline is not left behind that", "[coroutine]") {
  weft::event never;
  weft::progress by(weft_test::nothing);
  bool set = true;
  running it([&] { set = never.wait_until(by, by.time().now() + std::chrono::milliseconds(5)); });
  int turns = 1;
  while (!it.go_on()) ++turns;
  CHECK_FALSE(set);
  CHECK(turns > 1);
}

TEST_CASE("one coroutine resumes another", "[coroutine]") {
  weft::event inner_gate, outer_gate;
  weft::progress by(weft_test::nothing);
  running inner([&] { inner_gate.wait(by); });
  int begun = 0;
  running outer([&] {
    ++begun;
    CHECK_FALSE(inner.go_on());
    outer_gate.wait(by);
    inner_gate.set();
    CHECK(inner.go_on());
  });
  CHECK_FALSE(outer.go_on());
  outer_gate.set();
  CHECK(outer.go_on());
  CHECK(begun == 1);
}
