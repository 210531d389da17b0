// SPDX-License-Identifier: Apache-2.0
// What the messenger remembers of communicators that are no more.
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "fabric/failing_allocation.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;

namespace {

/// A communicator of some ranks of the world, joined when it is made; who is still in it when it goes leaves.
class scope {
 public:
  scope(messenger_job& job, std::uint64_t id, const std::vector<int>& world) : job_(job) {
    auto members = std::make_shared<fabric::group>();
    members->communicator = id;
    for (const int rank : world) {
      members->world.push_back(rank);
      members->process.push_back(job.process_of(rank));
    }
    for (int i = 0; i < members->size(); ++i) ranks_.push_back(std::make_unique<fabric::participant>(members, i));
    for (auto& each : ranks_) messenger_of(*each).join(*each);
  }
  ~scope() {
    for (auto& each : ranks_)
      if (each->here != nullptr) messenger_of(*each).leave(*each);
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  fabric::participant& operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

 private:
  fabric::messenger& messenger_of(const fabric::participant& rank) {
    return job_[rank.members->process[static_cast<std::size_t>(rank.rank)]];
  }

  messenger_job& job_;
  std::vector<std::unique_ptr<fabric::participant>> ranks_;
};

job_shape two_by_two() {
  job_shape shape;
  shape.ranks_each = 2;
  return shape;
}

}  // namespace

TEST_CASE("100,000 communicators that have gone take no memory", "[messenger][memory]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  messenger_job job(two_by_two());
  // Several at a time, gone in any order; each rank leads some, some are of all ranks, and some fail.
  std::array<std::unique_ptr<scope>, 16> alive;
  std::array<std::uint64_t, 4> counters{};
  std::int64_t settled = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (i == 20'000) settled = bytes_in_use();
    const auto leader = random() % 4;
    const std::uint64_t id = fabric::communicator_id(leader, counters[leader] += 1 + random() % 3);
    const int first = static_cast<int>(leader);
    auto& place = alive[random() % alive.size()];
    place.reset();
    place = random() % 2 == 0 ? std::make_unique<scope>(job, id, std::vector{first, (first + 1) % 4})
                              : std::make_unique<scope>(job, id, std::vector{first, 3 - first});
    if (i % 8 != 0) continue;
    job.of_rank(first).break_communicator(id, errc::revoked, "rank " + std::to_string(first) + " gave it up");
    job.poll();
    REQUIRE((*place)[1].failure != nullptr);
  }
  CHECK(settled > 0);
  CHECK(bytes_in_use() - settled < 64 << 10);
}

TEST_CASE("a message waits for a rank that joins after another rank of its process", "[messenger]") {
  messenger_job job(two_by_two());
  auto members = std::make_shared<fabric::group>();
  *members = {fabric::communicator_id(0, 1), {0, 2}, {0, 1}};
  fabric::participant first(members, 0), late(members, 1);
  job[0].join(first);
  test_send early(first, 1, 7, pattern(100, 1));
  job[0].post(early);
  job.settle();
  { const scope of_another(job, fabric::communicator_id(0, 2), {0, 3}); }  // rank 3 is of rank 2's process
  test_send later(first, 1, 7, pattern(100, 2));
  job[0].post(later);
  job.settle();
  job[1].join(late);
  test_receive one(late, 0, 7, 100), two(late, 0, 7, 100);
  job[1].post(one);
  job[1].post(two);
  job.poll_until([&] { return one.done && two.done && early.done && later.done; }, "both messages");
  CHECK(one.message == pattern(100, 1));
  CHECK(two.message == pattern(100, 2));
  job[0].leave(first);
  job[1].leave(late);
}

TEST_CASE("messages for a rank that has left end, in whatever order it left", "[messenger]") {
  messenger_job job(two_by_two());
  std::vector<std::unique_ptr<scope>> three;
  for (std::uint64_t counter = 1; counter <= 3; ++counter)
    three.push_back(std::make_unique<scope>(job, fabric::communicator_id(1, counter), std::vector{1, 2}));
  for (const std::size_t which : {1, 2, 0}) {
    fabric::participant& leaving = (*three[which])[1];
    job[1].leave(leaving);
    CHECK_THROWS_AS(job[1].join(leaving), weft::error);
    for (const std::size_t size : {100, 100'000}) {
      test_send gone((*three[which])[0], 1, 7, pattern(size, 1));
      job[0].post(gone);
      job.poll_until([&] { return gone.done.load(); }, "a message that nobody will take");
      CHECK(gone.failure == nullptr);
    }
    for (std::size_t other = 0; other < 3; ++other) {  // those that it has not left work
      if ((*three[other])[1].here == nullptr) continue;
      test_send send((*three[other])[0], 1, 8, pattern(100, other));
      test_receive receive((*three[other])[1], 0, 8, 100);
      job[0].post(send);
      job[1].post(receive);
      job.poll_until([&] { return receive.done && send.done; }, "a message");
      CHECK(receive.message == pattern(100, other));
    }
  }
}

TEST_CASE("a rank that joins a communicator that has failed is told so", "[messenger][failures]") {
  messenger_job job(two_by_two());
  job[1].break_communicator(fabric::communicator_id(0, 5), errc::revoked, "broken before");
  job.poll();
  scope joined(job, fabric::communicator_id(0, 5), {0, 3});
  for (const int rank : {0, 1}) {
    REQUIRE(joined[rank].failure != nullptr);
    CHECK(describe(joined[rank].failure).text == "broken before");
  }
}
