// SPDX-License-Identifier: Apache-2.0
// Communicators of a node, of a NUMA node, and of the ranks of a list.
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <weft/api/offer.hpp>
#include <weft/deadline.hpp>
#include <weft/topology/affinity.hpp>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

/// The ranks in the world of those in `among`, in their order.
std::vector<int> world_ranks(weft::communicator& world, weft::communicator& among) {
  const int mine = world.rank();
  std::vector<int> all(static_cast<std::size_t>(among.size()));
  among.allgather(std::span(&mine, 1), all);
  return all;
}

job on_nodes(const std::vector<std::string>& nodes, int ranks_per_process) {
  job what = small_job(static_cast<int>(nodes.size()), ranks_per_process);
  what.nodes = nodes;
  return what;
}

}  // namespace

TEST_CASE("the ranks of a node come together, in the order of their keys", "[communicators]") {
  const std::vector<std::string> nodes{"a", "b", "a", "c", "b"};
  const int each = GENERATE(1, 2);
  run_ranks(on_nodes(nodes, each), [&](weft::communicator& world) {
    const auto node_of = [&](int rank) { return nodes[static_cast<std::size_t>(rank / each)]; };
    std::vector<int> expected;
    for (int r = 0; r < world.size(); ++r)
      if (node_of(r) == node_of(world.rank())) expected.push_back(r);
    auto near = world.split_by_node();
    expect(world_ranks(world, near) == expected, "the ranks of node ", node_of(world.rank()));
    auto backwards = world.split_by_node(-world.rank());
    std::reverse(expected.begin(), expected.end());
    expect(world_ranks(world, backwards) == expected, "the same, backwards");
    auto leaders = world.split(near.rank() == 0 ? 0 : -1);
    expect(leaders.has_value() == (near.rank() == 0) && (!leaders || leaders->size() == 3), "a leader a node");
    // Of a communicator with other ranks than the world's.
    auto odd = world.split(world.rank() % 2);
    auto near_of_odd = odd->split_by_node();
    std::erase_if(expected, [&](int r) { return r % 2 != world.rank() % 2; });
    std::reverse(expected.begin(), expected.end());
    expect(world_ranks(world, near_of_odd) == expected, "those of a half");
  });
}

TEST_CASE("a machine is one node", "[communicators]") {
  run_ranks(small_job(3, 2), [](weft::communicator& world) {
    expect(world.split_by_node().size() == 6, "all ranks");
    expect(world.split_by_numa().size() == 6, "all ranks, whose threads run anywhere or all on the only NUMA node");
  });
}

TEST_CASE("ranks are by the NUMA node that their threads are confined to", "[communicators]") {
  const weft::topology::cpu_set all = weft::topology::this_thread_binding();
  if (!all.includes({0, 1})) return;  // there is nothing to confine them to
  job what = on_nodes({"a", "a", "a", "a", "b", "b", "a"}, 1);
  what.machine = std::make_shared<const weft::topology::machine>(weft::topology::load_synthetic("numa:2 core:1 pu:1"));
  const std::vector<weft::topology::cpu_set> bound{{0}, {1}, {0, 1}, {1}, {1}, {0}, {0, 1}};
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    weft::topology::bind_this_thread(bound[static_cast<std::size_t>(process)]);
    weft::communicator& world = runtime.world();
    auto near = world.split_by_numa();
    const std::vector<std::vector<int>> expected{{0}, {1, 3}, {2, 6}, {1, 3}, {4}, {5}, {2, 6}};
    expect(world_ranks(world, near) == expected[static_cast<std::size_t>(process)], "the ranks beside ", process);
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

TEST_CASE("a subset has the ranks of its list, in their order", "[communicators]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(5) : small_job(2, 3);
  run_ranks(what, [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run());  // the same lists on every rank
    for (int i = 0; i < 20; ++i) {
      std::vector<int> list(static_cast<std::size_t>(world.size()));
      std::iota(list.begin(), list.end(), 0);
      std::shuffle(list.begin(), list.end(), random);
      list.resize(random() % (list.size() + 1));
      auto some = world.subset(list);
      const bool listed = std::find(list.begin(), list.end(), world.rank()) != list.end();
      expect(some.has_value() == listed, "a communicator for those that are listed");
      if (some) expect(world_ranks(world, *some) == list, "the ranks of list ", i);
    }
  });
}

