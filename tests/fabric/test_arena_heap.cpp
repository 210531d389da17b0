// SPDX-License-Identifier: Apache-2.0
// The heaps of a node's processes: what lies where for whom, and what limits leave.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include <weft/fabric/arena_heap.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/failure_of.hpp"
#include "fabric/shm/heap_space.hpp"
#include "fabric/shm/memory_left.hpp"
#include "fabric/shm/shared_memory.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace weft::fabric;
using weft::file_descriptor;
using weft_test::ContainsSubstring;
using weft_test::failure_of;

namespace {

constexpr std::size_t chunk = heap_space::chunk;

/// The heaps of some processes, each with a mapping of its own.
std::vector<std::unique_ptr<arena_heap>> make_heaps(std::size_t processes) {
  std::vector<std::unique_ptr<arena_heap>> heaps;
  heap_space first = heap_space::make(processes);
  std::vector<heap_space> others;
  for (std::size_t i = 1; i < processes; ++i)
    others.emplace_back(file_descriptor(::dup(first.memory().get())), processes);
  heaps.push_back(std::make_unique<arena_heap>(std::move(first), 0));
  for (std::size_t i = 1; i < processes; ++i)
    heaps.push_back(std::make_unique<arena_heap>(std::move(others[i - 1]), i));
  return heaps;
}

std::size_t kibibytes_of_status(const std::string& key) {
  std::ifstream lines("/proc/self/status");
  for (std::string word; lines >> word;)
    if (word == key + ":") {
      std::size_t number = 0;
      lines >> number;
      return number;
    }
  return 0;
}

/// What a child of this process exits with, in which `body` runs.
int status_of_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("what a process writes in its heap all processes of the node see, by its offset", "[heap]") {
  const auto heaps = make_heaps(3);
  std::vector<std::byte*> taken;
  for (std::size_t i = 0; i < heaps.size(); ++i) {
    taken.push_back(heaps[i]->take(5000));
    std::memset(taken[i], static_cast<int>(i + 1), 5000);
  }
  for (std::size_t i = 0; i < heaps.size(); ++i) {
    const auto offset = heaps[i]->offset_of(taken[i] + 1000, 4000);
    REQUIRE(offset);
    for (std::size_t reader = 0; reader < heaps.size(); ++reader) {
      const std::byte* const seen = heaps[reader]->at(i, *offset, 4000);
      REQUIRE(seen != nullptr);
      CHECK(static_cast<std::size_t>(seen[3999]) == i + 1);
      CHECK(heaps[reader]->owns(taken[i]) == (reader == i));
    }
  }
}

TEST_CASE("nothing outside of a region is found, whatever is told", "[heap]") {
  const auto heaps = make_heaps(2);
  const std::uint64_t size = heaps[0]->region_bytes();
  CHECK(heaps[0]->at(1, size - 8, 8) != nullptr);
  CHECK(heaps[0]->at(1, size - 8, 9) == nullptr);
  CHECK(heaps[0]->at(1, size, 0) == nullptr);
  CHECK(heaps[0]->at(1, 0, size + 1) == nullptr);
  CHECK(heaps[0]->at(1, ~std::uint64_t{0}, 8) == nullptr);
  CHECK(heaps[0]->at(1, 16, ~std::uint64_t{0} - 8) == nullptr);
  const int local = 0;
  CHECK_FALSE(heaps[0]->offset_of(&local, sizeof local));
  CHECK_FALSE(heaps[0]->offset_of(heaps[0]->at(1, 0, 8), 8));
  std::byte* const taken = heaps[0]->take(8);
  CHECK_FALSE(heaps[0]->offset_of(taken, size + 1));
}

TEST_CASE("memory is aligned to lines, pages and huge pages, and lies apart", "[heap]") {
  const auto heaps = make_heaps(1);
  const auto address = [&](std::size_t bytes) { return reinterpret_cast<std::uintptr_t>(heaps[0]->take(bytes)); };
  const auto first = address(1), second = address(100), empty = address(0);
  CHECK(first % 128 == 0);
  CHECK(second % 128 == 0);
  CHECK(second != first);
  CHECK(empty != second);
  CHECK(address(5000) % 4096 == 0);
  CHECK(address(3 << 20) % chunk == 0);
  CHECK_THAT(failure_of([&] { heaps[0]->take(heaps[0]->region_bytes() + 1); }), ContainsSubstring("can have"));
}

TEST_CASE("what is taken by several threads stays apart, against a model", "[heap]") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  const auto heaps = make_heaps(2);
  std::vector<std::thread> threads;
  std::vector<int> wrong(3);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(seed + t);
      struct piece {
        std::byte* at;
        std::size_t bytes;
        std::byte mark;
      };
      std::vector<piece> mine;
      for (int step = 0; step < 1000; ++step) {
        if (mine.size() < 40 && random() % 2 == 0) {
          const std::size_t bytes = random() % (random() % 16 == 0 ? 3 << 20 : 20'000);
          mine.push_back({heaps[0]->take(bytes), bytes, static_cast<std::byte>(random())});
          std::memset(mine.back().at, static_cast<int>(mine.back().mark), bytes);
        } else if (!mine.empty()) {
          std::swap(mine[random() % mine.size()], mine.back());
          const piece last = mine.back();
          const auto marked = [&](std::byte each) { return each == last.mark; };
          if (!std::all_of(last.at, last.at + last.bytes, marked)) ++wrong[t];
          heaps[0]->give_back(last.at, last.bytes);
          mine.pop_back();
        }
      }
      for (const piece& each : mine) heaps[0]->give_back(each.at, each.bytes);
    });
  for (auto& each : threads) each.join();
  CHECK(wrong == std::vector<int>(3));
  CHECK(heaps[0]->used().taken == 0);
  CHECK(heaps[0]->used().resident <= std::size_t{64} << 20);
}

