// SPDX-License-Identifier: Apache-2.0
// What all commands do with their command lines: names, sizes, and what was probably meant.
#include <nlohmann/json.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/progress_bar.hpp>
#include <weft/command_line/series.hpp>
#include <weft/command_line/suggestion.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"

using namespace std::chrono_literals;
using namespace weft::tools;
using nlohmann::json;
using weft_test::ContainsSubstring;
using weft_test::outcome;
using weft_test::run;

namespace {

std::string refusal(const std::vector<std::string>& arguments) {
  const outcome refused = run(arguments);
  CAPTURE(arguments);
  CHECK(refused.status == 2);
  CHECK(refused.output.empty());
  return refused.error;
}

}  // namespace

TEST_CASE("slips of the fingers are counted") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("run", "run") == 0);
  CHECK(edit_distance("", "run") == 3);
  CHECK(edit_distance("rnu", "run") == 1);
  CHECK(edit_distance("hosts", "host") == 1);
  CHECK(edit_distance("binch", "bench") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(nearest("benhc", {"run", "bench", "tune"}) == "bench");
  CHECK(nearest("frobnicate", {"run", "bench", "tune"}).empty());
  CHECK(did_you_mean("rn", {"run"}) == "; did you mean \"run\"?");
}

TEST_CASE("numbers are listed, or ranges with steps") {
  using numbers = std::vector<std::size_t>;
  const auto whole = [](const std::string& text, stride by = stride::doubled) {
    return parse_series(text, whole_number(0, 1'000'000), by);
  };
  CHECK(whole("7") == numbers{7});
  CHECK(whole("4,16,7,4") == numbers{4, 16, 7});
  CHECK(whole("2..9") == numbers{2, 4, 8});
  CHECK(whole("2..8") == numbers{2, 4, 8});
  CHECK(whole("5..5") == numbers{5});
  CHECK(whole("1..4", stride::next) == numbers{1, 2, 3, 4});
  CHECK(whole("1..64:x4,3..8:+2") == numbers{1, 4, 16, 64, 3, 5, 7});
  CHECK(whole("0..10:+5") == numbers{0, 5, 10});
  CHECK(parse_series("8..1K:x8,1M..3M:+1M", size_in_bytes(), stride::doubled) ==
        numbers{8, 64, 512, 1 << 20, 2 << 20, 3 << 20});
  CHECK(parse_series("512G..1024G", size_in_bytes(), stride::doubled).size() == 2);
  for (const char* wrong : {"", ",", "2,", "x", "..", "1..", "..2", "1..2..3", "4..2", "1..8:", "1..8:2", "1..8:x",
                            "1..8:x1", "1..8:+0", "1..8:+x", "0..8", "1..8:x2:x2", "0..999999:+1"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(whole(wrong), std::invalid_argument);
  }
}

TEST_CASE("a command that there is not says which was probably meant") {
  CHECK_THAT(refusal({"rnu", "-n", "2", "true"}), ContainsSubstring("no command \"rnu\"; did you mean \"run\"?"));
  const std::string unlike = refusal({"frobnicate"});
  CHECK_THAT(unlike, ContainsSubstring("no command \"frobnicate\": there are run, bench,") &&
                         !ContainsSubstring("did you mean") && !ContainsSubstring("agent"));
}

TEST_CASE("an option that a command has not says which was probably meant") {
  CHECK_THAT(refusal({"run", "-np", "2", "--hsots", "a", "true"}), ContainsSubstring("did you mean \"--hosts\"?"));
  CHECK_THAT(refusal({"run", "--rank-per-process=2", "-n", "2", "true"}),
             ContainsSubstring("\"--rank-per-process\" of run; did you mean \"--ranks-per-process\"?"));
  CHECK_THAT(refusal({"plan", "reduce", "--rank", "2", "--segmets", "3"}),
             ContainsSubstring("did you mean \"--segments\"?"));
  CHECK_THAT(refusal({"sim", "reduce", "-n", "2", "--latnecy", "3"}), ContainsSubstring("did you mean \"--latency\"?"));
  CHECK_THAT(refusal({"bench", "reduce", "--chekc"}), ContainsSubstring("did you mean \"--check\"?"));
  const outcome of_weft = run({"bench", "reduce", "--weft-eager-limt=2k"});
  CHECK(of_weft.status == 1);
  CHECK_THAT(of_weft.error, ContainsSubstring("did you mean \"--weft-eager-limit\"?"));
  CHECK_THAT(refusal({"run", "-n", "2", "--zzzzzzz", "true"}),
             ContainsSubstring("--zzzzzzz") && !ContainsSubstring("did you mean"));
}

TEST_CASE("every command takes a collective's name in each spelling") {
  const auto simulated = [](const char* name) { return run({"sim", name, "-n", "4", "-L", "10", "--json"}).output; };
  const auto planned = [](const char* name) { return run({"plan", name, "-n", "4", "--format", "json"}).output; };
  const auto timed = [](const char* name) {
    const outcome done = run({"bench", name, "-n", "2", "-b", "8", "-e", "8", "--budget", "1", "--json"});
    CHECK(done.status == 0);
    return json::parse(done.output).at("collective").get<std::string>();
  };
  REQUIRE(!simulated("all-reduce").empty());
  REQUIRE(!planned("all-reduce").empty());
  for (const char* name : {"allreduce", "all_reduce"}) {
    CHECK(simulated(name) == simulated("all-reduce"));
    CHECK(planned(name) == planned("all-reduce"));
    CHECK(timed(name) == "allreduce");
  }
  for (const char* name : {"reduce_scatter", "reduce-scatter", "reducescatter"}) {
    CHECK(simulated(name) == simulated("reduce-scatter"));
    CHECK(planned(name) == planned("reduce-scatter"));
    CHECK(timed(name) == "reduce-scatter");
  }
  CHECK(timed("broadcast") == "bcast");
  CHECK(
      run({"bench", "allreduce", "-n", "2", "-e", "8", "--budget", "1", "--algorithm", "recursive_doubling"}).status ==
      0);
  for (const char* command : {"plan", "sim", "bench"})
    CHECK_THAT(refusal({command, "alreduce", "-n", "2"}), ContainsSubstring("did you mean \"all"));
}

TEST_CASE("every command takes sizes alike, and counts are elements") {
  const auto simulated = [](const std::vector<std::string>& size) {
    std::vector<std::string> words{"sim", "allreduce", "--algorithm", "ring", "-n", "4", "-G", "1", "--json"};
    words.insert(words.end(), size.begin(), size.end());
    return run(words).output;
  };
  const std::string plain = simulated({"--bytes", "65536"});
  CHECK_THAT(plain, ContainsSubstring("65536"));
  for (const char* size : {"64k", "64K", "64KiB", "65536B"}) CHECK(simulated({"--bytes", size}) == plain);
  CHECK(simulated({"--count", "16384"}) == plain);
  CHECK(simulated({"--count", "8192", "--type", "double"}) == plain);
  const auto planned = [](const std::vector<std::string>& size) {
    std::vector<std::string> words{"plan", "allreduce", "--algorithm", "ring", "-n", "4", "--format", "goal"};
    words.insert(words.end(), size.begin(), size.end());
    return run(words).output;
  };
  CHECK_THAT(planned({"--bytes", "4K"}), ContainsSubstring("send 1024b"));
  CHECK(planned({"--count", "1024"}) == planned({"--bytes", "4KiB"}));
  CHECK(planned({"--count", "512", "--type", "int64"}) == planned({"--bytes", "4096"}));
  const outcome timed = run({"bench", "allreduce", "-n", "2", "-b", "1KiB", "-e", "1K", "--budget", "1", "--json"});
  CHECK(json::parse(timed.output).at("bytes") == 1024);
}

TEST_CASE("every command takes -np and --np") {
  for (const char* ranks : {"-n", "-np", "--np", "--ranks"}) {
    CHECK(run({"run", ranks, "2", "--oversubscribe", "echo", "-np", "x"}).output == "-np x\n-np x\n");
    CHECK(run({"sim", "reduce", ranks, "4"}).status == 0);
    CHECK(run({"plan", "reduce", ranks, "4"}).status == 0);
    CHECK(run({"bench", "barrier", ranks, "2", "--budget", "1"}).status == 0);
  }
}

TEST_CASE("a bar says how far work has come, and how long the rest takes") {
  using weft::tools::bar_text;
  CHECK(bar_text(0, 5s) == "  0% [                              ]");
  CHECK(bar_text(0.5, 65s) == " 50% [###############               ] 1:05 left");
  CHECK(bar_text(0.99, 99s) == " 99% [############################# ] 0:01 left");
  CHECK(bar_text(1.5, 7s) == "100% [##############################] 0:00 left");
}
