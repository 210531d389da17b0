// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <future>
#include <thread>
#include <weft/process/kept_threads.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using weft::detail::kept_threads;

namespace {

/// A thread whose first fiber blocks it whenever it has been told to, while the second one is runnable or parked.
class two_fibers {
 public:
  explicit two_fibers(bool second_is_ready) {
    fibers_.spawn([this] { block(); });
    fibers_.spawn([this, second_is_ready] {
      if (!second_is_ready) return;
      while (!over_) weft::scheduler::yield();
    });
    thread_ = std::thread([this] { fibers_.run(); });
    blocks_.get_future().wait();
  }
  ~two_fibers() {
    go_on();
    end_.set_value();
    thread_.join();
  }

  const weft::scheduler& thread() const noexcept { return fibers_; }
  const void* first() const noexcept { return first_; }

  /// The first fiber lets the other one run, and blocks again.
  void take_turns() {
    go_on_.set_value();
    again_.get_future().wait();
  }

 private:
  void block() {
    first_ = weft::fiber::current();
    weft::scheduler::yield();  // the other one has begun
    blocks_.set_value();
    go_on_.get_future().wait();
    weft::scheduler::yield();
    again_.set_value();
    end_.get_future().wait();
    over_ = true;
  }
  void go_on() {
    try {
      go_on_.set_value();
    } catch (const std::future_error&) {  // it has been
    }
  }

  weft::scheduler fibers_;
  const void* first_ = nullptr;
  bool over_ = false;
  std::promise<void> blocks_, go_on_, again_, end_;
  std::thread thread_;
};

const kept_threads::time_point begin{1000s};

}  // namespace

TEST_CASE("a fiber that keeps its thread from another for a second is told of, once") {
  two_fibers both(true);
  kept_threads watched;
  watched.make_room(2);
  watched.add(both.thread());
  watched.add(both.thread());
  CHECK(watched.ranks_of(both.thread()) == 2);
  watched.look(begin);
  CHECK_FALSE(watched.next_to_tell());
  watched.look(begin + 600ms);
  CHECK_FALSE(watched.next_to_tell());
  CHECK(watched.time_of(both.first()) == 600ms);
  watched.look(begin + 1s);
  const auto told = watched.next_to_tell();
  REQUIRE(told);
  CHECK(told->thread == &both.thread());
  CHECK(told->fiber == both.first());
  CHECK(told->time == 1s);
  for (auto later = 2s; later < 40s; later += 1s) watched.look(begin + later);
  CHECK_FALSE(watched.next_to_tell());

  both.take_turns();
  watched.look(begin + 40s);
  CHECK(watched.time_of(both.first()) == 0s);
  for (auto later = 41s; later < 50s; later += 1s) watched.look(begin + later);
  CHECK_FALSE(watched.next_to_tell());  // that long was told of
  watched.look(begin + 50s);
  REQUIRE(watched.next_to_tell());  // ten times as long was not
}

TEST_CASE("a fiber that keeps its thread from nobody is not told of") {
  const two_fibers both(false);
  kept_threads watched;
  watched.add(both.thread());
  for (auto later = 0s; later < 10s; later += 1s) watched.look(begin + later);
  CHECK_FALSE(watched.next_to_tell());
  CHECK(watched.time_of(both.first()) == 0s);
}

TEST_CASE("what was seen before the whole process stood still is not told of") {
  const two_fibers both(true);
  kept_threads watched;
  watched.add(both.thread());
  watched.look(begin);
  watched.look(begin + 3600s);
  CHECK_FALSE(watched.next_to_tell());
  watched.look(begin + 3601s);
  CHECK(watched.next_to_tell());
}

TEST_CASE("a thread without ranks is not looked at") {
  kept_threads watched;
  {
    const two_fibers both(true);
    watched.add(both.thread());
    watched.look(begin);
    watched.take_back(both.thread());
  }
  watched.look(begin + 1s);
  CHECK_FALSE(watched.next_to_tell());
}
