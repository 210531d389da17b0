// SPDX-License-Identifier: Apache-2.0
// Operators that do not commute, by every algorithm that may be asked for.
#include <algorithm>
#include <numeric>
#include <weft/choice/selection_settings.hpp>
#include <weft/schedules/algorithms.hpp>

#include "run_ranks.hpp"

using namespace weft_test;
using weft::schedules::collective;

namespace {

/// x -> a x + b, modulo 2^32. Maps applied one after another are associative, and do not commute.
struct map {
  std::uint32_t a = 1, b = 0;
  friend bool operator==(const map&, const map&) = default;
};

map then(map first, map second) { return {second.a * first.a, second.a * first.b + second.b}; }

const auto composition = weft::make_operator<map>(
    [](const map* in, map* inout, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) inout[i] = then(in[i], inout[i]);
    },
    weft::does_not_commute);

map given(int rank, std::size_t i) {
  return {static_cast<std::uint32_t>(rank) * 2 + 3,
          static_cast<std::uint32_t>(i) * 7 + static_cast<std::uint32_t>(rank)};
}

std::vector<map> inputs(int rank, std::size_t count) {
  std::vector<map> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = given(rank, i);
  return all;
}

/// Of the ranks 0 to end - 1, elements [first, first + count).
std::vector<map> composed(int end, std::size_t first, std::size_t count) {
  std::vector<map> all(count);
  for (int r = 0; r < end; ++r)
    for (std::size_t i = 0; i < count; ++i) all[i] = r == 0 ? given(0, first + i) : then(all[i], given(r, first + i));
  return all;
}

void check(weft::communicator& world, collective what, std::size_t count) {
  const auto n = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
  const auto in = inputs(world.rank(), what == collective::reduce_scatter ? n * count : count);
  std::vector<map> out(count);
  const auto right = [&](const std::vector<map>& expected, const char* form) {
    expect(out == expected, weft::schedules::call_name(what), " of ", count, " on rank ", me, " of ", n, form);
  };
  switch (what) {
    case collective::reduce:
      for (int root = 0; root < world.size(); ++root) {
        world.reduce(in, out, composition, root);
        if (root == world.rank()) right(composed(world.size(), 0, count), "");
      }
      return;
    case collective::allreduce:
      world.allreduce(in, out, composition);
      right(composed(world.size(), 0, count), "");
      out = in;
      world.iallreduce(out, out, composition).wait();
      return right(composed(world.size(), 0, count), ", in place");
    case collective::reduce_scatter: {
      world.reduce_scatter(in, out, composition);
      right(composed(world.size(), me * count, count), "");
      std::vector<std::size_t> counts(n, 0);
      counts[n / 2] = n * count;
      out.resize(counts[me]);
      world.ireduce_scatter(in, out, composition, counts).wait();
      return right(composed(world.size(), 0, counts[me]), ", all for one");
    }
    case collective::scan:
      world.scan(in, out, composition);
      return right(composed(world.rank() + 1, 0, count), "");
    default:
      world.exscan(in, out, composition);
      if (me != 0) right(composed(world.rank(), 0, count), "");
      return;
  }
}

}  // namespace

TEST_CASE("operators that do not commute get the ranks in order, whatever algorithm is asked for", "[results]") {
  const int group_ranks = GENERATE(0, 2);
  for (const auto& by : weft::schedules::algorithms()) {
    if (!weft::schedules::combines(by.kind)) continue;
    for (const int ranks : {1, 2, 3, 5, 6}) {
      INFO(name(by.kind) << " by " << by.name);
      auto settings = small_limits();
      weft::detail::algorithm_option(settings, by.kind) = by.name;
      settings.group_ranks = group_ranks;
      run_ranks(ranks, 1, settings, [&](weft::communicator& world) {
        // Ranks whose groups are not rows, too.
        auto turned = world.split(0, world.rank() * 7 % 5);
        for (const std::size_t count : {1, 50, 3000}) {
          check(world, by.kind, count);
          check(*turned, by.kind, count);
        }
      });
    }
  }
}
