// SPDX-License-Identifier: Apache-2.0
// Buffers that lie in pieces, and elements whose type is known when the program runs: messages and collectives in every
// form, over every road.
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include <weft/array_view.hpp>
#include <weft/deadline.hpp>
#include <weft/runtime.hpp>
#include <weft/type.hpp>

#include "roads.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

using weft::array_view;
using weft::buffer;
using weft::const_buffer;
using element_type = weft::type;

struct star {
  std::int32_t name = 0;
  double mass = 0;
  float speed[3]{};
  std::int8_t kind = 0;
};

element_type mass_and_speed() {
  return element_type::record(
      {{offsetof(star, mass), element_type::of<double>()}, {offsetof(star, speed), element_type::of<float>(), 3}},
      sizeof(star));
}

std::vector<int> numbered(std::size_t count, int first = 0) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::vector<std::byte> packed(const element_type& of, const void* at, std::size_t count) {
  std::vector<std::byte> all(count * of.bytes());
  of.pack(all.data(), at, count);
  return all;
}

/// What is at these places of it, by a description of its own: offsets of bytes in their order.
struct described_type {
  element_type of;
  std::vector<std::ptrdiff_t> offsets;
};

/// Made at random of repetitions, other extents and records.
described_type drawn(std::mt19937_64& random, int depth) {
  const auto up_to = [&](std::size_t most) { return random() % (most + 1); };
  if (depth == 0) {
    const std::size_t bytes = 1 + up_to(16);
    described_type made{element_type::opaque(bytes), {}};
    for (std::size_t i = 0; i < bytes; ++i) made.offsets.push_back(static_cast<std::ptrdiff_t>(i));
    return made;
  }
  const described_type inner = drawn(random, depth - 1);
  const auto span = [](const described_type& some) { return some.of.end() - some.of.lowest(); };
  described_type made;
  const auto add = [&](const described_type& some, std::ptrdiff_t at) {
    for (const std::ptrdiff_t each : some.offsets) made.offsets.push_back(at + each);
  };
  switch (up_to(2)) {
    case 0: {
      const std::size_t count = 1 + up_to(4);
      const auto stride = (up_to(3) == 0 ? -1 : 1) * (span(inner) + static_cast<std::ptrdiff_t>(up_to(5)));
      made.of = inner.of.repeated(count, stride);
      for (std::size_t i = 0; i < count; ++i) add(inner, stride * static_cast<std::ptrdiff_t>(i));
      return made;
    }
    case 1:
      made.of = inner.of.resized(inner.of.end() + static_cast<std::ptrdiff_t>(up_to(9)) + 1);
      made.offsets = inner.offsets;
      return made;
    default: {
      std::vector<weft::field> fields;
      std::ptrdiff_t at = 0;
      for (std::size_t i = 0; i <= up_to(2); ++i) {
        const described_type its = drawn(random, depth - 1);
        const std::size_t count = 1 + up_to(2);
        const std::ptrdiff_t extent = its.of.extent();
        at += static_cast<std::ptrdiff_t>(up_to(3)) - its.of.lowest();
        fields.push_back({at, its.of, count});
        for (std::size_t n = 0; n < count; ++n) add(its, at + extent * static_cast<std::ptrdiff_t>(n));
        at += std::abs(extent) * static_cast<std::ptrdiff_t>(count) + span(its);
      }
      made.of = element_type::record(fields, static_cast<std::size_t>(at) + 1);
      return made;
    }
  }
}

/// A call in each form: `form` is called with the plan or nothing.
enum class form { blocking, started, planned, limited };
constexpr form all_forms[] = {form::blocking, form::started, form::planned, form::limited};

template <class Blocking, class Started, class Planned>
void in(form how, Blocking&& blocking, Started&& started, Planned&& planned) {
  if (how == form::blocking) blocking();
  if (how == form::started) started().wait();
  if (how == form::planned) {
    weft::plan made = planned();
    made.start();
    made.wait();
  }
  if (how == form::limited) {
    const weft::deadline limit{60s};
    blocking();
  }
}

