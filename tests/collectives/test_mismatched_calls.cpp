// SPDX-License-Identifier: Apache-2.0
// Ranks that call different things, and calls that cannot be right.
#include <algorithm>
#include <numeric>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

struct mismatch {
  const char* name;
  void (*of_rank_0)(weft::communicator&, std::size_t count);
  void (*of_others)(weft::communicator&, std::size_t count);
  const char* side_0;
  const char* side_1;
};

template <class T>
void all_reduce(weft::communicator& world, std::size_t count, weft::reduction_operator op) {
  std::vector<T> data(count, T(1));
  world.allreduce(data, data, op);
}

void broadcast(weft::communicator& world, std::size_t count, int root) {
  std::vector<double> data(count, 1);
  world.bcast(data, root);
}

void reduce_to(weft::communicator& world, std::size_t count, int root) {
  std::vector<double> data(count, 1), sum(count);
  world.reduce(data, sum, weft::sum, root);
}

std::vector<std::size_t> shares(weft::communicator& world, std::size_t count) {
  return std::vector<std::size_t>(static_cast<std::size_t>(world.size()), count);
}

/// Of counts that add up to as many whoever is first.
void gather_uneven(weft::communicator& world, std::size_t count, std::size_t more_of) {
  auto counts = shares(world, count);
  counts[more_of] += 3;
  std::vector<double> mine(counts[static_cast<std::size_t>(world.rank())]), all(world.size() * count + 3);
  world.allgather(mine, all, counts);
}

void scatter_from(weft::communicator& world, std::size_t count, int root) {
  std::vector<double> mine(count), all(count * static_cast<std::size_t>(world.size()));
  world.scatter(all, mine, root);
}

void scan_of(weft::communicator& world, std::size_t count, weft::reduction_operator op) {
  std::vector<double> data(count, 1);
  world.scan(data, data, op);
}

const mismatch mismatches[] = {
    {"operator", [](auto& w, std::size_t n) { all_reduce<double>(w, n, weft::sum); },
     [](auto& w, std::size_t n) { all_reduce<double>(w, n, weft::max); }, "allreduce(sum, double",
     "allreduce(max, double"},
    {"type", [](auto& w, std::size_t n) { all_reduce<double>(w, n, weft::sum); },
     [](auto& w, std::size_t n) { all_reduce<long>(w, n, weft::sum); }, "allreduce(sum, double",
     "allreduce(sum, int64"},
    {"count", [](auto& w, std::size_t n) { all_reduce<double>(w, n, weft::sum); },
     [](auto& w, std::size_t n) { all_reduce<double>(w, n + 1, weft::sum); }, "allreduce(sum, double, count ",
     "allreduce(sum, double, count "},
    {"collective", [](auto& w, std::size_t n) { all_reduce<double>(w, n, weft::sum); },
     [](auto& w, std::size_t) { w.barrier(); }, "allreduce(sum, double", "barrier()"},
    {"root of a broadcast", [](auto& w, std::size_t n) { broadcast(w, n, 0); },
     [](auto& w, std::size_t n) { broadcast(w, n, 1); }, ", root 0)", ", root 1)"},
    {"count of a broadcast", [](auto& w, std::size_t n) { broadcast(w, 10 * n, 0); },
     [](auto& w, std::size_t n) { broadcast(w, n, 0); }, "bcast(count ", "bcast(count "},
    {"root of a reduction", [](auto& w, std::size_t n) { reduce_to(w, n, 0); },
     [](auto& w, std::size_t n) { reduce_to(w, n, 1); }, ", root 0)", ", root 1)"},
    {"broadcast and reduction", [](auto& w, std::size_t n) { broadcast(w, n, 0); },
     [](auto& w, std::size_t n) { reduce_to(w, n, 0); }, "bcast(count ", "reduce(sum, double"},
    {"counts of ranks", [](auto& w, std::size_t n) { gather_uneven(w, n, 0); },
     [](auto& w, std::size_t n) { gather_uneven(w, n, 1); }, "allgather(counts of hash ", "allgather(counts of hash "},
    {"root of a scatter", [](auto& w, std::size_t n) { scatter_from(w, n, 0); },
     [](auto& w, std::size_t n) { scatter_from(w, n, 1); }, "bytes a rank, root 0)", "bytes a rank, root 1)"},
    {"operator of a scan", [](auto& w, std::size_t n) { scan_of(w, n, weft::sum); },
     [](auto& w, std::size_t n) { scan_of(w, n, weft::max); }, "scan(sum, double, count ", "scan(max, double, count "},
};