TEST_CASE("lists that are wrong or differ are refused by every rank", "[communicators]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3), [](weft::communicator& world) {
    const auto refused = [&](const std::string& part, const std::vector<int>& list) {
      const auto text = expect_error(weft::errc::invalid_rank, [&] { world.subset(list); });
      expect_text(text, "subset on rank " + std::to_string(world.rank()) + " of communicator 0: " + part);
    };
    refused("rank 3 is not a rank of the communicator: valid are 0 to 2", {0, 3});
    refused("rank -1 is not a rank of the communicator", {-1});
    refused("rank 1 is listed more than once", {1, 0, 1});
    const std::vector<int> one{0, 1}, other{1, 0};
    const auto text = expect_error(weft::errc::mismatched_call, [&] { world.subset(world.rank() == 1 ? one : other); });
    expect_text(text, "rank 1 gives others than rank 0 does");
    auto after = world.subset(one);
    expect(after.has_value() == (world.rank() < 2), "a subset after all that");
  });
}

TEST_CASE("the ranks of a list make a communicator without the others", "[communicators]") {
  const int kind = GENERATE(0, 1, 2, 3);
  job what = kind == 0 ? small_job(1, 4) : kind == 1 ? small_job(4) : small_job(2, 2);
  if (kind == 3) what.nodes = {"a", "b"};
  run_ranks(what, [](weft::communicator& world) {
    const auto use = [](weft::communicator& made, const std::vector<int>& list) {
      expect(std::ranges::equal(made.members(), list), "the ranks of the list, in its order");
      std::vector<int> one(3000, list[static_cast<std::size_t>(made.rank())]), all(3000);
      made.allreduce(one, all, weft::sum);
      expect(all[0] == std::accumulate(list.begin(), list.end(), 0) && all[2999] == all[0], "their sum");
    };
    for (int round = 0; round < 20; ++round) {  // more than there are boards
      const std::vector<int> some{2, 0, 3};
      if (world.rank() == 1) {  // is asked nothing
        int told = 0;
        world.recv(std::span(&told, 1), 2, 9);
      } else {
        auto made = world.create(some, 7);
        use(made, some);
        const int done = 1;
        if (world.rank() == 2) world.send(std::span(&done, 1), 1, 9);
      }
      const std::vector<int> pair = world.rank() < 2 ? std::vector<int>{1, 0} : std::vector<int>{2, 3};
      auto both = world.create(pair);  // two at a time, with the same tag
      use(both, pair);
      auto again = both.dup();
      use(again, pair);
      auto alone = world.create(std::vector<int>{world.rank()});
      expect(alone.size() == 1, "a list of one");
    }
    use(world, {0, 1, 2, 3});
  });
}

TEST_CASE("a list that is wrong or differs is refused by those that create by it", "[communicators]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(1, 3) : small_job(3), [](weft::communicator& world) {
    const auto refused = [&](const char* text, const std::vector<int>& list, int tag = 0) {
      expect_text(expect_error(weft::errc::invalid_argument, [&] { static_cast<void>(world.create(list, tag)); }),
                  text);
    };
    refused("this rank is not listed", {(world.rank() + 1) % 3});
    refused("this rank is not listed", {});
    refused("listed more than once", {world.rank(), world.rank()});
    refused("rank 3", {world.rank(), 3});
    refused("tag -1", {world.rank()}, -1);
    if (world.rank() < 2) {
      const std::vector<int> list = world.rank() == 0 ? std::vector<int>{0, 1} : std::vector<int>{0, 1, 2};
      expect_text(expect_error(weft::errc::mismatched_call, [&] { static_cast<void>(world.create(list)); }),
                  "the same one");
    }
    world.barrier();
    auto all = world.create(std::vector<int>{2, 1, 0});
    all.barrier();
  });
}

TEST_CASE("messages of programs do not disturb ranks that create a communicator", "[communicators]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(1, 2) : small_job(2), [](weft::communicator& world) {
    const std::vector<int> both{0, 1};
    std::vector<int> sent(1000, world.rank() + 5), received(1000);
    const int other = 1 - world.rank();
    auto first = world.irecv(received, other);
    world.send(sent, other);
    world.send(std::span(sent).first(1), other);  // waits for a receive while they create
    const std::int64_t high = std::int64_t{1} << 32;
    world.send(std::span(sent).first(1), other, high);
    auto made = world.create(both);
    made.barrier();
    first.wait();
    expect(received.back() == other + 5, "the first message");
    expect(world.recv(std::span(received).first(1), other).count<int>() == 1, "the second one");
    expect(world.recv(std::span(received).first(1), other).tag == high, "the third one");
  });
}

