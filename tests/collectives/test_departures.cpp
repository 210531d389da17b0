// Ranks that leave a communicator while others wait for them there, or once their part is done.
#include <deque>
#include <functional>

#include "joined_job.hpp"

using namespace weft_test;

namespace {

/// Processes that share memory, those that do not, ranks of one thread, of several, and of several processes.
job job_of(int kind) {
  switch (kind) {
    case 0:
      return small_job(3);
    case 1: {
      job what = small_job(3);
      what.nodes = {"a", "b", "c"};
      return what;
    }
    case 2: {
      job what = small_job(4);
      what.nodes = {"a", "a", "b", "b"};
      return what;
    }
    case 3:
      return joined_job(1, 3, 1);
    case 4:
      return joined_job(1, 3, 3);
    default:
      return joined_job(2, 2, 2);
  }
}
constexpr int kinds_of_job = 6;

using started = weft::handle (*)(weft::communicator&, std::vector<double>& data);

/// Calls of a rank that wait for the last one, for ever.
const started started_calls[] = {
    [](weft::communicator& c, std::vector<double>&) { return c.ibarrier(); },
    [](weft::communicator& c, std::vector<double>& data) {
      return c.iallreduce(std::span(data).first(1), std::span(data).last(1), weft::sum);
    },
    [](weft::communicator& c, std::vector<double>& data) {
      return c.iallreduce(std::span(data).first(2000), std::span(data).last(2000), weft::sum);
    },
    [](weft::communicator& c, std::vector<double>& data) { return c.ibcast(data, c.size() - 1); },
    [](weft::communicator& c, std::vector<double>& data) { return c.irecv(data, c.size() - 1); },
    [](weft::communicator& c, std::vector<double>& data) {
      return c.ireduce(std::span(data).first(2000), std::span(data).last(2000), weft::sum, 0);
    },
};

void expect_missed(weft::communicator& world, const std::function<void()>& call) {
  const std::string text = expect_error(weft::errc::mismatched_call, call);
  expect_text(text, "has left communicator");
  expect_text(text, "rank " + std::to_string(world.size() - 1));
}

}  // namespace

TEST_CASE("a rank that leaves ends the waits for it", "[departures]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  run_ranks(job_of(kind), [](weft::communicator& world) {
    std::deque<weft::communicator> each;
    for (std::size_t i = 0; i < std::size(started_calls); ++i) each.push_back(world.dup());
    auto for_barrier = world.dup(), for_probe = world.dup();
    world.barrier();
    if (world.rank() == world.size() - 1) {
      each.clear();
      { const auto left = std::move(for_barrier), also = std::move(for_probe); }
    } else {
      std::deque<std::vector<double>> data;
      std::vector<weft::handle> waiting;
      for (std::size_t i = 0; i < each.size(); ++i)
        waiting.push_back(started_calls[i](each[i], data.emplace_back(5000, 1.0)));
      for (std::size_t i = 0; i < each.size(); ++i) {
        const bool waits = i + 1 < each.size() || world.rank() == 0;  // of a reduction the root alone
        if (waits) expect_missed(world, [&] { waiting[i].wait(); });
      }
      waiting.clear();
      expect_missed(world, [&] { for_barrier.barrier(); });
      expect_missed(world, [&] { for_probe.probe(world.size() - 1); });
    }
    world.barrier();
  });
}
