// SPDX-License-Identifier: Apache-2.0
// The network is opened only where processes do not share all memory that is needed to reach each other.
#include <atomic>
#include <vector>

#include "fabric/file_limit.hpp"
#include "node_cases.hpp"

using namespace weft_test;

namespace {

/// How many of the job's processes open the network while it calls anything.
int opened_by(job what) {
  std::atomic<int> opened{0};
  what.opened = &opened;
  run_ranks(what, [](weft::communicator& world) { call_anything(world, 10, seed_of_this_run()); });
  return opened;
}

}  // namespace

TEST_CASE("on one node no network is opened", "[network]") {
  const int ranks = GENERATE(1, 3);
  CHECK(opened_by(small_job(4, ranks)) == 0);
}

TEST_CASE("where memory does not reach all, every process opens the network", "[network]") {
  job what = small_job(3);
  SECTION("several nodes") { what.nodes = {"a", "a", "b"}; }
  SECTION("by the option") { what.settings.node = false; }
  CHECK(opened_by(what) == 3);
}

TEST_CASE("where memory cannot be had every process opens the network", "[network]") {
  const file_limit limit(1 << 20);
  CHECK(opened_by(small_job(3)) == 3);
}

TEST_CASE("messages as long as eager ones may be find room in the node's memory", "[network]") {
  job what = small_job(2);
  what.settings.eager_limit = 1 << 20;
  if (GENERATE(false, true)) what.nodes = {"a", "b"};
  run_ranks(what, [](weft::communicator& world) {
    for (int round = 0; round < 20; ++round)
      for (const std::size_t bytes : {std::size_t{300} << 10, std::size_t{530} << 10, std::size_t{1} << 20}) {
        std::vector<std::byte> message(bytes, static_cast<std::byte>(round)), received(bytes);
        if (world.rank() == 0) world.send(message, 1, 5);
        if (world.rank() == 1) {
          world.recv(received, 0, 5);
          expect(received == message, "what was sent");
        }
      }
  });
}