TEST_CASE("who creates with a rank that has left the communicator hears of it", "[communicators]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(1, 3) : small_job(3), [](weft::communicator& world) {
    const int gone = 2;
    auto parent = std::optional(world.dup());
    if (world.rank() == gone) {
      parent.reset();
    } else {
      bool refused = false;
      try {
        static_cast<void>(parent->create(std::vector<int>{0, 1, gone}));
      } catch (const weft::error&) {
        refused = true;
      }
      expect(refused, "nothing is made without the third rank");
    }
    world.barrier();
  });
}

namespace {

/// Ranks in one process, in many, in both, and on two nodes.
job some_ranks() {
  const int kind = GENERATE(0, 1, 2, 3);
  job what = kind == 0 ? small_job(1, 4) : kind == 1 ? small_job(4) : small_job(2, 2);
  if (kind == 3) what.nodes = {"a", "b"};
  return what;
}

/// A message to the next rank and a sum: of a communicator that nobody else uses now.
void use_all_of(weft::communicator& made) {
  std::vector<int> sent(1, made.rank()), got(1), one(2000, 1), all(2000);
  const int next = (made.rank() + 1) % made.size(), last = (made.rank() + made.size() - 1) % made.size();
  made.sendrecv(sent, next, 3, got, last, 3);
  expect(got[0] == last, "what the last rank sent");
  made.allreduce(one, all, weft::sum);
  expect(all[0] == made.size() && all[1999] == made.size(), "ranks, found ", all[0]);
}

}  // namespace

TEST_CASE("communicators that are started together are waited for in any order", "[communicators]") {
  job what = some_ranks();
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    for (int round = 0; round < 8; ++round) {
      std::optional<weft::communicator> parent = world.dup();
      std::vector<weft::pending_communicator> begun;
      begun.push_back(world.idup());
      begun.push_back(parent->isplit(world.rank() % 2, -world.rank()));
      begun.push_back(world.isplit(world.rank() == 1 ? -1 : 0));
      auto between = world.dup();
      begun.push_back(parent->idup());
      use_all_of(between);
      if (round % 2 == 0) parent.reset();
      std::vector<std::size_t> order{0, 1, 2, 3};
      std::shuffle(order.begin(), order.end(), random);
      std::vector<std::optional<weft::communicator>> made(4);
      for (const std::size_t i : order) {
        while (random() % 2 == 0 && !begun[i].test()) {
        }
        expect(begun[i].valid(), "it has not been waited for");
        made[i] = begun[i].wait();
        expect(!begun[i].valid() && !begun[i].done(), "it has been waited for");
        // A message to a rank that may not have it yet.
        if (made[i]) made[i]->send(std::span(&round, 1), (made[i]->rank() + 1) % made[i]->size(), 7);
      }
      expect(made[0] && made[1] && made[3] && made[2].has_value() == (world.rank() != 1), "those of a colour");
      expect(made[1]->size() == 2 && made[1]->rank() == 1 - world.rank() / 2, "half of the ranks, backwards");
      for (auto& each : made) {
        if (!each) continue;
        int got = -1;
        each->recv(std::span(&got, 1), weft::any_source, 7);
        expect(got == round, "what the rank before sent when it had it");
        use_all_of(*each);
      }
    }
  });
}

TEST_CASE("ranks start to divide different communicators in different orders", "[communicators]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    auto one = world.dup(), other = world.dup();
    for (int round = 0; round < 20; ++round) {
      const bool first = (world.rank() + round) % 2 == 0;
      weft::pending_communicator begun;
      if (first) begun = one.idup();
      auto blocking = other.dup();
      if (!first) begun = one.idup();
      use_all_of(blocking);
      auto started = begun.wait();
      use_all_of(*started);
    }
  });
}

TEST_CASE("a rank names more communicators than 32 bits count", "[communicators]") {
  using names = weft::detail::communicator_names;
  run_ranks(some_ranks(), [](weft::communicator& world) {
    auto before = world.dup();
    names::go_on_from(world, (std::uint64_t{1} << 32) - 10);
    std::vector<weft::communicator> kept;
    std::set<std::uint64_t> ids{names::id_of(world), names::id_of(before)};
    const auto keep = [&](weft::communicator made) {
      expect(ids.insert(names::id_of(made)).second, "an id that no other has, not ", names::id_of(made));
      use_all_of(made);
      kept.push_back(std::move(made));
    };
    for (int round = 0; round < 6; ++round) {
      auto begun = world.idup();
      auto half = world.split(world.rank() % 2, -world.rank());
      keep(std::move(*half));
      keep(std::move(*begun.wait()));
      auto brief = kept.back().dup();
      use_all_of(brief);
      keep(world.create(std::vector<int>{3, 1, 2, 0}));
      keep(world.shrink());
      expect(world.agree(round).flag == round && kept.back().agree(1).flag == 1, "an answer");
    }
    for (auto& each : kept) use_all_of(each);
    use_all_of(before);

    names::go_on_from(world, weft::fabric::largest_counter);
    keep(world.dup());
    for (int i = 0; i < 2; ++i) {
      const auto text = expect_error(weft::errc::operation_failed, [&] { world.dup(); });
      expect_text(text, "this rank has taken part in 274877906943 divisions");
      expect_error(weft::errc::operation_failed, [&] { static_cast<void>(world.idup()); });
    }
    use_all_of(world);
  });
}