/// The code of an error that says so.
weft::errc kind_of(const std::string& part) {
  const auto says = [&](const char* word) { return part.find(word) != std::string::npos; };
  if (says("source") || says("destination")) return weft::errc::invalid_rank;
  if (says("root")) return weft::errc::invalid_root;
  if (says("tag ")) return weft::errc::invalid_tag;
  if (says("address 0") || says("overlap") || says("this rank's block of the")) return weft::errc::invalid_buffer;
  return weft::errc::invalid_count;
}

}  // namespace

TEST_CASE("the codes of wrong arguments are told apart, and are kinds of one", "[arguments]") {
  using weft::errc;
  const errc kinds[] = {errc::invalid_rank,  errc::invalid_root,   errc::invalid_tag,
                        errc::invalid_count, errc::invalid_buffer, errc::invalid_operator};
  for (const errc kind : kinds) {
    const std::error_code code = kind;
    CHECK(code == errc::invalid_argument);
    CHECK(code.message() != std::error_code(errc::invalid_argument).message());
    for (const errc other : kinds) CHECK((code == other) == (kind == other));
    CHECK(code != errc::truncated);
    CHECK(std::error_code(errc::invalid_argument) != kind);
    CHECK(std::error_code(code.value(), std::generic_category()) != errc::invalid_argument);
  }
  CHECK(std::error_code(errc::protocol) != errc::invalid_argument);
}

TEST_CASE("ranks that call different things are told what both called", "[mismatches]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(2) : small_job(1, 3);
  const std::size_t count = GENERATE(1, 60, 4000);
  for (const mismatch& each : mismatches) {
    INFO(each.name << " of " << count);
    run_ranks(what, [&](weft::communicator& world) {
      auto inner = world.dup();
      const auto call = [&] { (inner.rank() == 0 ? each.of_rank_0 : each.of_others)(inner, count); };
      const auto text = expect_error(weft::errc::mismatched_call, [&] {
        call();
        inner.barrier();  // a rank whose part met nobody learns it here
        inner.barrier();
      });
      expect_text(text, each.side_0);
      expect_text(text, each.side_1);
      expect_text(text, "rank 0 called");
      world.barrier();  // other communicators go on
    });
  }
}

TEST_CASE("bad arguments are refused before anything is sent", "[arguments]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(2) : small_job(1, 2);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<double> a(8), b(9);
    const std::span<double> nowhere(static_cast<double*>(nullptr), 4);
    const auto refused = [&](const char* operation, const std::string& part, auto&& call) {
      const auto text = expect_error(kind_of(part), call);
      expect_text(text, std::string(operation)
                            .append(" on rank ")
                            .append(std::to_string(world.rank()))
                            .append(" of communicator 0: "));
      expect_text(text, part);
    };
    const int past = world.size();
    refused("send", "destination 2", [&] { world.send(a, past); });
    refused("send", "destination -1", [&] { world.send(a, weft::any_source); });
    refused("isend", "destination -7", [&] { static_cast<void>(world.isend(a, -7)); });
    refused("recv", "source 2", [&] { world.recv(a, past); });
    refused("irecv", "source -2", [&] { static_cast<void>(world.irecv(a, -2)); });
    refused("send", "tag -1", [&] { world.send(a, 0, -1); });
    refused("recv", "tag -2", [&] { world.recv(a, 0, -2); });
    refused("probe", "source 2", [&] { world.probe(past); });
    refused("probe", "tag -5", [&] { world.iprobe(0, -5); });
    refused("send", "address 0", [&] { world.send(nowhere, 0); });
    refused("recv", "address 0", [&] { world.recv(nowhere, 0); });
    refused("sendrecv", "source 5", [&] { world.sendrecv(a, 0, 0, b, 5, 0); });
    refused("sendrecv", "destination 5", [&] { world.sendrecv(a, 5, 0, b, 0, 0); });
    refused("bcast", "root 2", [&] { world.bcast(a, past); });
    refused("reduce", "root -1", [&] { world.reduce(a, a, weft::sum, -1); });
    refused("allreduce", "8 elements, the output 9", [&] { world.allreduce(a, b, weft::sum); });
    refused("reduce", "8 elements, the output 9", [&] { world.reduce(a, b, weft::sum, world.rank()); });
    refused("allreduce", "overlap", [&] { world.allreduce(std::span(b).first(8), std::span(b).last(8), weft::sum); });
    refused("allreduce", "address 0", [&] { world.allreduce(nowhere, std::span(a).first(4), weft::sum); });
    refused("bcast", "address 0", [&] { world.bcast(nowhere, 0); });
    expect(!world.iprobe(), "nothing to have been sent");
    a.assign(8, 1);
    world.allreduce(a, a, weft::sum);
    expect(a[7] == 2, "the communicator to be usable");
  });
}

