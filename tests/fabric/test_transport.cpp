// The transport's contract, over everything that implements it here.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <iostream>
#include <optional>
#include <set>
#include <weft/fabric/libfabric_transport.hpp>
#include <weft/fabric/loopback.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/collecting_receiver.hpp"

using namespace weft::fabric;
using namespace weft_test;

namespace {

constexpr std::size_t ring_bytes = std::size_t{1} << 20;

struct medium {
  std::string provider;  // or "loopback", "loopback, shaken"
  bool registered = false;
};
std::ostream& operator<<(std::ostream& to, const medium& what) {
  return to << what.provider << (what.registered ? ", registered" : "");
}

const std::vector<medium>& media() {
  static const std::vector<medium> all = [] {
    std::vector<medium> found = {{"loopback"}, {"loopback, shaken"}};
    for (const std::string& name : known_providers()) {
      if (name == "sockets") continue;  // stalls now and then when its receiver polls late
      try {
        choose_provider(name, "");
        found.push_back({name});
      } catch (const weft::error& missing) {
        WARN("skipped: " << missing.what());
      }
    }
    found.push_back({default_provider(), true});
    found.push_back({"shm", true});
    return found;
  }();
  return all;
}

std::vector<std::unique_ptr<transport>> open(const medium& over, int count) {
  std::vector<std::unique_ptr<transport>> links;
  if (over.provider.starts_with("loopback")) {
    loopback_options options;
    if (over.provider != "loopback") options.jitter_seed = 42;
    loopback_network network(count, options);
    for (int index = 0; index < count; ++index) links.push_back(network.endpoint(index));
  } else {
    const provider_choice chosen = choose_provider(over.provider, "");
    libfabric_options options;
    options.force_local_registration = over.registered;
    for (int index = 0; index < count; ++index) links.push_back(open_libfabric_transport(chosen, options));
  }
  return links;
}

/// Endpoints that have all heard from one another, one connection made after the other.
std::vector<station> introduced(const medium& over, int count) {
  std::vector<station> at = start_all(open(over, count), ring_bytes);
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      until([&] { return poll_all(at), at[from].link->inject(to, pattern(8, 1)); }, "a first frame's posting");
      until([&] { return poll_all(at), !at[to].seen.frames.empty(); }, "a first frame");
      at[to].seen.frames.clear();
    }
  }
  return at;
}

bytes numbered(std::uint64_t number, std::size_t size) {
  bytes made(size);
  std::memcpy(made.data(), &number, std::min(size, sizeof number));
  return made;
}

void send_and_wait(std::vector<station>& at, int from, int to, const bytes& frame) {
  transfer context;
  until([&] { return poll_all(at), at[from].link->send(to, frame, context); }, "a send's posting");
  until([&] { return poll_all(at), at[from].seen.of(context) != nullptr && !at[to].seen.frames.empty(); }, "a frame");
  CHECK_FALSE(at[from].seen.of(context)->error);
  at[from].seen.endings.clear();
}

}  // namespace

