// SPDX-License-Identifier: Apache-2.0
// The command line and the environment: lines, of which those that begin with a capital letter are variables. Those
// that begin with a digit are values: sets of processors, and subnets.
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/runtime/options.hpp>
#include <weft/topology/cpu_set.hpp>

#include "fabric/ofi/subnet.hpp"
#include "input.hpp"

using namespace weft;

namespace {

struct lines {
  std::vector<std::string> arguments{"program"}, variables;

  explicit lines(std::string_view text) {
    while (!text.empty()) {
      std::string line(text.substr(0, std::min(text.find_first_of(std::string_view("\n\0", 2)), text.size())));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      const bool variable = !line.empty() && line[0] >= 'A' && line[0] <= 'Z';
      (variable ? variables : arguments).push_back(std::move(line));
    }
  }
  const char* find(std::string_view name) const {
    for (const std::string& each : variables)
      if (each.starts_with(name) && each.size() > name.size() && each[name.size()] == '=')
        return each.c_str() + name.size() + 1;
    return nullptr;
  }
};

void refused(const error& failure) { weft_fuzz::require(failure.code() == errc::invalid_argument); }

void read_options(lines& given) try {
  std::vector<char*> arguments;
  for (std::string& each : given.arguments) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  std::vector<const char*> variables;
  for (const std::string& each : given.variables) variables.push_back(each.c_str());
  variables.push_back(nullptr);
  int count = static_cast<int>(given.arguments.size());
  std::vector<std::string> warnings;
  const options read = parse_options(count, arguments.data(), variables.data(), warnings);
  options again;
  if (warnings.size() % 4 != 1) return;  // the rest takes longer than all before
  for (const option_listing& each : list_options(read)) set_option(again, each.name, each.value, "again");
} catch (const error& failure) {
  refused(failure);
}

void read_values(const lines& given) {
  for (const std::string& each : given.arguments) {
    if (each.empty() || each[0] < '0' || each[0] > '9') continue;
    fabric::parse_subnet(each);
    try {
      const auto cpus = topology::cpu_set::parse(each);
      weft_fuzz::require(topology::cpu_set::parse(to_string(cpus)) == cpus);
    } catch (const error& failure) {
      refused(failure);
    }
  }
}

template <class Read>
void read_launcher(Read read) try {
  read();
} catch (const error& failure) {
  refused(failure);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lines given({reinterpret_cast<const char*>(data), size});
  const environment variables = [&](const char* name) { return given.find(name); };
  read_launcher([&] { launched(variables); });
  read_launcher([&] { pmi_offered(variables); });
  read_launcher([&] { pmix_offered(variables); });
  read_launcher([&] { find_foreign_launcher(variables); });
  read_values(given);
  read_options(given);
  return 0;
}
