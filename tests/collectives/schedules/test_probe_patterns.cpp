// SPDX-License-Identifier: Apache-2.0
// The messages by which a road is measured.
#include <algorithm>
#include <stdexcept>
#include <weft/schedules/probe_patterns.hpp>
#include <weft/schedules/schedule_sink.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

schedule built(probe_pattern how, int messages, int rank) {
  return built_by([&](sink& to) { probe(how, messages, rank, to); });
}

std::ptrdiff_t count(const schedule& of, step_kind kind) {
  return std::count_if(of.steps.begin(), of.steps.end(), [kind](const step& s) { return s.kind == kind; });
}

}  // namespace

TEST_CASE("what one side sends the other one receives") {
  for (const int messages : {1, 2, 5})
    for (const auto& [how, back] : {std::pair{probe_pattern::ping_pong, messages},
                                    {probe_pattern::exchange, messages},
                                    {probe_pattern::stream, 1},
                                    {probe_pattern::sends, 0}}) {
      const schedule first = built(how, messages, 0), second = built(how, messages, 1);
      CHECK(count(first, step_kind::send) == messages);
      CHECK(count(second, step_kind::receive) == messages);
      CHECK(count(second, step_kind::send) == back);
      CHECK(count(first, step_kind::receive) == back);
    }
  schedule_sink to;
  CHECK_THROWS_AS(probe(probe_pattern::sends, 1, 2, to), std::invalid_argument);
}

TEST_CASE("answers wait for what they answer, a stream for nothing") {
  const auto waits = [](const schedule& of) {
    std::vector<std::uint32_t> counts;
    for (const step& s : of.steps)
      if (s.kind == step_kind::send) counts.push_back(s.after.count);
    return counts;
  };
  using counts = std::vector<std::uint32_t>;
  CHECK(waits(built(probe_pattern::ping_pong, 3, 0)) == counts{0, 1, 1});
  CHECK(waits(built(probe_pattern::ping_pong, 3, 1)) == counts{1, 1, 1});
  CHECK(waits(built(probe_pattern::exchange, 3, 1)) == counts{0, 1, 1});
  CHECK(waits(built(probe_pattern::stream, 3, 0)) == counts{0, 0, 0});
  CHECK(waits(built(probe_pattern::stream, 3, 1)) == counts{3});
}
