// SPDX-License-Identifier: Apache-2.0
// steady SEED [own-cores]: once a call of some shape has been made, more of them allocate nothing, take no lock that
// another process could hold, and make no system call but process_vm_readv, which reads another process's memory. Ranks
// that share their cores also give them away and sleep; where each has `own-cores`, at least one batch of calls does
// neither: in others the machine may have been busy with something else.
//
// Of every collective, form and length a row of the table of calls; and messages.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

#include "collectives/call_table.hpp"
#include "trapped_system_calls.hpp"

namespace {

using namespace weft_test;

constexpr int first_calls = 20, batches = 40, calls_in_batch = 5, most_batches = 2000;

struct steady_calls {
  what_was_done all{};
  long calls = 0;
  long fewest_allocations = 0, fewest_waits = 0;  ///< of a batch
};

/// What this process does in many of `call`, after the first ones; in more where ranks have cores of their own, until
/// none has waited in one batch. Called by all ranks.
steady_calls count_calls(weft::communicator& world, const std::function<void()>& call, bool own_cores) {
  for (int i = 0; i < first_calls; ++i) call();
  steady_calls found;
  const auto is_enough = [&](int batch) {
    return batch >= batches &&
           (!own_cores || batch == most_batches || world.allreduce(found.fewest_waits, weft::max) == 0);
  };
  for (int batch = 0; !is_enough(batch); ++batch) {
    world.barrier();
    const what_was_done before = done_so_far();
    world.barrier();
    counting = true;
    for (int i = 0; i < calls_in_batch; ++i) call();
    world.barrier();
    counting = false;
    world.barrier();
    const what_was_done after = done_so_far();
    world.barrier();
    const long allocations = after.allocations - before.allocations, waits = after.waits - before.waits;
    found.all.allocations += allocations;
    found.all.shared_locks += after.shared_locks - before.shared_locks;
    found.all.others += after.others - before.others;
    found.calls += calls_in_batch;
    found.fewest_allocations = batch == 0 ? allocations : std::min(found.fewest_allocations, allocations);
    found.fewest_waits = batch == 0 ? waits : std::min(found.fewest_waits, waits);
  }
  return found;
}

/// True if they are as they should be; else says so. `allocations`: those of them that are not allowed.
bool is_steady(const weft::communicator& world, const std::string& what, const steady_calls& found, long allocations,
               bool own_cores) {
  const bool waits = own_cores && found.fewest_waits > 0;
  if (allocations <= 0 && found.all.shared_locks == 0 && found.all.others == 0 && !waits) return true;
  std::fprintf(stderr,
               "%s: in %ld calls the process of rank %d allocated or freed %ld times too often, locked what others may "
               "hold %ld times, made %ld system calls that are not allowed; in each batch at least %ld that wait\n",
               what.c_str(), found.calls, world.rank(), allocations, found.all.shared_locks, found.all.others,
               found.fewest_waits);
  return false;
}

/// Exceptions: how often a rank allocates and frees in a call of this case, at most.
long allocations_known(const collective_case& c) {
  long all = 0;
  // A started call keeps a copy of the caller's operator, whose type only the caller's code knows.
  if (c.started && c.by != combined_by::builtin && weft::schedules::combines(c.what)) all += 2;
  // In place the input is kept, since the call would else write what it has still to send.
  if (c.what == weft::schedules::collective::alltoall && c.in_place && !c.planned) all += 2;
  return all;
}

std::string text_of(const collective_case& c) {
  std::string text(weft::schedules::call_name(c.what));
  text += " of " + std::to_string(c.count);
  if (weft::schedules::combines(c.what) && c.by != combined_by::builtin) text += " by a caller's operator";
  if (c.in_place) text += ", in place";
  if (c.uneven) text += ", with counts";
  if (c.started || c.planned) text += c.started ? ", started" : ", planned";
  return text + ", row " + std::to_string(c.row);
}

bool all_rows_are_steady(weft::runtime& runtime, weft::communicator& world, std::uint64_t seed, bool own_cores) {
  bool all = true;
  for (const std::size_t number : rows_of_every_form(seed)) {
    const collective_case c = case_here(runtime, world, number, seed);
    const auto prepared = prepare(world, c);
    prepared->start();
    prepared->finish();
    const auto found = count_calls(
        world, [&] { prepared->repeat(); }, own_cores);
    prepared->start();
    prepared->finish();
    const long known = allocations_known(c) * world.size() * found.calls;
    all &= is_steady(world, text_of(c), found, found.all.allocations - known, own_cores);
  }
  return all;
}

bool messages_are_steady(weft::communicator& world, bool own_cores) {
  const int next = (world.rank() + 1) % world.size(), last = (world.rank() + world.size() - 1) % world.size();
  bool all = true;
  for (const std::size_t bytes : {0, 8, 500, 5'000, 50'000, 1'000'000}) {
    std::vector<char> in(bytes), out(bytes);
    const auto check = [&](const char* name, const std::function<void()>& call) {
      const auto found = count_calls(world, call, own_cores);
      // More messages than ever that are there before their receives take more memory, once.
      all &= is_steady(world, name + (" of " + std::to_string(bytes)) + " bytes", found, found.fewest_allocations,
                       own_cores);
    };
    check("sendrecv", [&] { world.sendrecv(in, next, 1, out, last, 1); });
    check("isend and recv", [&] {
      auto sent = world.isend(in, next, 2);
      world.recv(out, last, 2);
      sent.wait();
    });
    check("send and irecv", [&] {
      auto taken = world.irecv(out, last, 3);
      world.send(in, next, 3);
      taken.wait();
    });
    auto sending = world.plan_send(in, next, 4), taking = world.plan_recv(out, last, 4);
    check("planned send and recv", [&] {
      taking.start();
      sending.start();
      sending.wait();
      taking.wait();
    });
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  if (!trap_system_calls()) return std::puts("this kernel cannot show a process its system calls"), 77;
  weft::runtime runtime(argc, argv);
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const bool has_two_cpus = ::sysconf(_SC_NPROCESSORS_ONLN) > 1;  // more than that is not asked for
  const bool own_cores = has_two_cpus && argc > 2 && std::string_view(argv[2]) == "own-cores";
  std::atomic<bool> all{true};
  runtime.run([&](weft::communicator& world) {
    this_thread_runs_ranks();
    if (!all_rows_are_steady(runtime, world, seed, own_cores)) all = false;
    if (!messages_are_steady(world, own_cores)) all = false;
    world.barrier();
  });
  if (!all) write_what_was_done(stderr, own_cores);
  return all ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "steady: %s\n", e.what());
  return 3;
}
