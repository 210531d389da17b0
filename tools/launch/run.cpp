// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/launch/hosts.hpp>
#include <weft/launch/job.hpp>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

std::string check_seconds(const std::string& text) {
  double seconds = 0;
  if (parse(text, seconds) && seconds > 0 && seconds <= 1e8) return "";
  return "\"" + text + "\" is not a number of seconds above 0";
}

std::string check_grace(const std::string& text) { return text == "0" ? "" : check_seconds(text); }

std::string check_export(const std::string& text) {
  return text.empty() || text.front() == '=' ? "\"" + text + "\" does not begin with a variable's name" : "";
}

struct command_line {
  job_settings settings;
  std::string on_failure;  ///< empty: not said
  double timeout = 0, grace = 10, stuck_after = 0;
  std::string hosts, hostfile, trace;
  int peer_timeout = 0;  ///< milliseconds; 0: as it is
  int ranks = 0;         ///< 0: not said
  int spares = 0;
  int ranks_per_node = 0;
  bool statistics = false;
  std::string rsh = "ssh -o BatchMode=yes";
};

/// Who runs where, of the hosts that the command line names; this machine alone where it names none.
void place(command_line& line) {
  job_settings& settings = line.settings;
  if (line.hosts.empty() && line.hostfile.empty()) {
    if (line.ranks == 0) throw CLI::RequiredError("--ranks");
    if (line.ranks_per_node > 0) throw CLI::RequiresError("--ranks-per-node", "--hosts or --hostfile");
    settings.ranks = line.ranks + line.spares;
    return;
  }
  try {
    const auto hosts = line.hosts.empty() ? read_hostfile(line.hostfile) : parse_hosts(line.hosts);
    settings.hosts =
        allot(hosts, {line.ranks == 0 ? 0 : line.ranks + line.spares, line.ranks_per_node, settings.ranks_per_process});
  } catch (const error& failure) {
    throw CLI::ValidationError(failure.what());
  }
  settings.ranks = 0;
  for (const host_share& host : settings.hosts) settings.ranks += host.ranks;
  settings.join_timeout = parse_weft_arguments({}).join_timeout;
  std::istringstream words(line.rsh);
  for (std::string word; words >> word;) settings.rsh.push_back(word);
  if (settings.rsh.empty()) throw CLI::ValidationError("--rsh", "it names no command");
}

/// What stands between two ":".
struct program_part {
  int ranks = 0;
  std::vector<std::string> words;
};

void add_ranks_option(CLI::App& app, int& ranks, const char* meaning) {
  app.add_option(ranks_option, ranks, meaning)->check(whole_number(1, most_ranks))->type_name("RANKS");
}

/// Such a part behind the first ":", whose only option is -n.
program_part read_part(std::vector<std::string> words) {
  program_part part;
  CLI::App app;
  app.set_help_flag();
  app.prefix_command();
  add_ranks_option(app, part.ranks, "");
  words = understood(app, std::move(words));
  std::ranges::reverse(words);  // as CLI11 wants them
  app.parse(std::move(words));
  part.words = app.remaining();
  return part;
}

/// The programs of the job, of which `words` are the first and all that follows it.
std::vector<program_part> split(int ranks_of_first, const std::vector<std::string>& words) {
  std::vector<program_part> parts;
  for (auto from = words.begin();; ++from) {
    const auto colon = std::find(from, words.end(), ":");
    parts.push_back(parts.empty() ? program_part{ranks_of_first, {from, colon}} : read_part({from, colon}));
    const std::vector<std::string>& program = parts.back().words;
    if (program.empty()) throw CLI::RequiredError(parts.size() == 1 ? "PROGRAM" : "PROGRAM behind \":\"");
    // A program whose name begins with a dash can be given with a path.
    if (program.front().starts_with('-')) throw CLI::ExtrasError({program.front()});
    if (colon == words.end()) return parts;
    from = colon;
  }
}

/// Takes the programs and how many ranks they have in all.
void take_programs(command_line& line, const std::vector<std::string>& words) {
  const std::vector<program_part> parts = split(line.ranks, words);
  job_settings& settings = line.settings;
  if (parts.size() > 1 && line.spares > 0)
    throw CLI::ValidationError("--spares", "a spare takes any rank's place, so all have to run the same program");
  line.ranks = 0;
  for (const program_part& part : parts) {
    if (parts.size() > 1 && part.ranks == 0)
      throw CLI::RequiredError("--ranks of " + part.words.front() + ", as of every program of several,");
    if (line.ranks % settings.ranks_per_process != 0)
      throw CLI::ValidationError("--ranks-per-process", std::to_string(settings.ranks_per_process) +
                                                            " ranks do not evenly share the " +
                                                            std::to_string(line.ranks) + " before " +
                                                            part.words.front() + ", and a process runs one program");
    settings.programs.push_back({line.ranks / settings.ranks_per_process, part.words});
    line.ranks += part.ranks;
    if (line.ranks > most_ranks)
      throw CLI::ValidationError("--ranks", "the programs have more than " + std::to_string(most_ranks) + " in all");
  }
}

