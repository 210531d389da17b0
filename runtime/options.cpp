// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <initializer_list>
#include <weft/runtime/byte_size.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/options.hpp>

namespace weft {
namespace {

/// How one option is written and read; `set` returns what would have been right, or nothing when the value was.
struct entry {
  const char* name;
  const char* help;
  std::function<std::string(options&, std::string_view)> set;
  std::function<std::string(const options&)> get;
};

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size();
}

std::string join(std::initializer_list<const char*> words) {
  std::string all;
  for (const char* word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  return all;
}

entry text_option(const char* name, const char* help, std::string options::*member) {
  return {name, help, [member](options& o, std::string_view value) { return o.*member = value, std::string(); },
          [member](const options& o) { return o.*member; }};
}

entry file_option(const char* name, const char* help, std::string options::*member) {
  return {name, help,
          [member](options& o, std::string_view value) {
            if (value.find('\n') != std::string_view::npos) return std::string("a name without line breaks");
            return o.*member = value, std::string();
          },
          [member](const options& o) { return o.*member; }};
}

/// What the names of algorithms are is for those to say who have them.
entry algorithm_option(const char* name, std::string options::*member) {
  return text_option(name, "algorithm of this collective, or auto", member);
}

entry bytes_option(const char* name, const char* help, std::size_t options::*member, std::size_t least,
                   std::size_t most = std::size_t{1} << 40) {
  return {name, help,
          [member, least, most](options& o, std::string_view value) {
            const auto bytes = parse_byte_size(value);
            if (!bytes || *bytes < least || *bytes > most)
              return "bytes from " + std::to_string(least) + " to " + std::to_string(most) +
                     ", such as 4096, 64k or 1M";
            return o.*member = *bytes, std::string();
          },
          [member](const options& o) { return std::to_string(o.*member); }};
}

entry cost_option(const char* name, const char* help, double options::*member) {
  return {name, help,
          [member](options& o, std::string_view value) {
            double cost = 0;
            if (!parse_number(value, cost) || !(cost >= 0) || cost > 1e300) return std::string("a number from 0");
            return o.*member = cost, std::string();
          },
          [member](const options& o) {
            std::array<char, 32> text{};
            const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), o.*member);
            return std::string(text.data(), failure == std::errc{} ? end : text.data());
          }};
}

entry time_option(const char* name, const char* help, std::chrono::milliseconds options::*member) {
  return {name, help,
          [member](options& o, std::string_view value) {
            long long number = 0;
            if (!parse_number(value, number) || number < 1 || number > 86'400'000)
              return std::string("milliseconds from 1 to 86400000");
            return o.*member = std::chrono::milliseconds(number), std::string();
          },
          [member](const options& o) { return std::to_string((o.*member).count()); }};
}

entry progress_option() {
  return {"progress", "who moves operations on: caller or thread",
          [](options& o, std::string_view value) {
            if (value != "caller" && value != "thread") return join({"caller", "thread"});
            o.progress = value == "thread" ? progress_mode::thread : progress_mode::caller;
            return std::string();
          },
          [](const options& o) { return std::string(o.progress == progress_mode::thread ? "thread" : "caller"); }};
}

entry count_option(const char* name, const char* help, int options::*member, int least, int most = 1'000'000) {
  return {name, help,
          [member, least, most](options& o, std::string_view value) {
            int count = 0;
            if (!parse_number(value, count) || count < least || count > most)
              return "a number from " + std::to_string(least) + " to " + std::to_string(most);
            return o.*member = count, std::string();
          },
          [member](const options& o) { return std::to_string(o.*member); }};
}

entry switch_option(const char* name, const char* help, bool options::*member) {
  return {name, help,
          [member](options& o, std::string_view value) {
            const bool on = value == "on" || value == "1";
            if (!on && value != "off" && value != "0") return join({"on", "off"});
            return o.*member = on, std::string();
          },
          [member](const options& o) { return std::string(o.*member ? "on" : "off"); }};
}

