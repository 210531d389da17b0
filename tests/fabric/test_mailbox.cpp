// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <random>
#include <vector>
#include <weft/fabric/mailbox.hpp>
#include <weft/fabric/slot_map.hpp>

#include "catch.hpp"
#include "fabric/collecting_receiver.hpp"

using namespace weft::fabric;

namespace {

struct plain_receive final : receive_operation {
  void finished() noexcept override {}
};

bool matches(const receive_operation& receive, int source, std::uint64_t tag) {
  return (receive.peer == any_peer || receive.peer == source) && (receive.tag == any_message_tag || receive.tag == tag);
}

}  // namespace

TEST_CASE("the mailbox matches as two plain lists would", "[mailbox]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::deque<plain_receive> receives;
  mailbox box;
  std::vector<receive_operation*> posted;
  struct waiting {
    int source;
    std::uint64_t tag;
    std::size_t number;
  };
  std::vector<waiting> unexpected;
  std::size_t wrong = 0, matched = 0;
  for (std::size_t number = 0; number < 20000; ++number) {
    const int source = static_cast<int>(random() % 6);
    const std::uint64_t tag = random() % 6;
    // Phases in which receives, and in which messages, are in the majority.
    if (random() % 16 < (number / 1000 % 2 ? 9 : 7)) {
      const auto expected =
          std::find_if(posted.begin(), posted.end(), [&](const auto* each) { return matches(*each, source, tag); });
      receive_operation* const found = box.take_posted(source, tag, false);
      wrong += found != (expected == posted.end() ? nullptr : *expected);
      if (found != nullptr) {
        ++matched;
        posted.erase(expected);
        continue;
      }
      auto message = std::make_unique<unexpected_message>();
      message->source = source;
      message->tag = tag;
      message->bytes = number;
      box.add_unexpected(std::move(message));
      unexpected.push_back({source, tag, number});
    } else {
      plain_receive& receive = receives.emplace_back();
      receive.peer = random() % 3 ? source : any_peer;
      receive.tag = random() % 3 ? tag : any_message_tag;
      const auto expected = std::find_if(unexpected.begin(), unexpected.end(),
                                         [&](const waiting& each) { return matches(receive, each.source, each.tag); });
      const unexpected_message* const probed = box.find_unexpected(receive.peer, receive.tag);
      wrong += (probed == nullptr) != (expected == unexpected.end());
      const auto found = box.take_unexpected(receive);
      if (found != nullptr) {
        ++matched;
        wrong += expected == unexpected.end() || found->bytes != expected->number;
        unexpected.erase(expected);
      } else {
        wrong += expected != unexpected.end();
        box.add_posted(receive);
        posted.push_back(&receive);
      }
    }
    if (random() % 50 == 0 && !posted.empty()) {
      const auto cancelled = posted.begin() + static_cast<std::ptrdiff_t>(random() % posted.size());
      box.remove_posted(static_cast<receive_operation&>(**cancelled));
      posted.erase(cancelled);
    }
  }
  CHECK(wrong == 0);
  CHECK(matched > 1000);
  for (receive_operation* each : posted) box.remove_posted(*each);
}

TEST_CASE("messages and collectives do not see each other", "[mailbox]") {
  mailbox box;
  plain_receive wildcard, collective;
  wildcard.peer = any_peer;
  wildcard.tag = any_message_tag;
  collective.peer = 1;
  collective.tag = 2;
  collective.collective = true;
  box.add_posted(wildcard);
  box.add_posted(collective);
  CHECK(box.take_posted(1, 2, true) == &collective);
  CHECK(box.take_posted(1, 2, true) == nullptr);
  auto message = std::make_unique<unexpected_message>();
  message->source = 1;
  message->tag = 2;
  message->collective = true;
  box.add_unexpected(std::move(message));
  CHECK(box.find_unexpected(any_peer, any_message_tag) == nullptr);
  CHECK(box.take_posted(5, 5, false) == &wildcard);
  CHECK(box.take_unexpected(wildcard) == nullptr);
  CHECK(box.take_unexpected(collective) != nullptr);
}

TEST_CASE("a message that is set aside is found by its number alone", "[mailbox]") {
  mailbox box;
  for (std::uint64_t tag = 0; tag < 4; ++tag) {
    auto message = std::make_unique<unexpected_message>();
    message->source = 1;
    message->tag = tag;
    box.add_unexpected(std::move(message));
  }
  CHECK(box.set_aside(2, any_message_tag) == nullptr);
  const unexpected_message* const third = box.set_aside(1, 2);
  const unexpected_message* const first = box.set_aside(any_peer, any_message_tag);
  REQUIRE(third != nullptr);
  REQUIRE(first != nullptr);
  CHECK(first->tag == 0);
  CHECK(first->aside != third->aside);
  CHECK(box.find_unexpected(1, 2) == nullptr);
  CHECK(box.find_unexpected(any_peer, any_message_tag)->tag == 1);
  CHECK(box.take_aside(0) == nullptr);
  const std::uint64_t number = third->aside;
  const auto taken = box.take_aside(number);
  CHECK(taken.get() == third);
  CHECK(taken->aside == 0);
  CHECK(box.take_aside(number) == nullptr);
  const auto removed = box.remove_unexpected(const_cast<unexpected_message&>(*first));
  CHECK(removed->tag == 0);
  CHECK(box.set_aside(1, 3) != nullptr);
  int left = 0;
  while (box.take_any_unexpected() != nullptr) ++left;
  CHECK(left == 2);
}

TEST_CASE("a slot's stale name finds nothing", "[mailbox]") {
  struct named {
    std::uint32_t id = 0;
  };
  slot_map<named> map;
  CHECK(map.find(0) == nullptr);
  std::uint32_t stale = 0;
  for (int use = 0; use < 1023; ++use) {
    named& one = map.add();
    REQUIRE(one.id != 0);
    REQUIRE(map.find(one.id) == &one);
    if (use == 0) stale = one.id;
    if (use != 0) REQUIRE(map.find(stale) == nullptr);
    const std::uint32_t id = one.id;
    map.remove(one);
    REQUIRE(map.find(id) == nullptr);
  }
  named& a = map.add();
  named& b = map.add();
  CHECK(a.id != b.id);
  CHECK(map.find(b.id) == &b);
}
