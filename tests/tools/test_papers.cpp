// SPDX-License-Identifier: Apache-2.0
// `weft papers`: what it says of each paper, and where.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "seed.hpp"
#include "temporary_file.hpp"
#include "thorough.hpp"

using weft_test::Approx;
using weft_test::ContainsSubstring;
using weft_test::outcome;

namespace {

const char* const papers[] = {"canon-antoniu", "patarasuk-yuan", "heimlich", "matsuda", "moody"};

/// A folder that goes with its end.
struct temporary_folder {
  temporary_folder() { std::filesystem::remove(path); }
  ~temporary_folder() { std::filesystem::remove_all(path); }
  std::string path = weft_test::temporary_file().path() + "-folder";
};

/// What `weft papers --out` leaves there of all papers, once for all cases.
const std::filesystem::path& written() {
  static const temporary_folder folder;
  static const std::filesystem::path in = [] {
    const outcome done = weft_test::run({"papers", "--out", folder.path});
    CAPTURE(done.error);
    REQUIRE(done.status == 0);
    CHECK(done.error.empty());
    CHECK(done.output.empty());
    return std::filesystem::path(folder.path);
  }();
  return in;
}

/// The paper's part of the Markdown.
std::string said_of(const std::string& paper) {
  static const std::string text = weft_test::contents(written() / "papers.md");
  const std::size_t begin = text.find("## " + paper + "\n");
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find("\n## ", begin) - begin);
}

/// The cells of Markdown's tables, by row.
std::vector<std::vector<std::string>> cells_of(const std::string& markdown) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    rows.emplace_back();
    for (std::size_t at = 2; at < line.size();) {
      const std::size_t end = line.find(" |", at);
      if (end == std::string::npos) break;
      rows.back().push_back(line.substr(at, end - at));
      at = end + 3;
    }
  }
  return rows;
}

struct number {
  std::string what, place, difference, why;
  double published, ours;
};

std::vector<number> numbers_of(const std::string& paper) {
  std::vector<number> all;
  bool within = false;
  for (const auto& row : cells_of(said_of(paper))) {
    if (row.size() < 6) within = false;
    if (within && row[0].find("---") == std::string::npos)
      all.push_back({row[0], row[1], row[4], row[5], std::stod(row[2]), std::stod(row[3])});
    if (row.size() == 6 && row[2] == "published") within = true;
  }
  return all;
}

struct claim {
  std::string what, place, holds, figures, why_not;
};

std::vector<claim> claims_of(const std::string& paper) {
  std::vector<claim> all;
  bool within = false;
  for (const auto& row : cells_of(said_of(paper))) {
    if (within && row.size() == 5 && (row[2] == "yes" || row[2] == "**no**"))
      all.push_back({row[0], row[1], row[2], row[3], row[4]});
    if (row.size() == 5) within = within || row[2] == "holds";
  }
  return all;
}

/// The number whose `what` holds this.
number number_of(const std::string& paper, const std::string& what) {
  const auto all = numbers_of(paper);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const number& each) { return each.what.find(what) != std::string::npos; });
  CAPTURE(paper, what);
  REQUIRE(found != all.end());
  return *found;
}

void check_exact(const std::string& paper, const std::string& what, double stated) {
  const number found = number_of(paper, what);
  CAPTURE(found.what);
  CHECK(found.published == Approx(stated).epsilon(0.0005));
  CHECK(found.difference == "0");
  CHECK(found.ours == found.published);
}

std::set<std::string> not_shown(const std::string& paper) {
  std::set<std::string> all;
  for (const claim& each : claims_of(paper))
    if (each.holds != "yes") all.insert(each.what);
  return all;
}

}  // namespace

TEST_CASE("every paper has numbers, claims and figures, each with its place, and a cause where ours differs") {
  for (const char* const paper : papers) {
    CAPTURE(paper);
    CHECK(!numbers_of(paper).empty());
    CHECK(!claims_of(paper).empty());
    CHECK_THAT(said_of(paper), ContainsSubstring("`" + std::string(paper) + "-"));
    for (const number& each : numbers_of(paper)) {
      CAPTURE(each.what);
      CHECK(!each.place.empty());
      CHECK((each.difference == "0" || !each.why.empty()));
    }
    for (const claim& each : claims_of(paper)) {
      CAPTURE(each.what);
      CHECK(!each.place.empty());
      CHECK(!each.figures.empty());
      CHECK((each.holds == "yes" || !each.why_not.empty()));
    }
  }
}

