// SPDX-License-Identifier: Apache-2.0
// What the plugin for Slurm makes of options and of what Slurm granted, without Slurm.
#include <weft/processes/child.hpp>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "tools/slurm/job.hpp"
#include "tools/slurm/placement.hpp"
#include "tools/slurm/rendezvous.hpp"

using namespace weft::tools;
using weft::topology::cpu_set;
using weft_test::ContainsSubstring;

namespace {

/// 4 cores with 2 hardware threads each: cpus 0 and 1, 2 and 3, ...
const weft::topology::machine four_cores = weft::topology::load_synthetic("package:1 l3:1 core:4 pu:2");

cpu_set cpus(const char* list) { return cpu_set::parse(list); }

std::string placed(const std::vector<cpu_set>& granted, int ranks, const progress_choice& progress) {
  std::string text;
  for (const task_cpus& each : place_tasks(four_cores, granted, ranks, progress))
    text += (text.empty() ? "" : " ") + to_string(each.ranks) +
            (each.progress.empty() ? "" : "+" + to_string(each.progress));
  return text;
}

constexpr progress_choice none{}, automatic{progress_choice::kind::automatic, -1};

progress_choice core(int number) { return {progress_choice::kind::core, number}; }

}  // namespace

TEST_CASE("options of srun are read, and others refused by name") {
  for (const char* text : {"auto", "none", "0", "17"}) CHECK(to_string(read_progress_choice(text)) == text);
  for (const char* text : {"", "-1", "1.5", "automatic", "0-3", "99999999999"})
    CHECK_THROWS_WITH(read_progress_choice(text),
                      ContainsSubstring("--weft-progress-core=" + std::string(text) + ": auto, none or the number"));
  CHECK(read_ranks_per_process("12") == 12);
  for (const char* text : {"", "0", "-1", "two", "1000001"})
    CHECK_THROWS_WITH(read_ranks_per_process(text),
                      ContainsSubstring("--weft-ranks-per-process=" + std::string(text) + ": a whole number"));
}

TEST_CASE("what srun tells its tasks is read again, and nothing else") {
  slurm_job job;
  job.identity = {18446744073709551615u, 12, weft::make_secret()};
  job.ranks_per_process = 3;
  job.progress = core(5);
  job.addresses.push_back({"", "10.0.0.1:99"});
  CHECK(to_string(read_slurm_job(to_string(job))) == to_string(job));
  CHECK(address_for(job, "n7") == "10.0.0.1:99");
  job.addresses = {{"n0", "10.0.0.1:99"}, {"n1", "[fd00::1]:98"}};
  CHECK(address_for(read_slurm_job(to_string(job)), "n1") == "[fd00::1]:98");
  CHECK_THROWS_WITH(address_for(job, "n2"), ContainsSubstring("node n2"));
  for (const char* text : {"x", "1 2 secret 1", "1 2 secret 1 auto", "1 2 secret 1 auto address",
                           "1 0 secret 1 auto =a", "1 2 secret 0 auto =a", "1 2 secret 1 some =a"})
    CHECK_THROWS_AS(read_slurm_job(text), weft::error);
}

TEST_CASE("a task finds its place in its environment") {
  slurm_job job;
  job.identity = {7, 6, "secret"};
  job.ranks_per_process = 4;
  job.addresses.push_back({"", "10.0.0.1:99"});
  const auto text = [&](const task_place& place) {
    std::string all;
    for (const auto& [name, value] : environment_of(job, place)) all += name + "=" + value + "\n";
    return all;
  };
  CHECK_THAT(text({5, 2, 3, 1, 2, "n1", "0-7", "6"}),
             ContainsSubstring("WEFT_PROCESS=5\nWEFT_PROCESSES=6\n") && ContainsSubstring("WEFT_RANKS=24\n") &&
                 ContainsSubstring("WEFT_PLACE=2,3,1,2\n") && ContainsSubstring("WEFT_GIVEN_CPUS=0-7\n") &&
                 ContainsSubstring("WEFT_PROGRESS=thread\nWEFT_PROGRESS_CPUS=6\n"));
  CHECK_THAT(text({5, 2, 3, 1, 2, "n1", "0-7", ""}), !ContainsSubstring("WEFT_PROGRESS"));
}

