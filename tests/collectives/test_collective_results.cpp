// Every collective against the serial result.
#include <algorithm>
#include <cstring>
#include <random>
#include <tuple>
#include <valarray>

#include "kernels/reference.hpp"
#include "run_ranks.hpp"

using namespace weft_test;

namespace {

using weft::kernels::operation;

/// Every element type, by number.
using types = std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                         std::uint32_t, std::uint64_t, weft::float16, weft::bfloat16, float, double,
                         std::complex<float>, std::complex<double>, weft::located<float>, weft::located<double>,
                         weft::located<std::int32_t>, weft::located<std::int64_t>, bool, std::byte>;

/// Calls `body` with a value of element type number `type`.
template <class Body>
void with_type(std::size_t type, Body&& body) {
  const auto visit = [&]<std::size_t... each>(std::index_sequence<each...>) {
    ((each == type ? body(std::tuple_element_t<each, types>()) : void()), ...);
  };
  visit(std::make_index_sequence<std::tuple_size_v<types>>());
}

/// The operators of an element type, each a case of its own.
template <class T>
std::vector<operation> operators_of() {
  std::vector<operation> all;
  for (const operation op : weft::kernels::all_operations())
    if (weft::kernels::has(op, weft::kernels::type_of<T>)) all.push_back(op);
  return all;
}

/// Operands whose result is exact, and the same in any order.
template <class T>
T operand(int rank, std::size_t i, operation op) {
  const auto mixed = (static_cast<std::uint64_t>(rank) * 7919 + i * 104729 + 12345) * 0x9e3779b97f4a7c15u >> 40;
  const int small = static_cast<int>(mixed % 2001) - 1000;
  const int sign = mixed % 3 == 0 ? -1 : 1;
  const int factor = rank < 6 && mixed % 4 == 0 ? 2 * sign : sign;
  if constexpr (std::same_as<T, bool>) {
    return mixed % 2 == 0;
  } else if constexpr (std::same_as<T, std::byte>) {
    return std::byte(mixed);
  } else if constexpr (weft_test::is_located<T>) {
    return {static_cast<decltype(T::value)>(small % 4), static_cast<decltype(T::index)>(mixed / 8 % 5)};
  } else if constexpr (weft_test::is_half<T>) {
    return T(static_cast<float>(op == operation::sum ? small % 2 : op == operation::product ? factor : small));
  } else if constexpr (weft_test::is_complex<T>) {
    using part = typename T::value_type;
    if (op == operation::sum) return {static_cast<part>(small), static_cast<part>(small / 2)};
    return mixed % 2 == 0 ? T(static_cast<part>(sign)) : T(0, static_cast<part>(sign));
  } else {
    return static_cast<T>(op == operation::product ? factor : small);
  }
}

template <class T>
std::valarray<T> operands(int rank, std::size_t count, operation op) {
  std::valarray<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = operand<T>(rank, i, op);
  return all;
}

template <class T>
std::valarray<T> serial(int ranks, std::size_t count, operation op) {
  std::valarray<T> all = operands<T>(0, count, op);
  for (int r = 1; r < ranks; ++r)
    for (std::size_t i = 0; i < count; ++i) all[i] = weft_test::reference(op, all[i], operand<T>(r, i, op));
  return all;
}

template <class T>
std::span<T> span_of(std::valarray<T>& values) {
  return {std::begin(values), values.size()};
}

/// Elements with guards at both ends. They begin as bytes that no test gives.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t count) : all_(count + 2 * guard) {
    std::memset(static_cast<void*>(std::begin(all_)), marker, all_.size() * sizeof(T));
  }
  std::span<T> values() { return span_of(all_).subspan(guard, all_.size() - 2 * guard); }
  bool untouched_outside() { return untouched(span_of(all_).first(guard)) && untouched(span_of(all_).last(guard)); }
  static bool untouched(std::span<const T> elements) {
    const auto bytes = std::as_bytes(elements);
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte(marker); });
  }

 private:
  static constexpr int marker = 0xb3;
  static constexpr std::size_t guard = 8;
  std::valarray<T> all_;
};

struct call {
  std::size_t count = 0;
  operation op = operation::sum;
  int root = 0;
  bool in_place = false;
};

template <class T>
std::string describe(const char* what, const weft::communicator& world, const call& c) {
  std::ostringstream text;
  text << what << " of " << c.count << " " << weft::kernels::name(weft::kernels::type_of<T>) << "s by "
       << weft::kernels::name(c.op) << ", root " << c.root << (c.in_place ? ", in place" : "") << ", rank "
       << world.rank() << " of " << world.size();
  return text.str();
}

