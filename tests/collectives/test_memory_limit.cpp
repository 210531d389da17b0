// SPDX-License-Identifier: Apache-2.0
// The option memory-limit: what weft takes stays within it, and what would not is refused, with the process as it was.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include <weft/array_view.hpp>
#include <weft/fabric/messenger_settings.hpp>
#include <weft/handle.hpp>
#include <weft/node_memory.hpp>

#include "catch.hpp"
#include "joined_job.hpp"

using namespace weft_test;

namespace {

job over_network(int processes) {
  job what = small_job(processes);
  for (int p = 0; p < processes; ++p) what.nodes.push_back(std::string(1, static_cast<char>('a' + p)));
  return what;
}

/// What is enough for each process of such a job to start, as it is refused.
std::size_t enough_to_start(job what) {
  what.settings.memory_limit = 4096;
  const auto failures = run_processes(what, [](int, weft::runtime&) {});
  std::size_t enough = 0;
  for (const auto& failure : failures) {
    const std::string text = text_of(failure);
    CAPTURE(text);
    const std::string before = "needs as much again; ";
    const auto at = text.find(before);
    if (text.find("--weft-memory-limit=4096 (WEFT_MEMORY_LIMIT)") == std::string::npos)
      continue;  // saw the other's end
    REQUIRE(at != std::string::npos);
    std::size_t its = 0;
    std::from_chars(text.data() + at + before.size(), text.data() + text.size(), its);
    enough = std::max(enough, its);
  }
  REQUIRE(enough > 4096);
  return enough;
}

/// Whether that throws errc::out_of_memory for that; another error goes on.
bool is_refused(const char* what, const std::function<void()>& work) {
  try {
    work();
    return false;
  } catch (const weft::error& failed) {
    const std::string text = failed.what();
    if (failed.code() != weft::errc::out_of_memory || text.find(what) == std::string::npos ||
        text.find("WEFT_MEMORY_LIMIT") == std::string::npos)
      throw;
    return true;
  }
}

/// All that calls may take of the limit but `bytes`, or little more.
class hog {
 public:
  hog(weft::runtime& at, std::size_t limit, std::size_t bytes) {
    for (std::size_t each = limit; each >= 4096; each /= 2)
      while (auto taken = take(at, each)) arrays_.push_back(std::move(*taken));
    for (std::size_t freed = 0; freed < bytes; arrays_.pop_back()) freed += arrays_.back().size();
  }

 private:
  static std::optional<weft::node_array<std::byte>> take(weft::runtime& at, std::size_t bytes) {
    std::optional<weft::node_array<std::byte>> taken;
    is_refused("takes", [&] { taken.emplace(at.allocate<std::byte>(bytes)); });
    return taken;
  }
  std::vector<weft::node_array<std::byte>> arrays_;
};

/// Calls of every form, and many of a kind at a time.
void call_all(weft::communicator& world) {
  const int all = world.size(), next = (world.rank() + 1) % all, last = (world.rank() + all - 1) % all;
  std::vector<weft::communicator> made;
  for (int i = 0; i < 3; ++i) made.push_back(world.dup());
  for (const std::size_t count : {1, 3000, 9000}) {
    std::vector<std::int64_t> in(count, world.rank() + 1), out(count), blocks(count * static_cast<std::size_t>(all));
    std::vector<double> numbers(count, 0.5), sums(count);
    for (weft::communicator& each : made) {
      each.allreduce(in, out, weft::sum);
      expect(out.back() == std::int64_t{all} * (all + 1) / 2, "the sum");
      each.allgather(in, blocks);
      expect(blocks.back() == all, "the blocks");
      each.ialltoall(blocks, blocks).wait();
      each.scan(in, out, weft::sum);
    }
    world.allreduce(numbers, sums, weft::reproducible_sum);
    expect(sums[0] == 0.5 * all, "the reproducible sum");
    std::vector<weft::handle> started;
    for (int i = 0; i < 8; ++i) started.push_back(world.isend(in, next, i));
    for (int i = 0; i < 8; ++i) world.recv(out, last, i);
    for (weft::handle& each : started) each.wait();
    expect(out.back() == last + 1, "what was sent");
    auto plan = world.plan_allreduce(in, out, weft::sum);
    for (int time = 0; time < 2; ++time) {
      plan.start();
      plan.wait();
    }
    expect(out.front() == std::int64_t{all} * (all + 1) / 2, "the planned sum");
  }
}

job any_job() {
  const int kind = GENERATE(0, 1, 2);
  return kind == 0 ? small_job(2) : kind == 1 ? over_network(3) : joined_job(2, 2, 1);
}

}  // namespace