TEST_CASE("frames of every size arrive whole", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    const transport_limits limits = at[0].link->limits();
    CHECK(limits.inject >= 64);
    CHECK(limits.frame >= limits.inject);
    CHECK(limits.tag_mask >= 0xffffffff);
    std::size_t wrong = 0;
    for (std::size_t size = 1; size <= limits.inject; ++size) {
      const bytes frame = pattern(size, size);
      until([&] { return poll_all(at), at[0].link->inject(1, frame); }, "an inject's posting");
      until([&] { return poll_all(at), !at[1].seen.frames.empty(); }, "an injected frame");
      wrong += at[1].seen.frames.size() != 1 || at[1].seen.frames[0] != frame;
      at[1].seen.frames.clear();
    }
    std::set<std::size_t> sizes = {1, limits.frame - 1, limits.frame};
    for (std::size_t size = 1; size < limits.frame; size = size * 3 / 2 + 1) sizes.insert(size);
    for (const std::size_t size : sizes) {
      const bytes frame = pattern(size, size);
      send_and_wait(at, 1, 0, frame);
      wrong += at[0].seen.frames.size() != 1 || at[0].seen.frames[0] != frame;
      at[0].seen.frames.clear();
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("100,000 frames wait in order for a receiver that polls late", "[transport]") {
  constexpr std::uint64_t count = 100'000, size = 64, credits = ring_bytes / size;
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    std::uint64_t sent = 0, received = 0;
    std::size_t wrong = 0;
    const auto send_one = [&] {
      const bool yes = sent < count && sent - received < credits && at[0].link->inject(1, numbered(sent, size));
      if (yes) ++sent;
      return yes;
    };
    for (int refused = 0; refused < 1000 && sent - received < credits;) {  // until the ring or the provider is full
      if (send_one()) {
        refused = 0;
      } else {
        ++refused;
        at[0].poll();
      }
    }
    until(
        [&] {
          poll_all(at);
          while (send_one()) continue;
          for (const bytes& frame : at[1].seen.frames) wrong += frame != numbered(received++, size);
          at[1].seen.frames.clear();
          return received == count;
        },
        "the frames", std::chrono::seconds(200));
    for (int quiet = 0; quiet < 100; ++quiet) poll_all(at);
    CHECK(at[1].seen.frames.empty());
    CHECK(wrong == 0);
  }
}

TEST_CASE("receives are refused, not lost, when as many are posted as the provider bears", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    std::vector<transfer> receives(5000);
    bytes space(receives.size());
    std::size_t posted = 0;
    for (int refused = 0; refused < 20 && posted < receives.size();) {
      const bool taken = at[1].link->receive_payload(0, posted, std::span(space).subspan(posted, 1), receives[posted]);
      taken ? void(++posted) : void(++refused);
    }
    CHECK(posted >= 100);
    // Frames get through all the same, in both directions.
    for (int count = 0; count < 2000; ++count) {
      until([&] { return poll_all(at), at[0].link->inject(1, pattern(60, 1)); }, "room");
      if (count % 10 == 0) until([&] { return poll_all(at), at[1].link->inject(0, pattern(60, 1)); }, "room");
    }
    until([&] { return poll_all(at), at[1].seen.frames.size() == 2000; }, "frames");
    until([&] { return poll_all(at), at[0].seen.frames.size() == 200; }, "frames back");
    // Payload by payload, and the rest by cancelling: then as many can be posted again.
    transfer sent;
    const bytes payload = pattern(1, 7);
    until([&] { return poll_all(at), at[0].link->send_payload(1, posted / 2, payload, sent); }, "posting");
    until([&] { return poll_all(at), at[1].seen.of(receives[posted / 2]) != nullptr; }, "a payload");
    CHECK(space[posted / 2] == payload[0]);
    for (std::size_t index = 0; index < posted; ++index) at[1].link->cancel(receives[index]);
    until([&] { return poll_all(at), at[1].seen.endings.size() == posted; }, "the cancelled receives");
    std::size_t again = 0;
    until(
        [&] {
          poll_all(at);
          again += at[1].link->receive_payload(0, again, std::span(space).subspan(again, 1), receives[again]);
          return again == posted;
        },
        "room for as many receives again");
  }
}

namespace {

/// Moves `whole` from one endpoint to another in pieces, each into a receive posted before, `window` at a time.
bytes moved(std::vector<station>& at, int from, int to, const bytes& whole, std::size_t piece) {
  struct flight {
    transfer sent, received;
    std::size_t offset, size;
  };
  constexpr std::size_t window = 4;
  bytes copy(whole.size());
  std::deque<flight> flying;
  std::size_t next = 0, landed = 0;
  std::uint64_t tag = 0;
  until(
      [&] {
        if (next < whole.size() && flying.size() < window) {
          flight& one = flying.emplace_back();
          one.offset = next;
          one.size = std::min(piece, whole.size() - next);
          const std::span<std::byte> into(copy.data() + one.offset, one.size);
          const std::span<const std::byte> out(whole.data() + one.offset, one.size);
          ++tag;
          until([&] { return poll_all(at), at[to].link->receive_payload(from, tag, into, one.received); }, "a receive");
          until([&] { return poll_all(at), at[from].link->send_payload(to, tag, out, one.sent); },
                "a payload's posting");
          next += one.size;
        }
        poll_all(at);
        while (!flying.empty()) {
          const ending* const sent = at[from].seen.of(flying.front().sent);
          const ending* const received = at[to].seen.of(flying.front().received);
          if (sent == nullptr || received == nullptr) break;
          if (sent->error || received->error || received->bytes != flying.front().size) return true;
          landed += flying.front().size;
          std::erase_if(at[from].seen.endings, [&](const ending& e) { return e.which == &flying.front().sent; });
          std::erase_if(at[to].seen.endings, [&](const ending& e) { return e.which == &flying.front().received; });
          flying.pop_front();
        }
        return landed == whole.size();
      },
      "a payload", std::chrono::seconds(200));
  return copy;
}

}  // namespace