TEST_CASE("bad buffers and counts of blocks are refused before anything is sent", "[arguments]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  run_ranks(what, [](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size());
    const auto me = static_cast<std::size_t>(world.rank());
    const auto sum = weft::sum;
    std::vector<double> one(4, 1), two(5, 2), all(4 * n, 3), more(4 * n + 1, 4);
    const std::vector<double> one_before = one, all_before = all, more_before = more;
    const std::span<double> nowhere(static_cast<double*>(nullptr), 4);
    const std::vector<std::size_t> counts(n, 4), few(n - 1, 4), others(n, 5);
    const std::vector<std::size_t> huge{~std::size_t{0} / 4, 4, 4};
    const auto refused = [&](const std::string& operation, const std::string& part, auto&& call) {
      const auto text = expect_error(kind_of(part), call);
      expect_text(text, operation + " on rank " + std::to_string(world.rank()) + " of communicator 0: ");
      expect_text(text, part);
    };
    const std::span<double> shifted = std::span(all).subspan(me * 4 + (me == 0 ? 1 : -1), 4);

    refused("allgather", "the output of a block for each of 3 ranks has 13 elements, the input of one block 4",
            [&] { world.allgather(one, more); });
    refused("allgather", "it must have 12", [&] { static_cast<void>(world.iallgather(one, more)); });
    refused("allgather", "there are 2 counts for the blocks of 3 ranks", [&] { world.allgather(one, all, few); });
    refused("allgather", "the input has 5 elements, but the count of this rank's block is 4",
            [&] { world.allgather(two, all, counts); });
    refused("allgather", "the output has 13 elements, but the counts of its blocks add up to 12",
            [&] { world.allgather(one, more, counts); });
    refused("allgather", "more than memory can hold", [&] { world.allgather(one, all, huge); });
    refused("allgather", "the input this rank's block of the output", [&] { world.allgather(shifted, all); });
    refused("allgather", "address 0", [&] { world.allgather(nowhere, all); });

    refused("gather", "root 3", [&] { world.gather(one, all, 3); });
    refused("gather", "it must have 12", [&] { world.gather(one, more, world.rank()); });
    refused("gather", "add up to 12", [&] { world.gather(one, more, counts, world.rank()); });
    refused("gather", "this rank's block of the output", [&] { world.gather(shifted, all, world.rank()); });

    refused("scatter", "root -1", [&] { world.scatter(all, one, -1); });
    refused("scatter", "the input of a block for each of 3 ranks has 13 elements",
            [&] { world.scatter(more, one, world.rank()); });
    refused("scatter", "the output has 5 elements", [&] { world.scatter(all, two, counts, world.rank()); });
    refused("scatter", "this rank's block of the input", [&] { world.scatter(all, shifted, world.rank()); });

    refused("reduce_scatter", "it must have 12", [&] { world.reduce_scatter(more, one, sum); });
    refused("reduce_scatter", "the input has 12 elements, but the counts of its blocks add up to 15",
            [&] { world.reduce_scatter(all, one, sum, others); });
    refused("reduce_scatter", "this rank's block of the input", [&] { world.reduce_scatter(all, shifted, sum); });

    refused("alltoall", "the input has 12 elements, the output 13", [&] { world.alltoall(all, more); });
    refused("alltoall", "13 elements, which are not as many for each of 3 ranks", [&] { world.alltoall(more, more); });
    refused("alltoall", "overlap", [&] { world.alltoall(std::span(more).first(12), std::span(more).last(12)); });
    refused("alltoall", "there are 2 counts", [&] { world.alltoall(all, more, counts, few); });
    refused("alltoall", "the output has 13 elements", [&] { world.alltoall(all, more, counts, counts); });
    std::vector<std::size_t> skewed = counts;
    skewed[me] += 1;
    refused("alltoall", "this rank sends itself 4 elements and receives 5 from itself",
            [&] { world.alltoall(all, more, counts, skewed); });

    refused("scan", "the input has 4 elements, the output 5", [&] { world.scan(one, two, sum); });
    refused("scan", "overlap", [&] { world.scan(std::span(two).first(4), std::span(two).last(4), sum); });
    if (me != 0) refused("exscan", "the output 5", [&] { world.exscan(one, two, sum); });
    expect(!world.iprobe(), "nothing to have been sent");
    expect(one == one_before && all == all_before && more == more_before, "every buffer to be as it was");
    world.allgather(one, all);
    expect(all == std::vector<double>(12, 1), "the communicator to be usable");
  });
}

