// SPDX-License-Identifier: Apache-2.0
// Processes that die and communicators that break in the middle of traffic. Operations free their memory as they
// finish, so that AddressSanitizer sees whatever touches it later.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;
using weft::fabric::any_message_tag;
using weft::fabric::any_peer;

namespace {

job_shape shape_to_break(std::mt19937_64& random) {
  job_shape shape;
  shape.processes = 3 + static_cast<int>(random() % 2);
  shape.ranks_each = 1 + static_cast<int>(random() % 2);
  shape.settings.eager_limit = 64 << random() % 4;
  shape.settings.credit = 1024 << random() % 5;
  shape.settings.unexpected_limit = 1000 << random() % 6;
  shape.settings.send_buffer_limit = random() % 2 ? 0 : 5000;
  shape.settings.piece = 100 + random() % 2000;
  shape.settings.window = 1000 << random() % 4;
  shape.network.queue = 1 + random() % 16;
  shape.network.receives = random() % 2 ? SIZE_MAX : 1 + random() % 8;
  shape.network.jitter_seed = random() | 1;
  return shape;
}

/// Sends and receives between random ranks of a communicator; collectives' tags tell every operation from the others.
class disturbed_traffic {
 public:
  disturbed_traffic(messenger_job& job, std::mt19937_64& random, std::uint64_t id, std::vector<int> ranks)
      : job_(job), random_(random), ranks_(std::move(ranks)), members_(job.communicator(id, ranks_)) {}

  void post_something() {
    const std::size_t from = random_() % ranks_.size(), to = random_() % ranks_.size();
    const bool collective = random_() % 2;
    const std::size_t size = random_() % 3 ? random_() % 9000 : random_() % 100;
    const std::uint64_t tag = collective ? ++collectives_ : random_() % 3;
    const auto send = [&] {
      if (!alive(from)) return;
      sends_.push_back({&job_.sends.emplace_back(*members_[from], static_cast<int>(to), tag,
                                                 pattern(size, collective ? tag : 0), collective, 1),
                        from});
      job_.of_rank(ranks_[from]).post(*sends_.back().operation);
    };
    const auto receive = [&] {
      if (!alive(to)) return;
      const bool wild = !collective && random_() % 3 == 0;
      receives_.push_back({&job_.receives.emplace_back(*members_[to], wild ? any_peer : static_cast<int>(from),
                                                       wild ? any_message_tag : tag,
                                                       collective ? size : std::size_t{9000}, collective, 1),
                           to});
      job_.of_rank(ranks_[to]).post(*receives_.back().operation);
    };
    if (collective && random_() % 2) return receive(), send();
    send();
    if (collective || random_() % 2) receive();
  }

  bool ended() const {
    const auto over = [&](const auto& each) { return each.operation->done || !alive(each.rank); };
    return std::all_of(sends_.begin(), sends_.end(), over) && std::all_of(receives_.begin(), receives_.end(), over);
  }

  /// Everything ended once, with one of these codes if it failed, and what arrived is right.
  void check(std::initializer_list<errc> codes) const {
    const auto right = [&](const auto& each) {
      if (!alive(each.rank)) return;
      CHECK(each.operation->endings == 1);
      if (each.operation->failure == nullptr) return;
      const described_failure failure = describe(each.operation->failure);
      INFO(failure.text);
      CHECK(std::any_of(codes.begin(), codes.end(), [&](errc code) { return failure.code == code; }));
    };
    for (const auto& each : sends_) right(each);
    for (const auto& each : receives_) {
      right(each);
      if (each.operation->done && each.operation->failure == nullptr)
        CHECK(each.operation->message ==
              pattern(each.operation->message.size(), each.operation->collective ? each.operation->tag : 0));
    }
  }

  bool alive(std::size_t rank) const { return job_.alive(job_.process_of(ranks_[rank])); }
  const std::vector<weft::fabric::participant*>& members() const { return members_; }
  int world_rank(std::size_t rank) const { return ranks_[rank]; }

