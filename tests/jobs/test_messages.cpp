// SPDX-License-Identifier: Apache-2.0
// What must work over every provider: messages that arrive long before they are wanted, and every schedule.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <random>
#include <set>
#include <weft/fabric/provider.hpp>
#include <weft/schedules/algorithms.hpp>

#include "catch.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "setting.hpp"
#include "thorough.hpp"
#include "tools/launcher_under_test.hpp"

using namespace weft_test;

namespace {

using words = std::vector<std::string>;

void succeed(const std::string& provider, int ranks, const words& options, const std::string& job,
             const words& arguments = {}) {
  words command{"run", "-n", std::to_string(ranks), "--oversubscribe", "--timeout", "240"};
  for (const words& some : {road_options(provider), options}) command.insert(command.end(), some.begin(), some.end());
  command.insert(command.end(), {"PROGRAM", job});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const outcome ended = run(command);
  if (ended.status != 0 && ended.error.find("is not to be had here") != std::string::npos)
    skip("no provider " + provider);
  std::string shown;
  for (const std::string& each : options) shown += each + " ";
  INFO(job << " by " << ranks << " ranks over " << provider << " " << shown << "\n" << ended.output << ended.error);
  CHECK(ended.status == 0);
  std::printf("%s, %d ranks over %s %s: %.1f s\n", job.c_str(), ranks, provider.c_str(), shown.c_str(),
              static_cast<double>(ended.time.count()) / 1e3);
  std::fflush(stdout);
}

void exchange_over(const std::string& provider) {
  succeed(provider, 2, {}, "exchange");
  succeed(provider, 2, {"--progress", "thread"}, "exchange");
  succeed(provider, 4, {"--ranks-per-process", "2"}, "exchange");
  succeed(provider, 6, {"--ranks-per-process", "3", "--progress", "thread"}, "exchange");
  CHECK(left_behind().empty());
}

void compute_over(const std::string& provider) {
  const words force{"-x", "WEFT_FORCE_REGISTRATION=on"};
  const words small{"-x", "WEFT_EAGER_LIMIT=256", "-x", "WEFT_PIECE=4096", "-x", "WEFT_WINDOW=8192",
                    "-x", "WEFT_SEGMENT=4096",    "-x", "WEFT_CREDIT=4096"};
  succeed(provider, 8, {}, "compute");
  succeed(provider, 5, {"--progress", "thread"}, "compute");
  succeed(provider, 7, {"-x", "WEFT_ALLREDUCE=ring", "-x", "WEFT_REDUCE=greedy"}, "compute");
  succeed(provider, 7, {"-x", "WEFT_ALLREDUCE=recursive-doubling", "-x", "WEFT_REDUCE=binomial"}, "compute");
  succeed(provider, 4, {"-x", "WEFT_REDUCE_SCATTER=mst", "-x", "WEFT_ALLGATHER=bruck",
                        "-x", "WEFT_ALLTOALL=bruck",     "-x", "WEFT_GATHER=linear",
                        "-x", "WEFT_SCATTER=linear",     "-x", "WEFT_SCAN=chain",
                        "-x", "WEFT_EXSCAN=chain",       "-x", "WEFT_BCAST=two-tree",
                        "-x", "WEFT_BARRIER=tree",       "-x", "WEFT_ALLREDUCE=modified-rabenseifner",
                        "-x", "WEFT_GROUP_RANKS=2",      "-x", "WEFT_CONNECTIONS=2"},
          "compute");
  succeed(provider, 3, force, "compute");
  succeed(provider, 4, small, "compute");
  CHECK(left_behind().empty());
}

void persist_over(const std::string& provider) {
  const std::string longest = slowed ? "3000" : "8000";
  const words many{"100", "0", "1", "100", longest}, few{thorough() ? "100" : "30", "0", "1", "100", longest};
  succeed(provider, 2, {}, "persist", many);
  succeed(provider, 5, {"--progress", "thread"}, "persist", few);
  succeed(provider, 6, {"--ranks-per-process", "2"}, "persist", few);
  succeed(provider, 4, {"-x", "WEFT_EAGER_LIMIT=256", "-x", "WEFT_PIECE=4096", "-x", "WEFT_SEGMENT=4096"}, "persist",
          few);
  succeed(provider, 3, {"-x", "WEFT_CHECK=1"}, "persist", few);
  CHECK(left_behind().empty());
}

/// Many ranks, fibers of few processes.
void compute_by_fibers(const std::string& provider) {
  succeed(provider, 8, {"--ranks-per-process", "4", "--workers", "2"}, "compute");
  succeed(provider, 9, {"--ranks-per-process", "4", "--workers", "3", "--progress", "thread"}, "compute");
  // Without the node's memory ranks of one process do not join either: all are messages.
  const int all = slowed ? 64 : provider == "node" ? 1024 : 256;
  const std::string half = std::to_string(all / 2);
  const words counts{"0", "1", "3"};
  const bool whole = thorough() || slowed;
  succeed(provider, all, {"--ranks-per-process", half, "--workers", "1"}, "compute", whole ? counts : words{"0", "1"});
  succeed(provider, all, {"--ranks-per-process", half, "--workers", "2"}, "compute", whole ? counts : words{"3"});
  CHECK(left_behind().empty());
}

/// Options by which each collective takes its `number`-th algorithm, around, in shapes of its own for each number of
/// ranks.
words algorithms_number(std::size_t number, int ranks) {
  words options;
  const auto set = [&](std::string name, std::string_view value) {
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    options.insert(options.end(), {"-x", "WEFT_" + name + "=" + std::string(value)});
  };
  for (std::size_t i = 0; i < weft::schedules::collectives; ++i) {
    const auto kind = static_cast<weft::schedules::collective>(i);
    const auto all = weft::schedules::algorithms_of(kind);
    set(std::string(weft::schedules::option_name(kind)), all[number % all.size()].name);
  }
  set("degree", std::to_string(2 + ranks % 3));
  set("splits", std::to_string(ranks % 3));
  set("connections", std::to_string(1 + ranks % 2));
  set("group-ranks", std::to_string(ranks % 4));
  return options;
}

/// Jobs in which every algorithm of every collective runs among all ranks: of each of these numbers, or of one drawn.
void compute_by_every_algorithm(const std::string& provider, const std::vector<int>& numbers_of_ranks,
                                const words& counts) {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::size_t most = 0;
  for (std::size_t i = 0; i < weft::schedules::collectives; ++i)
    most = std::max(most, weft::schedules::algorithms_of(static_cast<weft::schedules::collective>(i)).size());
  for (std::size_t number = 0; number < most; ++number)
    for (const int ranks : drawn(numbers_of_ranks, 1, random))
      succeed(provider, ranks, algorithms_number(number, ranks), "compute", counts);
  CHECK(left_behind().empty());
}

}  // namespace

