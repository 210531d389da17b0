// SPDX-License-Identifier: Apache-2.0
// compute [COUNT ...]: every collective, compared element by element: without counts on sub-communicators of 1 to N
// ranks, counts around their sizes and beyond, of which all N and every other one take the longest; else of the counts
// given, among all. Which algorithms run is up to the options.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "jobs.hpp"
#include "parts.hpp"
#include "thorough.hpp"

namespace weft_test {
namespace {

std::int64_t value(int rank, std::size_t at) { return static_cast<std::int64_t>(at % 1009) * (rank + 3) + rank; }

struct total {
  std::int64_t slope = 0, start = 0;
  explicit total(int ranks) {
    for (int r = 0; r < ranks; ++r) slope += r + 3, start += r;
  }
  std::int64_t operator()(std::size_t at) const { return static_cast<std::int64_t>(at % 1009) * slope + start; }
};

class checks {
 public:
  checks(weft::communicator& on, std::size_t count) : on_(on), count_(count), expected_(on.size()) {}

  void run() {
    sum<std::int64_t>();
    sum<double>();
    extremes();
    rooted(0);
    rooted(on_.size() - 1);
    rooted(on_.size() / 2);
    blocks();
    prefixes();
    throwing();
    on_.barrier();
  }

 private:
  template <class T>
  std::vector<T> mine() const {
    std::vector<T> all(count_);
    for (std::size_t i = 0; i < count_; ++i) all[i] = static_cast<T>(value(on_.rank(), i));
    return all;
  }

  template <class T, class Expected>
  void compare(const std::vector<T>& got, Expected expected, const char* what) const {
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != static_cast<T>(expected(i)))
        throw std::logic_error(std::string(what) + ": element " + std::to_string(i) + " of " + std::to_string(count_) +
                               " on rank " + std::to_string(on_.rank()) + " of " + std::to_string(on_.size()));
  }

  template <class T>
  void sum() {
    const std::vector<T> in = mine<T>();
    std::vector<T> out(count_, T{-1}), started(count_, T{-1}), in_place = in;
    on_.allreduce(in, out, weft::sum);
    compare(out, expected_, "allreduce");
    auto running = on_.iallreduce(in, started, weft::sum);
    on_.allreduce(in_place, in_place, weft::sum);
    running.wait();
    compare(started, expected_, "iallreduce");
    compare(in_place, expected_, "allreduce in place");
    compare(
        in, [&](std::size_t i) { return value(on_.rank(), i); }, "the input of allreduce");
  }

  void extremes() {
    const std::vector<std::int32_t> in = mine<std::int32_t>();
    std::vector<std::int32_t> least(count_), most(count_);
    auto first = on_.iallreduce(in, least, weft::min);
    auto second = on_.iallreduce(in, most, weft::max);
    second.wait();
    first.wait();
    compare(
        least, [&](std::size_t i) { return value(0, i); }, "min");
    compare(
        most, [&](std::size_t i) { return value(on_.size() - 1, i); }, "max");
  }

  void rooted(int root) {
    const std::vector<std::int64_t> in = mine<std::int64_t>();
    std::vector<std::int64_t> out(on_.rank() == root ? count_ : 0, -1), data = in;
    on_.reduce(in, out, weft::sum, root);
    compare(out, expected_, "reduce");
    on_.bcast(data, root);
    compare(
        data, [&](std::size_t i) { return value(root, i); }, "bcast");
  }

