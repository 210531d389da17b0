// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <weft/choice/selection_settings.hpp>
#include <weft/fabric/joined_links.hpp>
#include <weft/fabric/libfabric_transport.hpp>
#include <weft/fabric/loopback.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/fabric/process_record.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/fabric/token.hpp>
#include <weft/process/membership.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/placement.hpp>
#include <weft/topology/switches_above.hpp>

namespace weft::detail {
namespace {

/// What `weft run -n N` says: the ranks of the whole job. 0 when nobody said.
int ranks_of_job() {
  const char* const text = std::getenv("WEFT_RANKS");
  if (text == nullptr) return 0;
  int ranks = 0;
  const auto [end, failure] = std::from_chars(text, text + std::strlen(text), ranks);
  if (failure != std::errc{} || *end != '\0' || ranks < 1)
    throw error(errc::invalid_argument,
                "WEFT_RANKS=" + std::string(text) + ": not a number of ranks; `weft run -n N` sets it");
  return ranks;
}

/// The ranks that process `process` hosts: the last of a job may have fewer.
int local_ranks(int process, int processes, int each) {
  const int all = ranks_of_job();
  if (all == 0) return each;
  const int mine = std::min(each, all - process * each);
  if (mine < 1 || processes != (all + each - 1) / each)
    throw error(errc::invalid_argument,
                std::to_string(all) + " ranks, " + std::to_string(each) + " a process, do not make " +
                    std::to_string(processes) +
                    " processes: WEFT_RANKS and WEFT_RANKS_PER_PROCESS are set by `weft run`; do not change them");
  return mine;
}

/// What to bind the progress thread of process `process` to; where there is nothing, process 0 says why.
topology::cpu_set cpus_of(const topology::progress_core& chosen, int process) {
  if (chosen.cpus.empty() && process == 0) std::fprintf(stderr, "weft: warning: %s\n", chosen.reason.c_str());
  return chosen.cpus;
}

/// Where the progress thread of process `process` of a node goes: where the launcher says, or outside of the cores that
/// it bound the ranks to, if it was given such a core. Every process of the node finds the same distinct cores for all.
topology::cpu_set choose_progress_cpus(int process) {
  if (const char* const cpus = std::getenv("WEFT_PROGRESS_CPUS")) return topology::cpu_set::parse(cpus);
  const char* const given = std::getenv("WEFT_GIVEN_CPUS");
  const char* const bound = std::getenv("WEFT_BOUND_CPUS");
  topology::machine machine = topology::discover();
  if (!machine.this_system) return {};
  if (given == nullptr || bound == nullptr || *bound == '\0')
    return cpus_of(topology::choose_progress_core(machine, topology::this_thread_binding()), process);
  machine.given = topology::cpu_set::parse(given) & machine.allowed;
  std::vector<topology::cpu_set> all;
  for (std::string_view list(bound); !list.empty();) {
    const auto one = list.substr(0, list.find(';'));
    all.push_back(topology::cpu_set::parse(one));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
  }
  if (static_cast<std::size_t>(process) >= all.size()) return {};
  return cpus_of(topology::choose_progress_cores(machine, all)[static_cast<std::size_t>(process)], process);
}

/// The threads for the ranks of a process that shares this machine with `processes` of its job, and their cpus: cores
/// of their own where there are enough, and no other process may run on them.
void place_workers(membership& member, int processes) {
  const int wanted = member.settings.workers;
  if (member.ranks == 1 || wanted == 1) return;
  // Before threads are bound.
  member.described = std::make_shared<const topology::machine>(topology::discover_processors());
  const topology::machine& machine = *member.described;
  const char* const given = std::getenv("WEFT_GIVEN_CPUS");
  const topology::cpu_set all = given != nullptr ? topology::cpu_set::parse(given) & machine.allowed : machine.allowed;
  const bool alone = processes == 1 || !machine.given.includes(all);
  const auto cores = static_cast<int>(topology::cores_within(machine, machine.given).size());
  const int mine = alone ? cores : std::max(1, cores / processes);
  member.workers = std::min(member.ranks, wanted > 0 ? wanted : mine);
  if (machine.this_system && alone && member.workers > 1 && member.workers <= cores)
    member.worker_cpus = topology::place(machine, member.workers, topology::binding::core).cpus;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Those above this node, where Slurm tells its tasks; of more than a record takes nothing is known.
std::string switches_here() {
  const std::string switches = topology::switches_by_slurm(
      variable("SLURM_TOPOLOGY_ADDR"), variable("SLURM_TOPOLOGY_ADDR_PATTERN"), variable("SLURMD_NODENAME"));
  return switches.size() <= fabric::longest_record_text ? switches : std::string();
}

/// The provider that these options ask for.
fabric::provider_choice choose_provider(const options& settings) {
  return fabric::choose_provider(settings.provider, settings.address,
                                 fabric::unsafe_providers{settings.unsafe_provider});
}

/// An endpoint of the provider that these options ask for, with room for so many bytes beside each frame; process 0
/// warns of it.
std::unique_ptr<fabric::transport> open_endpoint(const options& settings, std::size_t beside, int process) {
  const auto chosen = choose_provider(settings);
  if (!chosen.warning.empty() && process == 0) std::fprintf(stderr, "weft: warning: %s\n", chosen.warning.c_str());
  fabric::libfabric_options how;
  // The provider's order limits only what goes beyond what was asked for.
  const std::size_t at_once = std::min(fabric::longest_at_once(settings.eager_limit, settings.credit),
                                       fabric::traits_of(chosen.provider).frame);
  how.frame = std::max(settings.eager_limit, at_once) + fabric::messenger::frame_overhead + beside;
  how.force_local_registration = settings.force_registration;
  return fabric::open_libfabric_transport(chosen, how);
}

/// That this process uses a link to another no more: whoever reads it may see to that.
void warn_of(const fabric::network_interface& link, int process, int peer) {
  std::fprintf(stderr, "weft: warning: process %d and process %d use %s no more, and go on by other interfaces\n",
               process, peer, to_string(link).c_str());
}

/// An endpoint for each link of the plan.
std::unique_ptr<fabric::transport> open_network(const options& settings, const network_plan& plan, int process) {
  const bool in_order = settings.provider.empty() || fabric::traits_of(settings.provider).in_order;
  if (plan.links.size() == 1 && in_order) return open_endpoint(settings, 0, process);
  std::vector<std::unique_ptr<fabric::transport>> links;
  options here = settings;
  for (const fabric::network_interface& each : plan.links) {
    here.address = each.address;
    links.push_back(open_endpoint(here, fabric::joined_overhead, links.empty() ? process : -1));
  }
  fabric::joined_links_settings how;
  how.process = process;
  how.keys = plan.incarnations;
  how.works = [links = plan.links](int link) {
    const std::string& name = links[static_cast<std::size_t>(link)].name;
    return name.empty() || fabric::is_running(name);
  };
  how.given_up = [links = plan.links, process](int peer, int link) {
    warn_of(links[static_cast<std::size_t>(link)], process, peer);
  };
  return fabric::join_links(std::move(links), std::move(how));
}

/// By what other nodes may reach this process, and what it binds to as long as it knows of none: loopback, unless an
/// interface was asked for.
void choose_interfaces(membership& member) {
  options& settings = member.settings;
  member.interfaces = fabric::usable_interfaces(settings.interface, settings.address);
  if (settings.address.empty())
    settings.address = settings.interface.empty() ? "127.0.0.1" : member.interfaces.front().address;
}

/// How the others are reached. A process that is alone has nobody to send to, unless it asks for a provider by name.
/// Otherwise an endpoint waits until it is needed: by which interface that is the processes have to tell each other,
/// and to load and open libfabric takes some tenths of a second, for nothing on one node. Whoever asked for a
/// provider hears at once where it is not to be had.
void choose_network(membership& member) {
  const int process = member.rendezvous->process();
  const options& settings = member.settings;
  const std::string& asked = settings.provider;
  if (member.rendezvous->processes() == 1) {
    member.network = asked.empty() ? fabric::loopback_network(1).endpoint(0) : open_endpoint(settings, 0, process);
    member.provider = member.network->limits().provider;
    return;
  }
  if (!asked.empty()) member.provider = choose_provider(settings).provider;
  member.open_network = [process](const options& agreed, const network_plan& plan) {
    return open_network(agreed, plan, process);
  };
}

/// The rest of a membership, of a job that is joined.
void complete(membership& member, joined_job joined) {
  member.rendezvous = std::move(joined.rendezvous);
  member.serves = std::move(joined.serves);
  member.job = joined.number;
  member.secret = std::move(joined.secret);
  if (member.settings.progress == progress_mode::thread && member.progress_cpus.empty())
    member.progress_cpus = choose_progress_cpus(joined.place.process);
  if (member.worker_cpus.empty()) place_workers(member, joined.place.processes);
  choose_network(member);
}

/// `settings`: those that others have set already hold.
membership join_described_job(options settings, launch_description job) {
  file_descriptor given(job.rendezvous);  // is closed by what is thrown before it is used
  membership member;
  member.settings = std::move(settings);
  for (const auto& [name, value] : job.options)
    if (!member.settings.origins.contains(name)) set_option(member.settings, name, value, "weft." + name);
  selection_of(member.settings);
  const auto deadline = std::chrono::steady_clock::now() + member.settings.join_timeout;
  job.process = await_process(job, deadline);
  const std::string& host = job.hosts[static_cast<std::size_t>(job.process)];
  const bool is_loopback = host.starts_with("127.") || host == "::1";  // of which an interface has but one
  if (member.settings.address.empty() && member.settings.interface.empty() && !is_loopback)
    member.settings.address = host;
  choose_interfaces(member);
  member.ranks = member.settings.ranks_per_process;
  for (const int cpu : job.cpus)
    if (std::ssize(member.worker_cpus) < member.ranks) member.worker_cpus.push_back(topology::cpu_set{cpu});
  if (!job.cpus.empty()) member.workers = static_cast<int>(member.worker_cpus.size());
  given.release();
  complete(member, join_described(job, deadline));
  return member;
}

}  // namespace

membership join_by_description(launch_description job) {
  fabric::token::prepare_process();  // joining may start threads
  return join_described_job({}, std::move(job));
}

membership join_by_environment(int& argc, char** argv) {
  fabric::token::prepare_process();  // as above
  std::vector<std::string> warnings;
  options settings = parse_options(argc, argv, environ, warnings);
  for (const std::string& warning : warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  if (auto job = find_description()) return join_described_job(std::move(settings), std::move(*job));

  membership member;
  member.settings = std::move(settings);
  selection_of(member.settings);  // refuses what nobody has before anybody is met
  choose_interfaces(member);
  joined_job joined = join_job(std::chrono::steady_clock::now() + member.settings.join_timeout);
  const store& rendezvous = *joined.rendezvous;
  member.ranks = local_ranks(rendezvous.process(), rendezvous.processes(), member.settings.ranks_per_process);
  member.switches = switches_here();
  member.roll_desk = value_of(process_environment(), "WEFT_ROLL");
  complete(member, std::move(joined));
  return member;
}

}  // namespace weft::detail