TEST_CASE("plans are started again and again over net, or tcp as it is called later", "[plans-net]") {
  persist_over(weft::fabric::default_provider());
}
TEST_CASE("plans are started again and again over rxm", "[plans-rxm]") { persist_over("tcp;ofi_rxm"); }
TEST_CASE("plans are started again and again over shm", "[plans-shm]") { persist_over("shm"); }
TEST_CASE("messages that arrive long before they are wanted, over net, or tcp as it is called later",
          "[messages-net]") {
  exchange_over(weft::fabric::default_provider());
}
TEST_CASE("messages that arrive long before they are wanted, over rxm", "[messages-rxm]") {
  exchange_over("tcp;ofi_rxm");
}
TEST_CASE("messages that arrive long before they are wanted, over shm", "[messages-shm]") { exchange_over("shm"); }
TEST_CASE("messages that arrive long before they are wanted, over rxd", "[messages-rxd]") {
  exchange_over("udp;ofi_rxd");
}
TEST_CASE("messages that arrive long before they are wanted, in the node's memory", "[messages-node]") {
  exchange_over("node");
}
TEST_CASE("plans are started again and again in the node's memory", "[plans-node]") { persist_over("node"); }
TEST_CASE("every schedule in the node's memory", "[schedules-node]") { compute_over("node"); }
TEST_CASE("every schedule over net, or tcp as it is called later", "[schedules-net]") {
  compute_over(weft::fabric::default_provider());
}
TEST_CASE("every schedule over rxm", "[schedules-rxm]") { compute_over("tcp;ofi_rxm"); }
TEST_CASE("every schedule over shm", "[schedules-shm]") { compute_over("shm"); }
TEST_CASE("every collective among fibers of few processes, 256 in two, over net, or tcp as it is called later",
          "[fibers-net]") {
  compute_by_fibers(weft::fabric::default_provider());
}
TEST_CASE("every collective among fibers of few processes, 256 in two, over shm", "[fibers-shm]") {
  compute_by_fibers("shm");
}
TEST_CASE("every collective among fibers of few processes, 1,024 in two, in the node's memory", "[fibers-node]") {
  compute_by_fibers("node");
}
TEST_CASE("every algorithm among 2 to 8 processes over shm", "[algorithms-shm]") {
  for (std::size_t ranks = 2; ranks <= 8; ranks += slowed ? 3 : 1) {
    words counts;
    for (const std::size_t count : std::set<std::size_t>{0, 1, ranks - 1, ranks, ranks + 1, 1000, 65'537})
      counts.push_back(std::to_string(count));
    compute_by_every_algorithm("shm", {static_cast<int>(ranks)}, counts);
  }
}
TEST_CASE("every algorithm over net, or tcp as it is called later", "[algorithms-net]") {
  compute_by_every_algorithm(weft::fabric::default_provider(), {2, 3, 4, 5}, {"1", "1000"});
}
TEST_CASE("every algorithm in the node's memory", "[algorithms-node]") {
  compute_by_every_algorithm("node", {2, 4, 5, 7}, {"1", "1000", "65537"});
}
TEST_CASE("every algorithm over rxm", "[algorithms-rxm]") {
  compute_by_every_algorithm("tcp;ofi_rxm", {3, 6}, {"1", "1000"});
}
