// SPDX-License-Identifier: Apache-2.0
// `weft bench`, from outside and in its parts. What it measures is not tested: only that it measures, and finds errors.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <weft/command_line/command_line.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/runtime.hpp>
#include <weft/schedules/algorithms.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "seed.hpp"
#include "thorough.hpp"
#include "tools/bench/csv.hpp"
#include "tools/bench/measurement.hpp"
#include "tools/bench/settings.hpp"
#include "tools/bench/workload.hpp"

using namespace weft::tools;
using weft_test::ContainsSubstring;
using weft_test::outcome;

namespace {

using words = std::vector<std::string>;

const std::string provider = weft::fabric::default_provider();

outcome bench(words arguments) {
  arguments.insert(arguments.begin(), "bench");
  return weft_test::run(arguments);
}

/// The objects that a bench which succeeds prints.
std::vector<nlohmann::json> results(words arguments) {
  CAPTURE(arguments);
  arguments.insert(arguments.end(), {"--json", "--budget", "2"});
  const outcome done = bench(arguments);
  INFO(done.error);
  CHECK(done.status == 0);
  std::vector<nlohmann::json> objects;
  std::istringstream lines(done.output);
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  for (const auto& object : objects) {
    CHECK(object.at("wrong") == 0);
    CHECK(object.at("samples") >= 20);
    CHECK(object.at("min_us") <= object.at("median_us"));
    CHECK(object.at("median_us") <= object.at("p99_us"));
  }
  return objects;
}

words timed_collectives() {
  words all = bench_collectives();
  std::erase_if(all, [](const std::string& each) {
    return each == "latency" || sends_windows(each) || each == "idle" || each == "overlap" || each == "consistency" ||
           each == "agree" || each == "kernels";
  });
  return all;
}

}  // namespace

TEST_CASE("sizes are read with their units") {
  CHECK(parse_size("8") == 8);
  CHECK(parse_size("64k") == 65536);
  CHECK(parse_size("16M") == 16u << 20);
  CHECK(parse_size("2G") == std::size_t{2} << 30);
  CHECK(parse_size("64K") == 65536);
  CHECK(parse_size("4KiB") == 4096);
  CHECK(parse_size("1MiB") == 1u << 20);
  CHECK(parse_size("12B") == 12);
  CHECK(parse_size("0", 0) == 0);
  for (const char* text :
       {"", "0", "0k", "k", "-1", "1.5", "8 ", "8kB", "8T", "99999999999999999999", "99999999999999G"})
    CHECK_THROWS_AS(parse_size(text), std::invalid_argument);
}

