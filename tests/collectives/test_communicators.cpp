// SPDX-License-Identifier: Apache-2.0
// Communicators made from communicators.
#include <map>
#include <set>
#include <thread>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

int sum_of_ones(weft::communicator& among) {
  const int one = 1;
  int all = 0;
  among.allreduce(std::span(&one, 1), std::span(&all, 1), weft::sum);
  return all;
}

}  // namespace

TEST_CASE("a split ranks each colour by key, then by rank", "[communicators]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(6) : small_job(2, 3);
  run_ranks(what, [](weft::communicator& world) {
    const int colour = world.rank() % 2;
    const int n = world.size();
    auto half = world.split(colour, -world.rank());
    expect(half && half->size() == n / 2, "half of the ranks");
    expect(half->rank() == n / 2 - 1 - world.rank() / 2, "ranks in falling order");
    auto same = world.split(7, 0);
    expect(same->rank() == world.rank(), "ranks of equal keys in their order");
    std::vector<int> from(1, world.rank());
    half->bcast(from, 0);
    expect(from[0] == n - 2 + colour, "the highest rank of a colour to be its first");

    auto some = world.split(world.rank() == 1 ? -1 : 3);
    expect(some.has_value() == (world.rank() != 1), "no communicator for a negative colour");
    if (some) expect(sum_of_ones(*some) == n - 1, "the others together");
    auto alone = world.split(world.rank());
    expect(alone->size() == 1 && sum_of_ones(*alone) == 1, "a communicator of one");
    auto nested = half->split(half->rank() == 0 ? 0 : 1);
    expect(sum_of_ones(*nested) == (half->rank() == 0 ? 1 : n / 2 - 1), "a split of a split");
    auto none = world.split(-1);
    expect(!none, "nobody in no colour");
  });
}

TEST_CASE("messages of different communicators never meet", "[communicators]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  run_ranks(what, [](weft::communicator& world) {
    auto twin = world.dup();
    const int next = (world.rank() + 1) % 3;
    const int last = (world.rank() + 2) % 3;
    for (const std::size_t count : {1, 2000}) {
      const std::vector<int> for_world(count, 1), for_twin(count, 2);
      std::vector<int> in(count);
      auto a = world.isend(for_world, next, 5);
      auto b = twin.isend(for_twin, next, 5);
      twin.recv(in);
      expect(in[0] == 2, "the twin's message");
      expect(!twin.iprobe(), "no other message for the twin");
      world.recv(in, last, 5);
      expect(in[0] == 1, "the world's message");
      a.wait();
      b.wait();
      std::vector<int> x(count, 1), y(count, 10);
      auto first = world.iallreduce(x, x, weft::sum);
      auto second = twin.iallreduce(y, y, weft::sum);
      second.wait();
      first.wait();
      expect(x[0] == 3 && y[0] == 30, "sums of their own");
    }
  });
}

TEST_CASE("communicators are freed while others go on", "[communicators]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(2, 2);
  run_ranks(what, [](weft::communicator& world) {
    auto kept = world.dup();
    std::vector<int> big(5000, 1);
    auto going_on = kept.iallreduce(big, big, weft::sum);
    for (int i = 0; i < 20; ++i) {
      auto brief = world.dup();
      expect(sum_of_ones(brief) == world.size(), "all of a brief communicator");
      // What nobody received is dropped with it.
      brief.send(std::vector<int>{i}, (brief.rank() + 1) % brief.size(), 3);
    }
    going_on.wait();
    expect(big[4999] == world.size() && sum_of_ones(kept) == world.size(), "the kept one to go on");
    expect(!world.iprobe(), "no message of a freed communicator in another one");
  });
}

TEST_CASE("communicators outlive the one that they come from", "[communicators]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    auto inner = [&] {
      auto outer = world.dup();
      return outer.split(outer.rank() % 2);
    }();
    expect(sum_of_ones(*inner) == (world.rank() == 1 ? 1 : 2), "the inner one");
  });
}

TEST_CASE("1,000 duplicates come and go, none with an old id", "[communicators]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  run_ranks(what, [](weft::communicator& world) {
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i) {
      auto each = world.dup();
      // Errors name the communicator's id.
      ids.insert(expect_error(weft::errc::invalid_argument, [&] { each.send(std::vector<int>{1}, 99); }));
      if (i % 10 == 0) expect(sum_of_ones(each) == 3, "duplicate ", i, " to work");
    }
    expect(ids.size() == 1000, "1,000 different ids, found ", ids.size());
  });
}

TEST_CASE("a split that fails gives its id to nobody else", "[communicators]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    auto doomed = world.dup();
    std::optional<weft::communicator> half;
    if (doomed.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      doomed.abort();
    } else {
      const auto text = expect_error(weft::errc::revoked, [&] { half = doomed.split(0); });
      expect_text(text, "split on rank ");
    }
    auto after = world.dup();
    expect(sum_of_ones(after) == 3, "a communicator after the failed split");
  });
}

TEST_CASE("a rank makes a communicator of itself alone while the others do something else", "[communicators]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  run_ranks(what, [](weft::communicator& world) {
    if (world.rank() == 2) {  // the others make none
      for (int i = 0; i < 50; ++i) {
        auto alone = world.alone();
        expect(alone.rank() == 0 && alone.size() == 1 && alone.members()[0] == 2, "rank 2 alone");
        expect(sum_of_ones(alone) == 1, "the sum of one");
        std::vector<int> there{i}, back(1);
        weft::handle sent = alone.isend(there, 0, 5);
        alone.recv(back, 0, 5);
        sent.wait();
        expect(back == there, "a message to itself");
        auto again = alone.dup();
        expect(again.alone().size() == 1 && sum_of_ones(again) == 1, "what is made of it");
      }
    }
    expect(sum_of_ones(world) == 3, "all of them");
    auto same = world.dup();
    expect(sum_of_ones(same) == 3 && world.alone().size() == 1, "a communicator of all behind those");
  });
}
