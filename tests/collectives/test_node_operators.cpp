// SPDX-License-Identifier: Apache-2.0
// Operators of the caller's among processes of one node: in the order of the ranks, and such that throw.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "node_cases.hpp"
#include "sanitized.hpp"

using namespace weft_test;
using weft::schedules::collective;

namespace {

struct alignas(64) wide {
  double value = 0;
};

}  // namespace

TEST_CASE("operators that do not commute combine in the order of the processes of a node", "[node]") {
  for (const int processes : {2, 3, 5, 9, 18})
    run_ranks(small_job(processes), [](weft::communicator& world) {
      for (const std::size_t count : {1u, 3u, 500u, 1500u, 3000u}) check_order(world, count);
      auto reversed = world.split(0, -world.rank());
      for (const std::size_t count : {2u, 700u}) check_order(*reversed, count);
    });
}

TEST_CASE("operators of the caller's get elements where their type may lie", "[node]") {
  const auto aligned = [](const wide* each) { return reinterpret_cast<std::uintptr_t>(each) % alignof(wide) == 0; };
  const auto op = weft::make_operator<wide>(
      [&](const wide* in, wide* inout, std::size_t n) {
        if (!aligned(in) || !aligned(inout)) throw std::domain_error("not aligned");
        for (std::size_t i = 0; i < n; ++i) inout[i].value += in[i].value;
      },
      weft::does_not_commute);
  run_ranks(small_job(4), [&](weft::communicator& world) {
    for (const std::size_t count : {1u, 40u, 200u, 1000u, 9000u}) {
      std::vector<wide> in(4 * count), out(4 * count), block(count);
      for (wide& each : in) each.value = world.rank();
      world.allreduce(in, out, op);
      expect(out.back().value == 6, "the sum of all ranks");
      world.reduce_scatter(in, block, op);
      expect(block.back().value == 6, "the sum of this rank's block");
      world.scan(in, out, op);
      expect(out.back().value == world.rank() * (world.rank() + 1) / 2, "the sum up to this rank");
    }
  });
}

TEST_CASE("why an operand is missing is not told where another process still reads an earlier call's value", "[node]") {
  const auto op = weft::make_operator<double>(
      [](const double*, double*, std::size_t) { throw std::domain_error("no such sum"); }, weft::commutes);
  for (const std::size_t count : {1u, 1000u, 300'000u})
    run_ranks(small_job(2, 2), [&](weft::communicator& world) {
      const bool late = world.rank() >= 2;
      std::vector<int> data(200, late ? 0 : 7);
      if (late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      world.bcast(data, 0);  // whose root waits for nobody
      expect(data == std::vector(200, 7), "the root's values");
      std::vector<double> ones(count, 1);
      try {
        world.allreduce(ones, ones, op);
        expect(false, "the operator's exception or what tells of it");
      } catch (const std::domain_error&) {
      } catch (const weft::error& told) {
        expect(told.code() == weft::errc::operation_failed, "to be told");
      }
    });
}

TEST_CASE("where an operator throws, those are told that depend on it, and the communicator goes on", "[node]") {
  if (emulated) return;  // where no process reads another's share
  const collective kinds[]{collective::allreduce, collective::reduce, collective::reduce_scatter, collective::scan,
                           collective::exscan};
  for (const int processes : {2, 4})
    run_ranks(small_job(processes), [&](weft::communicator& world) {
      for (const collective what : kinds)
        for (const std::size_t count : {1u, 1000u, 3000u, 20'000u})
          for (int thrower = 0; thrower < world.size(); ++thrower) {
            const int root = static_cast<int>(count) % world.size();
            collective_case c;
            c.what = what;
            c.count = count;
            c.by = combined_by::throwing;
            c.thrower = thrower;
            c.root = root;
            const found mine = check_case(world, c);
            const bool scan = what == collective::scan || what == collective::exscan;
            // Such are combined in shares, but by two.
            const bool told_by_all =
                count == 20'000 && world.size() > 2 && (what == collective::allreduce || what == collective::reduce);
            if (world.rank() == thrower) {
              const bool combines = told_by_all || what == collective::allreduce ||
                                    what == collective::reduce_scatter ||
                                    (what == collective::reduce && root == thrower);
              if (combines) expect(mine == found::own_exception, "this rank's operator to be called");
            } else if (scan) {
              expect(mine == found::result || world.rank() > thrower, "those before it to end well");
            } else if (told_by_all && (what == collective::allreduce || world.rank() == root)) {
              expect(mine == found::told, "those that would have read its share to be told");
            } else {
              expect(mine == found::result, "those that do not depend on it to end well");
            }
          }
    });
}