TEST_CASE("Canon and Antoniu: the schedule of figure 1 and the ratios of figure 2 are exact") {
  check_exact("canon-antoniu", "begin of transfer t4", 0);
  check_exact("canon-antoniu", "begin of transfer t2", 2);
  check_exact("canon-antoniu", "length, n = 4", 4);
  check_exact("canon-antoniu", "binomial over optimal, d = c, n = 8", 6. / 5);
  check_exact("canon-antoniu", "binomial over optimal, d = c, n = 1024", 5. / 4);
  check_exact("canon-antoniu", "binomial over optimal, d = c, n = 4096", 4. / 3);
  check_exact("canon-antoniu", "Fibonacci over optimal, min(d, c) = 0, n = 987", 7. / 5);
  check_exact("canon-antoniu", "Fibonacci over optimal, min(d, c) = 0, n = 4181", 17. / 13);
  const number misprint = number_of("canon-antoniu", "two reductions whose transfers begin at 0 and 5");
  CHECK(misprint.published == 8);
  CHECK(misprint.ours == 7);
  CHECK(not_shown("canon-antoniu").size() == 1);
  CHECK_THAT(*not_shown("canon-antoniu").begin(), ContainsSubstring("(floor(log2 K + 1) + ceil(n/K - 2))"));
}

TEST_CASE("Patarasuk and Yuan: the least that can be sent, and a ring that nothing slows") {
  for (const auto& [ranks, results] : {std::pair("4", 6), {"32", 62}, {"128", 254}})
    check_exact("patarasuk-yuan", "for one item, the ring, N = " + std::string(ranks), results);
  check_exact("patarasuk-yuan", "at most, the ring, N = 128, X = 12800", 25400);
  check_exact("patarasuk-yuan", "by the linear model", 2 * 31. / 32 * (1 << 20) * 8e-6);
  check_exact("patarasuk-yuan", "working memory, the ring", 100);
  CHECK(number_of("patarasuk-yuan", "working memory, the butterfly").published == 1600);
  CHECK(number_of("patarasuk-yuan", "working memory, the butterfly").ours == 3 * 1600);
  CHECK(number_of("patarasuk-yuan", "N = 8, X = 10").ours < 28);
  CHECK(number_of("patarasuk-yuan", "items of the last segment").published == -4);
  CHECK(number_of("patarasuk-yuan", "items of the last segment").ours == 1);
}

TEST_CASE("Heimlich: the formulas hold with handshakes and without, and three handshakes become one") {
  int formulas = 0;
  for (const number& each : numbers_of("heimlich"))
    if (each.what.find("reduce-scatter of 64 KiB") != std::string::npos) {
      CAPTURE(each.what);
      CHECK(each.difference == "0");
      ++formulas;
    }
  CHECK(formulas == 8);
  // (p - 1) α + (p - 1)/p n (β + γ) with α = 10, n = 65536, β + γ = 0.005
  CHECK(number_of("heimlich", "(bucket) reduce-scatter of 64 KiB, 32 nodes, receives posted ahead").ours ==
        Approx(31 * 10 + 31. / 32 * 65536 * 0.005).epsilon(0.0005));
  check_exact("heimlich", "handshakes of a send", 3);
  CHECK(number_of("heimlich", "very short vectors").ours == Approx(2).epsilon(0.01));
  CHECK(number_of("heimlich", "MST scatter").ours == Approx(50 + 31. / 32 * 65536 * 0.004).epsilon(0.0005));
}

TEST_CASE("Matsuda: the gains of connections, but for what a connected rank's row takes") {
  check_exact("matsuda", "gain over far-first broadcast, 10 connections, no delay, by the library's formulas", 3 / 2.1);
  CHECK(
      number_of("matsuda", "gain over two-tier all-reduce, 10 connections, no delay, by the library's formulas").ours ==
      Approx(5 / 2.3).epsilon(0.001));
  for (const char* const what : {"far-first broadcast", "two-tier all-reduce"})
    CHECK(number_of("matsuda", what).ours == Approx(number_of("matsuda", what).published).epsilon(0.05));
  const number model = number_of("matsuda", "delay 10 ms, modified van de Geijn broadcast, connections: 4");
  CHECK(model.published == Approx(10 + 134.217728 * 2.25).epsilon(0.001));
  CHECK(model.ours == Approx(model.published).epsilon(0.1));
  for (const char* const what : {"far-first broadcast", "two-tier all-reduce"}) {
    const number gain =
        number_of("matsuda", "gain over " + std::string(what) + ", the pretended line, 16 MiB, connections: 4");
    CHECK(gain.ours == Approx(gain.published).epsilon(0.08));
    CHECK(gain.ours > 1.3);
  }
  CHECK(not_shown("matsuda").count("more connections than the line has room for lose by congestion") == 1);
}

