// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>

#include "met_job.hpp"

namespace weft {
namespace {

joined_job join_weft_run(const job_environment& job, store::clock::time_point deadline) try {
  auto joined = connect_tcp_store(job.store_address, {job.job, job.processes, job.secret}, job.process, deadline);
  return {std::move(joined), job.job, job.secret, job.place, nullptr};
} catch (const error& failure) {
  if (failure.code() != errc::no_rendezvous) throw;
  throw error(errc::no_rendezvous, std::string("process ") + std::to_string(job.process) + " of a job started by `" +
                                       job.launcher + "`: " + failure.what() + "; start the program again with `" +
                                       job.launcher + "`, or unset WEFT_STORE to run alone");
}

/// "this is process 2 of 4, 0 of 2 on node 1 of 2"; `place` is what the launcher knows.
std::string position(int process, int processes, const std::optional<node_place>& place) {
  return "this is process " + std::to_string(process) + " of " + std::to_string(processes) +
         (place ? ", " + to_string(*place) : "");
}

}  // namespace

joined_job join_job(store::clock::time_point deadline, const environment& variables) {
  if (auto job = find_description(variables)) {
    job->process = await_process(*job, deadline);
    return join_described(*job, deadline);
  }
  if (const auto job = launched(variables)) return join_weft_run(*job, deadline);
  if (auto joined = join_met_job(deadline, variables)) return *std::move(joined);
  return {std::move(memory_stores(1).front()), 0, {}, {}, nullptr};
}

std::string try_rendezvous(store::clock::time_point deadline, const environment& variables) {
  if (const auto job = find_description(variables))
    return position(await_process(*job, store::clock::now()), static_cast<int>(job->hosts.size()), {}) +
           " without a launcher; rendezvous at " + job->hosts[0] + " port " + std::to_string(job->port) +
           ", which process 0 opens when it starts";
  if (const auto job = launched(variables)) {
    join_weft_run(*job, deadline);
    return position(job->process, job->processes, job->place) + "; rendezvous at " + job->store_address +
           ", which answers";
  }
  if (const auto said = greet_launcher(deadline, variables))
    return position(said->process, said->processes, said->place) + "; rendezvous by " + said->rendezvous;
  return "";
}

}  // namespace weft