TEST_CASE("samples are counted and summed up as the peers do") {
  using std::chrono::milliseconds;
  CHECK(count_samples(milliseconds(200), 1e-3) == 200);
  CHECK(count_samples(milliseconds(200), 1) == 20);
  CHECK(count_samples(milliseconds(200), 0) == 20'000);
  std::vector<double> seconds;
  for (int i = 200; i > 0; --i) seconds.push_back(i * 1e-6);
  const measurement result = summarize(seconds);
  CHECK(result.samples == 200);
  CHECK(result.min_us == weft_test::Approx(1));
  CHECK(result.median_us == weft_test::Approx(101));
  CHECK(result.p99_us == weft_test::Approx(199));
}

TEST_CASE("what a collective left wrong is counted") {
  char name[] = "test";
  char* argv[] = {name, nullptr};
  int argc = 1;
  weft::runtime alone(argc, argv);
  bench_settings settings;
  for (const char* collective :
       {"allreduce", "reduce", "reduce-scatter", "scan", "allgather", "gather", "scatter", "alltoall"})
    for (const auto type : {weft::kernels::type::float32, weft::kernels::type::float64, weft::kernels::type::int32,
                            weft::kernels::type::int64}) {
      settings.collective = collective;
      settings.type = type;
      const auto work = make_workload(alone.world(), settings, 80'000);
      const auto elements = static_cast<std::int64_t>(80'000 / weft::kernels::size_of(type));
      work->prepare(1);
      CHECK(work->count_wrong(1) == elements);  // poisoned
      work->call();
      CHECK(work->count_wrong(1) == 0);
      CHECK(work->count_wrong(2) > elements / 2);
    }
}

TEST_CASE("every collective prints the peers' fields and its own") {
  for (const std::string& collective : timed_collectives()) {
    if (collective == "barrier") continue;
    const auto sizes = results({collective, "-n", "3", "-b", "8", "-e", "1M", "-f", "64", "--provider", provider});
    REQUIRE(sizes.size() == 3);
    CHECK(sizes[2].at("bytes") == 32768);
    for (const auto& object : sizes) {
      CHECK(object.size() == 13);
      CHECK(object.at("persistent") == false);
      CHECK(object.at("peer") == "weft-" + provider);
      CHECK(object.at("provider") == provider);
      CHECK(object.at("collective") == collective);
      CHECK(object.at("ranks") == 3);
      CHECK(object.at("algorithm") != "auto");
    }
  }
  CHECK(results({"barrier", "-n", "3", "--check"}).size() == 1);
}

TEST_CASE("with buffers in the arena results are exact as well, and say so") {
  for (const std::string& collective : timed_collectives()) {
    if (collective == "barrier") continue;
    const auto sizes =
        results({collective, "-n", "2", "-b", "64", "-e", "1M", "-f", "64", "--buffers", "arena", "--check"});
    REQUIRE(sizes.size() == 3);
    for (const auto& object : sizes) CHECK(object.at("buffers") == "arena");
  }
}

TEST_CASE("every type has exact results by every operator, on a rank alone") {
  char name[] = "test";
  char* argv[] = {name, nullptr};
  int argc = 1;
  weft::runtime alone(argc, argv);
  for (const auto type : weft::kernels::all_types())
    for (const auto op : weft::kernels::all_operations()) {
      if (!weft::kernels::has(op, type) || weft::kernels::is_reproducible(type)) continue;
      CAPTURE(weft::kernels::name(type), weft::kernels::name(op));
      bench_settings settings;
      settings.collective = "allreduce";
      settings.type = type;
      settings.op = op;
      const auto work = make_workload(alone.world(), settings, 1000);
      work->prepare(1);
      work->call();
      CHECK(work->count_wrong(1) == 0);
      CHECK(work->count_wrong(2) > 0);
    }
}

TEST_CASE("every type has exact results by operators and algorithms of every collective") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::vector<words> algorithms;
  for (const std::string& collective : timed_collectives())
    for (const std::string& algorithm : weft_test::drawn(bench_algorithms(collective), 3, random))
      algorithms.push_back({collective, algorithm});
  // Every type is met, and every algorithm in a few runs, though not all of their pairs.
  std::vector<weft::kernels::type> types;
  for (const auto type : weft::kernels::all_types())
    if (!weft::kernels::is_reproducible(type)) types.push_back(type);
  std::ranges::shuffle(types, random);
  for (std::size_t job = 0; job < std::max(algorithms.size(), types.size()); ++job) {
    const auto type = types[job % types.size()];
    std::vector<weft::kernels::operation> operators;
    for (const auto op : weft::kernels::all_operations())
      if (weft::kernels::has(op, type)) operators.push_back(op);
    const auto& algorithm = algorithms[job % algorithms.size()];
    const auto kind = weft::schedules::find_collective(algorithm[0]).value();
    const auto* const by = weft::schedules::find_algorithm(kind, algorithm[1]);
    const bool reads = by != nullptr && ((by->parameters & weft::schedules::takes::nodes) != 0 ||  // of other processes
                                         by->pattern != weft::schedules::memory_pattern::none);
    const auto sizes = results({algorithm[0], "--algorithm", algorithm[1], "--op",
                                std::string(weft::kernels::name(operators[random() % operators.size()])), "--type",
                                std::string(weft::kernels::name(type)), "--check", "-n", "5", "--ranks-per-process",
                                reads ? "1" : "2", "-b", "4", "-e", "64k", "-f", "16384"});
    REQUIRE(sizes.size() == (algorithm[0] == "barrier" ? 1 : 2));
    const bool is_taken = algorithm[1] != "auto" && algorithm[1] != "staged";  // which is of several nodes
    if (is_taken) CHECK(sizes[0].at("algorithm") == algorithm[1]);
  }
}

TEST_CASE("the fields of the objects are printed as comma-separated values as well") {
  const words measured = GENERATE(words{"allreduce"}, words{"bandwidth", "--window", "2"}, words{"latency"});
  words arguments = measured;
  arguments.insert(arguments.end(), {"-n", "2", "-b", "8", "-e", "64", "-f", "8", "--budget", "2", "--csv"});
  const outcome done = bench(arguments);
  CAPTURE(arguments, done.error);
  REQUIRE(done.status == 0);
  std::vector<words> rows;
  std::istringstream lines(done.output);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream values(line);
    for (std::string value; std::getline(values, value, ',');) rows.back().push_back(value);
  }
  REQUIRE(rows.size() == 3);
  arguments.back() = "--json";
  const std::string objects = bench(arguments).output;
  const auto first = nlohmann::ordered_json::parse(objects.substr(0, objects.find('\n')));
  words names;
  for (const auto& [name, value] : first.items()) names.push_back(name);
  CHECK(rows[0] == names);
  const auto bytes = static_cast<std::size_t>(std::find(names.begin(), names.end(), "bytes") - names.begin());
  CHECK(rows[1].at(bytes) == "8");
  CHECK(rows[2].at(bytes) == "64");
}

TEST_CASE("what has no rows is not printed as comma-separated values") {
  const std::string measured = GENERATE("latency", "idle", "overlap", "kernels");
  const outcome refused = bench({measured, "--csv"});
  CAPTURE(measured);
  CHECK(refused.status == 2);
  CHECK_THAT(refused.error, ContainsSubstring("--csv"));
}

TEST_CASE("values with commas and quotes are quoted") {
  const auto row = csv_of(R"({"a": "1, \"2\"", "b": 3.5, "c": true})");
  CHECK(row.names == "a,b,c");
  CHECK(row.values == R"("1, ""2""",3.5,true)");
}

TEST_CASE("agreements are timed beside a barrier") {
  const auto lines = results({"agree", "-n", "3", "--ranks-per-process", "2"});
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(lines[i].at("algorithm") == std::array{"barrier", "agree", "shrink"}[i]);
    CHECK(lines[i].at("ranks") == 3);
  }
}

TEST_CASE("what an idle job costs is measured, whoever makes progress") {
  const std::string progress = GENERATE("caller", "thread");
  const auto lines = results({"idle", "-n", "3", "--ranks-per-process", "2", "--progress", progress});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].at("progress") == progress);
  for (const char* state : {"idle", "waiting"}) {
    CHECK(lines[0].at(state + std::string("_share")) >= 0);
    CHECK(lines[0].at(state + std::string("_wake_ups_per_s")) >= 0);
  }
  CHECK(lines[0].at("awake_median_us") > 0);
}

TEST_CASE("a planned collective is timed by its starts, and its results are right") {
  for (const std::string& collective : timed_collectives()) {
    words arguments{collective, "-n", "3", "--persistent", "--check", "-b", "8", "-e", "64k", "-f", "8192"};
    if (collective == "allreduce") arguments.insert(arguments.end(), {"--ranks-per-process", "2"});
    const auto sizes = results(arguments);
    REQUIRE(sizes.size() == (collective == "barrier" ? 1 : 2));
    for (const auto& object : sizes) CHECK(object.at("persistent") == true);
  }
  CHECK(results({"bcast", "-n", "2", "--explain", "--persistent", "-e", "8"}).size() > 1);
}

TEST_CASE("a started collective is timed until it has been waited for, and its results are right") {
  for (const std::string& collective : timed_collectives()) {
    const auto sizes = results({collective, "-n", "2", "--started", "--check", "-b", "8", "-e", "64k", "-f", "8192"});
    REQUIRE(sizes.size() == (collective == "barrier" ? 1 : 2));
    for (const auto& object : sizes) CHECK(object.at("started") == true);
  }
}

TEST_CASE("with a late rank a sample begins with its call, and ends at the root or with the slowest") {
  for (const std::string collective : {"reduce", "allreduce", "bcast"})
    for (const std::string algorithm : {"auto", "arrival"}) {
      if (collective == "bcast" && algorithm != "auto") continue;
      const auto sizes = results({collective, "-n", "3", "--late", "2:20000", "--algorithm", algorithm, "--check", "-b",
                                  "8", "-e", "64k", "-f", "8192"});
      REQUIRE(sizes.size() == 2);
      for (const auto& object : sizes) {
        CHECK(object.at("late_rank") == 2);
        CHECK(object.at("late_us") == 20000);
        CHECK(object.at("samples") == 20);
        CHECK(object.at("min_us").get<double>() < 20000);  // the sleep is no part of it
        if (algorithm == "arrival") CHECK(object.at("latest_rank") == 2);
      }
    }
}

TEST_CASE("a late rank is a rank, and the microseconds that it sleeps") {
  CHECK(weft::tools::parse_late("3:1000").rank == 3);
  CHECK(weft::tools::parse_late("3:1000").by == std::chrono::microseconds(1000));
  for (const char* wrong : {"", "3", ":", "3:", ":10", "-1:10", "3:0", "3:-1", "3:10x", "3:1e3"})
    CHECK_THROWS_WITH(weft::tools::parse_late(wrong), ContainsSubstring("such as 3:1000"));
}

TEST_CASE("latency is measured alone and under a stream") {
  const auto lines = results({"latency"});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].at("bytes") == 16);
  CHECK(lines[0].at("stream_bytes") == 0);
  CHECK(lines[1].at("stream_bytes") == 64 << 20);
  CHECK(lines[1].at("median_ratio") > 0);
  CHECK(results({"latency", "-n", "3", "--ranks-per-process", "2"}).size() == 2);
  CHECK(results({"latency", "-n", "2", "--ranks-per-process", "2"}).size() == 2);
}

TEST_CASE("latency of sizes is one way, and how many bytes a second that is") {
  const auto lines = results({"latency", "-b", "1", "-e", "64k", "-f", "256"});
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t bytes = std::size_t{1} << 8 * i;
    CHECK(lines[i].at("bytes") == bytes);
    CHECK(lines[i].at("algorithm") == "one way");
    const double of_median = static_cast<double>(bytes) / lines[i].at("median_us").get<double>() * 1e6;
    CHECK(lines[i].at("bytes_per_s") == weft_test::Approx(of_median).epsilon(0.02));
  }
  CHECK(results({"latency", "-e", "16"}).size() == 2);
  CHECK(results({"latency", "-b", "8", "-e", "8", "-n", "3", "--weft-node=off"}).size() == 1);
  const outcome table = bench({"latency", "-b", "8", "-e", "8", "--budget", "1"});
  CHECK_THAT(table.output, ContainsSubstring("wrong         MB/s\n"));
}

TEST_CASE("windows of messages have bandwidths and rates, between processes and within one") {
  const std::string kind = GENERATE("bandwidth", "bidirectional", "message-rate", "put", "get");
  const std::string in_a_process = GENERATE("1", "4");
  const auto lines = results({kind, "-n", "4", "--pairs", "2", "--ranks-per-process", in_a_process, "--window", "3",
                              "-b", "1", "-e", "64k", "-f", "256"});
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t bytes = std::size_t{1} << 8 * i;
    CHECK(lines[i].at("bytes") == bytes);
    CHECK(lines[i].at("window") == 3);
    CHECK(lines[i].at("pairs") == 2);
    const double messages = kind == "bidirectional" ? 12 : 6, rate = lines[i].at("messages_per_s");
    const double median = lines[i].at("median_us");  // rounded to a nanosecond, of which a few puts take ten
    CHECK(rate == weft_test::Approx(messages / median * 1e6).epsilon(0.02 + 0.0006 / median));
    CHECK(lines[i].at("bytes_per_s") == weft_test::Approx(rate * static_cast<double>(bytes)).epsilon(0.02));
  }
}

TEST_CASE("windows of messages go between two ranks, 64 of them, by whichever road") {
  const std::string kind = GENERATE("bandwidth", "bidirectional", "message-rate", "put", "get");
  for (const words& road : {words{}, words{"--weft-node=off"}, words{"--ranks-per-process", "2"}}) {
    words arguments{kind, "-b", "8", "-e", "16"};
    arguments.insert(arguments.end(), road.begin(), road.end());
    const auto lines = results(arguments);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].at("window") == 64);
  }
  const outcome table = bench({kind, "-b", "8", "-e", "8", "--budget", "1"});
  CHECK_THAT(table.output, ContainsSubstring("2 ranks, 1 pair, windows of 64\n"));
  CHECK_THAT(table.output, ContainsSubstring("wrong         MB/s   messages/s\n"));
}

TEST_CASE("receives stay unmatched while a message rate is measured, and end") {
  for (const char* const ranks : {"1", "2"}) {
    const auto lines =
        results({"message-rate", "--unmatched", "100", "--ranks-per-process", ranks, "-b", "8", "-e", "16"});
    REQUIRE(lines.size() == 2);
    CHECK(lines[1].at("unmatched") == 100);
  }
}

TEST_CASE("a bench says that no provider was named") {
  CHECK(results({"barrier", "-n", "2"}).at(0).at("peer") == "weft-default");
}

TEST_CASE("a bench says which road its calls took, whichever provider is named") {
  const auto road = [](words arguments) {
    arguments.insert(arguments.begin(), {"bcast", "-b", "8", "-e", "8"});
    return results(arguments).at(0).at("road");
  };
  CHECK(road({"-n", "3"}) == "node");
  CHECK(road({"-n", "2", "--provider", provider}) == "node");
  CHECK(road({"-n", "2", "--persistent"}) == "node");
  CHECK(road({"-n", "4", "--ranks-per-process", "2"}) == "node");
  CHECK(road({"-n", "2", "--ranks-per-process", "2", "--provider", provider}) == "memory");
  CHECK(road({"-n", "2", "--weft-node=off"}) == provider);
  CHECK(road({"-n", "4", "--ranks-per-process", "2", "--provider", provider, "--weft-node=off"}) == provider);
  CHECK(results({"latency", "-b", "8", "-e", "8", "--weft-node=off"}).at(0).at("road") == provider);
}

TEST_CASE("a bench says which pattern the ranks of a process take") {
  const auto taken = [](words ranks) {
    words arguments{"allreduce", "-b", "8", "-e", "8"};
    arguments.insert(arguments.end(), ranks.begin(), ranks.end());
    return results(arguments).at(0).at("algorithm").get<std::string>();
  };
  CHECK(taken({"-n", "4", "--ranks-per-process", "4", "--workers", "1"}) == "served");
  CHECK(taken({"-n", "4", "--ranks-per-process", "4", "--workers", "2"}) == "served-shown");
  CHECK(taken({"-n", "4", "--ranks-per-process", "2"}) == "node");
  CHECK(taken({"-n", "4", "--ranks-per-process", "4", "--workers", "2", "--weft-allreduce=served"}) == "served");
}

TEST_CASE("a bench of the ranks of a process explains their patterns, and chooses one") {
  const auto all = results({"allreduce", "-n", "2", "--ranks-per-process", "2", "--workers", "2", "-b", "8", "-e",
                            "8192", "-f", "1024", "--explain"});
  std::vector<std::string> chosen, patterns;
  for (const nlohmann::json& one : all) {
    const auto name = one.at("algorithm").get<std::string>();
    if (one.at("chosen").get<bool>()) chosen.push_back(name);
    if (name.starts_with("served")) patterns.push_back(name);
  }
  CHECK(chosen == words{"served-shown", "served"});
  CHECK(patterns.size() == 4);
}

TEST_CASE("a bench refuses an arena that there is none of") {
  const outcome refused = bench({"bcast", "-e", "8", "--buffers", "arena", "--weft-node=off", "--budget", "1"});
  CHECK(refused.status != 0);
  CHECK_THAT(refused.error, ContainsSubstring("no memory that the node shares for buffers of 8 bytes"));
}

TEST_CASE("a bench that belongs to a job is one of its ranks") {
  const outcome table = weft_test::run({"run", "-n", "2", "--provider", provider, "weft", "bench", "allreduce", "-e",
                                        "16", "--budget", "1", "--weft-allreduce=ring"});
  CHECK(table.status == 0);
  CHECK_THAT(table.output, ContainsSubstring("allreduce, " + provider + ", 2 ranks, float, sum\n"));
  CHECK_THAT(table.output, ContainsSubstring("          16  ring "));
  CHECK(std::count(table.output.begin(), table.output.end(), '\n') == 4);
  const outcome refused = weft_test::run({"run", "-n", "1", "weft", "bench", "barrier", "-n", "2"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.error, ContainsSubstring("give it to `weft run`"));
  const outcome unpaired = weft_test::run({"run", "-n", "3", "weft", "bench", "bandwidth"});
  CHECK(unpaired.status == 1);
  CHECK_THAT(unpaired.error, ContainsSubstring("takes 2 ranks (-n 2), not 3"));
}

TEST_CASE("a bench by a provider that is not here names those that are") {
  const outcome refused = bench({"reduce", "--provider", "pigeon"});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.error, ContainsSubstring("\"pigeon\" is not to be had here; valid: " + provider));
}

TEST_CASE("bad options of a bench are named, with what is right") {
  const auto refusal = [](const words& arguments) {
    const outcome refused = bench(arguments);
    CAPTURE(arguments);
    CHECK(refused.status == 2);
    CHECK(refused.output.empty());
    return refused.error;
  };
  CHECK_THAT(refusal({}), ContainsSubstring("COLLECTIVE is required"));
  CHECK_THAT(
      refusal({"gossip"}),
      ContainsSubstring(
          "{reduce,bcast,allreduce,reduce-scatter,allgather,barrier,gather,"
          "scatter,alltoall,scan,exscan,latency,bandwidth,bidirectional,message-rate,put,get,idle,overlap,consistency,"
          "agree,kernels}"));
  CHECK_THAT(refusal({"reduce", "--type", "half"}), ContainsSubstring("{int8,int16,int32,int64,uint8,"));
  CHECK_THAT(refusal({"reduce", "--op", "xor"}), ContainsSubstring("{sum,product,min,max,bit_and,"));
  CHECK_THAT(refusal({"reduce", "--op", "min", "--type", "complex_float"}),
             ContainsSubstring("complex_float has sum, product"));
  CHECK_THAT(refusal({"reduce", "--algorithm", "ring"}), ContainsSubstring("{auto,binomial,greedy,"));
  CHECK_THAT(refusal({"reduce", "-b", "8x"}), ContainsSubstring("such as 8, 64k or 16M"));
  CHECK_THAT(refusal({"reduce", "-b", "32", "-e", "16"}), ContainsSubstring("more than -e 16"));
  CHECK_THAT(refusal({"reduce", "-f", "1"}), ContainsSubstring("whole number from 2"));
  CHECK_THAT(refusal({"reduce", "-n", "0"}), ContainsSubstring("whole number from 1"));
  CHECK_THAT(refusal({"latency", "-n", "1"}), ContainsSubstring("at least 2 ranks"));
  CHECK_THAT(refusal({"idle", "-n", "1"}), ContainsSubstring("at least 2 ranks"));
  CHECK_THAT(refusal({"bandwidth", "-n", "3"}),
             ContainsSubstring("bandwidth with --pairs 1 takes 2 ranks (-n 2), not 3"));
  CHECK_THAT(refusal({"message-rate", "--pairs", "2"}), ContainsSubstring("takes 4 ranks (-n 4), not 2"));
  CHECK_THAT(refusal({"bidirectional", "--window", "0"}), ContainsSubstring("whole number from 1"));
  CHECK_THAT(refusal({"latency", "--window", "2"}), ContainsSubstring("message-rate, put and get alone, not latency"));
  CHECK_THAT(refusal({"bandwidth", "--unmatched", "2"}), ContainsSubstring("for message-rate alone, not bandwidth"));
  CHECK_THAT(refusal({"latency", "--late", "0:10"}), ContainsSubstring("for collectives of data alone, not latency"));
  CHECK_THAT(refusal({"barrier", "--late", "0:10"}), ContainsSubstring("for collectives of data alone, not barrier"));
  CHECK_THAT(refusal({"reduce", "-n", "2", "--late", "2:10"}), ContainsSubstring("there is no rank 2 of 2"));
  CHECK_THAT(refusal({"reduce", "-n", "2", "--late", "1"}), ContainsSubstring("such as 3:1000"));
  CHECK_THAT(refusal({"reduce", "-n", "2", "--ranks-per-process", "2", "--late", "1:10"}),
             ContainsSubstring("with one rank each"));
  CHECK_THAT(refusal({"latency", "--persistent"}), ContainsSubstring("only a collective can be planned"));
  CHECK_THAT(refusal({"latency", "--started"}), ContainsSubstring("only a collective can be started"));
  CHECK_THAT(refusal({"reduce", "--started", "--persistent"}), ContainsSubstring("excludes"));
  CHECK_THAT(refusal({"reduce", "--buffers", "mine"}), ContainsSubstring("{private,arena}"));
  CHECK_THAT(refusal({"barrier", "--buffers", "arena"}), ContainsSubstring("barrier has no buffers"));
  CHECK_THAT(refusal({"reduce", "--no-such-option"}), ContainsSubstring("--no-such-option"));
  const outcome name = bench({"reduce", "--weft-alltoall=ring"});
  CHECK(name.status == 1);
  CHECK_THAT(name.error, ContainsSubstring("--weft-alltoall=ring: not a valid value; valid: auto, pairwise, bruck"));
  const outcome option = bench({"reduce", "--weft-segment=3"});
  CHECK(option.status == 1);
  CHECK_THAT(option.error, ContainsSubstring("--weft-segment=3"));
}