TEST_CASE("payloads of 1 byte to 64 MiB arrive in pieces", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{4097}, std::size_t{65536},
                                   (std::size_t{1} << 20) + 1, std::size_t{64} << 20}) {
      if (size > (std::size_t{1} << 20) + 1 && over.provider == "udp;ofi_rxd") continue;  // takes minutes
      CAPTURE(size);
      const bytes whole = pattern(size, size);
      const std::size_t piece = std::min(std::size_t{256} << 10, at[0].link->limits().payload);
      CHECK((moved(at, 0, 1, whole, piece) == whole));
    }
    CHECK((moved(at, 1, 1, pattern(70000, 1), 65536) == pattern(70000, 1)));  // to itself
  }
}

TEST_CASE("a receive may be longer than its payload", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    for (const std::size_t size : {10, 5000, 100000}) {
      transfer sent, received;
      bytes space(200000, std::byte{0xee});
      const bytes payload = pattern(size, 3);
      until([&] { return poll_all(at), at[1].link->receive_payload(0, 5, space, received); }, "a receive's posting");
      until([&] { return poll_all(at), at[0].link->send_payload(1, 5, payload, sent); }, "a payload's posting");
      until([&] { return poll_all(at), at[1].seen.of(received) != nullptr && at[0].seen.of(sent) != nullptr; }, "it");
      CHECK(at[1].seen.of(received)->bytes == size);
      CHECK((bytes(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(size)) == payload));
      CHECK(std::all_of(space.begin() + static_cast<std::ptrdiff_t>(size), space.end(),
                        [](std::byte one) { return one == std::byte{0xee}; }));
      at[0].seen.endings.clear();
      at[1].seen.endings.clear();
    }
  }
}

TEST_CASE("payloads go to the receive posted for their sender and tag", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 3);
    const std::uint64_t high = at[0].link->limits().tag_mask;
    const std::uint64_t tags[] = {1, high, high ^ 1};
    struct flight {
      transfer sent, received;
      bytes out, in;
    };
    std::vector<flight> flights(6);
    for (std::size_t index = 0; index < 6; ++index) {
      flights[index].out = pattern(1000, index);
      flights[index].in.resize(1000);
      const int from = static_cast<int>(index % 2);
      until(
          [&] {
            return poll_all(at),
                   at[2].link->receive_payload(from, tags[index / 2], flights[index].in, flights[index].received);
          },
          "a receive's posting");
    }
    for (const std::size_t index : {4, 1, 3, 0, 5, 2}) {
      const int from = static_cast<int>(index % 2);
      until(
          [&] {
            return poll_all(at),
                   at[from].link->send_payload(2, tags[index / 2], flights[index].out, flights[index].sent);
          },
          "a payload's posting");
    }
    until([&] { return poll_all(at), at[2].seen.endings.size() == 6; }, "the payloads");
    until([&] { return poll_all(at), at[0].seen.endings.size() + at[1].seen.endings.size() == 6; }, "the sends");
    for (const flight& one : flights) CHECK((one.in == one.out));
  }
}

TEST_CASE("a posted receive can be cancelled", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    transfer cancelled, sent, received;
    bytes space(100), other(100);
    until([&] { return poll_all(at), at[1].link->receive_payload(0, 1, space, cancelled); }, "a receive's posting");
    until([&] { return poll_all(at), at[1].link->receive_payload(0, 2, other, received); }, "a receive's posting");
    at[1].link->cancel(cancelled);
    until([&] { return poll_all(at), at[1].seen.of(cancelled) != nullptr; }, "the cancelled receive");
    CHECK(at[1].seen.of(cancelled)->error == std::errc::operation_canceled);
    const bytes payload = pattern(100, 1);
    until([&] { return poll_all(at), at[0].link->send_payload(1, 2, payload, sent); }, "a payload's posting");
    until([&] { return poll_all(at), at[1].seen.of(received) != nullptr && at[0].seen.of(sent) != nullptr; }, "it");
    CHECK((other == payload));
    CHECK(at[1].seen.endings.size() == 2);
    at[1].link->cancel(received);  // too late: no effect
    for (int quiet = 0; quiet < 100; ++quiet) poll_all(at);
    CHECK(at[1].seen.endings.size() == 2);
  }
}