 private:
  template <class Operation>
  struct posted {
    Operation* operation;
    std::size_t rank;
  };
  messenger_job& job_;
  std::mt19937_64& random_;
  std::vector<int> ranks_;
  std::vector<weft::fabric::participant*> members_;
  std::vector<posted<test_send>> sends_;
  std::vector<posted<test_receive>> receives_;
  std::uint64_t collectives_ = 0;
};

std::vector<int> ranks_but_those_of(const messenger_job& job, int process) {
  std::vector<int> ranks;
  for (int rank = 0; rank < job.ranks(); ++rank)
    if (job.process_of(rank) != process) ranks.push_back(rank);
  return ranks;
}

/// A communicator in which nothing failed still carries messages of all lengths between all its ranks.
void check_that_it_works(messenger_job& job, const std::vector<int>& ranks, std::uint64_t id) {
  const auto members = job.communicator(id, ranks);
  std::vector<test_receive*> receives;
  for (std::size_t from = 0; from < ranks.size(); ++from)
    for (std::size_t to = 0; to < ranks.size(); ++to)
      for (const bool collective : {false, true})
        for (const std::size_t size : {10, 20000}) {
          job.of_rank(ranks[from])
              .post(job.sends.emplace_back(*members[from], static_cast<int>(to), size, pattern(size, from), collective,
                                           1));
          receives.push_back(
              &job.receives.emplace_back(*members[to], static_cast<int>(from), size, size, collective, 1));
          job.of_rank(ranks[to]).post(*receives.back());
        }
  job.poll_until(
      [&] { return std::all_of(receives.begin(), receives.end(), [](const auto* each) { return each->done.load(); }); },
      "messages of the living");
  for (const test_receive* each : receives)
    CHECK(each->message == pattern(each->bytes, static_cast<std::size_t>(each->peer)));
}

}  // namespace

TEST_CASE("a process that dies ends what needs it and nothing else", "[messenger][failures][random]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    messenger_job job(shape_to_break(random));
    const int victim = static_cast<int>(random() % static_cast<std::size_t>(job.processes()));
    std::vector<int> all(static_cast<std::size_t>(job.ranks()));
    for (int rank = 0; rank < job.ranks(); ++rank) all[static_cast<std::size_t>(rank)] = rank;
    disturbed_traffic traffic(job, random, 1, all);
    const auto some_traffic = [&](std::size_t most) {
      for (std::size_t i = random() % most; i > 0; --i) {
        if (random() % 2) traffic.post_something();
        job.poll();
      }
    };
    some_traffic(60);
    job.kill(victim);
    some_traffic(10);
    for (int process = 0; process < job.processes(); ++process) {
      if (process == victim) continue;
      job[process].lose(victim, "the test killed it");
      some_traffic(10);
    }
    job.poll_until([&] { return traffic.ended(); }, "the end of all operations");
    some_traffic(10);
    job.poll_until([&] { return traffic.ended(); }, "the end of later operations");
    traffic.check({errc::peer_lost});
    check_that_it_works(job, ranks_but_those_of(job, victim), 2);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      if (traffic.alive(rank)) job.of_rank(all[rank]).leave(*traffic.members()[rank]);
    job.settle();
  }
}

TEST_CASE("a communicator that breaks in the middle of traffic ends everywhere", "[messenger][failures][random]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    messenger_job job(shape_to_break(random));
    std::vector<int> all = ranks_but_those_of(job, -1);
    disturbed_traffic broken(job, random, 1, all), whole(job, random, 2, all);
    job.hold_notes = true;
    const auto some_traffic = [&](std::size_t most) {
      for (std::size_t i = random() % most; i > 0; --i) {
        if (random() % 2) broken.post_something();
        if (random() % 4 == 0) whole.post_something();
        job.poll();
      }
    };
    some_traffic(60);
    const int who = static_cast<int>(random() % static_cast<std::size_t>(job.processes()));
    job[who].break_communicator(1, errc::revoked, "the test broke it");
    some_traffic(20);
    // Another fails for a reason of its own before it hears of the first.
    const bool second = random() % 3 == 0;
    if (second) job[(who + 1) % job.processes()].break_communicator(1, errc::operation_failed, "and broke it again");
    some_traffic(10);
    // A process may die while what it was sending is being withdrawn.
    const int victim = random() % 3 == 0 ? static_cast<int>(random() % static_cast<std::size_t>(job.processes())) : -1;
    if (victim >= 0) {
      job.kill(victim);
      for (int process = 0; process < job.processes(); ++process)
        if (process != victim) job[process].lose(victim, "the test killed it");
    }
    job.hold_notes = false;
    job.poll_until([&] { return broken.ended(); }, "the end of all operations");
    if (second || victim >= 0)
      broken.check({errc::revoked, errc::operation_failed, errc::peer_lost});
    else
      broken.check({errc::revoked});
    if (victim >= 0) {
      job.poll_until([&] { return whole.ended(); }, "the end of the other communicator's operations");
      whole.check({errc::peer_lost});
    }
    check_that_it_works(job, ranks_but_those_of(job, victim), 3);
    if (random() % 2)
      for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (broken.alive(rank)) job.of_rank(all[rank]).leave(*broken.members()[rank]);
    job.settle();
  }
}