TEST_CASE("who drops a communicator that is pending has left it", "[communicators]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    for (int round = 0; round < 20; ++round) {  // more than there are boards
      auto begun = world.idup();
      if (world.rank() == 2) {
        weft::pending_communicator other = world.isplit(0);
        begun = std::move(other);  // drops the first
        auto second = begun.wait();
        use_all_of(*second);
      } else {
        auto second = world.split(0);
        use_all_of(*second);
        auto made = begun.wait();
        expect(made->size() == world.size(), "the others have it");
        // Who waits for messages of it asks after a second.
        if (round == 0) expect_error(weft::errc::mismatched_call, [&] { made->barrier(); });
      }
    }
    use_all_of(world);
  });
}

TEST_CASE("a division that an exception drops ends the communicator that is divided", "[communicators]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    auto parent = world.dup();
    if (world.rank() == 0) {
      try {
        auto begun = parent.idup();
        throw std::runtime_error("something else");
      } catch (const std::runtime_error&) {
      }
    } else {
      std::vector<int> nothing(1);
      expect_error(weft::errc::revoked, [&] { parent.recv(nothing, 0); });
      expect_error(weft::errc::revoked, [&] { static_cast<void>(parent.idup().wait()); });
    }
    use_all_of(world);
  });
}

TEST_CASE("a wait for a pending communicator may be late, and fail", "[communicators]") {
  using namespace std::chrono_literals;
  run_ranks(some_ranks(), [](weft::communicator& world) {
    const int last = world.size() - 1;
    std::vector<int> note(1);
    if (world.rank() == last) {
      for (int rank = 0; rank < last; ++rank) world.recv(note, rank);
      auto made = world.idup().wait();
      use_all_of(*made);
    } else {
      auto begun = world.idup();
      {
        const weft::deadline limit(1ms);
        const auto text = expect_error(weft::errc::timed_out, [&] { begun.wait(); });
        expect_text(text, "idup on rank " + std::to_string(world.rank()));
      }
      expect(begun.valid() && !begun.done() && !begun.wait_for(1ms), "it is late");
      world.send(note, last);
      expect(begun.wait_for(1min) && begun.done() && begun.test(), "all have started it");
      auto made = begun.wait();
      use_all_of(*made);
    }
    weft::pending_communicator none;
    expect_error(weft::errc::invalid_argument, [&] { none.wait(); });
    expect_error(weft::errc::invalid_argument, [&] { none.test(); });

    auto doomed = world.dup();
    std::optional<weft::pending_communicator> begun;
    if (world.rank() == last)
      doomed.revoke();
    else
      begun = doomed.isplit(0);
    if (begun) {
      const auto text = expect_error(weft::errc::revoked, [&] { begun->wait(); });
      expect_text(text, "isplit on rank " + std::to_string(world.rank()));
      expect(!begun->valid(), "it has ended");
    }
    use_all_of(world);
  });
}

TEST_CASE("who sends to a rank that left long ago is told when that divides nothing any more", "[communicators]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(1, 2) : small_job(2), [](weft::communicator& world) {
    std::optional<weft::communicator> first = world.dup();
    if (world.rank() == 1) first.reset();
    for (int i = 0; i < 1100; ++i) auto each = world.dup();  // more than are known one by one
    int note = 0;
    auto begun = world.rank() == 1 ? world.idup() : weft::pending_communicator();
    world.sendrecv(std::span(&note, 1), 1 - world.rank(), 0, std::span(&note, 1), 1 - world.rank(), 0);
    if (world.rank() == 0) {
      const std::vector<int> all(5000, 1);
      auto to_nobody = first->issend(all, 1);
      begun = world.idup();
      auto made = begun.wait();
      to_nobody.wait();
      use_all_of(*made);
    } else {
      auto made = begun.wait();
      use_all_of(*made);
    }
    world.barrier();
  });
}
