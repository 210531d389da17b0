// SPDX-License-Identifier: Apache-2.0
// `weft sim` of several jobs: rows, and curves.
#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <weft/schedules/algorithms.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "temporary_file.hpp"
#include "tools/sim/in_order.hpp"

using nlohmann::json;
using weft_test::ContainsSubstring;
using weft_test::outcome;
using weft_test::temporary_file;

namespace {

using words = std::vector<std::string>;

words operator+(words all, const words& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const words machine{"-L", "1500", "-o", "300", "-g", "400", "-G", "0.08", "--compute-per-byte", "0.05"};

outcome weft_sim(const words& arguments) { return weft_test::run(words{"sim"} + arguments); }

/// The cells of each row, that of names included.
std::vector<words> rows_in(const std::string& csv) {
  std::vector<words> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

std::vector<words> swept(const words& arguments) {
  const outcome done = weft_sim(arguments + machine);
  CAPTURE(done.error);
  CHECK(done.status == 0);
  return rows_in(done.output);
}

/// Column `which` of all rows.
words column(const std::vector<words>& rows, std::size_t which) {
  words values;
  for (std::size_t row = 1; row < rows.size(); ++row) values.push_back(rows[row].at(which));
  return values;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

/// Whether each element that begins ends, in the order that XML wants.
bool is_well_formed(const std::string& xml) {
  words open;
  for (std::size_t at = 0; (at = xml.find('<', at)) != std::string::npos;) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos || count(xml.substr(at, end - at), "\"") % 2 != 0) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("a sweep's rows say what single runs do") {
  const auto rows = swept({"reduce", "--ranks", "3..12", "--bytes", "8,64K", "--algorithm", "binomial,chain",
                           "--segments", "1,4", "--noise", "10000:1000", "--seed", "0..1"});
  REQUIRE(rows.size() == 1 + 2 * 3 * 2 * 2 * 2);
  CHECK(rows[0] ==
        words{"collective", "algorithm", "ranks", "bytes", "segments", "seed", "predicted_ns", "simulated_ns"});
  CHECK(words(rows[1].begin(), rows[1].begin() + 6) == words{"reduce", "binomial", "3", "8", "1", "0"});
  for (std::size_t i = 1; i < rows.size(); i += 5) {
    const words& row = rows[i];
    const outcome alone = weft_sim(words{row[0], "--algorithm", row[1], "-n", row[2], "--bytes", row[3], "--segments",
                                         row[4], "--seed", row[5], "--noise", "10000:1000", "--json"} +
                                   machine);
    CAPTURE(alone.error, i);
    CHECK(json::parse(alone.output).at("completion") == json::parse(row.at(7)));
  }
}

TEST_CASE("of an idle machine the formula says what is simulated, of noise it knows nothing") {
  const words what{"reduce", "-n", "4,16", "--bytes", "1024", "--algorithm", "binomial"};
  const auto idle = swept(what), noisy = swept(what + words{"--noise", "100000:50000", "--seed", "3"});
  CHECK(column(idle, 6) == column(noisy, 6));
  CHECK(column(idle, 7) != column(noisy, 7));
  for (std::size_t row = 1; row < idle.size(); ++row)
    CHECK(std::stod(idle[row].at(6)) == weft_test::Approx(std::stod(idle[row].at(7))).epsilon(0.01));
  CHECK(column(swept(what + words{"--ports", "one"}), 6) == words{"", ""});
  CHECK(column(swept({"allreduce", "-n", "2", "--algorithm", "at-once", "--csv", "-"}), 6) == words{""});
}

TEST_CASE("all are the algorithms by messages; those of groups come with these") {
  const auto among = [](const words& more) {
    auto names = column(swept(words{"allreduce", "-n", "8", "--algorithm", "all"} + more), 1);
    CHECK(std::ranges::find(names, "ring") != names.end());
    CHECK(std::ranges::find(names, "arrival") == names.end());
    CHECK(std::ranges::find(names, "at-once") == names.end());
    return std::ranges::find(names, "two-tier") != names.end();
  };
  CHECK_FALSE(among({}));
  CHECK(among({"--group-size", "4"}));
  // Where one takes no segments it is there once.
  const auto rows =
      swept({"allreduce", "-n", "8", "--algorithm", "ring,served-shown", "--segments", "1..4", "--group-size", "4"});
  CHECK(column(rows, 4) == words{"1", "2", "4", "1"});
  // As names and numbers are repeated, rows are not.
  CHECK(swept({"bcast", "-n", "4,4,2..4", "--algorithm", "binomial,all,binomial"}).size() ==
        swept({"bcast", "-n", "4,2", "--algorithm", "all"}).size());
}

TEST_CASE("one thread and many write the same bytes") {
  const auto with = [](const char* threads) {
    const temporary_file csv, svg;
    CHECK(weft_sim(words{"allreduce", "-n", "2..64", "--bytes", "8..1M:x8", "--algorithm", "all", "--noise",
                         "10000:1000:exponential", "--seed", "1..3", "--csv", csv.path(), "--threads", threads} +
                   machine)
              .status == 0);
    CHECK(weft_sim(words{"allreduce", "-n", "2..64", "--algorithm", "all", "--noise", "10000:1000", "--seed", "1..3",
                         "--svg", svg.path(), "--threads", threads} +
                   machine)
              .status == 0);
    return csv.text() + svg.text();
  };
  const std::string alone = with("1");
  CHECK(alone.size() > 10'000);
  CHECK(alone == with("2"));
  CHECK(alone == with("16"));
}

TEST_CASE("results come in the order of their numbers, up to the first that fails") {
  for (const std::size_t threads : {1, 3, 8, 100}) {
    std::vector<std::size_t> done;
    const auto run = [&](std::size_t from) {
      done.clear();
      weft::tools::in_order(
          50, threads,
          [&](std::size_t i) {
            std::this_thread::sleep_for(std::chrono::microseconds(i % 7 * 50));
            if (i >= from) throw std::runtime_error(std::to_string(i));
            return i;
          },
          [&](std::size_t i) { done.push_back(i); });
    };
    run(50);
    REQUIRE(done.size() == 50);
    CHECK(std::ranges::is_sorted(done));
    CHECK_THROWS_WITH(run(20), "20");
    CHECK(done.size() == 20);
  }
  std::size_t seen = 0;
  CHECK_THROWS_WITH(weft::tools::in_order(
                        9, 3, [](std::size_t i) { return i; },
                        [&](std::size_t i) {
                          if (i == 4) throw std::runtime_error("full");
                          ++seen;
                        }),
                    "full");
  CHECK(seen == 4);
}

TEST_CASE("curves over sizes or ranks have a legend, and units") {
  const temporary_file svg, csv;
  const auto drawn = [&](const words& what) {
    const outcome done = weft_sim(what + machine + words{"--svg", svg.path()});
    CAPTURE(done.error);
    CHECK(done.status == 0);
    CHECK(done.output.empty());
    const std::string text = svg.text();
    CHECK(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(is_well_formed(text));
    CHECK_THAT(text, ContainsSubstring("completion in µs"));
    CHECK_THAT(text, !ContainsSubstring("nan") && !ContainsSubstring("inf"));
    return text;
  };
  const std::string over_sizes =
      drawn({"allreduce", "-n", "8,16", "--bytes", "8..1M", "--algorithm", "ring,binomial", "--csv", csv.path()});
  for (const char* label : {"ring, 8 ranks<", "ring, 16 ranks<", "binomial, 8 ranks<", "binomial, 16 ranks<",
                            ">bytes of the vector (all-reduce)<", ">64 KiB<"})
    CHECK_THAT(over_sizes, ContainsSubstring(label));
  CHECK(count(over_sizes, "<polyline") == 4);
  CHECK(rows_in(csv.text()).size() == 1 + 2 * 2 * 18);
  const std::string over_ranks = drawn({"reduce", "-n", "2..1024", "--algorithm", "binomial,fibonacci"});
  CHECK_THAT(over_ranks, ContainsSubstring(">ranks (reduce, 8 bytes)<") && ContainsSubstring(">fibonacci<") &&
                             ContainsSubstring(">1024<") && !ContainsSubstring("polygon"));
  const std::string noisy = drawn({"reduce", "-n", "2..64", "--noise", "10000:1000", "--seed", "1..5", "--segments",
                                   "1,2", "--algorithm", "binomial"});
  CHECK_THAT(noisy, ContainsSubstring("median of 5 seeds") && ContainsSubstring("binomial, segments: 2<"));
  CHECK(count(noisy, "<polygon") == 2);
  CHECK(drawn({"reduce", "-n", "4", "--bytes", "8", "64"}) == drawn({"reduce", "-n", "4", "--bytes", "8,64"}));
}

TEST_CASE("what an algorithm refuses is left out, and said") {
  const words torus{"allreduce", "-n", "4,6,8", "--algorithm", "swing,ring", "--torus", "2x4"};
  const outcome done = weft_sim(torus + machine);
  CHECK(done.status == 0);
  CHECK(column(rows_in(done.output), 2).back() == "8");
  CHECK(rows_in(done.output).size() == 1 + 1 + 3);
  CHECK_THAT(done.error, ContainsSubstring("all-reduce swing among 6 ranks is left out: "));
  const outcome none = weft_sim({"allreduce", "-n", "4,6", "--algorithm", "swing", "--torus", "2x4"});
  CHECK(none.status == 2);
  CHECK_THAT(none.error, ContainsSubstring("nothing of this can be simulated"));
}

TEST_CASE("networks and LogGOPSim's model can be swept") {
  const auto random = swept({"allreduce", "-n", "16", "--algorithm", "ring", "--bytes", "64K", "--topology",
                             "torus:4x4", "--placement", "random", "--seed", "0..4"});
  const words times = column(random, 7);
  CHECK(std::ranges::find_if(times, [&](const std::string& each) { return each != times[0]; }) != times.end());
  const temporary_file svg;
  CHECK(weft_sim({"reduce", "-n", "2..8", "--model", "loggopsim", "-L", "100", "--svg", svg.path()}).status == 0);
  CHECK_THAT(weft_sim({"reduce", "-n", "2", "--model", "loggopsim", "--svg", svg.path()}).error,
             ContainsSubstring("--svg: LogGOPSim has no timeline"));
  const outcome whole = weft_sim({"reduce", "-n", "2..8", "--model", "loggopsim", "-L", "100", "-o", "10"});
  CHECK(whole.status == 0);
  CHECK(rows_in(whole.output).size() == 4);
}

TEST_CASE("bad arguments of a sweep are named, with what is right") {
  const temporary_file file("num_ranks 1\nrank 0 {\ncalc 5\n}\n");
  const auto refusal = [](const words& arguments) {
    const outcome refused = weft_sim(arguments);
    CAPTURE(arguments);
    CHECK(refused.status == 2);
    CHECK(refused.output.empty());
    return refused.error;
  };
  CHECK_THAT(refusal({"reduce", "-n", "2..0"}), ContainsSubstring("--ranks: \"0\" is not a whole number from 1"));
  CHECK_THAT(refusal({"reduce", "-n", "8..2"}), ContainsSubstring("\"8..2\" runs backwards"));
  CHECK_THAT(refusal({"reduce", "-n", "2,,4"}), ContainsSubstring("\"\" is not a whole number"));
  CHECK_THAT(refusal({"reduce", "-n", "2..8:3"}), ContainsSubstring("from +1 on, or a factor, from x2 on"));
  CHECK_THAT(refusal({"reduce", "-n", "2..8:x1"}), ContainsSubstring("from x2 on"));
  CHECK_THAT(refusal({"reduce", "-n", "4", "--bytes", "0..8"}), ContainsSubstring("begin at 1"));
  CHECK_THAT(refusal({"reduce", "-n", "4", "--seed", "0..999999999"}), ContainsSubstring("more than 100000 numbers"));
  CHECK_THAT(refusal({"reduce", "-n", "1..2000:+1", "--noise", "9:1", "--seed", "1..2000"}),
             ContainsSubstring("more than 1000000 points"));
  CHECK_THAT(refusal({"reduce", "-n", "4", "--seed", "1..4"}),
             ContainsSubstring("--noise NOISE or --placement random"));
  CHECK_THAT(refusal({"reduce", "-n", "4,8", "--json"}), ContainsSubstring("--csv FILE"));
  CHECK_THAT(refusal({"reduce", "-n", "4", "--threads", "2"}), ContainsSubstring("only a sweep"));
  CHECK_THAT(refusal({"reduce", "-n", "4,8", "--algorithm", "binomial,bionmial"}),
             ContainsSubstring("did you mean \"binomial\"?"));
  CHECK_THAT(refusal({"reduce", "-n", "4,8", "--algorithm", "binomial,chain", "--torus", "2x2"}),
             ContainsSubstring("--torus: none of these algorithms takes that; they take --root"));
  CHECK_THAT(refusal({"--goal", file.path(), "--csv", "-"}), ContainsSubstring("not with --goal"));
  CHECK_THAT(refusal({"--goal", file.path(), "-n", "2..8"}), ContainsSubstring("not with --goal"));
  CHECK_THAT(refusal({"--goal", file.path(), "--noise", "9:1", "--seed", "1..4"}),
             ContainsSubstring("one seed, not 4"));
  const words drawn{"--svg", file.path(), "-L", "1"};
  CHECK_THAT(refusal(words{"reduce", "-n", "4", "--algorithm", "all"} + drawn),
             ContainsSubstring("over several sizes or ranks"));
  CHECK_THAT(refusal(words{"allreduce", "-n", "1..30:+1", "--bytes", "8,16"} + drawn),
             ContainsSubstring("nobody tells 30 curves apart: 24 at most"));
  CHECK_THAT(refusal(words{"reduce", "-n", "4,8", "--csv", file.path()} + drawn), ContainsSubstring("another file"));
  CHECK_THAT(refusal({"reduce", "-n", "4,8", "--svg", file.path()}), ContainsSubstring("the machine costs nothing"));
  CHECK_THAT(file.text(), ContainsSubstring("num_ranks"));
  for (const char* option : {"--csv", "--svg"})
    CHECK_THAT(refusal({"reduce", "-n", "4,8", option, "/no/such/folder/x"}),
               ContainsSubstring(std::string(option) + ": /no/such/folder/x cannot be written"));
  CHECK_THAT(weft_sim({"reduce", "-n", "2..8", "--root", "4"}).error, ContainsSubstring("ranks 0 to 1"));
}
