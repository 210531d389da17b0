#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <span>
#include <vector>
#include <weft/choice/steady_time.hpp>
#include <weft/process/process.hpp>
#include <weft/request.hpp>
#include <weft/team/node_measurement.hpp>
#include <weft/team/node_team.hpp>

namespace weft::detail {
namespace {

using schedules::link_costs, schedules::memory_pattern;

/// Of the time for measuring at the start: messages on the node and kernels take less than the rest.
constexpr double share_of_budget = 0.5;

constexpr std::size_t shortest = 32 << 10, longest = 2 << 20;
constexpr int lengths = 4;
constexpr int fewest_runs = 4, most_runs = 50;
constexpr double patience = 4;
constexpr double clearly_faster = 1.25;

constexpr node_limits always_reading{0, 0, 0, 0}, never_reading{};

class measurement {
 public:
  measurement(node_team& team, fabric::participant& member)
      : team_(team), member_(member), in_(longest / sizeof(float), 1.0f), out_(2 * longest / sizeof(float)) {}

  /// From which length on reading is the faster, in `seconds` or a little more.
  std::size_t limit_of(collective what, std::size_t assumed, double seconds) {
    std::vector<both_ways> all;
    const double end = seconds_now() + seconds;
    for (std::size_t bytes = shortest; bytes <= longest_of(what) && works_; bytes *= length_factor) {
      const double each = seconds / lengths / 2;
      const double slots = time(what, bytes, never_reading, each), reading = time(what, bytes, always_reading, each);
      all.push_back({bytes, most_of(slots), most_of(reading)});
      if (most_of(seconds_now() - end) > 0) break;
    }
    seen_[what] = all;
    return works_ ? limit_by(all, assumed) : assumed;
  }

  /// With which the formulas give what was seen to be taken. Once the limits of schedules::measured_by are known.
  schedules::board_costs costs(double seconds, double combine) {
    const auto of_calls = [&](collective what, std::size_t bytes, memory_pattern by) {
      return most_of(time(what, bytes, never_reading, seconds, by));
    };
    found_.round = of_calls(collective::allreduce, sizeof(float), memory_pattern::none);
    const std::size_t least = team_.size() * sizeof(float);
    known_ = {found_.round, 0, combine};
    known_.gap = 0;
    known_.call = from(collective::allreduce, memory_pattern::single_copy, least,
                       of_calls(collective::allreduce, least, memory_pattern::single_copy), &link_costs::call);
    found_.call = known_.call;
    for (const collective what : schedules::measured_by)
      take_costs(what, of_calls(what, schedules::board_lengths.front(), memory_pattern::none));
    return found_;
  }

 private:
  /// A cost of a pattern in which a process gives so many bytes.
  double from(collective what, memory_pattern by, std::size_t given, double seconds, double link_costs::*unknown) {
    schedules::algorithm_arguments of;
    of.ranks = static_cast<int>(team_.size());
    const std::size_t bytes = what == collective::allgather ? given * team_.size() : given;
    return cost_from(schedules::row_of(what, by), of, bytes, seconds, known_, unknown);
  }

  /// Of what a `what` was seen to take, and in slots of the shortest length.
  void take_costs(collective what, double of_shortest) {
    const auto by_slots = [&](std::size_t bytes, double seconds) {
      team_.take(never_reading);
      return from(what, pattern_of(what, bytes, team_.seen_by(what, false)), bytes, seconds, &link_costs::beta);
    };
    schedules::memory_costs& memory = found_[schedules::use_of(what)];
    memory.copy.fill(by_slots(schedules::board_lengths.front(), of_shortest));
    memory.read.fill(memory.copy.front());
    const std::vector<both_ways>& all = seen_[what];
    for (std::size_t i = 1; i < memory.copy.size(); ++i) {
      memory.copy[i] = memory.copy[i - 1];  // where there was no time for it
      memory.read[i] = memory.read[i - 1];
      for (const both_ways& each : all) {
        if (each.bytes != schedules::board_lengths[i]) continue;
        memory.copy[i] = by_slots(each.bytes, each.slots);
        memory.read[i] = from(what, memory_pattern::single_copy, each.bytes, each.reading, &link_costs::beta);
      }
    }
    if (!all.empty()) memory.read[0] = memory.read[1];
  }

  /// Of what there is place for.
  std::size_t longest_of(collective what) const {
    if (what == collective::allgather) return 2 * longest / team_.size();
    return what == collective::alltoall ? longest / 2 : longest;
  }