TEST_CASE("long memory that is free goes back to the system, and is zero when it comes again", "[heap]") {
  if (weft_test::emulated) return;  // by what takes no pages beforehand, but says so
  heap_space space = heap_space::make(1);
  const int memory = ::dup(space.memory().get());
  const auto blocks = [&] {
    struct stat found {};
    ::fstat(memory, &found);
    return static_cast<std::size_t>(found.st_blocks) * 512;
  };
  arena_heap heap(std::move(space), 0);
  CHECK(blocks() == 0);
  constexpr std::size_t size = 40 * chunk;
  std::byte* const first = heap.take(size);
  std::byte* const second = heap.take(size);
  CHECK(blocks() == 2 * size);
  CHECK(heap.used().resident == 2 * size);
  std::memset(first, 1, size);
  heap.give_back(first, size);
  CHECK(blocks() == size);
  std::byte* const again = heap.take(size);
  CHECK(heap.offset_of(again, size) == heap.offset_of(first, size));
  CHECK(std::all_of(again, again + size, [](std::byte each) { return each == std::byte{0}; }));
  heap.give_back(again, size);
  heap.give_back(second, size);
  CHECK(blocks() == heap.used().resident);
  CHECK(blocks() <= std::size_t{64} << 20);
  ::close(memory);
}

TEST_CASE("a heap that nobody has taken from costs nothing, not even addresses", "[heap]") {
  const std::size_t before = kibibytes_of_status("VmSize");
  heap_space space = heap_space::make(64);
  CHECK(kibibytes_of_status("VmSize") <= before + 1024);
  CHECK(space.regions() == 64);
  struct stat found {};
  REQUIRE(::fstat(space.memory().get(), &found) == 0);
  CHECK(found.st_blocks == 0);
}

TEST_CASE("a heap that has grown stays where it was, too", "[heap]") {
  const auto heaps = make_heaps(2);
  constexpr std::size_t size = 20 * chunk;
  std::vector<std::byte*> taken, seen;
  for (std::size_t i = 0; i < 6; ++i) {
    taken.push_back(heaps[0]->take(size));
    const auto offset = heaps[0]->offset_of(taken[i], size);
    REQUIRE(offset == i * size);
    seen.push_back(heaps[1]->at(0, *offset, size));
    std::memset(taken[i], static_cast<int>(i + 1), size);
  }
  CHECK(taken[5] != taken[0] + 5 * size);  // elsewhere
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(heaps[0]->owns(taken[i]));
    CHECK(heaps[0]->offset_of(taken[i], size) == i * size);
    for (const auto* each : {seen[i], heaps[1]->at(0, i * size, size)})
      CHECK(std::all_of(each, each + size, [&](std::byte b) { return b == std::byte(i + 1); }));
  }
  for (std::byte* const each : taken) heaps[0]->give_back(each, size);
  CHECK(heaps[0]->used().taken == 0);
  CHECK(heaps[0]->used().resident <= std::size_t{64} << 20);
}