int run(command_line& line, const std::vector<std::string>& words) {
  job_settings& settings = line.settings;
  take_programs(line, words);
  place(line);
  if (settings.cpus_per_rank > 0)  // before the others, which say it otherwise
    settings.exports.insert(settings.exports.begin(),
                            std::getenv("OMP_NUM_THREADS") != nullptr
                                ? "OMP_NUM_THREADS"
                                : "OMP_NUM_THREADS=" + std::to_string(settings.cpus_per_rank));
  const auto time_of = [](double seconds) {
    return std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
  };
  if (line.timeout > 0) settings.timeout = time_of(line.timeout);
  if (line.stuck_after > 0) settings.stuck_after = time_of(line.stuck_after);
  settings.grace = time_of(line.grace);
  settings.continue_on_failure = line.on_failure == "continue" || (line.spares > 0 && line.on_failure.empty());
  if (line.statistics) settings.exports.push_back("WEFT_STATISTICS=on");
  if (line.spares > 0) settings.exports.push_back("WEFT_SPARES=" + std::to_string(line.spares));
  if (line.peer_timeout > 0) settings.exports.push_back("WEFT_PEER_TIMEOUT=" + std::to_string(line.peer_timeout));
  if (!line.trace.empty())  // the ranks may run elsewhere
    settings.exports.push_back("WEFT_TRACE=" + std::filesystem::absolute(line.trace).string());
  return run_job_or_say_why("weft run", settings);
}

}  // namespace

void add_run(CLI::App& weft, int& status) {
  CLI::App* const app = weft.add_subcommand(
      "run",
      "Run a program on several ranks, on this machine or on hosts that are named:\n"
      "  weft run -n RANKS [OPTIONS] PROGRAM [ARGUMENTS...] [: -n RANKS PROGRAM [ARGUMENTS...]]...\n"
      "  weft run --hosts HOST:RANKS,... [OPTIONS] PROGRAM [ARGUMENTS...]");
  app->footer(
      "Everything after PROGRAM belongs to it, up to a \":\" behind which the next program of the job stands; its "
      "ranks\n"
      "follow. -np and -ppn are --np and --ppn. Rank 0 reads the standard input, the others read nothing.\n"
      "The exit status is that of the rank that failed first (128 and the signal's number where a signal\n"
      "killed it), 124 after a timeout, 126 or 127 for a program that cannot be executed or does not exist.\n"
      "The ranks get SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT as this command gets them. SIGTERM, SIGINT, SIGQUIT and\n"
      "SIGHUP end the job: the ranks get SIGTERM, and have --grace to end by themselves; a second one kills at once.");
  app->prefix_command();
  const auto line = std::make_shared<command_line>();
  job_settings& s = line->settings;
  add_ranks_option(*app, line->ranks, "How many ranks; on hosts, as many as they have room for");
  app->add_option("--spares", line->spares, "So many ranks more, which wait to take the ranks of lost ones")
      ->check(whole_number(0, most_ranks))
      ->envname("WEFT_SPARES")
      ->type_name("RANKS");
  app->add_option("--ranks-per-process", s.ranks_per_process, "Ranks that each process hosts, each on a fiber")
      ->check(whole_number(1, most_ranks))
      ->envname("WEFT_RANKS_PER_PROCESS")
      ->type_name("RANKS");
  app->add_option("--workers", s.workers, "Threads that run a process's ranks; as many as it is given cores")
      ->check(whole_number(1, most_ranks))
      ->envname("WEFT_WORKERS")
      ->type_name("THREADS");
  app->add_option("--cpus-per-rank", s.cpus_per_rank,
                  "Cores for each rank, where processes are bound, and OMP_NUM_THREADS where that is not set")
      ->check(whole_number(1, most_ranks))
      ->type_name("CORES");
  CLI::Option* const hosts =
      app->add_option("--hosts,--host", line->hosts,
                      "Run on these hosts, in this order; 1 rank each; n[1-4,7]:2 are five hosts of 2 ranks")
          ->type_name("HOST[:RANKS],...");
  app->add_option("--hostfile", line->hostfile, "Run on the hosts of a file, a line each: HOST [slots=RANKS]")
      ->excludes(hosts)
      ->type_name("FILE");
  app->add_option("--ranks-per-node,--ppn", line->ranks_per_node, "So many ranks on each host, whatever is said of it")
      ->check(whole_number(1, most_ranks))
      ->type_name("RANKS");
  app->add_option("--rsh", line->rsh, "What runs a command on a host, as `COMMAND HOST COMMAND`; ssh")
      ->type_name("COMMAND");
  add_job_options(*app, s);
  app->add_option("-x", s.exports, "Set an environment variable, or pass on one")
      ->allow_extra_args(false)
      ->check(check_export)
      ->type_name("VAR[=VALUE]");
  app->add_flag("--tag-output", s.tag_output, "Begin each line of output with its [rank]");
  app->add_option("--timeout", line->timeout, "End the job after so long")->check(check_seconds)->type_name("SECONDS");
  app->add_option("--grace", line->grace, "Time that a signal which ends the job leaves the ranks, before SIGKILL [10]")
      ->check(check_grace)
      ->type_name("SECONDS");
  app->add_option("--peer-timeout", line->peer_timeout,
                  "Silence after which a process is lost, unless it is stopped or in a debugger and another process of "
                  "its host says so [5000]")
      ->check(whole_number(10, 86'400'000))
      ->type_name("MILLISECONDS");
  app->add_option("--stuck-after", line->stuck_after, "Say who is stuck when nothing has moved for so long")
      ->check(check_seconds)
      ->type_name("SECONDS");
  app->add_option(
         "--trace", line->trace,
         "Write what every rank did, and when, to a file that Perfetto's viewer opens (`weft report` reads it)")
      ->type_name("FILE");
  app->add_flag("--statistics", line->statistics, "At the end, say how often and by which roads the ranks have called");
  app->add_flag("--oversubscribe", s.oversubscribe, "More ranks than cores are meant so: say nothing");
  choose(app->add_option("--on-failure", line->on_failure,
                         "What happens to the others when a rank fails; end, and with spares continue"),
         {"end", "continue"});
  app->callback([app, line, &status] { status = run(*line, app->remaining()); });
}

}  // namespace weft::tools