TEST_CASE("the reason for a failure is not masked by its consequences", "[messenger][failures]") {
  // Process 1 hears first that process 2 is lost, and stops what it sends to process 0.
  job_shape shape;
  shape.processes = 3;
  shape.settings.eager_limit = 256;
  shape.settings.piece = 1024;
  messenger_job job(shape);
  const auto world = job.world();
  job.hold_notes = true;
  auto& send = job.sends.emplace_back(*world[1], 0, 1, pattern(50000, 1), true, 1);
  auto& receive = job.receives.emplace_back(*world[0], 1, 1, 50000, true, 1);
  const bool begun = GENERATE(true, false);
  if (begun) {
    job[1].post(send);
    job[0].post(receive);
    for (int i = 0; i < 3; ++i) job.poll();
  }
  job.kill(2);
  job[1].lose(2, "the test killed it");
  for (int i = 0; i < 20; ++i) job.poll();
  if (!begun) job[0].post(receive);
  for (int i = 0; i < 20; ++i) job.poll();
  CHECK_FALSE(receive.done);
  job[0].lose(2, "the test killed it");
  job.poll_until([&] { return receive.done.load(); }, "the receive's end");
  CHECK(describe(receive.failure).code == errc::peer_lost);
  CHECK_THAT(describe(receive.failure).text, ContainsSubstring("rank 2"));
}

TEST_CASE("a long send ends whose receiver gives it up alone", "[messenger][failures]") {
  const bool collective = GENERATE(false, true);
  CAPTURE(collective);
  messenger_job job(small_shape(2));
  const auto world = job.world();
  test_receive receive(*world[1], 0, 1, 50000, collective, 1);
  test_send send(*world[0], 1, 1, pattern(50000, 1), collective, 1);
  job[1].post(receive);
  job[0].post(send);
  job.poll_until([&] { return send.now == weft::fabric::operation::stage::departing; }, "the grant");
  job.poll();
  CHECK_FALSE(send.done);
  job[1].break_here(*world[1]);
  job.settle();
  CHECK(receive.done);
  REQUIRE(send.done);
  CHECK((send.failure != nullptr) == collective);
  if (collective) {
    CHECK(describe(send.failure).code == errc::operation_failed);
    CHECK_THAT(describe(send.failure).text, ContainsSubstring("rank 1") && ContainsSubstring("was receiving"));
  }
  for (int process = 0; process < 2; ++process) CHECK(job[process].quiet());
}

TEST_CASE("a long message gets the share of the window that those of a communicator that failed had",
          "[messenger][failures]") {
  messenger_job job(small_shape(2));  // a window of four pieces, of each message two
  const auto failing = job.world(1), other = job.world(2);
  std::vector<test_receive*> receives;
  for (const auto& [on, tag] : {std::pair{&failing, 1}, {&failing, 2}, {&other, 1}}) {
    job[0].post(job.sends.emplace_back(*(*on)[0], 1, tag, pattern(5000, 1)));
    receives.push_back(&job.receives.emplace_back(*(*on)[1], 0, tag, 5000));
  }
  job.settle();
  for (test_receive* const each : receives) job[1].post(*each);
  job[1].break_communicator(1, errc::revoked, "by the test");
  job.settle();
  for (const test_receive* const each : receives) REQUIRE(each->done);
  CHECK(receives[0]->failure != nullptr);
  CHECK(receives[1]->failure != nullptr);
  CHECK(receives[2]->failure == nullptr);
  CHECK(receives[2]->message == pattern(5000, 1));
}