/// What the call is refused for: the communicator, and its other ranks, go on.
template <class Call>
std::string refusal(Call&& call) {
  return expect_error(weft::errc::invalid_argument, call);
}

/// What std::mdspan is, which this compiler has not.
struct some_mdspan {
  static constexpr std::size_t rank() { return 2; }
  int* data_handle() const { return cells; }
  std::size_t extent(std::size_t dimension) const { return dimension == 0 ? 3 : 2; }
  std::size_t stride(std::size_t dimension) const { return dimension == 0 ? 8 : 2; }
  int* cells;
};

}  // namespace

TEST_CASE("types pack their bytes in the order in which they are described", "[views]") {
  const std::uint64_t seed = seed_of_this_run();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000; ++i) {
    const described_type drew = drawn(random, static_cast<int>(random() % 5));
    const element_type& of = drew.of;
    REQUIRE(of.bytes() == drew.offsets.size());
    const std::size_t count = 1 + random() % 4;
    std::ptrdiff_t lowest = 0, end = 0;
    for (const std::ptrdiff_t each : {std::ptrdiff_t{0}, of.extent() * static_cast<std::ptrdiff_t>(count - 1)}) {
      lowest = std::min(lowest, each + of.lowest());
      end = std::max(end, each + of.end());
    }
    std::vector<std::byte> memory(static_cast<std::size_t>(end - lowest));
    for (std::byte& each : memory) each = static_cast<std::byte>(random());
    const auto at = [&](std::vector<std::byte>& in, std::size_t n, std::ptrdiff_t offset) -> std::byte& {
      const std::ptrdiff_t where = of.extent() * static_cast<std::ptrdiff_t>(n) + offset - lowest;
      REQUIRE(where >= 0);
      REQUIRE(where < static_cast<std::ptrdiff_t>(in.size()));
      return in[static_cast<std::size_t>(where)];
    };
    const std::vector<std::byte> all = packed(of, memory.data() - lowest, count);
    std::size_t next = 0;
    for (std::size_t n = 0; n < count; ++n)
      for (const std::ptrdiff_t offset : drew.offsets) REQUIRE(all[next++] == at(memory, n, offset));
    std::vector<std::byte> back(memory.size(), std::byte{0x5a}), right = back;
    next = 0;
    for (std::size_t n = 0; n < count; ++n)
      for (const std::ptrdiff_t offset : drew.offsets) at(right, n, offset) = all[next++];
    of.unpack(back.data() - lowest, all.data(), count);
    REQUIRE(back == right);
  }
}

TEST_CASE("views are parts of arrays", "[views]") {
  std::vector<int> cells = numbered(4 * 3 * 2);
  const auto all = weft::view(cells, 4, 3, 2);
  CHECK(all.is_contiguous());
  CHECK(all(1, 2, 0) == 10);
  CHECK(all.slice(0, 1).is_contiguous());
  CHECK_FALSE(all.slice(2, 1).is_contiguous());
  CHECK(all.slice(2, 1)(3, 2) == 23);
  CHECK(all.part({1, 1, 0}, {2, 2, 2})(1, 1, 1) == 17);
  CHECK(all.slice(1, 2).column(1)(3) == 23);
  CHECK(weft::view(cells, 6, 4).rows(2, 3).is_contiguous());
  CHECK(weft::view(cells, 6, 4).columns(1, 2)(5, 1) == 22);
  CHECK(refusal([&] { weft::view(cells, 5, 5); }) == "a view of 5 x 5 elements, of an array that has 24");
  CHECK(refusal([&] {
          all.part({1, 1, 0}, {4, 1, 1});
        }) == "a part of 4 x 1 x 1 elements from 1 x 1 x 0 on, of a view of 4 x 3 x 2");
  CHECK(refusal([&] { weft::view(cells, std::size_t{1} << 32, std::size_t{1} << 32); }) ==
        "a view of 4294967296 x 4294967296 elements, of an array that has 24");
  CHECK(refusal([&] { weft::view(cells, 24, 0); }) == "a view of 24 x 0 elements, of an array that has 24");
  CHECK(refusal([&] { all.slice(1, 3); }) == "index 3 of dimension 1, of a view of 4 x 3 x 2");
  CHECK(all.part({0, 0, 0}, {0, 3, 2}).size() == 0);
  const array_view<int, 2> of_mdspan(some_mdspan{cells.data()});
  CHECK_FALSE(of_mdspan.is_contiguous());
  CHECK(of_mdspan.size() == 6);
  CHECK(of_mdspan(2, 1) == 18);
  const array_view<const int, 3> to_read = all;
  CHECK(&to_read(3, 2, 1) == &all(3, 2, 1));
}

