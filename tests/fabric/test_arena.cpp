// SPDX-License-Identifier: Apache-2.0
// How processes of a node come to share memory, and what keeps them from it. Each process is a thread here.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>

#include "catch.hpp"
#include "fabric/die_in_call.hpp"
#include "fabric/failure_of.hpp"
#include "fabric/file_limit.hpp"
#include "fabric/node_of_threads.hpp"
#include "fabric/shm/arena_note.hpp"
#include "fabric/shm/descriptor_passing.hpp"
#include "fabric/shm/shared_memory.hpp"
#include "sanitized.hpp"

using namespace std::chrono_literals;
using namespace weft::fabric;
using weft::file_descriptor;
using weft_test::ContainsSubstring;
using weft_test::failure_of;
using weft_test::file_limit;
using weft_test::node_of_threads;

namespace {

constexpr std::uint64_t job = node_of_threads::job;

}  // namespace

TEST_CASE("the processes of a node see what each writes, and nobody else's areas", "[arena]") {
  node_of_threads some({1, 4, 5, 9});
  const auto shared = some.join();
  for (const auto& each : shared) {
    REQUIRE(each.refusal.empty());
    REQUIRE(each.memory != nullptr);
    CHECK(each.memory->size() == 4 * arena::area_bytes(4));
    CHECK(each.memory->holds(4));
    CHECK(each.memory->pid(4) == ::getpid());
    if (!weft_test::emulated) CHECK(each.memory->reading_refusal().empty());
    CHECK_FALSE(each.memory->holds(2));
    CHECK(each.memory->cpus_of(9) == weft::topology::this_thread_binding());
    CHECK(each.memory->cpus() == each.memory->cpus_of(9).size());
  }
  for (std::size_t i = 0; i < shared.size(); ++i)
    for (std::size_t b = 0; b < arena::boards; ++b)
      shared[i].memory->board(shared[i].memory->processes()[i], b).use = 100 * i + b;
  for (const auto& each : shared)
    for (std::size_t i = 0; i < shared.size(); ++i)
      for (std::size_t b = 0; b < arena::boards; ++b)
        CHECK(each.memory->board(each.memory->processes()[i], b).use == 100 * i + b);
  // It is not one mapping that they see.
  CHECK(&shared[0].memory->board(1, 0) != &shared[1].memory->board(1, 0));
}

TEST_CASE("64 processes share less than 64 MiB, within two seconds", "[arena]") {
  std::vector<int> all(64);
  for (int i = 0; i < 64; ++i) all[static_cast<std::size_t>(i)] = i;
  const auto begin = std::chrono::steady_clock::now();
  node_of_threads full(all);
  const auto shared = full.join();
  const auto took = std::chrono::steady_clock::now() - begin;
  for (const auto& each : shared) REQUIRE(each.refusal.empty());
  CHECK(shared[0].memory->size() < std::size_t{64} << 20);
  CHECK(took < 2s);
}

TEST_CASE("where one of them has no socket all go without, and say why", "[arena]") {
  node_of_threads some({0, 1, 2});
  SECTION("no socket") {
    some.records[1].door = -1;
    for (const auto& each : some.join()) {
      CHECK(each.memory == nullptr);
      CHECK_THAT(each.refusal, ContainsSubstring("process 1 has no socket"));
    }
  }
  SECTION("another PID namespace") {
    some.records[2].host.pid_namespace ^= 1;
    for (const auto& each : some.join()) {
      CHECK(each.memory == nullptr);
      CHECK_THAT(each.refusal, ContainsSubstring("process 2 is in another PID namespace"));
    }
  }
  SECTION("a socket that is none") {
    some.records[0].door = 0;
    for (const auto& each : some.join(300ms)) {
      CHECK(each.memory == nullptr);
      CHECK_FALSE(each.refusal.empty());
    }
  }
}

TEST_CASE("memory that is not to be had is an answer, not a signal", "[arena]") {
  node_of_threads some({0, 1, 2});
  const file_limit limit(1 << 20);
  for (const auto& each : some.join()) {
    CHECK(each.memory == nullptr);
    CHECK_THAT(each.refusal, ContainsSubstring("RLIMIT_FSIZE"));
  }
}