const std::vector<entry>& table() {
  static const std::vector<entry> entries{
      text_option("provider", "libfabric provider; empty: the default of this machine", &options::provider),
      switch_option("unsafe-provider", "a provider that can do harm is taken where it is named, as `weft info` says",
                    &options::unsafe_provider),
      text_option("address", "the address that endpoints and control connections bind to; empty: the interface's",
                  &options::address),
      text_option("interface",
                  "which may be taken: eth0,ib0 or 10.7.0.0/16 or ^docker0; empty: what reaches the others",
                  &options::interface),
      count_option("endpoints", "links between hosts, by turns over the subnets that all share; 0: one on each",
                   &options::endpoints, 0, 16),
      text_option(
          "topology",
          "the network's switches, a file as Slurm's topology.conf, which process 0 reads; empty: as Slurm tells "
          "its tasks; none: unknown",
          &options::topology),
      progress_option(),
      switch_option("real-time", "a progress thread with a core of its own takes a real-time class (SCHED_FIFO)",
                    &options::real_time),
      count_option("ranks-per-process", "ranks that each process hosts, each on a fiber", &options::ranks_per_process,
                   1),
      count_option("spares", "ranks, the last of the job, that wait to take the ranks of lost ones", &options::spares,
                   0),
      count_option("workers", "threads that run a process's ranks; 0: as many as it was given cores", &options::workers,
                   0),
      switch_option("node",
                    "ranks of a process, and processes of a node, meet in memory; off: by messages, as others do",
                    &options::node),
      bytes_option("fiber-stack", "stack of a fiber", &options::fiber_stack, 64 << 10),
      bytes_option("eager-limit", "longest message that always goes without asking; of ranks on a node four times that",
                   &options::eager_limit, 64, 1 << 20),
      bytes_option("credit", "bytes that one peer may have unread in this process's buffers", &options::credit, 4 << 10,
                   1 << 30),
      bytes_option("unexpected-limit", "bytes of unmatched messages kept for one peer", &options::unexpected_limit, 0),
      bytes_option("send-buffer-limit", "bytes of short messages kept for peers that do not take them yet",
                   &options::send_buffer_limit, 0),
      bytes_option("plan-cache", "bytes of plans that a process keeps for each communicator", &options::plan_cache, 0),
      bytes_option("memory-limit",
                   "bytes that weft may take in a process, where calls that need more fail; 0: any number",
                   &options::memory_limit, 0),
      bytes_option("piece", "longest payload transfer", &options::piece, 4 << 10, 1 << 30),
      bytes_option("window", "payload bytes on the way from a peer while short messages pass; 0: by the provider",
                   &options::window, 0, 1 << 30),
      switch_option("prepost", "grant a collective's long messages when it starts, not as each is announced",
                    &options::prepost),
      switch_option("check", "before each collective compare what all ranks call, and refuse what differs",
                    &options::check),
      switch_option("force-registration", "register local memory even where the provider does not ask",
                    &options::force_registration),
      text_option("tune",
                  "what auto chooses by: start (measures), online (and tries what is near it, in calls that are often "
                  "made), off (lengths: results repeat), or a file of costs",
                  &options::tune),
      time_option("tune-budget", "milliseconds, about, that measuring at the job's start takes", &options::tune_budget),
      algorithm_option("barrier", &options::barrier),
      algorithm_option("bcast", &options::bcast),
      algorithm_option("reduce", &options::reduce),
      algorithm_option("allreduce", &options::allreduce),
      algorithm_option("reduce-scatter", &options::reduce_scatter),
      algorithm_option("allgather", &options::allgather),
      algorithm_option("gather", &options::gather),
      algorithm_option("scatter", &options::scatter),
      algorithm_option("alltoall", &options::alltoall),
      algorithm_option("scan", &options::scan),
      algorithm_option("exscan", &options::exscan),
      bytes_option("ring-threshold", "vectors of at least so many bytes take what sends the fewest bytes",
                   &options::ring_threshold, 0),
      bytes_option("ring-threshold-pair", "the same for all-reduces between two ranks", &options::ring_threshold_pair,
                   0),
      bytes_option("bruck-limit", "all-to-alls of blocks of up to so many bytes take Bruck's algorithm",
                   &options::bruck_limit, 0),
      count_option("degree", "degree of f-nomial trees, base of Bruck's algorithm", &options::degree, 2),
      count_option("splits", "how often a split reduction halves its vector", &options::splits, 0),
      count_option("group-ranks", "consecutive ranks in a group, for algorithms with groups; 0: those near each other",
                   &options::group_ranks, 0),
      count_option("connections", "ranks of a group that talk to other groups at a time", &options::connections, 1),
      bytes_option("segment", "bytes in which a chunk is pipelined", &options::segment, 64),
      count_option("max-transfers", "transfers at a time for which the greedy tree is made; 0: any number",
                   &options::max_transfers, 0),
      count_option("max-reducers", "ranks that combine in the greedy tree; 0: any number", &options::max_reducers, 0),
      cost_option("transfer-cost",
                  "time to transfer an operand, for the greedy tree; 0, as compute-cost: as measured, else as much",
                  &options::transfer_cost),
      cost_option("compute-cost", "time to combine an operand, for the greedy tree", &options::compute_cost),
      file_option("trace", "the file that gets what ranks and threads did, as Chrome's trace events; empty: none",
                  &options::trace),
      bytes_option("trace-buffer", "the latest records that each rank and thread keeps for the trace",
                   &options::trace_buffer, 4 << 10, std::size_t{1} << 34),
      switch_option("statistics",
                    "at the job's end, say what all processes have done, in numbers, on stderr of the first",
                    &options::statistics),
      time_option("join-timeout", "milliseconds that starting a job may take", &options::join_timeout),
      time_option("peer-timeout", "milliseconds of silence on a control connection that count as a loss",
                  &options::peer_timeout),
  };
  return entries;
}