TEST_CASE("a limit in which a process cannot start is refused with what it needs, and that is enough") {
  job what = any_job();
  what.settings.memory_limit = enough_to_start(what);
  run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
    std::vector<std::int64_t> in(100, 1), out(100);
    world.allreduce(in, out, weft::sum);
    expect(out[99] == world.size(), "the sum");
    expect(runtime.statistics().most_memory <= what.settings.memory_limit, "the limit");
  });
  what.settings.memory_limit /= 3;
  bool refused = false;
  for (const auto& failure : run_processes(what, [](int, weft::runtime&) {})) refused = refused || failure != nullptr;
  CHECK(refused);
}

TEST_CASE("calls of every form stay within a limit, and what they take comes back") {
  job what = any_job();
  what.settings.memory_limit = enough_to_start(what) + (std::size_t{16} << 20);
  run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
    for (int lap = 0; lap < 2; ++lap) call_all(world);
    expect(runtime.statistics().most_memory <= what.settings.memory_limit, "the limit");
    expect(runtime.statistics().most_memory > std::size_t{1} << 18, "anything is counted");
  });
}

TEST_CASE("what needs more than is left throws, and passes once there is enough") {
  job what = over_network(3);  // memory that processes share is taken in longer parts
  what.settings.memory_limit = enough_to_start(what) + (std::size_t{8} << 20);
  run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
    constexpr std::size_t count = 100'000;
    std::vector<std::int64_t> in(count, 1), out(count);
    const auto on_all = [&](const char* needs, const std::function<void()>& work) {
      std::optional<hog> most;
      most.emplace(runtime, what.settings.memory_limit, 16 << 10);
      world.barrier();  // needs little
      expect(is_refused(needs, work), needs);
      world.barrier();
      most.reset();
      world.barrier();
      expect(!is_refused(needs, work), std::string("again: ") + needs);
      world.barrier();  // before others take all again
    };
    on_all("a communicator takes", [&] { world.dup().barrier(); });
    on_all("a stack takes", [&] { runtime.spawn([] {}); });
    on_all("a packed buffer takes", [&] {
      weft::handle sent = world.isend(weft::view(in, count / 2, 2).column(1), world.rank(), 1);
      world.recv(std::span(out).first(count / 2), world.rank(), 1);
      sent.wait();
    });
    on_all("an array", [&] { expect(runtime.allocate<std::byte>(1 << 20).size() == 1 << 20, "the array"); });
    on_all("takes", [&] {
      auto plan = world.plan_allreduce(in, out, weft::sum);
      plan.start();
      plan.wait();
      expect(out[count - 1] == world.size(), "the planned sum");
    });
    expect(runtime.statistics().most_memory <= what.settings.memory_limit, "the limit");
  });
}