TEST_CASE("messages of views and types arrive in views and types", "[views]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const int size = world.size(), next = (world.rank() + 1) % size, last = (world.rank() + size - 1) % size;
    const std::size_t side = world.rank() % 2 == 0 ? 7 : 60;
    for (const std::size_t n : {std::size_t{5}, std::size_t{300}}) {
      std::vector<int> mine = numbered(n * side, 1000 * world.rank());
      const auto matrix = weft::view(mine, n, side);
      for (const form how : all_forms) {
        // A column into a row with gaps of others.
        std::vector<int> got(3 * n, -1);
        const array_view<int, 1> sparse(got.data() + 1, {n}, {3});
        weft::status what;
        weft::handle sent = world.isend(matrix.column(3), next, 1);
        in(
            how, [&] { what = world.recv(sparse, last, 1); }, [&] { return world.irecv(sparse, last, 1); },
            [&] { return world.plan_recv(sparse, last, 1); });
        sent.wait();
        const int from_side = last % 2 == 0 ? 7 : 60;
        for (std::size_t i = 0; i < n; ++i) {
          expect(got[3 * i + 1] == 1000 * last + static_cast<int>(i) * from_side + 3, "element ", i, " of a column");
          expect(got[3 * i] == -1 && got[3 * i + 2] == -1, "what is between them stays");
        }
        // A type into another one of the same data; shorter than the receive's.
        std::vector<star> stars(n), others(n + 2);
        for (std::size_t i = 0; i < n; ++i) stars[i].mass = static_cast<double>(i), stars[i].speed[2] = 2.5f;
        const element_type of = mass_and_speed();
        expect(of.bytes() == 20, "bytes of its data");
        weft::handle receives = world.irecv(buffer(others.data(), others.size(), of), last, 2);
        in(
            how, [&] { world.send(const_buffer(stars.data(), n, of), next, 2); },
            [&] { return world.isend(const_buffer(stars.data(), n, of), next, 2); },
            [&] { return world.plan_send(const_buffer(stars.data(), n, of), next, 2); });
        what = receives.wait();
        expect(what.bytes == 20 * n && what.count(of) == n, "its length");
        expect(others[n - 1].mass == static_cast<double>(n - 1) && others[n - 1].speed[2] == 2.5f, "its data");
        expect(others[n].mass == 0 && others[0].name == 0, "and no more");
      }
      std::vector<int> diagonal(n, -1);
      world.sendrecv(matrix.column(0), next, 3, diagonal, last, 3);
      expect(diagonal[1] == 1000 * last + (last % 2 == 0 ? 7 : 60), "sendrecv of a view into a vector");
      weft::handle sent = world.issend(matrix.column(1), next, 4);
      std::vector<int> apart(2 * n);
      weft::matched_message found = world.mprobe(last, 4);
      found.recv(array_view<int, 1>(apart.data(), {n}, {2}));
      sent.wait();
      expect(apart[2] == 1000 * last + (last % 2 == 0 ? 7 : 60) + 1, "a matched message");
      weft::handle nothing = world.irecv(matrix.column(2), last, 99);
      expect(nothing.cancel() && !nothing.valid(), "a receive that is taken back");
      // Nothing is sent where a part of it is refused, and the communicator goes on.
      refusal([&] { world.sendrecv(matrix.column(0), next, 98, matrix.column(1), size, 98); });
      refusal([&] { world.sendrecv(matrix.column(0), size, 98, matrix.column(1), last, 98); });
      world.barrier();
      expect(!world.iprobe(weft::any_source, 98), "nothing has been sent");
    }
    world.barrier();
  });
}

