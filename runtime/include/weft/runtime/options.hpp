// SPDX-License-Identifier: Apache-2.0
// Everything that can be set, in one struct: the command line (--weft-NAME=VALUE) over the environment (WEFT_NAME) over
// the defaults below.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Who moves operations on: the calls that wait, or a thread of weft's own.
enum class progress_mode { caller, thread };

struct options {
  std::string provider;          ///< libfabric provider; empty: the default of this machine
  bool unsafe_provider = false;  ///< one that can do harm is taken where `provider` names it
  std::string address;           ///< numeric: what endpoints and control connections bind to; empty: the interface's
  /// A file that describes the network's switches, as Slurm's topology.conf; empty: what Slurm tells its tasks of
  /// them, if it started them; `no_topology`: nothing is known of them.
  std::string topology;
  static constexpr const char* no_topology = "none";
  std::string interface;  ///< names, subnets and ^exclusions, by comma; empty: what reaches the other hosts
  int endpoints = 0;      ///< side by side, on the interfaces that all hosts share; 0: one on each
  progress_mode progress = progress_mode::caller;
  bool real_time = false;  ///< the progress thread takes a real-time class, where it has a core of its own
  int ranks_per_process = 1;
  int spares = 0;                       ///< the last so many ranks of the job: they wait to replace lost ones
  int workers = 0;                      ///< threads that run a process's fibers; 0: the cores that it was given
  bool node = true;                     ///< ranks of a process, and processes of a node, meet in memory
  std::size_t fiber_stack = 256 << 10;  ///< bytes

  std::size_t eager_limit =
      8 << 10;  ///< longest message that always goes without asking, bytes; of ranks on a node four times that
  std::size_t credit = 1 << 20;  ///< bytes that one peer may have unread in our buffers
  std::size_t unexpected_limit =
      4 << 20;  ///< bytes of unmatched messages kept for one peer before it sends envelopes only
  std::size_t send_buffer_limit = 64 << 20;  ///< bytes of short messages kept for peers that do not take them yet
  std::size_t plan_cache = 64 << 20;         ///< bytes of plans that a process keeps for each communicator
  /// Bytes that weft may take in a process (memory_budget.hpp), as ARCHITECTURE.md's Memory counts them; 0: any number.
  std::size_t memory_limit = 0;
  std::size_t piece = 512 << 10;  ///< longest payload transfer, bytes
  /// Payload bytes on the way from a peer while short messages pass between the same processes; 0: by the provider.
  std::size_t window = 0;
  bool prepost = true;              ///< grant a collective's long messages when it starts; else each asks, as others do
  bool check = false;               ///< compare what the ranks call before each collective, and refuse what differs
  bool force_registration = false;  ///< register local memory even where the provider does not ask (a test mode)

  /// What auto goes by: `start` by costs that are measured when the job starts, `online` by these, and by what the
  /// job's own calls then take that are made often, `off` by the lengths below alone, so that results repeat to the
  /// bit; else a file of measured costs (`weft tune`), which repeats them likewise.
  std::string tune = "start";
  bool tunes_at_start() const { return tune == "start" || tune == "online"; }
  std::chrono::milliseconds tune_budget{15};  ///< how long measuring at the job's start may take, about
  /// The algorithm of each collective, or auto: as `tune` says. Joining a job refuses other names.
  std::string barrier = "auto", bcast = "auto", reduce = "auto", allreduce = "auto", reduce_scatter = "auto",
              allgather = "auto", gather = "auto", scatter = "auto", alltoall = "auto", scan = "auto", exscan = "auto";
  std::size_t ring_threshold = 64 << 10;      ///< vectors of at least so many bytes take what sends the fewest bytes
  std::size_t ring_threshold_pair = 1 << 20;  ///< the same for all-reduces between two ranks
  std::size_t bruck_limit = 256;              ///< all-to-alls of blocks of up to so many bytes take Bruck's algorithm
  int degree = 2;                             ///< of f-nomial trees, base of Bruck's algorithm
  int splits = 1;                             ///< how often a split reduction halves its vector, if its ranks can be
  /// Consecutive ranks in a group, for algorithms with groups; 0: those of a node, on one node those of a process.
  int group_ranks = 0;
  int connections = 1;              ///< ranks of a group that talk to other groups at a time
  std::size_t segment = 512 << 10;  ///< bytes in which a chunk is pipelined
  int max_transfers = 0;            ///< at a time, for which the greedy tree is made; 0: any number
  int max_reducers = 0;             ///< ranks that combine in the greedy tree; 0: any number
  double transfer_cost = 0;         ///< d of the greedy tree, in any unit; both 0: as measured, else alike
  double compute_cost = 0;          ///< c of the greedy tree, in the same unit

  std::string trace;                   ///< the file that gets a trace of the job; empty: none
  std::size_t trace_buffer = 1 << 20;  ///< bytes of the latest records that each rank and thread keeps for it
  bool statistics = false;             ///< what all processes have done is told at the job's end, by the first of them

  std::chrono::milliseconds join_timeout{60'000};  ///< how long starting a job may take
  std::chrono::milliseconds peer_timeout{5'000};   ///< silence on a control connection that counts as a loss

  /// Where each option that is not at its default came from: "WEFT_PROVIDER", "--weft-provider".
  std::map<std::string, std::string, std::less<>> origins;
};

/// One option as `weft info` prints it.
struct option_listing {
  std::string name;  ///< as in --weft-NAME; WEFT_NAME in capitals with _ for -
  std::string value;
  std::string origin;  ///< "default", or what set it
  std::string help;
};

std::vector<option_listing> list_options(const options& o);

/// Sets one option by name. Throws errc::invalid_argument naming `origin`, the value and what is valid.
void set_option(options& o, std::string_view name, std::string_view value, std::string_view origin);

/// Reads `environment` ("NAME=VALUE" strings, ended by a null pointer), then takes the --weft-* arguments out of argc
/// and argv. `warnings` gets a line for each WEFT_* variable that nobody knows. Throws as `set_option` does, and for an
/// unknown
/// --weft-* argument.
options parse_options(int& argc, char** argv, const char* const* environment, std::vector<std::string>& warnings);

}  // namespace weft
