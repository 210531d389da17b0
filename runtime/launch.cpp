// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>

namespace weft {
namespace {

std::uint64_t number(const environment& variables, const char* name, std::uint64_t least, std::uint64_t most,
                     const char* who = "`weft run`") {
  const std::string value = value_of(variables, name);
  std::uint64_t result = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (failure != std::errc{} || end != value.data() + value.size() || result < least || result > most)
    throw error(errc::invalid_argument, std::string(name) + "=\"" + value + "\": a whole number from " +
                                            std::to_string(least) + " to " + std::to_string(most) + " is needed; " +
                                            who + " sets it");
  return result;
}

node_place read_place(const std::string& value) {
  std::array<int, 4> numbers{};
  const char* from = value.data();
  const char* const end = from + value.size();
  bool valid = true;
  for (std::size_t i = 0; valid && i < numbers.size(); ++i) {
    valid = i == 0 || (from != end && *from++ == ',');
    const auto [next, failure] = std::from_chars(from, end, numbers[i]);
    valid = valid && failure == std::errc{} && numbers[i] >= 0;
    from = next;
  }
  const auto [process, processes, node, nodes] = numbers;
  if (!valid || from != end || process >= processes || node >= nodes)
    throw error(errc::invalid_argument, "WEFT_PLACE=\"" + value +
                                            "\": PROCESS,PROCESSES,NODE,NODES is needed, each of the first below the "
                                            "one behind it; the launcher sets it");
  return {process, processes, node, nodes};
}

}  // namespace

environment process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

std::string value_of(const environment& variables, const char* name) {
  const char* const value = variables(name);
  return value == nullptr ? "" : value;
}

std::optional<job_environment> launched(const environment& variables) {
  if (is_described(variables)) return std::nullopt;
  const std::array names{"WEFT_JOB", "WEFT_PROCESS", "WEFT_PROCESSES", "WEFT_STORE", "WEFT_SECRET"};
  const char* missing = nullptr;
  const char* present = nullptr;
  for (const char* name : names) (value_of(variables, name).empty() ? missing : present) = name;
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
  result.store_address = value_of(variables, "WEFT_STORE");
  result.secret = value_of(variables, "WEFT_SECRET");
  result.place = {result.process, result.processes, 0, 1};
  if (const std::string place = value_of(variables, "WEFT_PLACE"); !place.empty()) result.place = read_place(place);
  if (const std::string name = value_of(variables, "WEFT_LAUNCHER"); !name.empty()) result.launcher = name;
  return result;
}

std::optional<pmi_environment> pmi_offered(const environment& variables) {
  for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"})
    if (value_of(variables, name).empty()) return std::nullopt;
  constexpr int most = std::numeric_limits<int>::max();
  constexpr const char* who = "the launcher";
  pmi_environment result;
  result.processes = static_cast<int>(number(variables, "PMI_SIZE", 1, most, who));
  result.process =
      static_cast<int>(number(variables, "PMI_RANK", 0, static_cast<std::uint64_t>(result.processes) - 1, who));
  result.descriptor = static_cast<int>(number(variables, "PMI_FD", 0, most, who));
  result.job = value_of(variables, "PMI_JOBID");
  if (result.processes == 1) return std::nullopt;
  return result;
}

std::optional<pmix_environment> pmix_offered(const environment& variables) {
  const std::string job = value_of(variables, "PMIX_NAMESPACE"), rank = value_of(variables, "PMIX_RANK");
  if (job.empty() || rank.empty() || find_foreign_launcher(variables).name.empty()) return std::nullopt;
  return pmix_environment{job, rank};
}

std::string to_string(const node_place& place) {
  return std::to_string(place.process) + " of " + std::to_string(place.processes) + " on node " +
         std::to_string(place.node) + " of " + std::to_string(place.nodes);
}

bool in_job(const environment& variables) {
  return is_described(variables) || launched(variables) || !find_foreign_launcher(variables).name.empty();
}

}  // namespace weft
