// SPDX-License-Identifier: Apache-2.0
// All ranks add one double up; then each process writes its footprint into FOLDER.
//   weft FOLDER
#include <atomic>
#include <cstdio>
#include <weft/weft.hpp>

#include "self.h"

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    std::atomic<int> written{0}, failed{0};
    runtime.run([&](weft::communicator& world) {
      if (world.allreduce(1.0, weft::sum) != world.size()) failed = 1;
      if (written++ == 0 && write_footprint(argv[1]) != 0) failed = 1;
      world.barrier();  // so that all ranks of a process are still there when the first one writes
    });
    return failed;
  } catch (const weft::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
