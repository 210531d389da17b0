// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>
#include <weft/fabric/messenger_settings.hpp>
#include <weft/handle.hpp>
#include <weft/statistics.hpp>
#include <weft/wait.hpp>

#include "run_ranks.hpp"
#include "statistics_table.hpp"

using namespace weft_test;
using weft::statistics;

namespace {

using road = statistics::road;
using form = statistics::form;

/// By which road the ranks of a job sum, and by which messages go.
struct road_case {
  int processes, ranks_per_process;
  bool node;
  road sums;
  statistics::sent_messages statistics::*messages;
};

void sum(weft::communicator& world, std::size_t count, int blocking, int started, int planned) {
  std::vector<double> in(count, 1), out(count);
  for (int i = 0; i < blocking; ++i) world.allreduce(in, out, weft::sum);
  for (int i = 0; i < started; ++i) world.iallreduce(in, out, weft::sum).wait();
  weft::plan again = world.plan_allreduce(in, out, weft::sum);
  for (int i = 0; i < planned; ++i) {
    again.start();
    again.wait();
  }
}

/// What has come since `before`.
statistics::volume since(statistics::volume before, statistics::volume now) {
  return {now.count - before.count, now.bytes - before.bytes};
}

/// From the first rank to the last one.
void send_along(weft::communicator& world, std::size_t bytes, int times) {
  std::vector<std::byte> message(bytes);
  for (int i = 0; i < times; ++i) {
    if (world.rank() == 0) world.send(message, world.size() - 1, 3);
    if (world.rank() == world.size() - 1) world.recv(message, 0, 3);
  }
}

}  // namespace