TEST_CASE("one who does not come in time keeps nobody waiting", "[arena]") {
  const std::vector<int> numbers{0, 1};
  arena_door door;
  std::vector<process_record> records(2, local_record());
  records[0].door = records[1].door = door.number();
  const auto begin = std::chrono::steady_clock::now();
  const auto alone = arena::join(numbers, 0, records, job, door, begin + 100ms, [] {});
  CHECK(alone.memory == nullptr);
  CHECK_THAT(alone.refusal, ContainsSubstring("not all processes came"));
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

TEST_CASE("what is thrown meanwhile ends the wait", "[arena]") {
  const std::vector<int> numbers{0, 1};
  arena_door door;
  std::vector<process_record> records(2, local_record());
  records[0].door = records[1].door = door.number();
  int asked = 0;
  CHECK_THROWS_AS(arena::join(numbers, 0, records, job, door, std::chrono::steady_clock::now() + 10s,
                              [&] {
                                if (++asked == 3) throw weft::peer_lost(1, "process 1 was lost");
                              }),
                  weft::peer_lost);
}

TEST_CASE("strangers get nothing, and disturb nobody", "[arena]") {
  const std::vector<int> numbers{0, 1};
  std::vector<arena_door> doors(2);
  std::vector<process_record> records;
  for (const auto& door : doors) {
    records.push_back(local_record());
    records.back().door = door.number();
  }
  std::vector<file_descriptor> strangers;
  const auto connect = [&] { return connect_to_listener(::getpid(), doors[0].number()); };
  strangers.push_back(connect());  // says nothing
  strangers.push_back(connect());
  const std::vector<std::byte> noise(100, std::byte{7});
  REQUIRE(send_message(strangers.back(), noise));
  for (std::size_t length = 240; length < 340; length += 4) {  // one is as long as what the right one says
    strangers.push_back(connect());
    REQUIRE(send_message(strangers.back(), std::vector<std::byte>(length)));
  }
  std::vector<arena::joined> shared(2);
  std::thread other([&] {
    shared[1] = arena::join(numbers, 1, records, job, doors[1], std::chrono::steady_clock::now() + 10s, [] {});
  });
  shared[0] = arena::join(numbers, 0, records, job, doors[0], std::chrono::steady_clock::now() + 10s, [] {});
  other.join();
  CHECK(shared[0].memory != nullptr);
  CHECK(shared[1].memory != nullptr);
  for (std::size_t i = 1; i < strangers.size(); ++i) {
    std::vector<std::byte> answer(1000);
    CHECK(failure_of([&] { receive_message(strangers[i], answer); }) != "");
  }
}

TEST_CASE("shared memory keeps its size, and another's is checked for it", "[arena]") {
  const std::size_t size = 64 << 10;
  const file_descriptor memory = make_shared_memory(size);
  CHECK(::ftruncate(memory.get(), 0) != 0);
  CHECK(::ftruncate(memory.get(), size * 2) != 0);
  check_shared_memory(memory, size);
  CHECK_THAT(failure_of([&] { check_shared_memory(memory, 2 * size); }), ContainsSubstring("something else"));
  const file_descriptor unsealed(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(::ftruncate(unsealed.get(), static_cast<off_t>(size)) == 0);
  CHECK_THAT(failure_of([&] { check_shared_memory(unsealed, size); }), ContainsSubstring("something else"));
  CHECK_FALSE(failure_of([&] { check_shared_memory(file_descriptor(), size); }).empty());
  struct stat reserved {};
  reserve_shared_memory(memory, size / 2, size / 2);
  REQUIRE(::fstat(memory.get(), &reserved) == 0);
  CHECK(static_cast<std::size_t>(reserved.st_blocks) * 512 == size / 2);
}

TEST_CASE("who claims to be a process of the node, but of another start of it, gets nothing", "[arena]") {
  const std::vector<int> numbers{0, 1};
  std::vector<arena_door> doors(2);
  std::vector<process_record> records(2, local_record());
  for (std::size_t i = 0; i < 2; ++i) {
    records[i].door = doors[i].number();
    records[i].incarnation = static_cast<std::uint32_t>(100 + i);
  }
  arena_note said{job, 1, records[1].incarnation, records[0].incarnation};
  const auto wrong = GENERATE(0, 1, 2);
  if (wrong == 0) said.incarnation ^= 1;
  if (wrong == 1) said.addressee ^= 1;
  if (wrong == 2) said.job ^= 1;
  CAPTURE(wrong);
  const file_descriptor impostor = connect_to_listener(::getpid(), doors[0].number());
  REQUIRE(send_note(impostor, said));  // before the right one comes
  std::vector<arena::joined> shared(2);
  const auto join = [&](int self) {
    const auto i = static_cast<std::size_t>(self);
    shared[i] = arena::join(numbers, self, records, job, doors[i], std::chrono::steady_clock::now() + 10s, [] {});
  };
  std::thread other(join, 1);
  join(0);
  other.join();
  CHECK(shared[0].memory != nullptr);
  CHECK(shared[1].memory != nullptr);
  CHECK_THAT(failure_of([&] { receive_note(impostor); }), ContainsSubstring("has been closed"));
}

TEST_CASE("a socket with the right number that another process listens at is refused", "[arena]") {
  const auto listener = nameless_listener::open();
  CHECK_THAT(failure_of([&] { connect_to_listener(::getppid(), listener.number()); }),
             ContainsSubstring("is that of process number " + std::to_string(::getpid())));
}

TEST_CASE("a process that is killed while it opens its socket leaves nothing in the file system", "[arena]") {
  const auto place = std::filesystem::temp_directory_path() / ("weft-test-" + std::to_string(::getpid()));
  for (const int last_call : {SYS_bind, SYS_listen, SYS_fcntl}) {
    std::filesystem::create_directory(place);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::setenv("TMPDIR", place.c_str(), 1);
      if (!weft_test::die_in_call(last_call)) ::_exit(77);
      const auto listener = nameless_listener::open();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const bool empty = std::filesystem::is_empty(place);
    std::filesystem::remove_all(place);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
      WARN("skipped: the system has no seccomp filters");
      return;
    }
    CAPTURE(last_call);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS));
    CHECK(empty);
  }
}