TEST_CASE("a matched message that comes late into a view can be waited for again", "[views][deadlines]") {
  job two = small_job(2);
  two.nodes = {"a", "b"};  // so that its sender has to help
  std::atomic<bool> is_late{false};
  run_ranks(two, [&](weft::communicator& world) {
    std::vector<int> cells(2 * 300'000, world.rank());
    const array_view<int, 1> sparse(cells.data(), {300'000}, {2});
    if (world.rank() == 1) {
      weft::handle sent = world.isend(sparse, 0, 4);
      while (!is_late) std::this_thread::sleep_for(1ms);
      sent.wait();
    } else {
      weft::matched_message found = world.mprobe(1, 4);
      std::optional<weft::timed_out> late;
      {
        const weft::deadline limit{5ms};
        try {
          found.recv(sparse);
        } catch (const weft::timed_out& error) {
          late = error;
        }
      }
      is_late = true;
      expect(late && late->calls().size() == 1, "its sender does something else, and the call is in flight");
      expect(late->calls()[0].wait().bytes == 4 * 300'000, "its length");
      for (std::size_t i = 0; i < cells.size(); ++i) expect(cells[i] == (i % 2 == 0 ? 1 : 0), "element ", i);
    }
    world.barrier();
  });
}

TEST_CASE("a plan of a view sends and receives what is there when it is started", "[views]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const int size = world.size(), next = (world.rank() + 1) % size, last = (world.rank() + size - 1) % size;
    std::vector<int> grid(6 * 5);
    const auto all = weft::view(grid, 6, 5);
    weft::plan plans[] = {world.plan_recv(all.column(0), last), world.plan_send(all.column(3), next)};
    for (int time = 0; time < 4; ++time) {
      for (std::size_t i = 0; i < 6; ++i) all(i, 3) = 100 * world.rank() + 10 * time + static_cast<int>(i);
      for (weft::plan& each : plans) each.start();
      weft::wait_all(plans);
      for (std::size_t i = 0; i < 6; ++i)
        expect(all(i, 0) == 100 * last + 10 * time + static_cast<int>(i), "time ", time, " row ", i);
    }
  });
}

TEST_CASE("collectives of views are those of their elements", "[views]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const auto ranks = static_cast<std::size_t>(world.size()), rank = static_cast<std::size_t>(world.rank());
    const int root = world.size() - 1;
    for (const std::size_t n : {std::size_t{1}, std::size_t{6}, std::size_t{2000}}) {
      for (const form how : all_forms) {
        const std::size_t all = n * ranks;
        // The view's elements are every other one; what is between them stays.
        std::vector<double> few(2 * n), many(2 * all);
        const auto fill = [&] {
          for (std::size_t i = 0; i < 2 * n; ++i) few[i] = static_cast<double>(i % 2 == 0 ? i / 2 + 10 * rank : 7777);
          for (std::size_t i = 0; i < 2 * all; ++i) many[i] = static_cast<double>(i % 2 == 0 ? i / 2 + rank : 8888);
        };
        std::vector<double> short_in(n), long_in(all), short_out(n), long_out(all);
        const array_view<double, 1> short_view(few.data(), {n}, {2}), long_view(many.data(), {all}, {2});
        const auto copy_in = [&] {
          fill();
          for (std::size_t i = 0; i < n; ++i) short_in[i] = few[2 * i];
          for (std::size_t i = 0; i < all; ++i) long_in[i] = many[2 * i];
        };
        const auto same = [&](const std::vector<double>& in_pieces, const std::vector<double>& right,
                              const char* what) {
          for (std::size_t i = 0; i < right.size(); ++i) {
            expect(in_pieces[2 * i] == right[i], what, " element ", i, " of ", n, " form ", static_cast<int>(how));
            expect(in_pieces[2 * i + 1] > 7000, what, ": what is between them stays");
          }
        };
        const bool is_root = world.rank() == root;

        copy_in();
        world.allreduce(short_in, short_out, weft::sum);
        in(
            how, [&] { world.allreduce(short_view, short_view, weft::sum); },
            [&] { return world.iallreduce(short_view, short_view, weft::sum); },
            [&] { return world.plan_allreduce(short_view, short_view, weft::sum); });
        same(few, short_out, "allreduce in place");

        copy_in();
        world.allreduce(short_in, short_out, weft::reproducible_sum);
        in(
            how, [&] { world.allreduce(short_view, short_view, weft::reproducible_sum); },
            [&] { return world.iallreduce(short_view, short_view, weft::reproducible_sum); },
            [&] { return world.plan_allreduce(short_view, short_view, weft::reproducible_sum); });
        same(few, short_out, "reproducible sums");

        copy_in();
        world.reduce(short_in, short_out, weft::max, root);
        in(
            how, [&] { world.reduce(short_in, short_view, weft::max, root); },
            [&] { return world.ireduce(short_in, short_view, weft::max, root); },
            [&] { return world.plan_reduce(short_in, short_view, weft::max, root); });
        same(few, is_root ? short_out : short_in, "reduce: of others it stays");

        copy_in();
        short_out = short_in;
        world.bcast(short_out, root);
        in(
            how, [&] { world.bcast(short_view, root); }, [&] { return world.ibcast(short_view, root); },
            [&] { return world.plan_bcast(short_view, root); });
        same(few, short_out, "bcast");

        copy_in();
        world.allgather(short_in, long_out);
        in(
            how, [&] { world.allgather(short_view, long_view); },
            [&] { return world.iallgather(short_view, long_view); },
            [&] { return world.plan_allgather(short_view, long_view); });
        same(many, long_out, "allgather");

        copy_in();
        world.scatter(long_in, short_out, root);
        in(
            how, [&] { world.scatter(long_view, short_view, root); },
            [&] { return world.iscatter(long_view, short_view, root); },
            [&] { return world.plan_scatter(long_view, short_view, root); });
        same(few, short_out, "scatter");

        copy_in();
        long_out = long_in;
        world.gather(short_in, long_out, root);
        in(
            how, [&] { world.gather(short_view, long_view, root); },
            [&] { return world.igather(short_view, long_view, root); },
            [&] { return world.plan_gather(short_view, long_view, root); });
        same(many, long_out, "gather");

        copy_in();
        world.alltoall(long_in, long_out);
        in(
            how, [&] { world.alltoall(long_view, long_view); }, [&] { return world.ialltoall(long_view, long_view); },
            [&] { return world.plan_alltoall(long_view, long_view); });
        same(many, long_out, "alltoall in place");

        copy_in();
        world.reduce_scatter(long_in, short_out, weft::sum);
        in(
            how, [&] { world.reduce_scatter(long_view, short_view, weft::sum); },
            [&] { return world.ireduce_scatter(long_view, short_view, weft::sum); },
            [&] { return world.plan_reduce_scatter(long_view, short_view, weft::sum); });
        same(few, short_out, "reduce_scatter");

        copy_in();
        short_out = short_in;
        world.exscan(short_in, short_out, weft::sum);
        in(
            how, [&] { world.exscan(short_view, short_view, weft::sum); },
            [&] { return world.iexscan(short_view, short_view, weft::sum); },
            [&] { return world.plan_exscan(short_view, short_view, weft::sum); });
        same(few, short_out, "exscan: of the first it stays");
      }
    }
    // Blocks at displacements of a view's elements, with gaps that stay.
    std::vector<int> lines(2 * (3 * ranks), -1), mine(2, world.rank());
    std::vector<std::size_t> counts(ranks, 2), places(ranks);
    for (std::size_t r = 0; r < ranks; ++r) places[r] = 3 * r;
    const array_view<int, 1> every_other(lines.data(), {3 * ranks}, {2});
    world.allgather(mine, every_other, {counts, places});
    for (std::size_t r = 0; r < ranks; ++r) {
      expect(every_other(3 * r) == static_cast<int>(r) && every_other(3 * r + 1) == static_cast<int>(r), "blocks");
      expect(every_other(3 * r + 2) == -1, "and gaps");
    }
    expect(refusal([&] {
             world.allgather(mine, every_other, {counts, places, weft::strided{1, 1}});
           }).find("strided blocks of a view") != std::string::npos,
           "one way at a time");
    world.barrier();
  });
}

