// SPDX-License-Identifier: Apache-2.0
// Random traffic, checked against the rules of matching.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::fabric::any_message_tag;
using weft::fabric::any_peer;
using weft::fabric::message_kind;
using stage = weft::fabric::operation::stage;

namespace {

/// Tags from here on are of one message alone: those too short to say who they are.
constexpr std::uint64_t own_tags = 1000;

/// Random messages and receives between the ranks of a job, and who must have got what.
class traffic {
 public:
  traffic(messenger_job& job, std::mt19937_64& random, std::vector<std::size_t> sizes)
      : job_(job),
        random_(random),
        world_(job.world()),
        sizes_(std::move(sizes)),
        longest_(std::max(*std::max_element(sizes_.begin(), sizes_.end()), std::size_t{100})),
        receives_(world_.size()) {}

  void send_something() {
    const int from = pick(), to = pick();
    const std::size_t size = sizes_[random_() % sizes_.size()];
    send(from, to, size < 8 ? own_tags + sent_.size() : random_() % 4, size);
  }

  /// A receive for something that has been sent, or may be.
  void receive_something() {
    const int to = pick();
    int from = pick();
    std::uint64_t tag = random_() % 4;
    if (!sent_.empty() && random_() % 2) {
      const message& wanted = sent_[random_() % sent_.size()];
      if (wanted.to == to) from = wanted.from, tag = wanted.tag;
    }
    if (random_() % 4 == 0) from = any_peer;
    if (random_() % 4 == 0) tag = any_message_tag;
    receive(to, from, tag);
  }

  void poll_something() { job_[static_cast<int>(random_() % static_cast<std::size_t>(job_.processes()))].poll(); }

  /// Sends what the receives that still wait want, then receives what is left, and checks all of it.
  void finish() {
    job_.settle();
    for (std::size_t rank = 0; rank < receives_.size(); ++rank)
      for (std::size_t i = 0; i < receives_[rank].size(); ++i) {
        const test_receive& waiting = *receives_[rank][i];
        if (waiting.now != stage::posted) continue;
        send(waiting.peer == any_peer ? pick() : waiting.peer, static_cast<int>(rank),
             waiting.tag == any_message_tag ? 0 : waiting.tag, 100);
        job_.settle();
      }
    std::vector<std::size_t> expected(world_.size());
    for (const message& each : sent_) ++expected[static_cast<std::size_t>(each.to)];
    for (std::size_t rank = 0; rank < receives_.size(); ++rank)
      while (receives_[rank].size() < expected[rank]) receive(static_cast<int>(rank), any_peer, any_message_tag);
    job_.poll_until(
        [&] {
          return std::all_of(job_.sends.begin(), job_.sends.end(), [](const auto& each) { return each.done.load(); }) &&
                 std::all_of(job_.receives.begin(), job_.receives.end(),
                             [](const auto& each) { return each.done.load(); });
        },
        "all messages");
    job_.settle();
    check();
  }

  std::size_t held_up() const { return held_up_; }
  std::size_t buffered() const { return buffered_; }

 private:
  struct message {
    int from, to;
    std::uint64_t tag;
    std::size_t size;
    std::size_t receive = 0;  // by number, once it is known
    bool received = false;
  };

  int pick() { return static_cast<int>(random_() % world_.size()); }

  bytes contents(std::size_t number) const {
    bytes made = pattern(sent_[number].size, number);
    if (made.size() >= 8) std::memcpy(made.data(), &number, 8);
    return made;
  }

  void send(int from, int to, std::uint64_t tag, std::size_t size) {
    sent_.push_back({from, to, tag, size});
    weft::fabric::participant& sender = *world_[static_cast<std::size_t>(from)];
    if (random_() % 2 == 0 && job_.of_rank(from).send_now(sender, to, tag, contents(sent_.size() - 1))) return;
    const traffic_counts before = job_.counts(job_.process_of(from));
    test_send& begun = job_.sends.emplace_back(sender, to, tag, contents(sent_.size() - 1));
    begun.may_wait = random_() % 2 == 0;
    job_.of_rank(from).post(begun);
    held_up_ += begun.now == stage::waiting_for_room;
    const traffic_counts& after = job_.counts(job_.process_of(from));
    buffered_ += begun.done && job_.process_of(from) != job_.process_of(to) &&
                 after.of(message_kind::eager) == before.of(message_kind::eager);
  }

  void receive(int to, int from, std::uint64_t tag) {
    test_receive& begun = job_.receives.emplace_back(*world_[static_cast<std::size_t>(to)], from, tag, longest_);
    receives_[static_cast<std::size_t>(to)].push_back(&begun);
    job_.of_rank(to).post(begun);
  }

  void check() {
    std::size_t wrong = 0;
    for (auto& of_rank : receives_)
      for (std::size_t i = 0; i < of_rank.size(); ++i) {
        const test_receive& each = *of_rank[i];
        REQUIRE(each.failure == nullptr);
        std::size_t number = each.received_tag - own_tags;
        if (each.message.size() >= 8) std::memcpy(&number, each.message.data(), 8);
        REQUIRE(number < sent_.size());
        message& got = sent_[number];
        wrong +=
            got.received || got.from != each.source || got.tag != each.received_tag || each.message != contents(number);
        got.received = true;
        got.receive = i;
      }
    CHECK(wrong == 0);
    CHECK(overtakings() == 0);
    CHECK(std::all_of(sent_.begin(), sent_.end(), [](const message& each) { return each.received; }));
  }

