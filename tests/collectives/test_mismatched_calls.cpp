// Ranks that call different things, and calls that cannot be right.
#include "run_ranks.hpp"

using namespace weft_test;

namespace {

job of(int processes, int ranks_per_process = 1) {
  job what;
  what.processes = processes;
  what.ranks_per_process = ranks_per_process;
  what.settings = small_limits();
  return what;
}

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
};

}  // namespace

TEST_CASE("ranks that call different things are told what both called", "[mismatches]") {
  const auto what = GENERATE(0, 1) == 0 ? of(2) : of(1, 3);
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
  const auto what = GENERATE(0, 1) == 0 ? of(2) : of(1, 2);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<double> a(8), b(9);
    const std::span<double> nowhere(static_cast<double*>(nullptr), 4);
    const auto refused = [&](const char* operation, const std::string& part, auto&& call) {
      const auto text = expect_error(weft::errc::invalid_argument, call);
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

TEST_CASE("world() is for processes of one rank", "[arguments]") {
  const auto failures = run_processes(of(2, 2), [](int, weft::runtime& runtime) {
    expect_text(expect_error(weft::errc::invalid_argument, [&] { runtime.world(); }), "hosts 2 ranks");
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
  const auto single = run_processes(of(2), [](int process, weft::runtime& runtime) {
    expect(runtime.world().rank() == process && runtime.world().size() == 2, "the world of two");
    runtime.world().barrier();
  });
  for (const auto& failure : single) CHECK(text_of(failure) == "no error");
}
