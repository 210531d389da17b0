// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <weft/algorithms/named_algorithm.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/launch/job.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/schedules/collective.hpp>

#include "kernels.hpp"
#include "progress.hpp"
#include "settings.hpp"
#include "worker.hpp"

namespace weft::tools {
namespace {

struct command_line {
  bench_settings settings;
  std::optional<std::size_t> from, to;  ///< nothing: not said
  std::string type = "float", op = "sum", buffers = "private";
  std::size_t factor = 2, budget = 0;
  std::string prepost, noise, late;
  job_settings job;
  std::vector<CLI::Option*> launching;  ///< what says how the job is started
};

/// What is wrong with a text that `parse` takes; empty: nothing.
template <auto parse>
std::string check_text(const std::string& text) {
  try {
    parse(text);
  } catch (const std::invalid_argument& failure) {
    return failure.what();
  }
  return "";
}

void take_late(const command_line& line, bench_settings& s) {
  if (line.late.empty()) return;
  s.late = parse_late(line.late);
  const auto kind = schedules::find_collective(s.collective);
  if (!kind || *kind == schedules::collective::barrier)
    throw CLI::ValidationError("--late", "for collectives of data alone, not " + s.collective);
  if (line.job.ranks_per_process > 1) throw CLI::ValidationError("--late", late_holds_up);
  if (!in_job() && s.late.rank >= line.job.ranks)
    throw CLI::ValidationError(
        "--late", "there is no rank " + std::to_string(s.late.rank) + " of " + std::to_string(line.job.ranks));
}

std::size_t default_budget(const std::string& what) {
  return what == "idle" || what == "consistency" ? 10'000 : what == "overlap" ? 1000 : 200;
}

/// The names of those that are wanted.
template <class Enum, class Predicate>
std::vector<std::string> names(std::span<const Enum> values, Predicate wanted) {
  std::vector<std::string> all;
  for (const Enum value : values)
    if (wanted(value)) all.emplace_back(kernels::name(value));
  return all;
}

void finish_settings(command_line& line) {
  bench_settings& s = line.settings;
  s.one_way = s.collective == "latency" && (line.from || line.to);
  s.from = line.from.value_or(s.collective == "overlap" ? 64 << 10 : 8);
  s.to = line.to.value_or(is_one_sided(s.collective) ? 64 << 10 : sends_windows(s.collective) ? 4 << 20 : 16 << 20);
  if (s.from > s.to)
    throw CLI::ValidationError("-b", std::to_string(s.from) + " is more than -e " + std::to_string(s.to));
  s.factor = line.factor;
  if (line.budget == 0) line.budget = default_budget(s.collective);
  s.budget = std::chrono::milliseconds(line.budget);
  s.type = kernels::find_type(line.type).value();
  s.op = kernels::find_operation(line.op).value();
  s.arena = line.buffers == "arena";
  if (!line.noise.empty() && s.collective != "consistency")
    throw CLI::ValidationError("--noise", "for consistency alone, not " + s.collective);
  if (!line.noise.empty()) s.noise = parse_noise(line.noise);
  take_late(line, s);
  const auto kind = schedules::find_collective(s.collective);
  if (kind && schedules::combines(*kind) && !kernels::has(s.op, s.type))
    throw CLI::ValidationError("--op", kernels::refusal(s.op, s.type));
  if (s.csv && !kind && !s.one_way && !sends_windows(s.collective) && s.collective != "agree")
    throw CLI::ValidationError("--csv",
                               "for collectives, agree and messages of given sizes: " + s.collective + " has --json");
  s.json |= s.csv;
  const auto valid = bench_algorithms(s.collective);
  try {
    s.algorithm = valid[name_meant(s.algorithm, valid, "algorithm of " + s.collective)];
  } catch (const std::invalid_argument& failure) {
    throw CLI::ValidationError("--algorithm", failure.what());
  }
  if (s.explain && !kind)
    throw CLI::ValidationError("--explain", "only a collective has algorithms, not " + s.collective);
  if (s.persistent && !kind)
    throw CLI::ValidationError("--persistent", "only a collective can be planned, not " + s.collective);
  if (s.started && !kind)
    throw CLI::ValidationError("--started", "only a collective can be started, not " + s.collective);
  if (s.arena && (!kind || *kind == schedules::collective::barrier))
    throw CLI::ValidationError("--buffers", s.collective + " has no buffers to put into the arena");
  if (s.explain && s.algorithm != "auto")
    throw CLI::ValidationError("--explain", "every algorithm is measured: not with --algorithm");
  if ((s.collective == "latency" || s.collective == "idle") && line.job.ranks < 2)
    throw CLI::ValidationError("--ranks", s.collective + " takes at least 2 ranks");
  if (sends_windows(s.collective) && !in_job())
    if (const std::string refusal = refuse_pairs(s, line.job.ranks); !refusal.empty())
      throw CLI::ValidationError("--ranks", refusal);
}

/// The options, those of weft itself apart, as a process of the job is to have them.
std::vector<std::string> worker_arguments(const command_line& line) {
  const bench_settings& s = line.settings;
  std::vector<std::string> arguments{"bench",       s.collective,
                                     "-f",          std::to_string(s.factor),
                                     "--budget",    std::to_string(line.budget),
                                     "--type",      line.type,
                                     "--op",        line.op,
                                     "--algorithm", s.algorithm,
                                     "--buffers",   line.buffers};
  if (s.collective != "latency" || s.one_way)
    arguments.insert(arguments.end(), {"-b", std::to_string(s.from), "-e", std::to_string(s.to)});
  if (sends_windows(s.collective))
    arguments.insert(arguments.end(), {"--window", std::to_string(s.window), "--pairs", std::to_string(s.pairs)});
  if (s.unmatched > 0) arguments.insert(arguments.end(), {"--unmatched", std::to_string(s.unmatched)});
  if (s.check) arguments.push_back("--check");
  if (s.persistent) arguments.push_back("--persistent");
  if (s.started) arguments.push_back("--started");
  if (s.json) arguments.push_back(s.csv ? "--csv" : "--json");
  if (s.explain) arguments.push_back("--explain");
  if (!line.noise.empty()) arguments.insert(arguments.end(), {"--noise", line.noise});
  if (!line.late.empty()) arguments.insert(arguments.end(), {"--late", line.late});
  return arguments;
}

/// Overlap and consistency, unless the command line says whose progress: the caller's, then a thread's. The ranks of
/// consistency are 8 in 2 processes, unless it says so.
int measure_both(const CLI::App& app, command_line& line, const std::vector<std::string>& weft_arguments) {
  if (line.settings.collective == "consistency" && app["--ranks"]->count() + app["--ranks-per-process"]->count() == 0) {
    line.job.ranks = 8;
    line.job.ranks_per_process = 4;
  }
  line.job.bind_to = topology::binding::none;  // the measurement lays out its cores itself
  line.job.oversubscribe = true;
  if (app["--progress"]->count() != 0) return run_own_job(line.job, worker_arguments(line), weft_arguments);
  int status = 0;
  for (const char* const progress : {"caller", "thread"}) {
    line.job.progress = progress;
    status = std::max(status, run_own_job(line.job, worker_arguments(line), weft_arguments));
  }
  return status;
}

/// `bench kernels`, which is no job and has sizes of its own.
int time_kernels(const CLI::App& app, const command_line& line) {
  const std::array taken{app["COLLECTIVE"], app["--from"], app["--to"], app["--json"]};
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0 && std::find(taken.begin(), taken.end(), option) == taken.end())
      throw CLI::ValidationError(option->get_name(), "kernels, timed in this process, take -b, -e and --json alone");
  std::vector<working_set> sizes = working_sets();
  std::string all;
  for (const working_set& each : sizes) all += (all.empty() ? "" : ", ") + std::to_string(each.bytes);
  std::erase_if(sizes, [&](const working_set& each) {
    return each.bytes < line.from.value_or(each.bytes) || each.bytes > line.to.value_or(each.bytes);
  });
  if (sizes.empty()) throw CLI::ValidationError("-b, -e", "none of the working sets of kernels is between: " + all);
  bench_kernels(sizes, line.settings.json);
  return 0;
}

/// The options of windows of messages, where there are none.
void refuse_windows(const CLI::App& app, const std::string& collective) {
  for (const char* const name : {"--window", "--pairs"})
    if (app[name]->count() > 0 && !sends_windows(collective))
      throw CLI::ValidationError(name,
                                 "for bandwidth, bidirectional, message-rate, put and get alone, not " + collective);
  if (app["--unmatched"]->count() > 0 && collective != "message-rate")
    throw CLI::ValidationError("--unmatched", "for message-rate alone, not " + collective);
}

int bench(const CLI::App& app, command_line& line, std::vector<std::string> weft_arguments) {
  if (!line.prepost.empty()) weft_arguments.push_back("--weft-prepost=" + line.prepost);
  // What is wrong with them is said, whatever is timed.
  line.settings.progress = parse_weft_arguments(weft_arguments).progress;
  if (line.settings.collective == "kernels") return time_kernels(app, line);
  refuse_windows(app, line.settings.collective);
  finish_settings(line);
  if (!in_job() && measures_progress(line.settings.collective)) return measure_both(app, line, weft_arguments);
  if (!in_job()) return run_own_job(line.job, worker_arguments(line), weft_arguments);
  refuse_in_job(line.launching);
  return run_bench_worker(line.settings, weft_arguments);
}

}  // namespace

