// SPDX-License-Identifier: Apache-2.0
// What the processes of a node tell each other until they share memory, over a connection of this process to itself.
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fabric/failure_of.hpp"
#include "fabric/shm/arena_note.hpp"
#include "fabric/shm/descriptor_passing.hpp"

using namespace weft::fabric;
using weft::file_descriptor;

namespace {

/// Both ends.
std::pair<file_descriptor, file_descriptor> connected() {
  const auto listener = nameless_listener::open();
  file_descriptor to = connect_to_listener(::getpid(), listener.number());
  return {std::move(to), accept_own_user(listener)};
}

}  // namespace

TEST_CASE("a note arrives as it was said, with or without a descriptor", "[arena]") {
  const auto [to, from] = connected();
  CHECK_FALSE(receive_note(from));
  arena_note said{0x1234'5678'9abc'def0, 7, 8, 9};
  said.probe = 10;
  REQUIRE(send_note(to, said));
  write_reason(said, said.reads, "he has given it away");
  REQUIRE(send_note(to, said, &to));
  const auto first = receive_note(from), second = receive_note(from);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->note.job == said.job);
  CHECK(first->note.addressee == 9);
  CHECK(first->note.reads == 1);
  CHECK_FALSE(first->passed);
  CHECK(second->note.probe == 10);
  CHECK(second->note.reads == 0);
  CHECK(second->note.good == 1);
  CHECK(std::string(second->note.reason.data()) == "he has given it away");
  CHECK(second->passed);
}

TEST_CASE("a reason ends within its note, however long it is, and whatever the other side wrote", "[arena]") {
  const auto [to, from] = connected();
  arena_note said;
  write_reason(said, said.good, std::string(1000, 'x'));
  CHECK(std::strlen(said.reason.data()) == said.reason.size() - 1);
  said.reason.fill('y');
  REQUIRE(send_note(to, said));
  const auto heard = receive_note(from);
  REQUIRE(heard);
  CHECK(std::string(heard->note.reason.data()) == std::string(said.reason.size() - 1, 'y'));
}

TEST_CASE("what is no note is refused", "[arena]") {
  const auto [to, from] = connected();
  REQUIRE(send_message(to, std::vector<std::byte>(sizeof(arena_note) - 1)));
  CHECK_FALSE(weft_test::failure_of([&from = from] { receive_note(from); }).empty());
}