TEST_CASE("elements whose type is known when the program runs are combined as those of the compiler's", "[views]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    for (const std::size_t n : {1, 5, 3000}) {
      std::vector<float> in(n), right(n), out(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<float>(i % 13) + 0.25f * static_cast<float>(world.rank());
      const element_type of = weft::kernels::type::float32;
      const auto same = [&](const weft::any_operator& op, const char* what) {
        std::fill(out.begin(), out.end(), -1.f);
        world.allreduce(const_buffer(in.data(), n, of), buffer(out.data(), n, of), op);
        expect(out == right, what, " of buffers, ", n);
        std::fill(out.begin(), out.end(), -1.f);
        world.iallreduce(in, buffer(out.data(), n, of), op).wait();
        expect(out == right, what, " of a vector into a buffer, ", n);
        std::fill(out.begin(), out.end(), -1.f);
        world.allreduce(in, out, op);
        expect(out == right, what, " of vectors, ", n);
      };
      world.allreduce(in, right, weft::max);
      same(weft::max, "max");
      world.allreduce(const_buffer(in.data(), n, of), buffer(out.data(), n, of), weft::max);
      expect(out == right, "an operator of the compiler's");
      world.allreduce(in, right, weft::reproducible_sum);
      same(weft::reproducible_sum, "reproducible sum");
      // Elements of 12 bytes: polynomials of degree 2 that are put into each other would be too long; so maxima by the
      // last number, and of equal ones the lower rank's.
      struct triple {
        std::int32_t a, b, key;
      };
      static_assert(sizeof(triple) == 12);
      std::vector<triple> triples(n), most(n);
      for (std::size_t i = 0; i < n; ++i)
        triples[i] = {world.rank(), static_cast<int>(i),
                      static_cast<int>((i * 7 + 3 * static_cast<std::size_t>(world.rank())) % 5)};
      const weft::any_operator greater(
          [](const void* lower, void* inout, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
              triple a, b;
              std::memcpy(&a, static_cast<const std::byte*>(lower) + 12 * i, 12);
              std::memcpy(&b, static_cast<const std::byte*>(inout) + 12 * i, 12);
              std::memcpy(static_cast<std::byte*>(inout) + 12 * i, a.key >= b.key ? &a : &b, 12);
            }
          },
          weft::does_not_commute);
      const element_type opaque = element_type::opaque(12);
      world.allreduce(const_buffer(triples.data(), n, opaque), buffer(most.data(), n, opaque), greater);
      for (std::size_t i = 0; i < n; ++i) {
        int best = 0;
        const auto key = [&](int rank) { return static_cast<int>((i * 7 + 3 * static_cast<std::size_t>(rank)) % 5); };
        for (int rank = 1; rank < world.size(); ++rank)
          if (key(rank) > key(best)) best = rank;
        expect(most[i].a == best && most[i].b == static_cast<int>(i), "element ", i, " by the caller's operator");
      }
    }
    std::vector<star> stars(2);
    const buffer of_stars(stars.data(), 2, mass_and_speed());
    expect_text(
        refusal([&] { world.allreduce(of_stars, of_stars, weft::sum); }),
        "communicator 0: a built-in operator on elements of 20 bytes: it takes numbers alone; for others there is "
        "weft::any_operator");
    std::vector<int> numbers(2);
    std::vector<double> wider(2);
    expect_text(
        refusal([&] { world.allreduce(const_buffer(numbers.data(), 2, element_type::of<int>()), wider, weft::sum); }),
        "communicator 0: input and output are of different types: elements of int32, and of double");
    const buffer whole(numbers.data(), 2, element_type::of<int>());
    expect_text(refusal([&] { world.allreduce(whole, whole, weft::any_operator(weft::reproducible_sum)); }),
                "communicator 0: reproducible_sum on int32: it takes float and double");
    expect(
        refusal([] { element_type::record({}, 8); }) == "a type without data: it has no fields, or none of an element",
        "no fields");
    expect(refusal([] { element_type::opaque(3).resized(0); }) ==
               "a type of extent 0: all its elements would be in one place",
           "no extent");
    world.barrier();
  });
}
