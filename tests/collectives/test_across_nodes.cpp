// SPDX-License-Identifier: Apache-2.0
// Communicators of several nodes, some of which share memory. The nodes are pretended.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "node_cases.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft_test;
using namespace std::string_literals;
using weft::schedules::collective;

namespace {

job on_nodes(const std::string& letters, int ranks_per_process = 1) {
  job what = small_job(static_cast<int>(letters.size()), ranks_per_process);
  for (const char each : letters) what.nodes.emplace_back(1, each);
  return what;
}

}  // namespace

TEST_CASE("processes of several nodes get the serial result", "[nodes]") {
  const auto* const nodes = GENERATE("aab", "abab", "aabbaac", "abcddd");
  const int ranks = GENERATE(1, 3);
  const bool in_rows = nodes != "abab"s && nodes != "aabbaac"s;
  auto what = on_nodes(nodes, ranks);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [&](weft::communicator& world) {
    for (const collective each :
         {collective::barrier, collective::broadcast, collective::reduce, collective::allreduce})
      expect(on_node(world, each), "the memory of the nodes to be used");
    for (const collective each :
         {collective::allgather, collective::reduce_scatter, collective::scan, collective::exscan})
      expect(on_node(world, each) == in_rows, "the memory of the nodes to be used where their ranks are in rows");
    expect(on_node(world, collective::alltoall) == (in_rows && ranks == 1), "one rank a process to be packed");
    expect(!on_node(world, collective::gather), "messages for others");
    call_anything(world, thorough() ? 60 : 20, seed_of_this_run());
  });
}

TEST_CASE("what several nodes take has a name, by which it is taken, too", "[nodes]") {
  using weft::detail::choices;
  run_ranks(on_nodes("aabb"), [](weft::communicator& world) {
    const auto name_of = [&](collective what) { return choices::name_of_way(world, {what, 4096, {}, 0}); };
    for (const collective what :
         {collective::barrier, collective::broadcast, collective::reduce, collective::allreduce, collective::allgather,
          collective::reduce_scatter, collective::alltoall, collective::scan, collective::exscan}) {
      expect(name_of(what) == "staged", "stages");
      choices::prefer(world, what, weft::schedules::find_algorithm(what, "staged"));
      expect(name_of(what) == "staged", "the stages asked for");
    }
    expect(name_of(collective::gather) != "staged", "messages for a gather");
    call_anything(world, slowed ? 10 : 30, seed_of_this_run() + 2);
    choices::prefer(world, collective::allreduce, weft::schedules::find_algorithm(collective::allreduce, "ring"));
    expect(name_of(collective::allreduce) == "ring", "the ring asked for");
    call_anything(world, 10, seed_of_this_run() + 3);
  });
}

TEST_CASE("where no node has several processes all is messages", "[nodes]") {
  run_ranks(on_nodes("abc"), [](weft::communicator& world) {
    expect(!on_node(world, collective::allreduce), "messages");
    call_anything(world, 10, seed_of_this_run() + 1);
  });
}

