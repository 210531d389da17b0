// SPDX-License-Identifier: Apache-2.0
// hold: how much memory the processes of one node share once every one of them has sent to every other one.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "jobs.hpp"

namespace weft_test {
namespace {

void send_to_all(weft::communicator& world) {
  std::vector<int> heard(static_cast<std::size_t>(world.size()));
  std::vector<weft::handle> begun;
  const int mine = world.rank();
  for (int other = 0; other < world.size(); ++other) {
    begun.push_back(world.irecv(std::span(&heard[static_cast<std::size_t>(other)], 1), other, 3));
    begun.push_back(world.isend(std::span(&mine, 1), other, 3));
  }
  weft::wait_all(begun);
  for (int other = 0; other < world.size(); ++other)
    if (heard[static_cast<std::size_t>(other)] != other) throw std::runtime_error("something else was sent");
}

/// Of the memory without a name that this process has open, bytes that there are pages for.
std::size_t bytes_shared() {
  std::size_t bytes = 0;
  std::vector<ino_t> seen;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the directory's own is closed by then
    const std::string what = std::filesystem::read_symlink(each.path(), gone);
    struct stat found {};
    if (gone || !what.starts_with("/memfd:weft") || ::stat(each.path().c_str(), &found) != 0) continue;
    if (std::ranges::find(seen, found.st_ino) != seen.end()) continue;
    seen.push_back(found.st_ino);
    bytes += static_cast<std::size_t>(found.st_blocks) * 512;
  }
  return bytes;
}

}  // namespace

int hold(int argc, char** argv) {
  weft::runtime runtime(argc, argv);
  weft::communicator& world = runtime.world();
  send_to_all(world);
  world.barrier();
  if (world.rank() == 0) std::printf("%zu\n", bytes_shared());
  world.barrier();
  return 0;
}

}  // namespace weft_test