TEST_CASE("an endpoint closes with receives posted and frames unread", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 3);
    transfer waiting;
    bytes space(100);
    until([&] { return poll_all(at), at[1].link->receive_payload(0, 1, space, waiting); }, "a receive's posting");
    at[0].link->inject(1, pattern(8, 1));
    at[1].link.reset();
    at[0].poll();
    until([&] { return at[0].poll(), at[2].poll(), at[0].link->inject(2, pattern(8, 2)); }, "room");
    until([&] { return at[0].poll(), at[2].poll(), !at[2].seen.frames.empty(); }, "a frame");
    CHECK(at[2].seen.frames[0] == pattern(8, 2));
  }
}

namespace {

/// One rank of the test below: sends frames and payloads to each other rank and takes theirs, until all is done.
class talker final : public receiver {
 public:
  talker(transport& link, int index, int count) : link_(link), index_(index), peers_(static_cast<std::size_t>(count)) {}

  void run(std::atomic<int>& unfinished) {
    bool told = false;
    until(
        [&] {
          if (!told && finished()) {
            told = true;
            // Sequentially consistent: no more than a count; the transports order what they carry themselves.
            unfinished.fetch_sub(1);
          }
          for (int peer = 0; peer < static_cast<int>(peers_.size()); ++peer) {
            if (peer != index_) talk(peer, peers_[static_cast<std::size_t>(peer)]);
          }
          link_.poll(*this);
          return unfinished.load() == 0;
        },
        "the other ranks", std::chrono::seconds(200));
  }
  std::size_t wrong() const { return wrong_; }

 private:
  static constexpr std::uint64_t rounds = 300;
  static constexpr std::size_t frame_size = 40;

  enum class kind : std::uint32_t { plain, grant };
  struct header {
    kind what;
    std::int32_t from;
    std::uint64_t number;
  };
  struct peer_state {
    std::uint64_t sent = 0, heard = 0;       // plain frames
    std::uint64_t posted = 0, granted = 0;   // receives, and the grants sent for them
    std::uint64_t allowed = 0, started = 0;  // grants taken, payloads sent
    std::uint64_t ended_out = 0, ended_in = 0;
    transfer out, in;
    bytes outgoing, incoming;
  };

  static std::size_t size_of(std::uint64_t number) { return 1 + number * number % 90000; }
  std::uint64_t seed(int from, int to, std::uint64_t number) const { return number * 100 + from * 10u + to; }

  bool finished() const {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      if (static_cast<int>(peer) == index_) continue;
      const peer_state& one = peers_[peer];
      if (std::min({one.sent, one.heard, one.ended_out, one.ended_in}) < rounds) return false;
    }
    return true;
  }

  bool tell(int peer, kind what, std::uint64_t number) {
    bytes frame(frame_size);
    const header top{what, index_, number};
    std::memcpy(frame.data(), &top, sizeof top);
    return link_.inject(peer, frame);
  }

  void talk(int peer, peer_state& one) {
    if (one.sent < rounds && tell(peer, kind::plain, one.sent)) ++one.sent;
    if (one.posted < rounds && one.posted == one.ended_in) {
      one.incoming.assign(size_of(one.posted), std::byte{});
      if (link_.receive_payload(peer, one.posted, one.incoming, one.in)) ++one.posted;
    }
    if (one.granted < one.posted && tell(peer, kind::grant, one.granted)) ++one.granted;
    if (one.started < one.allowed && one.started == one.ended_out) {
      one.outgoing = pattern(size_of(one.started), seed(index_, peer, one.started));
      if (link_.send_payload(peer, one.started, one.outgoing, one.out)) ++one.started;
    }
  }