template <class T>
void expect_equal(std::span<const T> found, const std::valarray<T>& right, const std::string& what) {
  expect(found.size() == right.size(), what, ": count");
  for (std::size_t i = 0; i < right.size(); ++i) expect(found[i] == right[i], what, ": element ", i);
}

/// Reduces to `root`, or, for root -1, to all.
template <class T>
void check_reduction(weft::communicator& world, const call& c) {
  const bool to_all = c.root < 0;
  const std::string what = describe<T>(to_all ? "allreduce" : "reduce", world, c);
  const auto mine = operands<T>(world.rank(), c.count, c.op);
  guarded<T> in(c.count);
  guarded<T> out(c.count);
  std::copy(std::begin(mine), std::end(mine), in.values().begin());
  const auto into = c.in_place ? in.values() : out.values();
  const weft::reduction_operator op(c.op);
  if (to_all)
    world.allreduce(in.values(), into, op);
  else
    world.reduce(in.values(), into, op, c.root);
  const bool has_result = to_all || c.root == world.rank();
  if (has_result) expect_equal<T>(into, serial<T>(world.size(), c.count, c.op), what);
  if (!c.in_place || !has_result) expect_equal<T>(in.values(), mine, what + ": the input");
  if (!has_result) expect(guarded<T>::untouched(out.values()), what, ": no output");
  expect(in.untouched_outside() && out.untouched_outside(), what, ": guards untouched");
}

template <class T>
void check_broadcast(weft::communicator& world, const call& c) {
  const std::string what = describe<T>("bcast", world, c);
  const auto right = operands<T>(c.root + 1, c.count, c.op);
  guarded<T> data(c.count);
  if (world.rank() == c.root) std::copy(std::begin(right), std::end(right), data.values().begin());
  world.bcast(data.values(), c.root);
  expect_equal<T>(data.values(), right, what);
  expect(data.untouched_outside(), what, ": guards untouched");
}

template <class T>
void check_call(weft::communicator& world, int collective, call c) {
  if (collective == 0) return check_broadcast<T>(world, c);
  if (collective == 1) c.root = -1;
  check_reduction<T>(world, c);
}

std::vector<std::size_t> short_counts(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts{0, 1, n - 1, n, n + 1};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// Every operator on every type, and every root, for short vectors.
void check_everything_short(weft::communicator& world) {
  for (const std::size_t count : short_counts(world.size()))
    for (std::size_t type = 0; type < std::tuple_size_v<types>; ++type)
      with_type(type, [&]<class T>(T) {
        int root = 0;
        for (const operation op : operators_of<T>())
          for (const bool in_place : {false, true}) {
            check_call<T>(world, 1, {count, op, 0, in_place});
            check_call<T>(world, 2, {count, op, root++ % world.size(), in_place});
          }
        for (root = 0; root < world.size(); ++root) {
          check_call<T>(world, 0, {count, operators_of<T>().front(), root, false});
          check_call<T>(world, 2, {count, operators_of<T>().front(), root, root % 2 == 0});
        }
      });
}

/// `calls` combinations out of all.
void check_sample(weft::communicator& world, int calls, std::vector<std::size_t> counts, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (const std::size_t more : short_counts(world.size())) counts.push_back(more);
  for (int i = 0; i < calls; ++i) {
    call c;
    c.count = counts[any(counts.size())];
    c.root = static_cast<int>(any(static_cast<std::size_t>(world.size())));
    c.in_place = any(2) == 1;
    const std::size_t type = any(std::tuple_size_v<types>);
    const std::size_t which = any(100);
    const int collective = static_cast<int>(any(4));
    if (collective == 3) {
      world.barrier();
      continue;
    }
    with_type(type, [&]<class T>(T) {
      const auto operators = operators_of<T>();
      c.op = operators[which % operators.size()];
      check_call<T>(world, collective, c);
    });
  }
}

weft::options with_algorithms(const std::string& allreduce, const std::string& reduce,
                              weft::options settings = small_limits()) {
  settings.allreduce = allreduce;
  settings.reduce = reduce;
  return settings;
}

struct shape {
  int processes;
  int ranks_per_process;
};

}  // namespace

TEST_CASE("short collectives of every kind give the serial result", "[results]") {
  const auto settings = GENERATE(with_algorithms("recursive-doubling", "binomial"), with_algorithms("ring", "greedy"));
  const int ranks = GENERATE(1, 2, 3, 4, 5);
  run_ranks(ranks, 1, settings, check_everything_short);
}

