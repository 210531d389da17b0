// SPDX-License-Identifier: Apache-2.0
// `weft plan --list`, and the page that describes what it lists.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <weft/schedules/algorithms.hpp>

#include "catch.hpp"
#include "printed_plan.hpp"

using nlohmann::json;
using weft_test::ContainsSubstring;
using weft_test::printed;

TEST_CASE("the list has every algorithm, with what it takes") {
  const json listed = json::parse(printed({"--list", "--format", "json"}));
  const auto table = weft::schedules::algorithms();
  REQUIRE(listed.size() == table.size());
  const std::string text = printed({"--list"}), help = weft_test::run({"plan", "--help"}).output;
  for (std::size_t i = 0; i < table.size(); ++i) {
    CHECK(listed[i].at("collective") == name(table[i].kind));
    CHECK(listed[i].at("name") == table[i].name);
    CHECK(listed[i].at("source") == table[i].source);
    CHECK(listed[i].at("formula") == table[i].formula);
    CHECK_THAT(text, ContainsSubstring(std::string(table[i].formula)));
    CHECK_THAT(help, ContainsSubstring(std::string(table[i].name)));
  }
  const json of_one = json::parse(printed({"bcast", "--list", "--format", "json"}));
  CHECK(of_one.size() > 4);
  for (const json& one : of_one) CHECK(one.at("collective") == "broadcast");
  CHECK(listed[0].at("parameters") == json({"--root", "--segments", "--window", "--keep-order"}));
}

TEST_CASE("the page of the algorithms says what the table and the plans say") {
  std::ifstream page(std::getenv("WEFT_TEST_ALGORITHMS"));
  REQUIRE(page);
  std::map<std::string, std::vector<std::string>> sections;
  std::string at;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) at.clear();
    if (line.starts_with("### ")) {
      at = line.substr(4);
      CAPTURE(at);
      CHECK(sections[at].empty());
    }
    if (!at.empty()) sections[at].push_back(line);
  }
  CHECK(sections.size() == weft::schedules::algorithms().size());
  const json listed = json::parse(printed({"--list", "--format", "json"}));
  for (const json& one : listed) {
    const std::string heading = one.at("collective").get<std::string>() + " " + one.at("name").get<std::string>();
    CAPTURE(heading);
    REQUIRE(sections.contains(heading));
    const std::vector<std::string>& lines = sections[heading];
    const auto says = [&](const std::string& line) {
      return std::find(lines.begin(), lines.end(), line) != lines.end();
    };
    CHECK(says("- Source: " + one.at("source").get<std::string>()));
    CHECK(says("- Cost: `" + one.at("formula").get<std::string>() + "`"));
    CHECK(says("- Rank order: " + one.at("rank_order").get<std::string>()));
    std::string takes;
    for (const json& option : one.at("parameters"))
      takes += (takes.empty() ? "`" : ", `") + option.get<std::string>() + "`";
    CHECK(says("- Takes: " + (takes.empty() ? "nothing" : takes)));
    const std::string prompt = "$ weft ";
    int drawings = 0;
    for (auto line = lines.begin(); line != lines.end();) {
      if (!line->starts_with(prompt)) {
        ++line;
        continue;
      }
      std::istringstream words(line->substr(prompt.size()));
      const std::vector<std::string> command{std::istream_iterator<std::string>(words), {}};
      const std::string algorithm = one.at("name").get<std::string>();
      CHECK(std::find(command.begin(), command.end(), algorithm) != command.end());
      std::string drawn;
      while (++line != lines.end() && *line != "```") drawn += *line + "\n";
      CHECK(weft_test::run(command).output == drawn);
      ++drawings;
    }
    CHECK(drawings >= 1);
  }
}
