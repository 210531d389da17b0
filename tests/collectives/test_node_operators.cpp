// Operators of the caller's among processes of one node: in the order of the ranks, and such that throw.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "affine.hpp"
#include "node_cases.hpp"

using namespace weft_test;
using weft::schedules::collective;

namespace {

struct alignas(64) wide {
  double value = 0;
};

/// What one rank finds when the operator of `thrower` throws in a call, whose other ranks' do not.
enum class found { result, own_exception, told };

struct throwing {
  collective what = collective::allreduce;
  std::size_t count = 0;
  int thrower = 0, root = 0;
};

found call(weft::communicator& world, const throwing& c) {
  bool threw = false;
  const auto op = weft::make_operator<double>(
      [&](const double* in, double* inout, std::size_t n) {
        if (world.rank() == c.thrower) {
          threw = true;
          throw std::domain_error("no such sum");
        }
        for (std::size_t i = 0; i < n; ++i) inout[i] += in[i];
      },
      weft::commutes);
  const auto size = static_cast<std::size_t>(world.size());
  const bool blocks = c.what == collective::reduce_scatter;
  std::vector<double> in(blocks ? c.count * size : c.count, 1), out(c.count, -1);
  double right = world.size();
  try {
    switch (c.what) {
      case collective::reduce:
        world.reduce(in, out, op, c.root);
        if (world.rank() != c.root) right = -1;
        break;
      case collective::reduce_scatter:
        world.reduce_scatter(in, out, op);
        break;
      case collective::scan:
        world.scan(in, out, op);
        right = world.rank() + 1;
        break;
      case collective::exscan:
        world.exscan(in, out, op);
        right = world.rank() == 0 ? -1 : world.rank();
        break;
      default:
        world.allreduce(in, out, op);
        break;
    }
  } catch (const std::domain_error&) {
    expect(threw, "what this rank's operator threw");
    return found::own_exception;
  } catch (const weft::error& e) {
    expect(!threw && e.code() == weft::errc::operation_failed, "operation_failed, not ", e.what());
    expect_text(e.what(), "the operator of rank " + std::to_string(c.thrower) + " threw: no such sum");
    return found::told;
  }
  expect(!threw, "an exception where the operator threw");
  expect(std::ranges::count(out, right) == static_cast<std::ptrdiff_t>(c.count), "the right result");
  return found::result;
}

}  // namespace

TEST_CASE("operators that do not commute combine in the order of the processes of a node", "[node]") {
  for (const int processes : {2, 3, 5, 9, 18})
    run_ranks(small_job(processes), [](weft::communicator& world) {
      for (const std::size_t count : {1u, 3u, 500u, 1500u, 3000u}) check_order(world, all_ranks(world.size()), count);
      auto reversed = world.split(0, -world.rank());
      auto ranks = all_ranks(world.size());
      std::ranges::reverse(ranks);
      for (const std::size_t count : {2u, 700u}) check_order(*reversed, ranks, count);
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

TEST_CASE("where an operator throws, those are told that depend on it, and the communicator goes on", "[node]") {
  const collective kinds[]{collective::allreduce, collective::reduce, collective::reduce_scatter, collective::scan,
                           collective::exscan};
  for (const int processes : {2, 4})
    run_ranks(small_job(processes), [&](weft::communicator& world) {
      for (const collective what : kinds)
        for (const std::size_t count : {1u, 1000u, 3000u, 20'000u})
          for (int thrower = 0; thrower < world.size(); ++thrower) {
            const int root = static_cast<int>(count) % world.size();
            const found mine = call(world, {what, count, thrower, root});
            const bool scan = what == collective::scan || what == collective::exscan;
            const bool told_by_all = count == 20'000 && (what == collective::allreduce || what == collective::reduce);
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
            std::vector<double> ones(count, 1);
            world.allreduce(ones, ones, weft::sum);
            expect(ones[count - 1] == world.size(), "the communicator to go on");
          }
    });
}
