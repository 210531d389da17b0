// SPDX-License-Identifier: Apache-2.0
// Launchers that are not `weft run`: the rendezvous that they offer, and what to do where that fails.
#include <optional>
#include <string>
#include <type_traits>
#include <weft/runtime/error.hpp>

#include "met_job.hpp"
#include "pmi_client.hpp"

namespace weft {
namespace {

/// The command that starts as many processes; 0: it is not known how many.
std::string weft_run(int processes) {
  return "`weft run -n " + (processes > 0 ? std::to_string(processes) : "RANKS") + " PROGRAM`";
}

joined_job join_pmi(const pmi_environment& started, store::clock::time_point deadline) {
  return identify(connect_pmi_store(started, deadline), deadline);
}

launcher_greeting greet_pmi(const pmi_environment& started, store::clock::time_point deadline) {
  const auto manager = connect_pmi(started, deadline);
  const auto place = place_by(*manager, started, deadline);
  manager->finalize(deadline);
  return {started.process, started.processes, place,
          std::string(manager->version()) + " over PMI_FD=" + std::to_string(started.descriptor) +
              ", which answers: values of " + std::to_string(manager->longest_value()) + " characters"};
}

joined_job join_pmix(const pmix_environment& started, store::clock::time_point deadline) {
  return identify(connect_pmix_store(started, deadline), deadline);
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

/// What `by_pmi` or `by_pmix` returns of the launcher; nothing where there is none.
template <typename ByPmi, typename ByPmix>
auto of_launcher(ByPmi by_pmi, ByPmix by_pmix, store::clock::time_point deadline, const environment& variables)
    -> std::optional<std::invoke_result_t<ByPmi, const pmi_environment&, store::clock::time_point>> {
  if (const auto started = pmi_offered(variables)) return under_pmi(by_pmi, *started, deadline);
  const foreign_launcher other = find_foreign_launcher(variables);
  if (const auto started = pmix_offered(variables)) return under_pmix(by_pmix, *started, other, deadline);
  if (!other.name.empty()) throw_mute(other);
  return std::nullopt;
}

}  // namespace

std::optional<joined_job> join_met_job(store::clock::time_point deadline, const environment& variables) {
  return of_launcher(join_pmi, join_pmix, deadline, variables);
}

std::optional<launcher_greeting> greet_launcher(store::clock::time_point deadline, const environment& variables) {
  return of_launcher(greet_pmi, greet_pmix, deadline, variables);
}

}  // namespace weft