TEST_CASE("another process's memory is read, and a wrong address is an error", "[arena]") {
  if (weft_test::emulated) return;  // by what does not know that call
  int tell[2], hold[2];
  REQUIRE(::pipe(tell) == 0);
  REQUIRE(::pipe(hold) == 0);
  std::vector<int> numbers(300'000, 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i) * 3;
    ::close(hold[1]);
    char end;
    if (::write(tell[1], "r", 1) != 1 || ::read(hold[0], &end, 1) != 0) ::_exit(1);
    ::_exit(0);
  }
  char ready;
  REQUIRE(::read(tell[0], &ready, 1) == 1);
  std::vector<int> found(numbers.size());
  const auto address = reinterpret_cast<std::uintptr_t>(numbers.data());
  CHECK_FALSE(read_process_memory(child, address, std::as_writable_bytes(std::span(found))));
  bool right = true;
  for (std::size_t i = 0; i < found.size(); ++i) right = right && found[i] == static_cast<int>(i) * 3;
  CHECK(right);
  std::vector<int> again(numbers.size());
  const auto half = std::as_writable_bytes(std::span(again)).size() / 2;
  const std::array pieces{process_memory_piece{address + half, std::as_writable_bytes(std::span(again)).last(half)},
                          process_memory_piece{address, std::as_writable_bytes(std::span(again)).first(half)}};
  CHECK_FALSE(read_process_memory(child, pieces));
  CHECK((again == found));
  const std::array wrong{pieces[0], process_memory_piece{8, pieces[1].into}};
  CHECK(read_process_memory(child, wrong) == std::errc::bad_address);
  CHECK(read_process_memory(child, 8, std::as_writable_bytes(std::span(found))) == std::errc::bad_address);
  ::close(hold[1]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(read_process_memory(child, address, std::as_writable_bytes(std::span(found))) == std::errc::no_such_process);
  for (const int each : {tell[0], tell[1], hold[0]}) ::close(each);
}

TEST_CASE("descriptors travel beside messages, whose boundaries stay", "[arena]") {
  const auto listener = nameless_listener::open();
  const auto to = connect_to_listener(::getpid(), listener.number());
  const auto from = accept_own_user(listener);
  std::vector<std::byte> message(32), heard(32);
  CHECK_FALSE(receive_message(from, heard));
  const file_descriptor memory = make_shared_memory(64 << 10);
  for (int i = 0; i < 3; ++i) {
    message[5] = static_cast<std::byte>(i);
    REQUIRE(send_message(to, message, i == 1 ? &memory : nullptr));
  }
  for (int i = 0; i < 3; ++i) {
    const auto received = receive_message(from, heard);
    REQUIRE(received);
    CHECK(heard[5] == static_cast<std::byte>(i));
    CHECK(static_cast<bool>(received->passed) == (i == 1));
    if (i != 1) continue;
    CHECK(received->passed.get() != memory.get());
    CHECK((::fcntl(received->passed.get(), F_GETFD) & FD_CLOEXEC) != 0);
    check_shared_memory(received->passed, 64 << 10);
  }
  REQUIRE(send_message(to, std::span(message).first(31)));
  CHECK_FALSE(failure_of([&] { receive_message(from, heard); }).empty());
  REQUIRE(send_message(to, std::vector<std::byte>(33)));
  CHECK_FALSE(failure_of([&] { receive_message(from, heard); }).empty());
}