std::string variable_name(std::string_view option) {
  std::string name = "WEFT_";
  for (const char c : option) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

/// Variables that the launcher sets for the processes of a job (launch.hpp), and those of the tests.
bool is_reserved(std::string_view variable) {
  static constexpr std::array<std::string_view, 14> names{
      "WEFT_JOB",           "WEFT_JOB_FILE", "WEFT_PROCESS",  "WEFT_PROCESSES",  "WEFT_STORE",
      "WEFT_SECRET",        "WEFT_RANKS",    "WEFT_SHARED",   "WEFT_GIVEN_CPUS", "WEFT_BOUND_CPUS",
      "WEFT_PROGRESS_CPUS", "WEFT_PLACE",    "WEFT_LAUNCHER", "WEFT_ROLL"};
  return std::find(names.begin(), names.end(), variable) != names.end() || variable.starts_with("WEFT_TEST_");
}

const entry* find_entry(std::string_view name) {
  const auto& entries = table();
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

void read_environment(options& o, const char* const* environment, std::vector<std::string>& warnings) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view line(*environment);
    if (!line.starts_with("WEFT_")) continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view variable = line.substr(0, equals);
    if (is_reserved(variable)) continue;
    const auto& entries = table();
    const auto known =
        std::find_if(entries.begin(), entries.end(), [&](const entry& e) { return variable_name(e.name) == variable; });
    if (known == entries.end())
      warnings.push_back("weft: warning: unknown variable " + std::string(variable) +
                         " (`weft info` lists those that exist)");
    else
      set_option(o, known->name, line.substr(equals + 1), variable);
  }
}

}  // namespace

std::vector<option_listing> list_options(const options& o) {
  std::vector<option_listing> list;
  for (const entry& e : table()) {
    const auto origin = o.origins.find(e.name);
    list.push_back({e.name, e.get(o), origin == o.origins.end() ? "default" : origin->second, e.help});
  }
  return list;
}

void set_option(options& o, std::string_view name, std::string_view value, std::string_view origin) {
  const entry* known = find_entry(name);
  if (known == nullptr)
    throw error(errc::invalid_argument,
                std::string(origin) + ": weft has no option \"" + std::string(name) + "\" (`weft info` lists them)");
  const std::string valid = known->set(o, value);
  if (!valid.empty())
    throw error(errc::invalid_argument,
                std::string(origin) + "=" + std::string(value) + ": not a valid value; valid: " + valid);
  o.origins[std::string(name)] = origin;
}

options parse_options(int& argc, char** argv, const char* const* environment, std::vector<std::string>& warnings) {
  static constexpr std::string_view prefix = "--weft-";
  options o;
  read_environment(o, environment, warnings);
  int kept = 0;
  bool ours = true;  // a lone -- ends our part of the command line
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (i > 0 && argument == "--") ours = false;
    if (i == 0 || !ours || !argument.starts_with(prefix)) {
      argv[kept++] = argv[i];
      continue;
    }
    const auto equals = argument.find('=');
    const std::string_view name =
        argument.substr(prefix.size(), equals == std::string_view::npos ? equals : equals - prefix.size());
    if (equals != std::string_view::npos) {
      set_option(o, name, argument.substr(equals + 1), argument.substr(0, equals));
    } else {
      if (i + 1 >= argc)
        throw error(errc::invalid_argument,
                    std::string(argument) + ": a value is missing, as in " + std::string(argument) + "=VALUE");
      set_option(o, name, argv[++i], argument);
    }
  }
  argc = kept;
  if (argv != nullptr) argv[argc] = nullptr;
  return o;
}

}  // namespace weft