TEST_CASE("across nodes operators that do not commute combine in the order of the ranks", "[nodes]") {
  const std::string nodes = GENERATE("aab", "aabbb", "abab");
  run_ranks(on_nodes(nodes), [&](weft::communicator& world) {
    for (const std::size_t count : {1u, 600u, 3000u, 20'000u}) check_order(world, count);
  });
}

TEST_CASE("all ranks of several nodes get the same bits", "[nodes]") {
  std::mutex guard;
  std::vector<std::vector<float>> found;
  run_ranks(on_nodes("aabbbc"), [&](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<float> in(20'000), out(20'000);
    for (float& x : in) x = any(random);
    world.allreduce(in, out, weft::sum);
    const std::lock_guard lock(guard);
    found.push_back(out);
  });
  for (const auto& each : found) CHECK(each == found.front());
}

TEST_CASE("long vectors go between nodes piece by piece", "[nodes]") {
  const std::string nodes = GENERATE("aab", "abab", "aabbcc");
  const int ranks = GENERATE(1, 2);
  auto what = on_nodes(nodes, ranks);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [&](weft::communicator& world) {
    const int n = world.size();
    std::mt19937_64 random(seed_of_this_run());
    // Some pieces of 256 KiB, and a little.
    for (const std::size_t count : drawn(std::vector<std::size_t>{131'071, 131'072, 200'003, 393'216}, 2, random)) {
      std::vector<int> in(count), out(count);
      for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<int>(i % 1000) * (world.rank() + 1);
      const auto check = [&](const std::vector<int>& found, const char* form) {
        for (std::size_t i = 0; i < count; ++i)
          expect(found[i] == static_cast<int>(i % 1000) * n * (n + 1) / 2, form, ", element ", i, " of ", count,
                 ", found ", found[i]);
      };
      world.allreduce(in, out, weft::sum);
      check(out, "the sum");
      auto started = world.iallreduce(in, out, weft::sum);
      std::vector<int> more(count, world.rank());
      auto second = world.iallreduce(more, more, weft::max);
      second.wait();
      started.wait();
      check(out, "the started sum");
      expect(more[count - 1] == n - 1, "the maximum");
      const int root = static_cast<int>(count) % n;
      std::fill(out.begin(), out.end(), -1);
      world.reduce(in, out, weft::sum, root);
      if (world.rank() == root) check(out, "the root's sum");
      world.bcast(out, root);
      check(out, "what the root sent");
      weft::plan plan = world.plan_allreduce(in, in, weft::sum);
      plan.start();
      plan.wait();
      check(in, "the planned sum in place");
    }
  });
}

TEST_CASE("where costs are measured at the start, the first call may be a plan, and long vectors are cut by them",
          "[nodes]") {
  const int ranks = GENERATE(1, 2);
  auto what = on_nodes(GENERATE("aabb", "aab", "abb"), ranks);
  what.settings.tune = "start";
  what.settings.tune_budget = std::chrono::milliseconds(4);
  run_ranks(what, [&](weft::communicator& world) {
    const int n = world.size();
    std::vector<int> in(300'001), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i % 1000) * (world.rank() + 1);
    weft::plan plan = world.plan_allreduce(in, out, weft::sum);
    for (int i = 0; i < 3; ++i) {
      std::fill(out.begin(), out.end(), -1);
      plan.start();
      plan.wait();
      for (std::size_t at = 0; at < in.size(); ++at)
        expect(out[at] == static_cast<int>(at % 1000) * n * (n + 1) / 2, "the sum of element ", at, ", found ",
               out[at]);
    }
    world.reduce(in, out, weft::max, n - 1);
    if (world.rank() == n - 1) expect(out[999] == 999 * n, "the maximum");
    call_anything(world, 5, seed_of_this_run() + 4);
  });
}

TEST_CASE("what is moved in pieces may be of other elements on each node", "[nodes]") {
  run_ranks(on_nodes("aabbc"), [](weft::communicator& world) {
    constexpr std::size_t count = 100'003;  // of 8 or 24 bytes; no multiple of a piece
    struct three {
      double of[3];
    };
    for (const int root : {0, 3}) {
      std::vector<three> data(count);
      auto* const numbers = &data[0].of[0];
      for (std::size_t i = 0; i < 3 * count; ++i) numbers[i] = world.rank() == root ? static_cast<double>(i) : -1;
      if (world.rank() % 2 == 0)
        world.bcast(std::span(data), root);
      else
        world.bcast(std::span(numbers, 3 * count), root);
      for (std::size_t i = 0; i < 3 * count; ++i)
        expect(numbers[i] == static_cast<double>(i), "element ", i, " from ", root, ", found ", numbers[i]);
    }
  });
}

TEST_CASE("a long all-reduce between nodes whose communicator is aborted ends", "[nodes]") {
  run_ranks(on_nodes("aabb"), [](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<int> data(1 << 20, 1);
    if (world.rank() == 3) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      inner.abort();
    } else {
      expect_error(weft::errc::revoked, [&] {
        while (true) inner.allreduce(data, data, weft::max);
      });
    }
    world.barrier();
  });
}

TEST_CASE("communicators of several nodes have boards of their own, and give them back", "[nodes]") {
  run_ranks(on_nodes("aabb"), [](weft::communicator& world) {
    for (int i = 0; i < 40; ++i) {  // more than there are boards
      auto copy = world.dup();
      expect(on_node(copy, collective::allreduce), "boards for copy ", i);
      auto alone = world.split(world.rank() % 2, 0);  // of one process a node
      expect(!on_node(*alone, collective::allreduce), "messages for copy ", i);
      call_anything(copy, 2, seed_of_this_run() + static_cast<std::uint64_t>(i));
      call_anything(*alone, 2, seed_of_this_run() + static_cast<std::uint64_t>(100 + 2 * i + world.rank() % 2));
    }
  });
}

TEST_CASE("where an operator throws on one of several nodes, the communicator goes on", "[nodes]") {
  const int ranks = GENERATE(1, 2);
  const std::string nodes = GENERATE("aabb", "aab", "abb");
  run_ranks(on_nodes(nodes, ranks), [&](weft::communicator& world) {
    for (const collective what :
         {collective::allreduce, collective::reduce, collective::reduce_scatter, collective::scan, collective::exscan})
      for (const std::size_t count : {1u, 1000u, 3000u, 20'000u})
        for (int thrower = 0; thrower < world.size(); ++thrower) {
          collective_case c;
          c.what = what;
          c.count = count;
          c.by = combined_by::throwing;
          c.thrower = thrower;
          c.root = (thrower + static_cast<int>(count)) % world.size();
          const found mine = check_case(world, c);
          if (world.rank() != thrower && what == collective::reduce && world.rank() != c.root)
            expect(mine == found::result, "those that do not depend on it to end well");
        }
  });
}

TEST_CASE("what an operator throws in a process that is alone on its node is told, and forgotten then", "[nodes]") {
  run_ranks(on_nodes("aab", 2), [](weft::communicator& world) {
    const bool alone = world.rank() >= 4;  // of whom one combines for both
    for (int root = 0; root < world.size(); ++root) {
      std::atomic<bool> threw = false;
      const auto op = weft::make_operator<double>(
          [&](const double* in, double* inout, std::size_t n) {
            if (alone) {
              threw = true;
              throw std::domain_error("no such sum");
            }
            for (std::size_t i = 0; i < n; ++i) inout[i] += in[i];
          },
          weft::commutes);
      std::vector<double> in(3, 1), out(3);
      bool told = false;
      try {
        world.reduce(in, out, op, root);
      } catch (const std::exception&) {
        told = true;
      }
      expect(told == (threw || world.rank() == root), "who threw and the root to be told, and nobody else");
      world.allreduce(in, out, weft::sum);
      expect(out[2] == world.size(), "the communicator to go on");
    }
  });
}

TEST_CASE("who calls something else on another node is found out", "[nodes]") {
  const int who = GENERATE(0, 1, 2, 3);
  run_ranks(on_nodes("aabb"), [&](weft::communicator& world) {
    std::vector<double> some(4, 1);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      // The last of these may end so on one node where the other one has gone on and found it out.
      for (int i = 0; i < 5; ++i) world.allreduce(some, some, weft::max);
      if (world.rank() == who)
        world.allreduce(some, some, weft::sum);
      else
        world.allreduce(some, some, weft::max);
      world.barrier();
      world.barrier();
    });
    expect_text(text, "called allreduce(");
  });
}

TEST_CASE("all-to-alls of several nodes are packed while they are short", "[nodes]") {
  run_ranks(on_nodes("aabbb"), [](weft::communicator& world) {
    for (const std::size_t count : {1u, 7u, 1000u, 1093u, 20'000u}) {  // beyond 1092 floats from process to process
      collective_case c;
      c.what = collective::alltoall;
      c.count = count;
      std::mt19937_64 random(seed_of_this_run() + count);
      draw_terms(c, world.size(), random);
      check_case(world, c);
    }
    const auto packed = [&](std::size_t bytes) {
      return weft::detail::choices::on_node(world, collective::alltoall, bytes);
    };
    expect(packed(21'845) && !packed(21'846), "64 KiB of the three processes of a node to be packed");
  });
}

TEST_CASE("blocks of elements that no slot has room for are gathered", "[nodes]") {
  struct large {
    std::array<std::byte, 10'000> bytes;
  };
  run_ranks(on_nodes("aabb"), [](weft::communicator& world) {
    std::vector<large> in(1), out(static_cast<std::size_t>(world.size()));
    in[0].bytes.fill(static_cast<std::byte>(world.rank()));
    world.allgather(in, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      expect(std::ranges::count(out[i].bytes, static_cast<std::byte>(i)) == 10'000, "the block of rank ", i);
  });
}

TEST_CASE("who sends blocks of another length to another node is found out", "[nodes]") {
  const int who = GENERATE(0, 1, 2, 3);
  run_ranks(on_nodes("aabb"), [&](weft::communicator& world) {
    std::vector<float> in(80'000, 1), out(80'000);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      const std::size_t count = world.rank() == who ? 80'000 : 80;  // not packed, packed
      world.alltoall(std::span(in).first(count), std::span(out).first(count));
      world.barrier();
      world.barrier();
    });
    expect_text(text, "called alltoall(");
  });
}

TEST_CASE("a process that disappears ends what the others of all nodes wait for", "[nodes]") {
  const int gone = GENERATE(0, 1, 3);
  struct vanished {};
  const auto outcomes = run_processes(on_nodes("aabb"), [&](int process, weft::runtime& runtime) {
    runtime.run([&](weft::communicator& world) {
      std::vector<double> one(2, 1);
      for (int i = 0; i < 50; ++i) world.allreduce(one, one, weft::max);
    });
    if (process == gone) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      throw vanished{};
    }
    runtime.run([&](weft::communicator& world) {
      std::vector<double> one(2, 1), many(20'000, 1);
      const auto begin = std::chrono::steady_clock::now();
      expect_error(weft::errc::peer_lost, [&] {
        for (int i = 0;; ++i) i % 2 == 0 ? world.allreduce(one, one, weft::sum) : world.bcast(many, i % 4);
      });
      expect(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2), "an end within two seconds");
    });
  });
  for (int p = 0; p < 4; ++p)
    if (p != gone) CHECK(text_of(outcomes[static_cast<std::size_t>(p)]) == "no error");
}
