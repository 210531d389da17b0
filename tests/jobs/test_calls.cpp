// SPDX-License-Identifier: Apache-2.0
// The table of calls among real processes.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "catch.hpp"
#include "collectives/call_table.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "setting.hpp"
#include "tools/launcher_under_test.hpp"

using namespace weft_test;
using words = std::vector<std::string>;

TEST_CASE("the rows of the table of calls give the serial result among processes", "[calls]") {
  static const std::uint64_t seed = test_seed();
  const words shape = GENERATE(words{"-n", "2"}, words{"-n", "4"}, words{"-n", "4", "--ranks-per-process", "2"},
                               words{"-n", "4", "--ranks-per-process", "2", "--workers", "2", "--progress", "thread"});
  const std::string node = GENERATE("on", "off");
  const std::vector<std::size_t> rows = drawn_rows(slowed ? 33 : 220, seed + (node == "on") + 2 * shape.size());
  // A list of all rows may be longer than a command's arguments are to be.
  for (std::size_t first = 0; first < rows.size(); first += 1000) {
    words command{"run", "--oversubscribe", "--timeout", "240", "-x", "WEFT_NODE=" + node};
    command.insert(command.end(), shape.begin(), shape.end());
    command.insert(command.end(), {"PROGRAM", "calls", std::to_string(seed)});
    for (std::size_t i = first; i < std::min(rows.size(), first + 1000); ++i)
      command.push_back(std::to_string(rows[i]));
    const outcome ended = run(command);
    INFO("seed " << seed << ", node " << node << ", " << shape.back() << "\n" << ended.output << ended.error);
    CHECK(ended.status == 0);
    std::printf("%zu rows, %zu options, node %s: %.1f s\n", rows.size(), shape.size(), node.c_str(),
                static_cast<double>(ended.time.count()) / 1e3);
  }
  CHECK(left_behind().empty());
}