TEST_CASE("the cpus of every task of a node come from Slurm's list") {
  const auto all = [](const char* type, const char* list, int task, const char* own) {
    std::string text;
    for (const cpu_set& each : granted_cpus(type, list, task, 2, cpus(own)))
      text += (text.empty() ? "" : " ") + to_string(each);
    return text;
  };
  CHECK(all("mask_cpu:", "0x3,0xC", 1, "2-3") == "0-1 2-3");
  CHECK(all("mask_cpu:", "0x3,0x1000000000", 0, "0-1") == "0-1 36");
  CHECK(all("mask_cpu:", "0xF", 1, "0-3") == "0-3 0-3");
  CHECK(all("mask_cpu:", "0x3,0xC", 1, "0-1") == "0-1 0-1");  // the kernel says otherwise
  CHECK(all("none", "", 1, "0-7") == "0-7 0-7");
  CHECK(all("mask_cpu:", "0x3,zz", 1, "2") == "2 2");
  CHECK(all("mask_cpu:", ",,", 0, "2") == "2 2");
}

TEST_CASE("processes and their progress threads are placed inside what was granted") {
  const std::vector<cpu_set> shared(2, cpus("0-7")), own{cpus("0-3"), cpus("4-7")}, narrow{cpus("0-1"), cpus("2-3")};
  CHECK(placed(shared, 1, none) == "0-1 2-3");
  CHECK(placed(shared, 9, none) == "0-3 4-7");
  CHECK(placed(shared, 1, automatic) == "0-1+4 2-3+6");
  CHECK(placed(shared, 9, automatic) == "0-1+4 2-3+6");
  CHECK(placed(shared, 1, core(1)) == "0-1+2 4-5+2");
  CHECK(placed(own, 1, automatic) == "0-1+2 4-5+6");
  CHECK(placed(own, 9, none) == "0-3 4-7");
  CHECK(placed(own, 1, core(3)) == "0-1+6 4-5+6");
  CHECK(placed(narrow, 1, automatic) == "0-1 2-3");
}

TEST_CASE("where cores are missing, processes share what they were granted") {
  CHECK(placed(std::vector<cpu_set>(5, cpus("0-7")), 1, none) == "0-7 0-7 0-7 0-7 0-7");
  CHECK(placed(std::vector<cpu_set>(2, cpus("2")), 4, none) == "2 2");
}

TEST_CASE("a core that cannot be kept is refused with what there is") {
  const std::vector<cpu_set> granted{cpus("0-3"), cpus("4-5")};
  CHECK_THROWS_WITH(placed(granted, 1, core(99)),
                    ContainsSubstring("--weft-progress-core=99") && ContainsSubstring("cores 0 to 3"));
  CHECK_THROWS_WITH(placed(granted, 1, core(3)), ContainsSubstring("cpu 6-7") && ContainsSubstring("the cpus 0-5"));
  CHECK_THROWS_WITH(placed(granted, 1, core(2)), ContainsSubstring("all that Slurm granted task 1"));
}

TEST_CASE("nodes that reach srun by different addresses meet there") {
  const weft::store_job job{7, 2, weft::make_secret()};
  const slurm_rendezvous serving(job, {"127.0.0.1", "::1", "127.0.0.1"});
  const auto& addresses = serving.addresses();
  REQUIRE(addresses.size() == 3);
  CHECK(addresses[0] == addresses[2]);
  CHECK_THAT(addresses[1], ContainsSubstring("[::1]:"));
  const auto soon = weft::store::clock::now() + std::chrono::seconds(30);
  const auto first = weft::connect_tcp_store(addresses[0], job, 0, soon);
  const auto second = weft::connect_tcp_store(addresses[1], job, 1, soon);
  first->put("key", {});
  CHECK(second->get("key", soon).empty());
}

TEST_CASE("srun listens on the address by which it reaches a node") {
  CHECK(address_towards("127.0.0.1") == "127.0.0.1");
  CHECK(address_towards("::1") == "::1");
  CHECK_THROWS_WITH(address_towards("no such.host"), ContainsSubstring("node address no such.host"));
}