TEST_CASE("Moody: the model's best degrees and latencies, and the noise of table 3") {
  const std::pair<const char*, int> best[] = {
      {"1 element", 4}, {"2 elements", 2}, {"4 elements", 2}, {"8 elements", 2}};
  for (const auto& [elements, degree] : best)
    check_exact("moody", "Float64 Add of " + std::string(elements) + ", 31 nodes, by the formula", degree);
  CHECK(number_of("moody", "Float64 Add of 1 element, 31 nodes, message by message").ours == 2);
  CHECK(number_of("moody", "Int32 Add, 1 element, 906 nodes").ours == Approx(29.75));
  CHECK(number_of("moody", "Float64 Add, 1 element, 906 nodes").ours == Approx(48.50));
  check_exact("moody", "root of the 3-nomial tree", 5);
  CHECK(number_of("moody", "NIC-based, standard deviation").ours <
        number_of("moody", "host-based, standard deviation").ours / 100);
  CHECK_THAT(said_of("moody"), ContainsSubstring("seeds 1 to 500"));
}

TEST_CASE("a folder gets the page, the Markdown and the data of each figure") {
  const std::filesystem::path& in = written();
  const std::string page = weft_test::contents(in / "papers.html"), text = weft_test::contents(in / "papers.md");
  std::size_t figures = 0, drawings = 0, tables = 0;
  for (std::size_t at = 0; (at = page.find("<figure id=\"", at)) != std::string::npos; ++at, ++figures) {
    const std::string id = page.substr(at + 12, page.find('"', at + 12) - at - 12);
    CAPTURE(id);
    const std::string drawn = page.substr(at, page.find("</figure>", at) - at);
    CHECK(std::filesystem::exists(in / (id + ".csv")) == (drawn.find("<polyline") != std::string::npos));
    CHECK_THAT(text, ContainsSubstring("`" + id + "`"));
    drawings += drawn.find("</svg>") != std::string::npos ? 1 : 0;
  }
  for (std::size_t at = 0; (at = page.find("<table ", at)) != std::string::npos; ++at) ++tables;
  CHECK(figures > 15);
  CHECK(drawings == figures);
  CHECK(tables == 10);
  CHECK(!std::regex_search(page, std::regex("(src|href)=\"(?!data:)|<script|url\\((?!#)")));
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const std::string& paper : weft_test::drawn(std::vector<std::string>(papers, std::end(papers)), 1, random)) {
    const outcome alone = weft_test::run({"papers", paper});
    CAPTURE(paper, alone.error);
    REQUIRE(alone.status == 0);
    CHECK(alone.error.empty());
    const std::size_t begin = alone.output.find("## " + paper + "\n");
    REQUIRE(begin != std::string::npos);
    CHECK_THAT(text, ContainsSubstring(alone.output.substr(begin)));  // the same again
  }
  const std::string limits = weft_test::contents(in / "canon-antoniu-limits.csv");
  CHECK_THAT(limits, ContainsSubstring("\n4,23,37,"));
  CHECK(limits.starts_with("limit K,Algorithm 2: K transfers at a time: length in d,"));
  CHECK(std::count(limits.begin(), limits.end(), '\n') == 33);
}

TEST_CASE("what there is not is an error that says what there is") {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "papers");
    const outcome refused = weft_test::run(arguments);
    CHECK(refused.status == 2);
    CHECK(refused.output.empty());
    return refused.error;
  };
  CHECK_THAT(refusal({"moodie"}), ContainsSubstring("no paper is called \"moodie\"; did you mean \"moody\"?"));
  CHECK_THAT(refusal({"knuth"}), ContainsSubstring("there are {canon-antoniu,patarasuk-yuan,heimlich,matsuda,moody}"));
  CHECK_THAT(refusal({"moody", "heimlich"}), ContainsSubstring("heimlich"));
  const weft_test::temporary_file file;
  CHECK_THAT(refusal({"moody", "--out", file.path()}), ContainsSubstring(file.path() + " "));
  CHECK_THAT(refusal({"moody", "--out", "/proc/no/such"}),
             ContainsSubstring("/proc/no cannot be made") || ContainsSubstring("/proc/no/such cannot be made"));
}
