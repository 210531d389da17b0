// SPDX-License-Identifier: Apache-2.0
// traced ROUNDS [late RANK | lose RANK | stay RANK]: calls of every form for traces of them. One rank comes late to the
// last, or is lost then, or goes on for long after it; the others leave in order.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>
#include <weft/weft.hpp>

namespace {

void every_form(weft::communicator& world) {
  const int next = (world.rank() + 1) % world.size(), before = (world.rank() + world.size() - 1) % world.size();
  for (const std::size_t count : {std::size_t{1}, std::size_t{20'000}}) {
    const std::vector<double> in(count, 1.0);
    std::vector<double> out(count);
    world.allreduce(in, out, weft::sum);
    world.iallreduce(in, out, weft::max).wait();
    weft::plan plan = world.plan_allreduce(in, out, weft::sum);
    plan.start();
    plan.wait();
    weft::handle coming = world.irecv(out, before, 3);
    world.send(in, next, 3);
    coming.wait();
    world.bcast(out, 0);
  }
}

void last(weft::communicator& world, std::string_view how, int rank) {
  world.barrier();
  if (how == "late" && world.rank() == rank) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (how == "lose" && world.rank() == rank) ::_exit(9);
  try {
    world.barrier();
  } catch (const weft::peer_lost&) {
    if (how != "lose") throw;
  }
  if (how == "stay" && world.rank() == rank) std::this_thread::sleep_for(std::chrono::seconds(3));
}

}  // namespace

int main(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  if (argc < 2) return 2;
  const std::string_view how = argc > 3 ? argv[2] : "";
  runtime.run([&](weft::communicator& world) {
    for (int i = std::atoi(argv[1]); i > 0; --i) every_form(world);
    last(world, how, argc > 3 ? std::atoi(argv[3]) : -1);
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "traced: %s\n", e.what());
  return 3;
}