TEST_CASE("collectives of every length give the serial result", "[results]") {
  const auto settings = GENERATE(with_algorithms("recursive-doubling", "binomial"), with_algorithms("ring", "greedy"),
                                 with_algorithms("auto", "auto", weft::options{}));
  const int ranks = GENERATE(range(1, 10));
  run_ranks(ranks, 1, settings, [](weft::communicator& world) {
    check_sample(world, 150, {1000}, seed_of_this_run());
    check_sample(world, 12, {65'537}, seed_of_this_run() + 1);
  });
}

TEST_CASE("collectives among fibers give the serial result", "[results]") {
  const auto progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  const auto form = GENERATE(shape{2, 4}, shape{3, 3}, shape{1, 16}, shape{1, 2});
  auto settings = small_limits();
  settings.progress = progress;
  settings.allreduce = GENERATE("recursive-doubling", "ring");
  run_ranks(form.processes, form.ranks_per_process, settings, [](weft::communicator& world) {
    check_sample(world, 30, {1000}, seed_of_this_run() + 2);
    check_sample(world, 3, {65'537}, seed_of_this_run() + 3);
  });
}

TEST_CASE("collectives among 64 fibers give the serial result", "[results]") {
  run_ranks(1, 64, small_limits(),
            [](weft::communicator& world) { check_sample(world, 12, {1000}, seed_of_this_run() + 4); });
}

TEST_CASE("a progress thread moves collectives on", "[results]") {
  auto settings = small_limits();
  settings.progress = weft::progress_mode::thread;
  const int ranks = GENERATE(1, 2, 5);
  run_ranks(ranks, 1, settings, [](weft::communicator& world) {
    check_sample(world, 40, {1000}, seed_of_this_run() + 5);
    check_sample(world, 6, {65'537}, seed_of_this_run() + 6);
  });
}

TEST_CASE("collectives over a network of irregular timing give the serial result", "[results]") {
  job what;
  what.processes = 4;
  what.settings = small_limits();
  what.network.jitter_seed = seed_of_this_run() + 7;
  run_ranks(what, [](weft::communicator& world) {
    check_sample(world, 60, {1000}, seed_of_this_run() + 8);
    check_sample(world, 4, {65'537}, seed_of_this_run() + 9);
  });
}

TEST_CASE("every rank gets the same bits, the same every time", "[results]") {
  const std::string algorithm = GENERATE("recursive-doubling", "ring");
  const int ranks = GENERATE(2, 3, 5, 8);
  const std::size_t count = GENERATE(1, 100, 20'000);
  run_ranks(ranks, 1, with_algorithms(algorithm, "auto"), [&](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    std::uniform_real_distribution<double> any(-1, 1);
    std::vector<double> in(count);
    for (double& x : in) x = any(random);
    std::vector<double> out(count);
    std::vector<double> again(count);
    world.allreduce(in, out, weft::sum);
    world.allreduce(in, again, weft::sum);
    expect(std::memcmp(out.data(), again.data(), count * sizeof(double)) == 0, "the same bits again");
    std::vector<double> of_root = out;
    world.bcast(of_root, world.size() - 1);
    expect(std::memcmp(out.data(), of_root.data(), count * sizeof(double)) == 0, "the same bits as the last rank");
    std::vector<double> reduced(count);
    world.reduce(in, reduced, weft::sum, 0);
    if (world.rank() == 0)
      for (std::size_t i = 0; i < count; ++i)
        expect(std::abs(reduced[i] - out[i]) < 1e-12, "reduce and allreduce to agree but for rounding");
  });
}

TEST_CASE("ranks may give an empty output where they are not the root, and see a broadcast as other elements",
          "[results]") {
  const std::size_t count = GENERATE(3, 1001, 10'001);
  run_ranks(3, 1, small_limits(), [&](weft::communicator& world) {
    std::vector<double> in(count, world.rank() + 1);
    std::vector<double> out(world.rank() == 1 ? count : 0);
    world.reduce(in, out, weft::sum, 1);
    for (const double x : out) expect(x == 6, "the sum at the root");

    std::vector<std::byte> bytes(count * sizeof(double));
    if (world.rank() == 1)
      world.bcast(out, 1);
    else
      world.bcast(bytes, 1);
    if (world.rank() != 1)
      for (std::size_t i = 0; i < count; ++i) {
        double x;
        std::memcpy(&x, bytes.data() + i * sizeof x, sizeof x);
        expect(x == 6, "the root's elements, found ", x);
      }
  });
}