  /// Blocks of `count_`, and shorter ones with counts.
  void blocks() {
    const auto n = static_cast<std::size_t>(on_.size()), me = static_cast<std::size_t>(on_.rank());
    const std::size_t each = count_ < 100'000 ? count_ : count_ / n;
    std::vector<std::size_t> counts, before;
    for (std::size_t r = 0, sum = 0; r < n; sum += counts.back(), ++r) {
      counts.push_back(each * (r + 1) / n);
      before.push_back(sum);
    }
    const auto sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const auto of_rank = [](std::size_t r, std::size_t i) { return value(static_cast<int>(r), i); };
    std::vector<std::int64_t> one(each), all(n * each, -1), in(n * each), part(each, -1);
    for (std::size_t i = 0; i < each; ++i) one[i] = of_rank(me, i);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = of_rank(me, i);
    const auto by_block = [&](std::size_t i) { return of_rank(i / each, i % each); };

    on_.allgather(one, all);
    compare(all, by_block, "allgather");
    all.assign(on_.rank() == 0 ? n * each : 0, -1);
    on_.gather(one, all, 0);
    compare(all, by_block, "gather");
    on_.scatter(in, part, on_.size() - 1);
    compare(
        part, [&](std::size_t i) { return of_rank(n - 1, me * each + i); }, "scatter");
    all.assign(n * each, -1);
    on_.alltoall(in, all);
    compare(
        all, [&](std::size_t i) { return of_rank(i / each, me * each + i % each); }, "alltoall");
    on_.reduce_scatter(in, part, weft::sum);
    compare(
        part, [&](std::size_t i) { return expected_(me * each + i); }, "reduce_scatter");

    all.assign(sum, -1);
    part.assign(counts[me], -1);
    on_.allgather(std::span(one).first(counts[me]), all, counts);
    for (std::size_t r = 0; r < n; ++r)
      compare(
          std::vector(all.begin() + static_cast<std::ptrdiff_t>(before[r]),
                      all.begin() + static_cast<std::ptrdiff_t>(before[r] + counts[r])),
          [&](std::size_t i) { return of_rank(r, i); }, "allgather with counts");
    on_.reduce_scatter(std::span(in).first(sum), part, weft::sum, counts);
    compare(
        part, [&](std::size_t i) { return expected_(before[me] + i); }, "reduce_scatter with counts");
  }

  void prefixes() {
    const std::vector<std::int64_t> in = mine<std::int64_t>();
    std::vector<std::int64_t> out(count_, -1), exclusive(on_.rank() == 0 ? 0 : count_, -1);
    auto running = on_.iscan(in, out, weft::sum);
    on_.exscan(in, exclusive, weft::sum);
    running.wait();
    compare(out, total(on_.rank() + 1), "scan");
    compare(exclusive, total(on_.rank()), "exscan");
  }

  /// The operator of one rank throws: those that need what it was to make are told, and the communicator goes on.
  void throwing() {
    struct thrown {};
    const auto throws = weft::make_operator<std::int64_t>(
        [this](const std::int64_t* in, std::int64_t* inout, std::size_t n) {
          if (on_.rank() == on_.size() / 2) throw thrown{};
          for (std::size_t i = 0; i < n; ++i) inout[i] += in[i];
        },
        weft::commutes);
    const std::vector<std::int64_t> in = mine<std::int64_t>();
    std::vector<std::int64_t> out(count_, -1), after(count_, -1);
    try {
      on_.allreduce(in, out, throws);
      compare(out, expected_, "allreduce beside an operator that threw");
    } catch (const thrown&) {
    } catch (const weft::error& e) {
      const std::string text = e.what();
      if (e.code() != weft::errc::operation_failed ||
          text.find("rank " + std::to_string(on_.size() / 2) + " threw") == std::string::npos)
        throw;
    }
    on_.allreduce(in, after, weft::sum);
    compare(after, expected_, "allreduce after an operator that threw");
  }

  weft::communicator& on_;
  std::size_t count_;
  total expected_;
};

int on_parts_of(weft::communicator& world) {
  int cases = 0;
  for (int ranks = 1; ranks <= world.size(); ++ranks) {
    auto part = world.split(world.rank() < ranks ? 0 : -1);
    if (!part) continue;
    const auto n = static_cast<std::size_t>(ranks);
    std::set<std::size_t> counts{0, 1, n - 1, n, n + 1, 1000};
    if (thorough() || ranks == world.size() || ranks % 2 == 0) counts.insert(65'537);
    if (thorough() || ranks == world.size() || ranks % 2 == 1) counts.insert(300'000);
    for (const std::size_t count : counts) {
      checks(*part, count).run();
      ++cases;
    }
  }
  return cases;
}

}  // namespace

void check_collectives(weft::communicator& on, std::size_t count) { checks(on, count).run(); }

int compute(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  runtime.run([&](weft::communicator& world) {
    int cases = argc - 2;
    for (int i = 2; i < argc; ++i) checks(world, std::strtoull(argv[i], nullptr, 10)).run();
    if (argc == 2) cases = on_parts_of(world);
    world.barrier();
    if (world.rank() == 0) std::printf("%d cases\n", cases);
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "compute: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