TEST_CASE("calls are counted by kind, road and form, with their bytes") {
  const auto its = GENERATE(road_case{2, 1, false, road::messages, &statistics::sent_by_network},
                            road_case{2, 1, true, road::node_memory, &statistics::sent_by_node_memory},
                            road_case{1, 3, true, road::process_memory, &statistics::sent_here});
  CAPTURE(its.processes, its.ranks_per_process, its.node);
  job what = small_job(its.processes, its.ranks_per_process);
  what.settings.node = its.node;
  const auto ranks = static_cast<std::uint64_t>(its.ranks_per_process);
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    expect(runtime.statistics().of("allreduce") == statistics::volume{}, "no sum yet");
    runtime.run([](weft::communicator& world) {
      sum(world, 4, 10, 5, 3);
      weft::communicator other = world.dup();  // what it has counted outlives it
      sum(other, 100, 2, 0, 0);
      other.barrier();
    });
    const statistics now = runtime.statistics();
    const auto sums = [&](form as) { return now.of("allreduce", its.sums, as); };
    expect(sums(form::blocking) == statistics::volume{12 * ranks, (10 * 32 + 2 * 800) * ranks}, "blocking sums");
    expect(sums(form::started) == statistics::volume{5 * ranks, 5 * 32 * ranks}, "started sums");
    expect(sums(form::planned) == statistics::volume{3 * ranks, 3 * 32 * ranks}, "planned sums");
    expect(now.of("allreduce").count == 20 * ranks, "sums of every form and road");
    expect(now.of("barrier", its.sums, form::blocking) == statistics::volume{ranks, 0}, "barriers");
    expect(now.of("alltoall") == statistics::volume{}, "what nobody called");
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

TEST_CASE("messages are counted by length and road, where they are sent and where they come to") {
  const auto its = GENERATE(road_case{2, 1, false, road::messages, &statistics::sent_by_network},
                            road_case{2, 1, true, road::node_memory, &statistics::sent_by_node_memory},
                            road_case{1, 3, true, road::process_memory, &statistics::sent_here});
  CAPTURE(its.processes, its.ranks_per_process, its.node);
  job what = small_job(its.processes, its.ranks_per_process);
  what.settings.node = its.node;
  const std::size_t at_once = 40,
                    granted = weft::fabric::longest_at_once(what.settings.eager_limit, what.settings.credit) + 1;
  const bool asks = its.processes > 1;  // within a process nothing is granted
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    const statistics before = runtime.statistics();
    runtime.run([&](weft::communicator& world) {
      send_along(world, at_once, 7);
      send_along(world, granted, 2);
    });
    const statistics now = runtime.statistics();
    const bool sends = process == 0, receives = process == its.processes - 1;
    const statistics::volume shorts{7, 7 * at_once}, longs{2, 2 * granted}, all = shorts + longs;
    const auto expect_since = [](statistics::volume then, statistics::volume later, statistics::volume expected,
                                 const char* of) { expect(since(then, later) == expected, of); };
    const auto &sent_before = before.*its.messages, &sent = now.*its.messages;
    expect_since(sent_before.at_once, sent.at_once, !sends ? statistics::volume{} : asks ? shorts : all, "at once");
    expect_since(sent_before.granted, sent.granted, sends && asks ? longs : statistics::volume{}, "granted");
    expect_since(before.received, now.received, receives ? all : statistics::volume{}, "received");
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

TEST_CASE("what goes to another node at once while it is alone goes within a node also behind others") {
  const job what = small_job(2, 1);
  const std::size_t longest = weft::fabric::longest_at_once(what.settings.eager_limit, what.settings.credit);
  REQUIRE(longest > what.settings.eager_limit);
  constexpr int count = 5;
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    const auto sent_for = [&](std::size_t bytes) {
      const statistics before = runtime.statistics();
      runtime.run([&](weft::communicator& world) {
        std::vector<std::vector<std::byte>> messages(count, std::vector<std::byte>(bytes));
        std::vector<weft::handle> all;
        for (int i = 0; i < count; ++i) {
          auto& its = messages[static_cast<std::size_t>(i)];
          if (process == 0) std::ranges::fill(its, static_cast<std::byte>(i + 1));
          all.push_back(process == 0 ? world.isend(its, 1, 3) : world.irecv(its, 0, 3));
        }
        weft::wait_all(all);
        for (int i = 0; i < count; ++i)
          expect(std::ranges::count(messages[static_cast<std::size_t>(i)], static_cast<std::byte>(i + 1)) ==
                     static_cast<std::ptrdiff_t>(bytes),
                 "what was sent");
      });
      const statistics now = runtime.statistics();
      return std::pair(since(before.sent_by_node_memory.at_once, now.sent_by_node_memory.at_once).count,
                       since(before.sent_by_node_memory.granted, now.sent_by_node_memory.granted).count);
    };
    const std::uint64_t sent = process == 0 ? count : 0;
    expect(sent_for(longest) == std::pair(sent, std::uint64_t{0}), "the longest that do not ask");
    expect(sent_for(longest + 1) == std::pair(std::uint64_t{0}, sent), "longer ones");
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

TEST_CASE("messages that nothing matches yet are counted at their peak") {
  run_with_runtime(small_job(1, 2), [](weft::runtime& runtime, weft::communicator& world) {
    std::vector<std::byte> message(100);
    if (world.rank() == 0)
      for (int i = 0; i < 3; ++i) world.send(message, 1, 3);
    world.barrier();
    const std::uint64_t peak = runtime.statistics().most_unexpected;
    expect(peak >= 300, "three messages wait");
    if (world.rank() == 1)
      for (int i = 0; i < 3; ++i) world.recv(message, 0, 3);
    world.barrier();
    expect(runtime.statistics().most_unexpected == peak, "the peak stays");
  });
}

TEST_CASE("an unknown collective has no statistics") {
  CHECK_THROWS_WITH(statistics().of("allsum"), ContainsSubstring("no collective \"allsum\""));
}

TEST_CASE("the table has the sum, the least and the most, and names who was lost") {
  std::vector<weft::detail::told_statistics> all(4);
  for (std::size_t p = 0; p < all.size(); ++p) all[p].who = "rank " + std::to_string(p);
  const auto sums = [](std::uint64_t count, std::uint64_t bytes) {
    statistics its;
    its.collectives[static_cast<std::size_t>(weft::schedules::collective::allreduce)][static_cast<std::size_t>(
        road::node_memory)][static_cast<std::size_t>(form::started)] = {count, bytes};
    its.most_unexpected = bytes;
    return its;
  };
  all[0].counts = sums(7, 1536);
  all[1].counts = sums(5, 1024);
  all[3].counts = sums(6, 512);
  const std::string text = weft::detail::statistics_table(all);
  CHECK(text ==
        "weft: statistics of 3 of 4 processes, without those that were lost: rank 2\n"
        "                                              total           least               most\n"
        "  allreduce started in node memory, calls        18      5 (rank 1)         7 (rank 0)\n"
        "  allreduce started in node memory, bytes  3.00 KiB  512 B (rank 3)  1.50 KiB (rank 0)\n"
        "  unexpected messages, peak bytes                    512 B (rank 3)  1.50 KiB (rank 0)\n");
}
