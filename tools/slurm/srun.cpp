// SPDX-License-Identifier: Apache-2.0
// What the plugin does in srun: its options, and the rendezvous.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <vector>
#include <weft/runtime/challenge.hpp>
#include <weft/topology/host_list.hpp>

#include "job.hpp"
#include "rendezvous.hpp"
#include "spank.hpp"

namespace weft::tools {
namespace {

/// What the options of this srun say, and what it serves. Slurm calls a plugin by functions without a context of its
/// own.
struct in_srun {
  bool asked = false;
  bool detailed = false;  ///< other options of ours were given
  int ranks_per_process = 1;
  progress_choice progress;
  std::unique_ptr<slurm_rendezvous> rendezvous;
} here;

int take_weft(int, const char*, int remote) {
  if (remote == 0) here.asked = true;
  return 0;
}

int take_progress_core(int, const char* text, int remote) {
  if (remote != 0) return 0;
  here.detailed = true;
  return said([&] { here.progress = read_progress_choice(text); }) ? 0 : -1;
}

int take_ranks_per_process(int, const char* text, int remote) {
  if (remote != 0) return 0;
  here.detailed = true;
  return said([&] { here.ranks_per_process = read_ranks_per_process(text); }) ? 0 : -1;
}

spank_option option(const char* name, const char* argument, const char* usage, spank_opt_cb_f take) {
  return {const_cast<char*>(name), const_cast<char*>(argument), const_cast<char*>(usage), argument != nullptr, 0, take};
}

struct node {
  std::string name, address;
};

/// The nodes of this step's allocation, which may be more than those of the step.
std::vector<node> allocated_nodes() {
  const char* const list = std::getenv("SLURM_NODELIST");
  if (list == nullptr) throw error(errc::protocol, "srun does not say which nodes were allocated: SLURM_NODELIST");
  node_info_msg_t* loaded = nullptr;
  if (slurm_load_node(0, &loaded, SHOW_ALL) != SLURM_SUCCESS)
    throw error(errc::protocol, std::string("asking Slurm for its nodes' addresses: ") + slurm_strerror(errno));
  const std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> all(loaded, slurm_free_node_info_msg);
  const auto listed = topology::expand_host_list(list);
  const std::set<std::string, std::less<>> names(listed.begin(), listed.end());
  std::vector<node> nodes;
  for (const node_info_t& each : std::span(all->node_array, all->record_count))
    if (each.name != nullptr && names.contains(each.name)) nodes.push_back({each.name, each.node_addr});
  if (nodes.empty()) throw error(errc::protocol, std::string("Slurm knows none of the nodes ") + list);
  return nodes;
}

}  // namespace

int register_options(spank_t spank) {
  ::unsetenv(slurm_job_variable);  // that of a job around this one
  static std::array options{
      option("weft", nullptr, "start a job of weft, without PMI", take_weft),
      option("weft-progress-core", "auto|none|N", "core kept for progress threads (with --weft) [none]",
             take_progress_core),
      option("weft-ranks-per-process", "K", "ranks that each task hosts (with --weft) [1]", take_ranks_per_process)};
  for (spank_option& each : options)
    if (const spank_err_t failure = spank_option_register(spank, &each); failure != ESPANK_SUCCESS) return failure;
  return ESPANK_SUCCESS;
}

bool weft_asked() noexcept { return here.asked; }
bool weft_detailed() noexcept { return here.detailed; }

void serve_job(spank_t spank) {
  ::setenv(slurm_job_variable, no_slurm_job, 1);
  if (here.rendezvous != nullptr)
    throw error(errc::invalid_argument, "--weft starts one program a step: not the components of a heterogeneous one");
  slurm_job job;
  std::memcpy(&job.identity.number, draw_challenge().data(), sizeof job.identity.number);
  job.identity.processes = count(spank, S_JOB_TOTAL_TASK_COUNT, "how many tasks there are");
  job.identity.secret = make_secret();
  job.ranks_per_process = here.ranks_per_process;
  job.progress = here.progress;
  const std::vector<node> nodes = allocated_nodes();
  std::vector<std::string> hosts;
  for (const node& each : nodes) hosts.push_back(address_towards(each.address));
  here.rendezvous = std::make_unique<slurm_rendezvous>(job.identity, hosts);
  const auto& addresses = here.rendezvous->addresses();
  for (std::size_t n = 0; n < nodes.size(); ++n) job.addresses.push_back({nodes[n].name, addresses[n]});
  if (std::ranges::count(addresses, addresses.front()) == std::ssize(addresses))
    job.addresses = {{"", addresses.front()}};
  ::setenv(slurm_job_variable, to_string(job).c_str(), 1);
}

void end_serving() noexcept { here.rendezvous.reset(); }

}  // namespace weft::tools