  /// A receive must not get a message while an earlier one of the same sender, which it matches too, went to a later
  /// receive.
  std::size_t overtakings() const {
    std::size_t found = 0;
    for (std::size_t later = 0; later < sent_.size(); ++later) {
      const message& got = sent_[later];
      const test_receive& by = *receives_[static_cast<std::size_t>(got.to)][got.receive];
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const message& other = sent_[earlier];
        const bool candidate =
            other.from == got.from && other.to == got.to && (by.tag == any_message_tag || by.tag == other.tag);
        found += candidate && other.receive > got.receive;
      }
    }
    return found;
  }

  messenger_job& job_;
  std::mt19937_64& random_;
  std::vector<weft::fabric::participant*> world_;
  std::vector<std::size_t> sizes_;
  std::size_t longest_;
  std::vector<message> sent_;
  std::vector<std::vector<test_receive*>> receives_;
  std::size_t held_up_ = 0, buffered_ = 0;
};

job_shape random_shape(std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<std::size_t> choices) {
    return choices.begin()[random() % choices.size()];
  };
  job_shape shape;
  shape.processes = 2 + static_cast<int>(random() % 4);
  shape.ranks_each = 1 + static_cast<int>(random() % 3);
  shape.settings.eager_limit = one_of({64, 300, 4096});
  shape.settings.credit = one_of({1, 4096, 65536});
  shape.settings.unexpected_limit = one_of({0, 3000, 100000});
  shape.settings.send_buffer_limit = one_of({0, 2000, 100000});
  shape.settings.piece = one_of({100, 1000, 65536});
  shape.settings.window = one_of({1, 3000, 1 << 20});
  shape.network.queue = one_of({1, 4, 256});
  shape.network.inject = one_of({64, 128, 4096});
  shape.network.receives = one_of({1, 5, 20, SIZE_MAX});
  if (random() % 4 != 0) shape.network.jitter_seed = random() | 1;
  shape.on_node = random() % 3 == 0;
  shape.reads = random() % 2 == 0;
  if (!shape.on_node) shape.links = static_cast<int>(one_of({1, 2, 3}));
  return shape;
}

std::vector<std::size_t> sizes_around(const weft::fabric::messenger_settings& settings, std::mt19937_64& random) {
  const std::size_t limit = settings.eager_limit, piece = settings.piece;
  const std::size_t near = weft::fabric::longest_at_once(limit, settings.credit);
  std::vector<std::size_t> sizes = {0,
                                    1,
                                    7,
                                    8,
                                    9,
                                    64,
                                    65,
                                    limit - 1,
                                    limit,
                                    limit + 1,
                                    near,
                                    near + 1,
                                    piece,
                                    piece + 1,
                                    2 * piece - 1,
                                    2 * piece,
                                    2 * piece + 1,
                                    3 * piece + 5};
  for (int i = 0; i < 6; ++i) sizes.push_back(random() % 5000);
  if (piece > 10000) sizes.push_back(1 << 20);
  return sizes;
}

}  // namespace

TEST_CASE("random traffic is matched as MPI orders it, whatever the limits", "[messenger][random]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  traffic_counts sum;
  std::size_t held_up = 0, buffered = 0, broken = 0;
  for (int run = 0; run < 60; ++run) {
    CAPTURE(run);
    const job_shape shape = random_shape(random);
    messenger_job job(shape);
    for (int i = 0; i < job.processes(); ++i) job.link(i).most_receives = random() % 2 ? 1 + random() % 5 : 0;
    traffic between(job, random, sizes_around(shape.settings, random));
    const unsigned polls = 1 + random() % 8;
    const int breaks = shape.links > 1 && random() % 2 ? static_cast<int>(random() % 300) : -1;
    for (int i = 0; i < 300; ++i) {
      if (i == breaks) {
        job.break_link(static_cast<int>(random() % static_cast<unsigned>(job.processes())),
                       static_cast<int>(random() % static_cast<unsigned>(shape.links)));
        ++broken;
      }
      // Senders are ahead for a while, then receivers.
      if (random() % 8 < (i / 100 % 2 ? 3u : 5u))
        between.send_something();
      else
        between.receive_something();
      if (random() % 8 < polls) between.poll_something();
    }
    between.finish();
    for (int i = 0; i < job.processes(); ++i) CHECK(job[i].quiet());
    sum.add(job.total());
    held_up += between.held_up();
    buffered += between.buffered();
  }
  // Every way that a message can take has been taken.
  CHECK(held_up > 0);
  CHECK(buffered > 0);
  CHECK(broken > 0);
  CHECK(sum.short_envelopes > 0);
  CHECK(sum.envelopes_wanted > 0);
  CHECK(sum.blocked_landings > 0);
  CHECK(sum.blocked_departures > 0);
  CHECK(sum.blocked_frames > 0);
  CHECK(sum.payloads > 0);
  CHECK(sum.short_messages > 0);
}
