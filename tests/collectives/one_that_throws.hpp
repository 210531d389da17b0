// A collective in which the operator of one rank throws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/communicator.hpp>

#include "run_ranks.hpp"

namespace weft_test {

/// What one rank finds when the operator of `thrower` throws in a call, whose other ranks' do not.
enum class found { result, own_exception, told };

struct throwing {
  weft::schedules::collective what = weft::schedules::collective::allreduce;
  std::size_t count = 0;
  int thrower = 0, root = 0;
};

inline found call_one_that_throws(weft::communicator& world, const throwing& c) {
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
  using weft::schedules::collective;
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

}  // namespace weft_test