  /// Of a call, in so many seconds, about: by a pattern, or what the limits choose.
  double time(collective what, std::size_t bytes, const node_limits& by, double seconds,
              memory_pattern wanted = memory_pattern::none) {
    team_.take(by);
    const request one = call(what, kernels::operation::sum, kernels::type::float32, in_.data(), out_.data());
    const std::size_t given = bytes / sizeof(float);
    const std::size_t block = what == collective::alltoall ? given / (team_.size() - 1) : given;
    const std::size_t count = schedules::has_blocks(what) ? block * team_.size() : given;
    const request together =
        call(collective::barrier, kernels::operation::sum, kernels::type::float32, nullptr, nullptr);
    const auto run_one = [&] {
      run(together, 0, 0);
      const double begin = seconds_now();
      run(one, count, block, wanted);
      return seconds_now() - begin;
    };
    const auto of_all = [&](std::int64_t more) {
      return static_cast<std::int64_t>(most_of(static_cast<double>(more)));
    };
    return steady_time({1, fewest_runs, most_runs, seconds, patience}, run_one, of_all, seconds_now);
  }

  /// The greatest of all processes'.
  double most_of(double mine) {
    double all = mine;
    run(call(collective::allreduce, kernels::operation::max, kernels::type::float64, &mine, &all), 1, 0);
    return all;
  }

  static request call(collective what, kernels::operation op, kernels::type type, const void* in, void* out) {
    request one;
    one.what = what;
    one.op = op;
    one.type = type;
    one.element_bytes = kernels::size_of(type);
    one.in = in;
    one.out = out;
    return one;
  }

  void run(const request& of, std::size_t count, std::size_t block, memory_pattern wanted = memory_pattern::none) {
    if (!works_) return;
    leader_call one;
    one.what = of.what;
    one.of = &of;
    one.count = count;
    one.block = block;
    one.in = static_cast<const std::byte*>(of.in);
    one.out = static_cast<std::byte*>(of.out);
    works_ = team_.run(one, member_, wanted).failure == nullptr;
  }

  node_team& team_;
  fabric::participant& member_;
  std::vector<float> in_, out_;
  std::map<collective, std::vector<both_ways>> seen_;
  schedules::board_costs found_;
  link_costs known_;   // of the formulas: all but β
  bool works_ = true;  // the communicator has not failed
};

}  // namespace

std::size_t limit_by(std::span<const both_ways> all, std::size_t assumed) {
  if (all.empty() || (assumed != node_limits::never && length_factor * all.back().bytes < assumed)) return assumed;
  const auto of_assumed =
      static_cast<std::size_t>(std::ranges::count_if(all, [&](const both_ways& each) { return each.bytes < assumed; }));
  std::vector<double> gained(all.size() + 1);  // by reading from there on: logarithms
  for (std::size_t i = all.size(); i-- > 0;) gained[i] = gained[i + 1] + std::log(all[i].slots / all[i].reading);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(gained) - gained.begin());
  const std::size_t others = best > of_assumed ? best - of_assumed : of_assumed - best;
  const bool clearly = gained[best] - gained[of_assumed] > std::log(clearly_faster) * static_cast<double>(others);
  const std::size_t first = clearly ? best : of_assumed;
  return first < all.size() ? all[first].bytes : std::max(assumed, length_factor * all.back().bytes);
}

void measure_limits(process& host, node_team& team, fabric::participant& member) {
  const options& settings = host.settings();
  const tuning* const costs = host.measured();
  if (settings.tune != "start" && costs != nullptr && costs->machine.boards && !team.party().crowded()) {
    const std::size_t from = reads_from(*costs->machine.boards, team.size());
    const node_limits found{from, from, from, from, true};
    host.learn(team.size(), found, *costs->machine.boards);
    return team.take(found);
  }
  // Where processes share CPUs one call takes longer than all that may take.
  if (!team.reads_memory() || settings.tune != "start" || team.party().crowded()) return;
  const double seconds = std::chrono::duration<double>(settings.tune_budget).count() * share_of_budget;
  const double combine =
      costs != nullptr ? combine_seconds(*costs, kernels::operation::sum, kernels::type::float32) : 0;
  const node_limits assumed = host.node_limits_of(team.size());
  measurement on(team, member);
  node_limits found;
  found.allreduce = on.limit_of(collective::allreduce, assumed.allreduce, seconds / 4);
  found.broadcast = on.limit_of(collective::broadcast, assumed.broadcast, seconds / 4);
  found.allgather = on.limit_of(collective::allgather, assumed.allgather, seconds / 4);
  found.alltoall = on.limit_of(collective::alltoall, assumed.alltoall, seconds / 4);
  found.measured = true;
  host.learn(team.size(), found, on.costs(seconds / 40, combine));
  team.take(found);
}

}  // namespace weft::detail