  void arrived(std::span<const std::byte> frame) override {
    header top{};
    wrong_ += frame.size() != frame_size;
    std::memcpy(&top, frame.data(), std::min(sizeof top, frame.size()));
    peer_state& one = peers_.at(static_cast<std::size_t>(top.from));
    std::uint64_t& count = top.what == kind::plain ? one.heard : one.allowed;
    wrong_ += top.number != count++;
  }

  void done(transfer& ended, std::size_t count, std::error_code error) override {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      peer_state& one = peers_[peer];
      if (error && (&ended == &one.in || &ended == &one.out)) ++wrong_;
      if (&ended == &one.in) {
        wrong_ += count != one.incoming.size() ||
                  one.incoming != pattern(one.incoming.size(), seed(static_cast<int>(peer), index_, one.ended_in));
        ++one.ended_in;
      } else if (&ended == &one.out) {
        ++one.ended_out;
      }
    }
  }

  transport& link_;
  const int index_;
  std::vector<peer_state> peers_;
  std::size_t wrong_ = 0;
};

}  // namespace

TEST_CASE("three endpoints, a thread each, exchange frames and payloads all at once", "[transport][threads]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 3);
    std::vector<std::unique_ptr<talker>> talkers;
    std::atomic<int> unfinished{3};
    std::atomic<int> failed{0};
    for (int index = 0; index < 3; ++index) talkers.push_back(std::make_unique<talker>(*at[index].link, index, 3));
    {
      std::vector<std::jthread> threads;
      for (int index = 0; index < 3; ++index) {
        threads.emplace_back([&, index] {
          try {
            talkers[index]->run(unfinished);
          } catch (const std::exception& problem) {
            std::cerr << problem.what() << '\n';
            ++failed;
          }
        });
      }
    }
    CHECK(failed == 0);
    for (const auto& one : talkers) CHECK(one->wrong() == 0);
  }
}

TEST_CASE("an address of another kind is refused", "[transport]") {
  for (const medium& over : media()) {
    if (over.provider == "shm") continue;  // takes any text for the name of a process that may yet come
    CAPTURE(over);
    std::vector<std::unique_ptr<transport>> links = open(over, 1);
    const address wrong[] = {address(3)};
    CHECK_THROWS_AS(links[0]->start(wrong, ring_bytes), weft::error);
  }
}

TEST_CASE("what a cut connection was bringing ends, and nothing of it lands later", "[transport]") {
  const bool receiver_connects = GENERATE(false, true);
  for (const medium& over : media()) {
    if (over.provider != default_provider() && over.provider != "tcp;ofi_rxm") continue;
    CAPTURE(over, receiver_connects);
    std::vector<station> at = start_all(open(over, 2), ring_bytes);
    station &receiving = at[receiver_connects ? 0 : 1], &sending = at[receiver_connects ? 1 : 0];
    for (const int from : {0, 1})
      until([&] { return poll_all(at), at[from].link->inject(1 - from, pattern(8, 1)); }, "a first frame's posting");
    until([&] { return poll_all(at), !at[0].seen.frames.empty() && !at[1].seen.frames.empty(); }, "the first frames");

    bytes memory(std::size_t{64} << 20);
    const bytes message(memory.size(), std::byte{1});
    transfer in{}, out{};
    const int receiver = receiver_connects ? 0 : 1;
    until([&] { return receiving.poll(), receiving.link->receive_payload(1 - receiver, 1, memory, in); }, "a receive");
    until([&] { return sending.poll(), sending.link->send_payload(receiver, 1, message, out); }, "a send");
    // The sender falls silent with the payload begun: nobody polls it.
    const auto poll_receiver = [&](std::chrono::milliseconds time) {
      for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
        receiving.poll();
    };
    poll_receiver(std::chrono::milliseconds(100));
    receiving.link->cancel(in);
    poll_receiver(std::chrono::milliseconds(100));
    REQUIRE(receiving.seen.of(in) == nullptr);  // too late for that

    receiving.link->cut(1 - receiver, sending.link->connection_ends()[static_cast<std::size_t>(receiver)]);
    until([&] { return receiving.poll(), receiving.seen.of(in) != nullptr; }, "the end of the receive");
    CHECK(receiving.seen.of(in)->error);
    const bytes landed = memory;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
         std::chrono::steady_clock::now() < end;)
      poll_all(at);
    CHECK(memory == landed);
    CHECK(memory != message);
  }
}
