// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/launch/hosts.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/machine.hpp>
#include <weft/topology/noise.hpp>

#include "disks.hpp"
#include "finding.hpp"
#include "limits.hpp"
#include "machine_files.hpp"
#include "peers.hpp"
#include "trials.hpp"

namespace weft::tools {
namespace {

constexpr std::chrono::milliseconds noise_of_cpu{50};

struct command_line {
  int cpus = 0;  ///< 0: all that were given
  std::string hosts, rsh = "ssh -o BatchMode=yes";
  bool json = false;
};

bool locks_memory(const topology::machine& machine) {
  for (const topology::network_device& each : machine.network_devices)
    if (each.kind == topology::network_kind::infiniband || each.kind == topology::network_kind::verbs) return true;
  return false;
}

std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  return named == nullptr || *named == '\0' ? "/tmp" : named;
}

std::vector<finding> check_hosts(const command_line& line, const options& parsed,
                                 const std::vector<std::string>& weft_arguments) {
  peer_settings settings{{}, {}, parsed, weft_arguments};
  for (const named_host& each : parse_hosts(line.hosts)) settings.hosts.push_back(each.name);
  std::istringstream words(line.rsh);
  for (std::string word; words >> word;) settings.rsh.push_back(word);
  if (settings.rsh.empty()) throw CLI::ValidationError("--rsh", "it names no command");
  return check_peers(settings);
}

/// Everything, in the order in which it is told. What forks comes before what makes threads.
std::vector<finding> examine(const command_line& line, const std::vector<std::string>& weft_arguments) {
  const options parsed = parse_weft_arguments(weft_arguments);
  const path root = "/";
  const topology::machine machine = topology::discover();
  const auto given = topology::this_thread_binding();
  const int cpus = line.cpus > 0 ? line.cpus : static_cast<int>(given.size());
  const fabric::arena_trial tried = fabric::try_arena();
  const std::string reading = try_reading();
  std::vector<finding> all = check_limits(own_limits(), cpus, locks_memory(machine));
  all.push_back(check_node_memory(tried));
  all.push_back(check_shm(root));
  all.push_back(check_room("working folder", room_in(std::filesystem::current_path()), "results and core dumps"));
  all.push_back(check_room("temporary files", room_in(temporary_folder()), "temporary files"));
  all.push_back(check_reading(root, reading));
  all.push_back(check_seccomp(root, !reading.empty() || !tried.refusal.empty()));
  all.push_back(check_cpu_quota(root, cpus));
  all.push_back(check_memory_quota(root, cpus, tried.bytes_of_process));
  all.push_back(check_clock(root));
  all.push_back(check_governor(root));
  all.push_back(check_smt(root));
  std::vector<finding> of_hosts;
  if (!line.hosts.empty()) of_hosts = check_hosts(line, parsed, weft_arguments);
  all.push_back(check_interfaces(parsed, !line.hosts.empty()));
  all.push_back(check_provider(parsed));
  all.insert(all.end(), of_hosts.begin(), of_hosts.end());
  all.push_back(check_noise(topology::measure_noise(given, {noise_of_cpu})));
  return all;
}

}  // namespace

void add_doctor(CLI::App& weft, int& status) {
  CLI::App* const app =
      weft.add_subcommand("doctor", "Try what a job needs here, and say what to do where it is not so");
  app->footer(
      "A line for each: ok, warning or error; what was found; a remedy. With --hosts also whether each of them can be\n"
      "started on, and whether it and this host can connect to each other; the others are tried there by running this\n"
      "command there. --weft-NAME=VALUE sets an option, as of a program.\n"
      "The exit status is 0 where all is well, 3 after warnings, 4 after errors.");
  app->allow_extras();
  const auto line = std::make_shared<command_line>();
  app->add_option("--cpus", line->cpus, "How many cpus of this machine jobs are to use [all that are given]")
      ->check(whole_number(1, 1'000'000))
      ->type_name("CPUS");
  app->add_option("--hosts,--host", line->hosts, "Hosts that jobs are to run on, besides, as of `weft run`")
      ->type_name("HOST,...");
  app->add_option("--rsh", line->rsh, "What runs a command on a host, as `COMMAND HOST COMMAND`; ssh")
      ->type_name("COMMAND");
  app->add_flag("--json", line->json, "Print one JSON object");
  app->callback([app, line, &status] {
    const std::vector<finding> all = examine(*line, app->remaining());
    std::fputs((line->json ? to_json(all) : to_text(all)).c_str(), stdout);
    status = exit_status(worst_of(all));
  });
  CLI::App* const there = weft.add_subcommand("doctor-peer", "What `weft doctor` starts on other hosts");
  there->group("");  // not for users
  there->allow_extras();
  const auto addresses = std::make_shared<std::string>();
  there->add_option("ADDRESSES", *addresses)->required();
  there->callback([there, addresses] { be_peer(*addresses, parse_weft_arguments(there->remaining())); });
}

}  // namespace weft::tools