TEST_CASE("a core dump has what was taken, and the others' not", "[heap]") {
  if (weft_test::emulated) return;  // whose dumps are the emulator's
  const auto heaps = make_heaps(2);
  const auto dumped = [] {
    std::size_t bytes = 0, kibibytes = 0;
    std::ifstream lines("/proc/self/smaps");
    bool of_heap = false;
    for (std::string line; std::getline(lines, line);) {
      if (line[line.find(' ') - 1] != ':')  // addresses of a mapping
        of_heap = line.find("/memfd:weft") != std::string::npos;
      else if (line.starts_with("Size:"))
        kibibytes = std::stoul(line.substr(5));
      else if (line.starts_with("VmFlags:") && of_heap && line.find(" dd") == std::string::npos)
        bytes += kibibytes << 10;
    }
    return bytes;
  };
  CHECK(dumped() == 0);
  constexpr std::size_t size = 20 * chunk;
  std::vector<std::byte*> taken;
  for (std::size_t i = 0; i < 6; ++i) {
    taken.push_back(heaps[0]->take(size));
    CHECK(dumped() == (i + 1) * size);
    heaps[1]->at(0, i * size, size);
    CHECK(dumped() == (i + 1) * size);
  }
  CHECK(heaps[0]->take(1) != nullptr);
  const std::size_t little = dumped() - 6 * size;
  CHECK(little == heap_space::grain);
  for (std::byte* const each : taken) heaps[0]->give_back(each, size);
  CHECK(dumped() <= heaps[0]->used().resident);
  CHECK(heaps[0]->used().resident <= std::size_t{64} << 20);
  // Memory that was kept is shown by the address that it is given under now.
  const auto others = make_heaps(1);
  const std::size_t before = dumped();
  others[0]->give_back(others[0]->take(size), size);
  CHECK(others[0]->used().resident == size);
  others[0]->take(2 * size);
  CHECK(dumped() == before + size + 2 * size);
}

TEST_CASE("limits of a process make its heap smaller, or leave it none", "[heap]") {
  const auto region_below = [](int resource, std::size_t most) {
    return status_of_child([&] {
      const rlimit limit{most, most};
      ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
      try {
        const heap_space space = heap_space::make(4);
        arena_heap heap(heap_space(file_descriptor(::dup(space.memory().get())), 4), 3);
        std::memset(heap.take(1 << 20), 1, 1 << 20);
        return static_cast<int>(space.region_bytes() / chunk);
      } catch (const weft::error& refused) {
        return std::string(refused.what()).find("RLIMIT_FSIZE") != std::string::npos ? 255 : 254;
      }
    });
  };
  CHECK(region_below(RLIMIT_FSIZE, 100 * 4 * chunk) == 100);
  CHECK(region_below(RLIMIT_FSIZE, 4 * chunk) == 255);
  if (weft_test::slowed) return;  // whose shadow takes addresses
  const std::size_t used = kibibytes_of_status("VmSize") << 10;
  const int chunks = region_below(RLIMIT_AS, used + 4 * 4 * 20 * chunk);
  CHECK(chunks >= 19);
  CHECK(chunks <= 20);
}

TEST_CASE("a control group that leaves too little makes an error, and nobody is killed", "[heap]") {
  if (weft_test::slowed) return;  // whose own memory counts as well
  const std::filesystem::path top = "/sys/fs/cgroup/memory", group = top / ("weft-test-" + std::to_string(::getpid()));
  std::error_code failed;
  if (!std::filesystem::create_directory(group, failed)) {
    WARN("no control group can be made here");
    return;
  }
  const auto write = [&](const char* file, std::size_t number) {
    std::ofstream to(group / file);
    to << number;
    return static_cast<bool>(to.flush());
  };
  const int status = status_of_child([&] {
    if (!write("memory.limit_in_bytes", 200 << 20) || !write("cgroup.procs", static_cast<std::size_t>(::getpid())))
      return 77;
    arena_heap heap(heap_space::make(1), 0);
    try {
      for (int taken = 0; taken < 100; ++taken) std::memset(heap.take(8 << 20), 1, 8 << 20);
      return 1;
    } catch (const weft::error& refused) {
      const bool says = std::string(refused.what()).find("memory.limit_in_bytes leaves") != std::string::npos;
      return says && heap.used().taken >= std::size_t{64} << 20 ? 0 : 2;
    }
  });
  std::filesystem::remove(group, failed);
  if (status == 77)
    WARN("this process cannot be limited by a control group");
  else
    CHECK(status == 0);
}

TEST_CASE("another's memory for heaps is checked for what it is", "[heap]") {
  const auto refuses = [](std::size_t size, std::size_t regions) {
    return failure_of([&] { heap_space(make_shared_memory(size), regions); });
  };
  CHECK(refuses(16 * chunk, 1).empty());
  CHECK_THAT(refuses(16 * chunk, 4), ContainsSubstring("what came as memory for the heaps of 4 processes"));
  CHECK_THAT(refuses(17 * chunk, 2), ContainsSubstring("bytes"));
  CHECK_THAT(refuses(4096, 1), ContainsSubstring("bytes"));
  CHECK_FALSE(failure_of([] { heap_space(file_descriptor(), 1); }).empty());
}
