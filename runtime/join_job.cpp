// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>

#include "met_job.hpp"
#include "pmi_client.hpp"

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

std::string weft_run(int processes) {
  return "`weft run -n " + (processes > 0 ? std::to_string(processes) : "RANKS") + " PROGRAM`";
}

/// "this is process 2 of 4, 0 of 2 on node 1 of 2"; `place` is what the launcher knows.
std::string position(int process, int processes, const std::optional<node_place>& place) {
  return "this is process " + std::to_string(process) + " of " + std::to_string(processes) +
         (place ? ", " + to_string(*place) : "");
}

joined_job join_pmi(const pmi_environment& started, store::clock::time_point deadline) {
  return identify(connect_pmi_store(started, deadline), deadline);
}

std::string try_pmi(const pmi_environment& started, store::clock::time_point deadline) {
  const auto manager = connect_pmi(started, deadline);
  const auto place = place_by(*manager, started, deadline);
  manager->finalize(deadline);
  return position(started.process, started.processes, place) + "; rendezvous by " + manager->version() +
         " over PMI_FD=" + std::to_string(started.descriptor) + ", which answers: values of " +
         std::to_string(manager->longest_value()) + " characters";
}

joined_job join_pmix(const pmix_environment& started, store::clock::time_point deadline) {
  return identify(connect_pmix_store(started, deadline), deadline);
}

std::string try_pmix(const pmix_environment& started, store::clock::time_point deadline) {
  const pmix_greeting said = greet_pmix(started, deadline);
  return position(said.process, said.processes, said.place) + "; rendezvous by PMIx, which answers: " + said.version;
}

/// Calls `join` for a launcher with PMI, with the remedy in what it throws.
template <typename Join>
auto under_pmi(Join join, const pmi_environment& started, store::clock::time_point deadline) try {
  return join(started, deadline);
} catch (const error& failure) {
  throw error(failure.code(), "process " + std::to_string(started.process) + " of " +
                                  std::to_string(started.processes) + " of a job started by a launcher with PMI: " +
                                  failure.what() + "; start it with `mpiexec` of MPICH, `srun --mpi=pmi2` or " +
                                  weft_run(started.processes) + ", or unset PMI_FD and PMI_SIZE to run alone");
}

/// The same for a launcher with PMIx.
template <typename Join>
auto under_pmix(Join join, const pmix_environment& started, const foreign_launcher& launcher,
                store::clock::time_point deadline) try {
  return join(started, deadline);
} catch (const error& failure) {
  throw error(failure.code(), "process " + started.rank + " of a job started by " + launcher.name +
                                  ", with PMIx: " + failure.what() + "; or start it with " + weft_run(launcher.tasks) +
                                  ", `mpiexec` of MPICH or `srun --mpi=pmi2`");
}

[[noreturn]] void throw_mute(const foreign_launcher& launcher) {
  throw error(errc::no_rendezvous, "started by " + launcher.name +
                                       ", which offers no rendezvous that weft speaks: neither PMIx (PMIX_NAMESPACE) "
                                       "nor PMI (PMI_FD); start it with " +
                                       weft_run(launcher.tasks) +
                                       ", `mpirun` of Open MPI, `mpiexec` of MPICH, or `srun --mpi=pmix` or "
                                       "`--mpi=pmi2`");
}

}  // namespace

joined_job join_job(store::clock::time_point deadline, const environment& variables) {
  if (auto job = find_description(variables)) {
    job->process = await_process(*job, deadline);
    return join_described(*job, deadline);
  }
  if (const auto job = launched(variables)) return join_weft_run(*job, deadline);
  if (const auto started = pmi_offered(variables)) return under_pmi(join_pmi, *started, deadline);
  const foreign_launcher other = find_foreign_launcher(variables);
  if (const auto started = pmix_offered(variables)) return under_pmix(join_pmix, *started, other, deadline);
  if (!other.name.empty()) throw_mute(other);
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
  if (const auto started = pmi_offered(variables)) return under_pmi(try_pmi, *started, deadline);
  const foreign_launcher other = find_foreign_launcher(variables);
  if (const auto started = pmix_offered(variables)) return under_pmix(try_pmix, *started, other, deadline);
  if (!other.name.empty()) throw_mute(other);
  return "";
}

}  // namespace weft