TEST_CASE("where one process alone needs more than it has, the ranks of the communicator fail together") {
  job what = GENERATE(true, false) ? over_network(3) : joined_job(2, 2, 1);
  const std::size_t limit = enough_to_start(what) + (std::size_t{8} << 20);
  what.settings.allreduce = "recursive-doubling";  // which needs as much memory as the vector
  const int limited = what.ranks_in(0);            // the first rank there
  std::vector<std::exception_ptr> seen(static_cast<std::size_t>(what.ranks()));
  const auto failures = run_members(what, [&](int process, weft::detail::membership member) {
    if (process == 1) member.settings.memory_limit = limit;
    weft::runtime runtime(std::move(member));
    runtime.run([&](weft::communicator& world) {
      std::optional<hog> most;
      if (world.rank() == limited) most.emplace(runtime, limit, 32 << 10);
      world.barrier();
      std::vector<std::int64_t> in(100'000, 1), out(100'000);
      try {
        world.allreduce(in, out, weft::sum);
        world.barrier();
      } catch (...) {
        seen[static_cast<std::size_t>(world.rank())] = std::current_exception();
        throw;
      }
    });
  });
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    CAPTURE(rank, text_of(seen[rank]), text_of(failures.front()));
    REQUIRE(seen[rank] != nullptr);
    try {
      std::rethrow_exception(seen[rank]);
    } catch (const weft::error& failed) {
      CHECK((failed.code() == weft::errc::out_of_memory ||
             (rank != static_cast<std::size_t>(limited) && failed.code() == weft::errc::operation_failed)));
      CHECK_THAT(failed.what(), ContainsSubstring("WEFT_MEMORY_LIMIT"));
    }
  }
}

TEST_CASE("messages that nobody receives yet wait at their senders where memory is scarce") {
  job what = GENERATE(true, false) ? small_job(2) : over_network(2);
  what.settings.unexpected_limit = what.settings.send_buffer_limit = std::size_t{1} << 30;
  what.settings.eager_limit = 8 << 10;
  what.settings.memory_limit = enough_to_start(what) + (std::size_t{2} << 20);
  run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
    constexpr int many = 1000;
    std::vector<std::int64_t> message(1000, 7);  // 8 MB of them
    if (world.rank() == 0) {
      std::vector<weft::handle> sent;
      for (int i = 0; i < many; ++i) sent.push_back(world.isend(message, 1, 1));
      world.send(message, 1, 2);
      for (weft::handle& each : sent) each.wait();
    } else {
      std::vector<std::int64_t> other(1000);
      for (int i = 0; i < 1000; ++i) runtime.yield();
      for (int i = 0; i < many; ++i) world.recv(message, 0, 1);
      world.recv(other, 0, 2);
      expect(message[999] == 7, "the message");
    }
    expect(runtime.statistics().most_memory <= what.settings.memory_limit, "the limit");
  });
}

TEST_CASE("the longest messages that do not ask find room in their ring, whatever else has been taken") {
  job what = small_job(2);
  what.settings.eager_limit = 8 << 10;
  what.settings.credit = 1 << 20;
  what.settings.memory_limit = std::size_t{64} << 20;
  constexpr std::size_t longest = 32 << 10;
  REQUIRE(weft::fabric::longest_at_once(what.settings.eager_limit, what.settings.credit) == longest);
  run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
    const hog most(runtime, what.settings.memory_limit, 64 << 10);  // more than a half, of which rings take nothing
    world.barrier();
    constexpr int many = 5;
    std::vector<std::vector<std::byte>> messages(many, std::vector<std::byte>(longest));
    std::vector<weft::handle> begun;
    for (std::vector<std::byte>& each : messages)
      begun.push_back(world.rank() == 0 ? world.isend(each, 1, 1) : world.irecv(each, 0, 1));
    for (weft::handle& each : begun) expect(each.wait_for(std::chrono::seconds(30)), "a message");
    expect(runtime.statistics().sent_by_node_memory.granted.count == 0, "none has asked");
    expect(runtime.statistics().most_memory <= what.settings.memory_limit, "the limit");
  });
}

TEST_CASE("whatever the limit, a call passes or throws, and nothing hangs") {
  job what = any_job();
  const std::size_t start = enough_to_start(what);
  int passed = 0, refused = 0;
  for (std::size_t more = 0; more <= std::size_t{16} << 20; more += (std::size_t{1} << 18) + more) {
    CAPTURE(more);
    what.settings.memory_limit = start + more;
    bool any = false;
    for (const auto& outcome : outcomes_of(what, call_all)) {
      if (outcome == nullptr) continue;
      any = true;
      try {
        std::rethrow_exception(outcome);
      } catch (const weft::error&) {
      } catch (const std::exception& other) {
        FAIL_CHECK(other.what());
      }
    }
    ++(any ? refused : passed);
  }
  CHECK(passed > 0);
  CHECK(refused > 0);
}