void add_bench(CLI::App& weft, int& status) {
  CLI::App* const app = weft.add_subcommand("bench", "Time a collective, or messages");
  app->footer(
      "A sample is one call, timed on every rank after a barrier; its value is the slowest rank's time. As a\n"
      "command of its own it starts a job on this machine; `weft run -n RANKS weft bench ...` does the same.\n"
      "kernels: how fast two arrays are combined in this process, beside a loop written by hand and a copy of as many\n"
      "streams; 4 floats, 3 calls: four arrays at once, beside three calls with two (column of a loop); reproducible\n"
      "add: one array, beside a plain sum. -b and -e choose from working sets of half of L1 and L2, and of 2 GiB.\n"
      "latency: half the round trip of 16 bytes between the first and the last rank, alone and while 64 MiB go\n"
      "the same way; with -b or -e, of messages of each size, and how many bytes a second that is. bandwidth,\n"
      "bidirectional, message-rate: windows of messages, begun and then waited for, from each of the first ranks to\n"
      "one of the others, or both ways; times are of a window, MB/s and messages/s of all pairs. Messages of\n"
      "message-rate have a buffer each, the others' one for all. put, get: the same by one-sided calls and a flush\n"
      "for each window; the other rank waits in a barrier.\n"
      "idle: processor time and wake-ups of a job that has nothing to do, or whose ranks wait in a barrier, and how\n"
      "long the first message to a sleeping process takes. agree: agreements of all ranks, and shrink, beside a\n"
      "barrier.\n"
      "overlap: how much of an all-reduce passes while the program computes.\n"
      "consistency: how alike the times of 8-byte all-reduces are, with --noise while something else takes the ranks'\n"
      "cores. These two give ranks and progress threads cores of their own, which they print, and measure progress by\n"
      "the caller and by a thread. Sizes are for collectives, messages and overlap: a size is that of a rank's\n"
      "vector, or where each rank has a block in one (allgather, gather, scatter, alltoall, reduce-scatter), of a\n"
      "block.\n"
      "--weft-NAME=VALUE sets any option (`weft info` lists them).\n"
      "The exit status is 1 when a result was wrong.");
  app->allow_extras();
  const auto line = std::make_shared<command_line>();
  bench_settings& s = line->settings;
  app->add_option("COLLECTIVE", s.collective, "What to time")
      ->required()
      ->transform(name_among(bench_collectives(), "collective"))
      ->type_name(CLI::detail::join(bench_collectives(), "|"));
  app->add_option("-b,--from", line->from, "Bytes of the first size, such as 8, 64k or 1M [8; overlap 64k]")
      ->transform(size_in_bytes())
      ->type_name("BYTES");
  app->add_option("-e,--to", line->to, "Bytes that no size exceeds [16M; windows 4M, put and get 64K]")
      ->transform(size_in_bytes())
      ->type_name("BYTES");
  app->add_option("-f,--factor", line->factor, "From a size to the next [2]")
      ->check(whole_number(2, 1 << 20))
      ->type_name("FACTOR");
  app->add_option(
         "--budget", line->budget,
         "Time for the samples of a size, in ms [200; overlap 1000; idle, of each part, and consistency 10000]")
      ->check(whole_number(1, 3'600'000))
      ->type_name("MS");
  using kernels::operation, kernels::type;
  choose(app->add_option("--type", line->type, "Type of the elements [float]"),
         names(kernels::all_types(), [](type each) { return !kernels::is_reproducible(each); }));
  choose(app->add_option("--op", line->op, "What combines them [sum]"),
         names(kernels::all_operations(), [](operation) { return true; }));
  choose(app->add_option("--buffers", line->buffers,
                         "Buffers of each process's own, or in memory that the node's processes share [private]"),
         {"private", "arena"});
  app->add_option("--algorithm", s.algorithm, "One of the collective's algorithms [auto: by size]")->type_name("NAME");
  choose(app->add_option("--prepost", line->prepost,
                         "Whether long messages are granted when a collective starts, or each asks [on]"),
         {"on", "off"});
  app->add_option("--window", s.window, "Messages that are begun before they are waited for [64]")
      ->check(whole_number(1, 1 << 16))
      ->type_name("MESSAGES");
  app->add_option("--pairs", s.pairs, "Pairs of ranks between which windows go [1]")
      ->check(whole_number(1, 500'000))
      ->type_name("PAIRS");
  app->add_option("--unmatched", s.unmatched, "Receives before those of message-rate that no message matches [0]")
      ->check(whole_number(0, 1 << 20))
      ->type_name("RECEIVES");
  app->add_option("--noise", line->noise,
                  "Take the ranks' cores for DURATION each PERIOD, by SCHED_FIFO, such as 1000:200")
      ->check(check_text<parse_noise>)
      ->type_name("PERIOD_US:DURATION_US");
  app->add_option(
         "--late", line->late,
         "This rank sleeps before each call, such as 3:1000; a sample is the time from its call to the end, of "
         "a reduce or gather at the root; on one machine")
      ->check(check_text<parse_late>)
      ->type_name("RANK:US");
  app->add_flag("--check", s.check, "Change the inputs for every sample, and check its result");
  CLI::Option* const persistent =
      app->add_flag("--persistent", s.persistent, "Plan the collective once for each size; a sample starts that plan");
  app->add_flag("--started", s.started, "A sample starts the collective (iallreduce, ...) and waits for it")
      ->excludes(persistent);
  CLI::Option* const json = app->add_flag("--json", s.json, "Print one JSON object a line");
  app->add_flag("--csv", s.csv, "Print the values of those objects, with commas between, below their names")
      ->excludes(json);
  app->add_flag("--explain", s.explain,
                "Time every algorithm, beside what it is predicted to take, and mark the choice");
  line->launching = add_own_job_options(*app, line->job);
  app->callback([app, line, &status] { status = bench(*app, *line, app->remaining()); });
}

}  // namespace weft::tools
