// SPDX-License-Identifier: Apache-2.0
// whole_api PER_NODE [COUNT ...]: everything that the API has, among ranks that PER_NODE of share a node each, with
// vectors of so many elements; says how many ranks were on how many nodes. Started by any launcher.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/runtime/event.hpp>
#include <weft/weft.hpp>

#include "jobs.hpp"
#include "parts.hpp"

namespace weft_test {
namespace {

using namespace std::chrono_literals;

void require(bool right, const std::string& what) {
  if (!right) throw std::logic_error(what);
}

/// What rank `from` sends to its neighbours.
std::vector<int> numbers(int from, std::size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), from * 1000);
  return all;
}

void messages(weft::communicator& world) {
  const int n = world.size(), next = (world.rank() + 1) % n, before = (world.rank() + n - 1) % n;
  for (const std::size_t count : {0, 2, 3000, 200'000}) {
    const std::vector<int> mine = numbers(world.rank(), count);
    std::vector<int> got(count), late(count);
    std::vector<weft::handle> both;
    both.push_back(world.irecv(got, before, 7));
    both.push_back(world.isend(mine, next, 7));
    for (std::size_t i; (i = weft::wait_any(both)) != both.size();) both[i].wait();
    require(got == numbers(before, count), "a message between neighbours");
    auto sent = world.isend(mine, next, 8);
    const weft::status coming = world.probe(weft::any_source, 8);
    require(coming.source == before && coming.bytes == count * sizeof(int), "a message that was looked at");
    require(world.recv(late).source == before && late == got, "a message from anybody");
    sent.wait();
    require(world.sendrecv(mine, next, 9, late, before, 9).bytes == count * sizeof(int), "an exchange");
    world.barrier();
  }
  exchange_messages(world, 200, 500);
  exchange_messages(world, 20'000, 100);
}

void refused_messages(weft::communicator& world) {
  const std::vector<int> mine(100);
  std::vector<int> shorter(10, -1);
  auto sent = world.isend(mine, (world.rank() + 1) % world.size(), 3);
  try {
    world.recv(shorter, weft::any_source, 3);
    throw std::logic_error("a message longer than its buffer was taken");
  } catch (const weft::error& e) {
    if (e.code() != weft::errc::truncated) throw;
  }
  require(std::ranges::count(shorter, -1) == 10, "the buffer of a message that was too long");
  try {
    sent.wait();
  } catch (const weft::error& e) {  // a long one is refused at its sender as well
    if (e.code() != weft::errc::truncated) throw;
  }
  world.barrier();
}

/// How many nodes there are.
int divisions(weft::communicator& world, int per_node) {
  auto node = world.split_by_node();
  require(node.size() == std::min(per_node, world.size()), std::to_string(node.size()) + " ranks on a node");
  require(world.split_by_numa().size() <= node.size(), "a NUMA node larger than its node");
  check_collectives(node, 1000);
  auto leaders = world.split(node.rank() == 0 ? 0 : -1);
  const int nodes = (world.size() + per_node - 1) / per_node;
  if (leaders) require(leaders->size() == nodes, "as many leaders as nodes"), check_collectives(*leaders, 1000);
  auto half = world.split(world.rank() % 2, -world.rank());
  check_collectives(*half, 3000);
  const std::vector<int> chosen{world.size() - 1, 0};
  if (auto ends = world.subset(chosen)) check_collectives(*ends, 10);
  auto again = world.dup();
  check_collectives(again, 5);
  return nodes;
}

void arrays(weft::runtime& runtime, weft::communicator& world, std::size_t count) {
  weft::node_array<double> in = runtime.allocate<double>(count), out = runtime.allocate<double>(count);
  std::ranges::fill(in, world.rank() + 1.0);
  const double all = world.size() * (world.size() + 1) / 2.0;
  world.allreduce(in, out, weft::sum);
  require(std::ranges::count(out, all) == static_cast<std::ptrdiff_t>(count), "a sum of the node's arrays");
  world.bcast(in, world.size() - 1);
  require(std::ranges::count(in, world.size()) == static_cast<std::ptrdiff_t>(count), "a broadcast of an array");
}

void fibers(weft::runtime& runtime, weft::communicator& world) {
  weft::event told;
  int got = 0;
  runtime.spawn([&] {
    world.recv(std::span(&got, 1), (world.rank() + 1) % world.size(), 4);
    runtime.sleep(1ms);
    told.set();
  });
  runtime.yield();
  const int mine = world.rank();
  world.send(std::span(&mine, 1), (world.rank() + world.size() - 1) % world.size(), 4);
  runtime.wait(told);
  require(got == (world.rank() + 1) % world.size(), "what a fiber received");
}

void aborted(weft::communicator& world) {
  auto doomed = world.dup();
  std::vector<double> in(200'000, 1.0), out(200'000);
  if (doomed.rank() == doomed.size() - 1) {
    doomed.abort();
  } else {
    try {
      doomed.allreduce(in, out, weft::sum);
      throw std::logic_error("a call on a communicator that was aborted went on");
    } catch (const weft::error& e) {
      if (e.code() != weft::errc::revoked) throw;
    }
  }
  world.barrier();
}

}  // namespace

int whole_api(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  const int per_node = std::atoi(argv[2]);
  runtime.run([&](weft::communicator& world) {
    messages(world);
    refused_messages(world);
    const int nodes = divisions(world, per_node);
    for (int i = 3; i < argc; ++i) {
      const std::size_t count = std::strtoull(argv[i], nullptr, 10);
      check_collectives(world, count);
      check_plans(world, count, 6);
      arrays(runtime, world, count);
    }
    fibers(runtime, world);
    use_windows(world);
    aborted(world);
    if (world.rank() == 0) std::printf("%d ranks on %d nodes\n", world.size(), nodes);
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "whole_api: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
