#include <algorithm>
#include <cstring>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/runtime/node_identity.hpp>

#include "bytes.hpp"
#include "pmi_client.hpp"
#include "pmi_store.hpp"

namespace weft {
namespace {

constexpr std::string_view job_key = "weft/job";

joined_job join_weft_run(const job_environment& job, store::clock::time_point deadline) try {
  auto joined = connect_tcp_store(job.store_address, {job.job, job.processes, job.secret}, job.process, deadline);
  return {std::move(joined), job.job, job.secret, job.processes};
} catch (const error& failure) {
  if (failure.code() != errc::no_rendezvous) throw;
  throw error(errc::no_rendezvous, std::string("process ") + std::to_string(job.process) +
                                       " of a job started by `weft run`: " + failure.what() +
                                       "; start the program again with `weft run`, or unset WEFT_STORE to run alone");
}

/// Gives a job whose launcher has none a number and a secret: process 0 draws them.
joined_job identify(std::unique_ptr<store> met, store::clock::time_point deadline) {
  if (met->process() == 0) {
    std::uint64_t number;
    std::memcpy(&number, draw_challenge().data(), sizeof number);
    std::vector<std::byte> identity;
    append(identity, number);
    append(identity, as_bytes(make_secret()));
    met->put(job_key, identity);
  }
  const std::string here = node_identity();
  const auto machines = met->gather("weft/machine", as_bytes(here), deadline);
  const auto same = std::ranges::count_if(machines, [&](const auto& other) { return as_text(other) == here; });
  const auto identity = met->get(job_key, deadline);
  if (identity.size() < sizeof(std::uint64_t)) throw error(errc::protocol, "store: the job's number is cut short");
  std::span<const std::byte> rest = identity;
  const auto number = take<std::uint64_t>(rest);
  return {std::move(met), number, std::string(as_text(rest)), static_cast<int>(same)};
}

[[noreturn]] void throw_with_remedy(const error& failure, const pmi_environment& started) {
  throw error(failure.code(),
              "process " + std::to_string(started.process) + " of " + std::to_string(started.processes) +
                  " of a job started by a launcher with PMI: " + failure.what() + "; start the program with `mpiexec`" +
                  " of MPICH, `srun --mpi=pmi2` or `weft run -n " + std::to_string(started.processes) +
                  "`, or unset PMI_FD and PMI_SIZE to run alone");
}

joined_job join_pmi(const pmi_environment& started, store::clock::time_point deadline) try {
  return identify(connect_pmi_store(started, deadline), deadline);
} catch (const error& failure) {
  throw_with_remedy(failure, started);
}

}  // namespace

joined_job join_job(store::clock::time_point deadline, const environment& variables) {
  if (const auto job = launched(variables)) return join_weft_run(*job, deadline);
  if (const auto started = pmi_offered(variables)) return join_pmi(*started, deadline);
  if (const foreign_launcher other = find_foreign_launcher(variables); !other.name.empty())
    throw error(errc::no_rendezvous, "started by " + other.name +
                                         ", whose rendezvous this build cannot speak: start with `weft run -n " +
                                         (other.tasks > 0 ? std::to_string(other.tasks) : "RANKS") +
                                         " PROGRAM`, with `mpiexec` of MPICH, or with `srun --mpi=pmi2`");
  return {std::move(memory_stores(1).front()), 0, {}, 1};
}

std::string try_pmi(const pmi_environment& started, store::clock::time_point deadline) try {
  pmi_client manager(started.descriptor, deadline);
  manager.finalize(deadline);
  return "values of " + std::to_string(manager.longest_value()) + " characters";
} catch (const error& failure) {
  throw_with_remedy(failure, started);
}

}  // namespace weft
