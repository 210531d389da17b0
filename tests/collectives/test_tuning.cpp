// SPDX-License-Identifier: Apache-2.0
// What was measured, as text.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <weft/choice/tuning.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"

using namespace weft::detail;
using weft::kernels::operation, weft::kernels::type;
using weft::schedules::road;
using weft_test::ContainsSubstring;

namespace {

const std::string whole =
    "# of a test\n"
    "node.latency = 7.1e-07\n"
    "node.overhead = 2e-07  # of each end\n"
    "\n"
    "node.gap = 3e-07\r\n"
    "node.gap_per_byte = 1.25e-10\n"
    "node.exchange_per_byte=2e-10\n"
    "  node.handshake = 0\n"
    "combine.sum.float = 5e-11\n"
    "combine.min_location.located_double = 9e-10";

/// The reason for which `text` is refused.
std::string refusal(const std::string& text) {
  try {
    parse_tuning(text, "costs.txt");
  } catch (const weft::error& refused) {
    CHECK(refused.code() == weft::errc::invalid_argument);
    return refused.what();
  }
  return "";
}

std::string without(const std::string& line) {
  std::string text = whole;
  const auto at = text.find(line);
  REQUIRE(at != std::string::npos);
  return text.erase(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("measured costs are read and written") {
  const tuning read = parse_tuning(whole, "costs.txt");
  REQUIRE(read.machine[road::node].has_value());
  CHECK_FALSE(read.machine[road::memory].has_value());
  CHECK_FALSE(read.machine[road::fabric].has_value());
  CHECK(*read.machine[road::node] == weft::schedules::road_costs{7.1e-07, 2e-07, 3e-07, 1.25e-10, 2e-10, 0});
  CHECK(combine_seconds(read, operation::sum, type::float32) == 5e-11);
  const std::string text = to_text(read, "two\nlines");
  CHECK(text.starts_with("# two\n# lines\nnode.latency = 7.1e-07\n"));
  CHECK(to_text(parse_tuning(text, "again")) == to_text(read));
}

TEST_CASE("written costs are the same after they are read, to the bit") {
  tuning measured;
  measured.machine[road::fabric] = {1.0 / 3e6, 1.0 / 7e6, 2.0 / 3e6, 1.0 / 9e9, 1.0 / 3e9, 1.0 / 7e5};
  measured.combine[{operation::sum, type::float64}] = 1.0 / 3e10;
  const tuning once = parse_tuning(to_text(measured), "once");
  const tuning twice = parse_tuning(to_text(once), "twice");
  CHECK(once.machine.by_road == twice.machine.by_road);
  CHECK(once.combine == twice.combine);
}

TEST_CASE("what patterns cost is written for each length, and between them in proportion to their logarithms") {
  using weft::schedules::board_lengths, weft::schedules::memory_pattern;
  tuning measured = parse_tuning(whole, "costs.txt");
  CHECK_FALSE(measured.machine.boards.has_value());
  auto& boards = measured.machine.boards.emplace();
  boards.round = 2e-7;
  boards.call = 1e-6;
  for (std::size_t i = 0; i < board_lengths.size(); ++i) {
    for (std::size_t use = 0; use < weft::schedules::memory_uses; ++use) {
      boards.by_use[use].copy[i] = static_cast<double>((i + 1) * (use + 1)) * 1e-10;
      boards.by_use[use].read[i] = static_cast<double>((i + 1) * (use + 1)) * 2e-10;
    }
  }
  const std::string text = to_text(measured);
  CHECK_THAT(
      text, ContainsSubstring("boards.round = 2e-07\n") && ContainsSubstring("boards.allreduce_read_2048k = 8e-10\n") &&
                ContainsSubstring("boards.call = 1e-06\n") && ContainsSubstring("boards.bcast_copy_4k = 2e-10\n"));
  CHECK(parse_tuning(text, "again").machine.boards == measured.machine.boards);
  using weft::schedules::collective;
  const auto beta = [&](memory_pattern by, double bytes, collective kind = collective::allreduce) {
    return path_of(boards, kind, by, bytes, 5e-11).beta;
  };
  CHECK(beta(memory_pattern::at_once, 8) == 1e-10);
  CHECK(beta(memory_pattern::by_shares, 32 << 10) == 2e-10);
  CHECK(beta(memory_pattern::by_shares, 128 << 10) == weft_test::Approx((2 + 2 / 3.0) * 1e-10));
  CHECK(beta(memory_pattern::single_copy, 1 << 30) == 1e-9);
  CHECK(beta(memory_pattern::in_place, 8) == 1e-10);
  CHECK(beta(memory_pattern::by_shares, 8, collective::reduce) == 1e-10);
  CHECK(beta(memory_pattern::at_once, 8, collective::reduce) == 2e-10);
  CHECK(beta(memory_pattern::at_once, 8, collective::scatter) == 2e-10);
  CHECK(beta(memory_pattern::at_once, 8, collective::alltoall) == weft_test::Approx(3e-10));
  const auto short_one = path_of(boards, collective::allreduce, memory_pattern::at_once, 8, 5e-11);
  CHECK(short_one.alpha == 2e-7);
  CHECK(short_one.call == 1e-6);
  const auto at = text.find("boards.allreduce_copy_32k");
  CHECK_THAT(refusal(std::string(text).erase(at, text.find('\n', at) - at)),
             ContainsSubstring("boards.allreduce_copy_32k is missing"));
  CHECK_THAT(refusal(text + "\nboards.allreduce_copy_33k = 1"), ContainsSubstring("boards.allreduce_copy_33k"));
}

TEST_CASE("kernels that were not measured cost what their like do") {
  const tuning read = parse_tuning(whole, "costs.txt");
  CHECK(combine_seconds(read, operation::product, type::float32) == 5e-11);
  CHECK(combine_seconds(read, operation::max_location, type::located_float64) == 9e-10);
  CHECK(combine_seconds(read, operation::bit_or, type::uint8) == 9e-10);
  CHECK(combine_seconds_of_custom(read) == 9e-10);
}

TEST_CASE("malformed costs are refused with the line and the reason") {
  CHECK_THAT(refusal("node.latency\n"), ContainsSubstring("costs.txt:1: \"node.latency\" is not KEY = SECONDS"));
  CHECK_THAT(refusal("\n\nnode.speed = 1"), ContainsSubstring("costs.txt:3: there is no parameter \"node.speed\""));
  CHECK_THAT(refusal("cable.latency = 1"), ContainsSubstring("(memory|node|fabric|line)"));
  CHECK_THAT(refusal("combine.sum.bool = 1"), ContainsSubstring("there is no kernel \"combine.sum.bool\""));
  CHECK_THAT(refusal("combine.sum = 1"), ContainsSubstring("there is no kernel"));
  for (const char* const value : {"", "fast", "-1", "nan", "inf", "1e999", "1 s"})
    CHECK_THAT(refusal("node.gap = " + std::string(value)), ContainsSubstring("costs.txt:1: \""));
  CHECK_THAT(refusal(whole + "\nnode.gap = 1"), ContainsSubstring("costs.txt:11: node.gap is there twice"));
  CHECK_THAT(refusal(without("node.gap = ")), ContainsSubstring("node.gap is missing"));
  CHECK_THAT(refusal("combine.sum.float = 1"), ContainsSubstring("no road"));
  CHECK_THAT(refusal(without("combine.sum").erase(whole.find("combine.sum"))), ContainsSubstring("no kernel"));
  CHECK_THAT(refusal(""), ContainsSubstring("no road"));
}

TEST_CASE("a file of costs is read, and one that cannot be says why") {
  const auto path = std::filesystem::temp_directory_path() / ("weft-test-tuning-" + std::to_string(::getpid()));
  std::ofstream(path) << whole;
  CHECK(to_text(read_tuning(path)) == to_text(parse_tuning(whole, "")));
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(read_tuning(path), ContainsSubstring("No such file"));
}
