// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <map>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using weft_test::ContainsSubstring;

namespace {

using table = std::map<std::string, std::string>;

weft::environment lookup(const table& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

const table complete{{"WEFT_JOB", "18446744073709551615"},
                     {"WEFT_PROCESS", "3"},
                     {"WEFT_PROCESSES", "4"},
                     {"WEFT_STORE", "127.0.0.1:9"},
                     {"WEFT_SECRET", "0123456789abcdef0123456789abcdef"}};

std::string refusal(table variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  try {
    weft::launched(lookup(variables));
  } catch (const weft::error& failure) {
    CHECK(failure.code() == weft::errc::invalid_argument);
    return failure.what();
  }
  return "no error";
}

std::string foreign(const table& variables) { return weft::find_foreign_launcher(lookup(variables)).name; }

}  // namespace

TEST_CASE("what weft run says is read, and nothing else passes for it") {
  CHECK_FALSE(weft::launched(lookup({})));
  const auto job = weft::launched(lookup(complete));
  REQUIRE(job);
  CHECK(job->process == 3);
  CHECK(job->processes == 4);
  CHECK(job->store_address == "127.0.0.1:9");
  CHECK(job->job == 18446744073709551615u);
  CHECK(to_string(job->place) == "3 of 4 on node 0 of 1");
  CHECK(job->launcher == "weft run");
  table placed = complete;
  placed["WEFT_PLACE"] = "1,2,5,6";
  CHECK(to_string(weft::launched(lookup(placed))->place) == "1 of 2 on node 5 of 6");
  for (const char* place : {"1", "1,2,5", "1,2,5,", "1,2,5,6,", "1,2,6,6", "2,2,0,1", "-1,2,0,1", "1;2;0;1", "1,2,0,x"})
    CHECK_THAT(refusal(complete, "WEFT_PLACE", place), ContainsSubstring("WEFT_PLACE=\"" + std::string(place)));
  CHECK_THAT(refusal(complete, "WEFT_PROCESS", "4"), ContainsSubstring("WEFT_PROCESS=\"4\""));
  CHECK_THAT(refusal(complete, "WEFT_PROCESS", "-1"), ContainsSubstring("from 0 to 3"));
  CHECK_THAT(refusal(complete, "WEFT_PROCESSES", "0"), ContainsSubstring("WEFT_PROCESSES"));
  CHECK_THAT(refusal(complete, "WEFT_PROCESSES", "4 "), ContainsSubstring("WEFT_PROCESSES"));
  CHECK_THAT(refusal(complete, "WEFT_JOB", "18446744073709551616"), ContainsSubstring("WEFT_JOB"));
  CHECK_THAT(refusal(complete, "WEFT_SECRET", ""), ContainsSubstring("WEFT_SECRET is not"));
}

TEST_CASE("other launchers are recognised when they started several processes") {
  CHECK(foreign({}).empty());
  CHECK(foreign({{"PMI_SIZE", "4"}, {"PMI_RANK", "0"}, {"PMI_FD", "5"}}) == "PMI (PMI_SIZE=4)");
  CHECK(foreign({{"PMI_SIZE", "1"}, {"PMI_FD", "5"}}).empty());
  CHECK(foreign({{"PMI_FD", "5"}}) == "PMI (PMI_FD=5)");
  CHECK(foreign({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "0"}}) == "Open MPI (OMPI_COMM_WORLD_SIZE=2)");
  CHECK(foreign({{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "n"}}).empty());
  CHECK(foreign({{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "prte-1"}}) == "PMIx (PMIX_NAMESPACE=prte-1)");
  CHECK(foreign({{"PALS_RANKID", "0"}}) == "PALS (PALS_RANKID=0)");
  CHECK(foreign({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}) == "Slurm (SLURM_NTASKS=8)");
  CHECK(foreign({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "2"}}) ==
        "Slurm (SLURM_STEP_NUM_TASKS=2)");
  CHECK(foreign({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "1"}}).empty());
  CHECK(foreign({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"ENVIRONMENT", "BATCH"}}).empty());
  CHECK(foreign({{"SLURM_NTASKS", "8"}}).empty());  // a shell of salloc's
}

TEST_CASE("what a launcher with PMI says is read") {
  const table said{{"PMI_FD", "5"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}};
  const auto started = weft::pmi_offered(lookup(said));
  REQUIRE(started);
  CHECK(started->descriptor == 5);
  CHECK(started->process == 1);
  CHECK(started->processes == 4);
  CHECK(weft::in_job(lookup(said)));
  const auto with = [&](const char* name, const char* value) {
    table changed = said;
    changed[name] = value;
    return lookup(changed);
  };
  CHECK_FALSE(weft::pmi_offered(with("PMI_FD", "")));
  CHECK_FALSE(weft::pmi_offered(lookup({{"PMI_FD", "5"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}})));
  CHECK_THROWS_WITH(weft::pmi_offered(with("PMI_RANK", "4")),
                    ContainsSubstring("PMI_RANK=\"4\"") && ContainsSubstring("from 0 to 3"));
  CHECK_THROWS_WITH(weft::pmi_offered(with("PMI_SIZE", "many")), ContainsSubstring("PMI_SIZE=\"many\""));
  CHECK_THROWS_WITH(weft::pmi_offered(with("PMI_FD", "-1")), ContainsSubstring("PMI_FD=\"-1\""));
}

TEST_CASE("nobody is silently alone") {
  const auto deadline = weft::store::clock::now() + 1s;
  CHECK(weft::join_job(deadline, lookup({})).rendezvous->processes() == 1);
  CHECK_THROWS_WITH(weft::join_job(deadline, lookup({{"PMI_SIZE", "4"}})),
                    ContainsSubstring("PMI (PMI_SIZE=4)") && ContainsSubstring("weft run -n 4 "));
  CHECK_THROWS_WITH(weft::join_job(deadline, lookup(complete)), ContainsSubstring("start the program again"));
}

TEST_CASE("what a launcher with PMIx says is read where it started several processes") {
  const table said{{"PMIX_NAMESPACE", "prte-1"}, {"PMIX_RANK", "1"}};
  const auto started = weft::pmix_offered(lookup(said));
  REQUIRE(started);
  CHECK(started->job == "prte-1");
  CHECK(started->rank == "1");
  CHECK_FALSE(weft::pmix_offered(lookup({{"PMIX_RANK", "1"}})));
  CHECK_FALSE(
      weft::pmix_offered(lookup({{"PMIX_NAMESPACE", "prte-1"}, {"PMIX_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})));
}
