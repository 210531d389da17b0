// SPDX-License-Identifier: Apache-2.0
// calls SEED ROW...: these rows of the table of calls, one after another; then the same, several in flight at a time.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>
#include <weft/weft.hpp>

#include "collectives/call_table.hpp"
#include "jobs.hpp"

namespace weft_test {

int calls(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  std::vector<std::size_t> rows;
  for (int i = 3; i < argc; ++i) rows.push_back(std::strtoull(argv[i], nullptr, 10));
  runtime.run([&](weft::communicator& world) {
    check_rows(runtime, world, rows, seed);
    overlap_rows(runtime, world, rows, seed + 1);
    world.barrier();
    if (world.rank() == 0) std::printf("%zu rows\n", rows.size());
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "calls: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
