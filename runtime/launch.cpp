#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>

namespace weft {
namespace {

std::string text(const environment& variables, const char* name) {
  const char* const value = variables(name);
  return value == nullptr ? "" : value;
}

std::uint64_t number(const environment& variables, const char* name, std::uint64_t least, std::uint64_t most) {
  const std::string value = text(variables, name);
  std::uint64_t result = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (failure != std::errc{} || end != value.data() + value.size() || result < least || result > most)
    throw error(errc::invalid_argument, std::string(name) + "=\"" + value + "\": a whole number from " +
                                            std::to_string(least) + " to " + std::to_string(most) +
                                            " is needed; `weft run` sets it");
  return result;
}

std::optional<int> count(const environment& variables, const char* name) {
  const std::string value = text(variables, name);
  int result = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (value.empty() || failure != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  return result;
}

std::string named(const char* launcher, const char* variable, const environment& variables) {
  return std::string(launcher) + " (" + variable + "=" + text(variables, variable) + ")";
}

/// How many tasks Slurm started beside this one. A batch script is one process, however many tasks were asked for.
const char* slurm_count(const environment& variables) {
  if (variables("SLURM_PROCID") == nullptr) return nullptr;
  if (variables("SLURM_STEP_NUM_TASKS") != nullptr) return "SLURM_STEP_NUM_TASKS";
  return text(variables, "ENVIRONMENT") == "BATCH" ? nullptr : "SLURM_NTASKS";
}

struct sign {
  const char* launcher;
  const char* variable;
};

constexpr std::array<sign, 4> sizes{{{"Open MPI", "OMPI_COMM_WORLD_SIZE"},
                                     {"PMI", "PMI_SIZE"},
                                     {"MVAPICH", "MV2_COMM_WORLD_SIZE"},
                                     {"PALS", "PALS_SIZE"}}};

// These say that a launcher is there, and not how many processes it started.
constexpr std::array<sign, 5> presences{{{"PMIx", "PMIX_NAMESPACE"},
                                         {"PMIx", "PMIX_RANK"},
                                         {"PALS", "PALS_RANKID"},
                                         {"PMI", "PMI_FD"},
                                         {"PMI", "PMI_PORT"}}};

struct foreign {
  std::string name;  ///< empty: none
  int tasks = 0;     ///< 0: it does not say
};

foreign find_foreign(const environment& variables) {
  bool counted = false;
  const auto several = [&](const char* variable) {
    const auto tasks = variable == nullptr ? std::nullopt : count(variables, variable);
    counted = counted || tasks.has_value();
    return tasks.value_or(1) > 1;
  };
  const auto found = [&](const char* launcher, const char* variable) {
    return foreign{named(launcher, variable, variables), count(variables, variable).value_or(0)};
  };
  for (const auto& [launcher, variable] : sizes)
    if (several(variable)) return found(launcher, variable);
  if (const char* const variable = slurm_count(variables); several(variable)) return found("Slurm", variable);
  if (counted) return {};
  for (const auto& [launcher, variable] : presences)
    if (variables(variable) != nullptr) return {named(launcher, variable, variables), 0};
  return {};
}

}  // namespace

environment process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

std::optional<job_environment> launched(const environment& variables) {
  const std::array names{"WEFT_JOB", "WEFT_PROCESS", "WEFT_PROCESSES", "WEFT_STORE", "WEFT_SECRET"};
  const char* missing = nullptr;
  const char* present = nullptr;
  for (const char* name : names) (text(variables, name).empty() ? missing : present) = name;
  if (present == nullptr) return std::nullopt;
  if (missing != nullptr)
    throw error(errc::invalid_argument, std::string(present) + " is set but " + missing +
                                            " is not: `weft run` sets both; start the program with it, or unset both");
  constexpr int most = std::numeric_limits<int>::max();
  job_environment result;
  result.processes = static_cast<int>(number(variables, "WEFT_PROCESSES", 1, most));
  result.process =
      static_cast<int>(number(variables, "WEFT_PROCESS", 0, static_cast<std::uint64_t>(result.processes) - 1));
  result.job = number(variables, "WEFT_JOB", 0, std::numeric_limits<std::uint64_t>::max());
  result.store_address = text(variables, "WEFT_STORE");
  result.secret = text(variables, "WEFT_SECRET");
  return result;
}

std::string foreign_launcher(const environment& variables) { return find_foreign(variables).name; }

std::unique_ptr<store> rendezvous(store::clock::time_point deadline, const environment& variables) {
  if (const auto job = launched(variables)) try {
      return connect_tcp_store(job->store_address, {job->job, job->processes, job->secret}, job->process, deadline);
    } catch (const error& failure) {
      if (failure.code() != errc::no_rendezvous) throw;
      throw error(errc::no_rendezvous,
                  std::string("process ") + std::to_string(job->process) + " of a job started by `weft run`: " +
                      failure.what() + "; start the program again with `weft run`, or unset WEFT_STORE to run alone");
    }
  const foreign other = find_foreign(variables);
  if (!other.name.empty())
    throw error(errc::no_rendezvous, "started by " + other.name +
                                         ", whose rendezvous this build cannot speak: start with `weft run -n " +
                                         (other.tasks > 0 ? std::to_string(other.tasks) : "RANKS") + " PROGRAM`");
  return std::move(memory_stores(1).front());
}

}  // namespace weft