TEST_CASE("ranks that exchange other counts than expected are told, and nothing beside a buffer changes",
          "[mismatches]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  const std::size_t count = GENERATE(1, 4000);
  run_ranks(what, [&](weft::communicator& world) {
    auto inner = world.dup();
    // Rank 0 sends rank 1 more than that expects.
    std::vector<std::size_t> sent(3, count), received(3, count);
    if (world.rank() == 0) sent[1] += 2;
    std::vector<double> in(3 * count + (world.rank() == 0 ? 2 : 0), 1), out(3 * count + 8, -7);
    try {
      inner.alltoall(in, std::span(out).first(3 * count), sent, received);
      inner.barrier();
      inner.barrier();
      throw expectation_failed("expected an error");
    } catch (const weft::error& e) {
      expect(e.code() == weft::errc::mismatched_call || e.code() == weft::errc::truncated ||
                 e.code() == weft::errc::operation_failed,
             "a mismatch, found ", e.what());
    }
    expect(std::all_of(out.end() - 8, out.end(), [](double x) { return x == -7; }), "what lies beside to be untouched");
    world.barrier();
  });
}

TEST_CASE("a long block that its receiver takes for a short one is told of, and the other way around", "[mismatches]") {
  job what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(2, 2);
  if (GENERATE(true, false)) what.nodes = {"a", "b", "c"};
  what.nodes.resize(what.nodes.empty() ? 0 : static_cast<std::size_t>(what.processes));
  const bool sends_more = GENERATE(true, false);
  const std::size_t expected = GENERATE(0, 60);  // 480 bytes: 512 go without asking
  const auto outcomes = outcomes_of(what, [&](weft::communicator& world) {
    const auto ranks = static_cast<std::size_t>(world.size());
    std::vector<std::size_t> sent(ranks, expected), received(ranks, expected);
    if (world.rank() == 0) (sends_more ? sent : received)[ranks - 1] = 100;
    std::vector<double> in(std::accumulate(sent.begin(), sent.end(), std::size_t{0}), 1);
    std::vector<double> out(std::accumulate(received.begin(), received.end(), std::size_t{0}));
    world.alltoall(in, out, sent, received);
    world.barrier();
  });
  for (const auto& outcome : outcomes) {
    REQUIRE(outcome != nullptr);
    CHECK_THAT(text_of(outcome), ContainsSubstring("with other counts") || ContainsSubstring("bytes, the buffer") ||
                                     ContainsSubstring("bytes where that expects"));
  }
}

TEST_CASE("a job is not joined with an algorithm that nobody has", "[arguments]") {
  job what = small_job(2);
  what.settings.reduce_scatter = "bruck";
  const auto failures = run_processes(what, [](int, weft::runtime&) {});
  for (const auto& failure : failures)
    CHECK(text_of(failure) ==
          "reduce-scatter=bruck: not a valid value; valid: auto, ring, mst, recursive-halving, reading, at-once, "
          "in-parts, single-copy, served, served-shown, staged");
}

TEST_CASE("world() is for processes of one rank", "[arguments]") {
  const auto failures = run_processes(small_job(2, 2), [](int, weft::runtime& runtime) {
    expect_text(expect_error(weft::errc::invalid_argument, [&] { runtime.world(); }), "hosts 2 ranks");
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
  const auto single = run_processes(small_job(2), [](int process, weft::runtime& runtime) {
    expect(runtime.world().rank() == process && runtime.world().size() == 2, "the world of two");
    runtime.world().barrier();
  });
  for (const auto& failure : single) CHECK(text_of(failure) == "no error");
}
