#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <sstream>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/launch/job.hpp>
#include <weft/runtime/error.hpp>

#include "hosts.hpp"

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
  double timeout = 0, grace = 10;
  std::string hosts, hostfile;
  int ranks = 0;  ///< 0: not said
  int spares = 0;
  int ranks_per_node = 0;
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

int run(command_line& line, const std::vector<std::string>& program) {
  job_settings& settings = line.settings;
  settings.program = program;
  if (settings.program.empty()) throw CLI::RequiredError("PROGRAM");
  // A program whose name begins with a dash can be given with a path.
  if (settings.program.front().starts_with('-')) throw CLI::ExtrasError({settings.program.front()});
  place(line);
  if (line.timeout > 0) settings.timeout = std::chrono::milliseconds(std::llround(std::ceil(line.timeout * 1000)));
  settings.grace = std::chrono::milliseconds(std::llround(std::ceil(line.grace * 1000)));
  settings.continue_on_failure = line.on_failure == "continue" || (line.spares > 0 && line.on_failure.empty());
  if (line.spares > 0) settings.exports.push_back("WEFT_SPARES=" + std::to_string(line.spares));
  return run_job_or_say_why("weft run", settings);
}

}  // namespace

void add_run(CLI::App& weft, int& status) {
  CLI::App* const app =
      weft.add_subcommand("run",
                          "Run a program on several ranks, on this machine or on hosts that are named:\n"
                          "  weft run -n RANKS [OPTIONS] PROGRAM [ARGUMENTS...]\n"
                          "  weft run --hosts HOST:RANKS,... [OPTIONS] PROGRAM [ARGUMENTS...]");
  app->footer(
      "Everything after PROGRAM belongs to it. Rank 0 reads the standard input, the others read nothing.\n"
      "The exit status is that of the rank that failed first (128 and the signal's number where a signal\n"
      "killed it), 124 after a timeout, 126 or 127 for a program that cannot be executed or does not exist.\n"
      "The ranks get SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT as this command gets them. SIGTERM, SIGINT, SIGQUIT and\n"
      "SIGHUP end the job: the ranks get SIGTERM, and have --grace to end by themselves; a second one kills at once.");
  app->prefix_command();
  const auto line = std::make_shared<command_line>();
  job_settings& s = line->settings;
  app->add_option("-n,--ranks", line->ranks, "How many ranks; on hosts, as many as they have room for")
      ->check(whole_number(1, 1'000'000))
      ->type_name("RANKS");
  app->add_option("--spares", line->spares, "So many ranks more, which wait to take the ranks of lost ones")
      ->check(whole_number(0, 1'000'000))
      ->envname("WEFT_SPARES")
      ->type_name("RANKS");
  app->add_option("--ranks-per-process", s.ranks_per_process, "Ranks that each process hosts, each on a fiber")
      ->check(whole_number(1, 1'000'000))
      ->envname("WEFT_RANKS_PER_PROCESS")
      ->type_name("RANKS");
  app->add_option("--workers", s.workers, "Threads that run a process's ranks; as many as it is given cores")
      ->check(whole_number(1, 1'000'000))
      ->envname("WEFT_WORKERS")
      ->type_name("THREADS");
  CLI::Option* const hosts = app->add_option("--hosts", line->hosts, "Run on these hosts, in this order; 1 rank each")
                                 ->type_name("HOST[:RANKS],...");
  app->add_option("--hostfile", line->hostfile, "Run on the hosts of a file, a line each: HOST [slots=RANKS]")
      ->excludes(hosts)
      ->type_name("FILE");
  app->add_option("--ranks-per-node", line->ranks_per_node, "So many ranks on each host, whatever is said of it")
      ->check(whole_number(1, 1'000'000))
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
  app->add_flag("--oversubscribe", s.oversubscribe, "More ranks than cores are meant so: say nothing");
  choose(app->add_option("--on-failure", line->on_failure,
                         "What happens to the others when a rank fails; end, and with spares continue"),
         {"end", "continue"});
  app->callback([app, line, &status] { status = run(*line, app->remaining()); });
}

std::vector<std::string> without_marker_before_program(const CLI::App& weft, std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "run") return arguments;
  const CLI::App* const run = weft.get_subcommand("run");
  for (std::size_t i = 1; i < arguments.size() && arguments[i].starts_with('-'); ++i) {
    if (arguments[i] == "--") {
      if (i + 1 < arguments.size() && arguments[i + 1].starts_with('-'))
        throw CLI::ValidationError("PROGRAM", "\"" + arguments[i + 1] +
                                                  "\" stands behind the --, where the program is named: options stand "
                                                  "before it, and a program of that name is given with its path");
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    const CLI::Option* const option = run->get_option_no_throw(arguments[i]);  // null: its value is in the same word
    if (option != nullptr && option->get_items_expected_min() > 0) ++i;
  }
  return arguments;
}

}  // namespace weft::tools
