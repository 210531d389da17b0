// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>
#include <weft/choice/steady_time.hpp>
#include <weft/process/choosing.hpp>
#include <weft/process/process.hpp>
#include <weft/request.hpp>
#include <weft/team/node_measurement.hpp>
#include <weft/team/node_team.hpp>

namespace weft::detail {
namespace {

using schedules::board_lengths, schedules::link_costs;

/// Of the time for measuring at the start: messages on the node and kernels take less than the rest.
constexpr double share_of_budget = 0.4;
/// From this one on lengths are measured apart.
constexpr std::size_t beyond_caches = board_lengths.size() - 1;
constexpr double patience = 4;  // so many times as long may go by while too few times agree
constexpr int fewest_rounds = 4;
constexpr std::ptrdiff_t fewest_times = 3;

/// Calls of a length by a pattern, and how long each took here.
struct series {
  collective what;
  std::size_t given;
  memory_pattern by;
  std::vector<double> times;

  /// Calls of a round: shorter ones say less.
  std::size_t in_a_row() const { return std::clamp<std::size_t>((64 << 10) / given, 1, 16); }
  /// Whether what comes between drives it from the caches.
  bool fits_caches() const { return given <= link_costs::cached; }
  bool agree() const {
    const double longest = 2 * *std::ranges::min_element(times);
    return std::ranges::count_if(times, [&](double time) { return time <= longest; }) >= fewest_times;
  }
};

class measurement {
 public:
  measurement(node_team& team, fabric::participant& member, double combine)
      : team_(team),
        member_(member),
        combine_(combine),
        shape_(team.seen_with(combine, false).shape),
        in_(board_lengths[beyond_caches - 1] / sizeof(float), 1.0f),
        out_(std::min<std::size_t>(team.size(), 4) * in_.size()) {}

  /// With which the formulas give what is seen to be taken, in about so many seconds. None where the communicator has
  /// failed.
  std::optional<schedules::board_costs> costs(double seconds) {
    const std::size_t round = add(collective::allreduce, sizeof(float), memory_pattern::at_once);
    const std::size_t call = add(collective::allreduce, team_.size() * sizeof(float), memory_pattern::single_copy);
    std::size_t next = series_.size();
    for (const collective what : schedules::measured_by)
      for (std::size_t i = 0; i < beyond_caches; ++i)
        for (const memory_pattern by : {by_slots(what, board_lengths[i]), memory_pattern::single_copy})
          add(what, board_lengths[i], by);
    take_times(seconds);
    if (!works_) return std::nullopt;

    schedules::board_costs found;
    const auto costs_so_far = [&] {
      return path_of(found, collective::allreduce, memory_pattern::at_once, 0, combine_);
    };
    found.round = 1;
    found.round = seconds_of(series_[round]) /
                  row_of(collective::barrier, memory_pattern::at_once).cost(shape_, 0, costs_so_far());
    link_costs known = costs_so_far();
    found.call = known.call = from(series_[call], known, &link_costs::call);
    for (const collective what : schedules::measured_by)
      for (std::size_t i = 0; i < beyond_caches; ++i)
        for (auto* const costs : {&found[schedules::use_of(what)].copy, &found[schedules::use_of(what)].read})
          costs->at(i) = from(series_[next++], known, &link_costs::beta);
    const double slower = slower_beyond_caches();
    for (schedules::memory_costs& use : found.by_use)
      for (auto* const costs : {&use.copy, &use.read}) costs->back() = slower * costs->at(beyond_caches - 1);
    return works_ ? std::optional(found) : std::nullopt;
  }

 private:
  std::size_t add(collective what, std::size_t given, memory_pattern by) {
    series_.push_back({what, given, by, {}});
    return series_.size() - 1;
  }

  memory_pattern by_slots(collective what, std::size_t bytes) const {
    schedules::shared_node on = team_.seen_with(combine_, false);
    on.reads = false;
    return schedules::pattern_of(what, bytes, on);
  }

  /// As many bytes as there is room for what all give.
  std::size_t given_of(const series& of) const {
    const bool of_all = of.what == collective::allgather;
    return of_all ? std::min(of.given, out_.size() / team_.size() * sizeof(float)) : of.given;
  }

  /// All of them again and again: what slows the processes down for a while then slows no length alone.
  void take_times(double seconds) {
    for (series& each : series_)
      if (each.fits_caches()) time(each);
    for (series& each : series_) each.times.clear();
    const double start = seconds_now();
    const auto goes_on = [&] {
      const double spent = seconds_now() - start;
      return spent < seconds || (spent < patience * seconds && !std::ranges::all_of(series_, &series::agree));
    };
    for (int rounds = 0; works_ && (rounds < fewest_rounds || most_of(goes_on() ? 1 : 0) > 0); ++rounds)
      for (series& each : series_) time(each);
  }

  /// Of the longest vectors, where they leave the last cache: how many times as much each byte takes.
  double slower_beyond_caches() {
    constexpr std::size_t bytes = board_lengths.back();
    const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    const bool known_to_fit = cache > 0 && 2 * team_.size() * bytes <= static_cast<std::size_t>(cache);
    if (most_of(known_to_fit ? 0 : 1) == 0) return 1;
    for (auto* const each : {&in_, &out_}) each->resize(std::max(each->size(), bytes / sizeof(float)));
    series longest{collective::allreduce, bytes, by_slots(collective::allreduce, bytes), {}};
    series shorter{collective::allreduce, board_lengths[beyond_caches - 1], longest.by, {}};
    for (int i = 0; i < 2; ++i)  // a cache keeps what is used again, once it has seen that
      for (series* const each : {&longest, &longest, &shorter}) time(*each);
    const double more = static_cast<double>(longest.given) / static_cast<double>(shorter.given);
    return std::max(1.0, least_of(longest) / least_of(shorter) / more);
  }

  void time(series& one) {
    // Who is given a vector in place has nothing else to copy.
    const void* const in = one.what == collective::broadcast ? out_.data() : in_.data();
    const request call = request_of(one.what, kernels::operation::sum, kernels::type::float32, in, out_.data());
    const request together = request_of(collective::barrier, kernels::operation::sum, kernels::type::float32);
    const std::size_t given = given_of(one) / sizeof(float);
    const std::size_t count = schedules::has_blocks(one.what) ? given * team_.size() : given;
    if (one.fits_caches()) run(call, count, given, one.by);
    for (std::size_t i = 0; i < one.in_a_row(); ++i) {
      run(together, 0, 0, memory_pattern::none);
      const double begin = seconds_now();
      run(call, count, given, one.by);
      one.times.push_back(seconds_now() - begin);
    }
  }

  /// Of each call, what the slowest of all processes took.
  double seconds_of(const series& of) {
    std::vector<double> slowest = of.times;
    run(request_of(collective::allreduce, kernels::operation::max, kernels::type::float64, of.times.data(),
                   slowest.data()),
        slowest.size(), 0, memory_pattern::none);
    return steady_time(std::move(slowest));
  }
  double least_of(const series& of) { return most_of(*std::ranges::min_element(of.times)); }

  /// The cost of its pattern that gives what those calls took.
  double from(const series& of, const link_costs& known, double link_costs::*unknown) {
    const std::size_t bytes = given_of(of) * (schedules::has_blocks(of.what) ? team_.size() : 1);
    return cost_from(schedules::row_of(of.what, of.by), shape_, bytes, seconds_of(of), known, unknown);
  }

  /// The greatest of all processes'.
  double most_of(double mine) {
    double all = mine;
    run(request_of(collective::allreduce, kernels::operation::max, kernels::type::float64, &mine, &all), 1, 0,
        memory_pattern::none);
    return all;
  }

  static request request_of(collective what, kernels::operation op, kernels::type type, const void* in = nullptr,
                            void* out = nullptr) {
    request one;
    one.what = what;
    one.op = op;
    one.type = type;
    one.element_bytes = kernels::size_of(type);
    one.in = in;
    one.out = out;
    return one;
  }

  void run(const request& of, std::size_t count, std::size_t block, memory_pattern by) {
    if (!works_) return;
    leader_call one;
    one.what = of.what;
    one.of = &of;
    one.count = count;
    one.block = block;
    one.in = static_cast<const std::byte*>(of.in);
    one.out = static_cast<std::byte*>(of.out);
    works_ = team_.run(one, member_, by).failure == nullptr;
  }

  node_team& team_;
  fabric::participant& member_;
  const double combine_;
  const schedules::algorithm_arguments shape_;
  std::vector<float> in_, out_;
  std::vector<series> series_;
  bool works_ = true;  // the communicator has not failed
};

}  // namespace

void measure_boards(process& host, node_team& team, fabric::participant& member) {
  const options& settings = host.settings();
  const tuning* const costs = host.measured();
  // Where processes share CPUs one call takes longer than all that may take.
  if (!settings.tunes_at_start() || costs == nullptr || team.party().crowded()) return;
  const double seconds = std::chrono::duration<double>(settings.tune_budget).count() * share_of_budget;
  const double combine = combine_seconds(*costs, kernels::operation::sum, kernels::type::float32);
  const auto found = measurement(team, member, combine).costs(seconds);
  if (!found) return;  // the next call says why
  host.agree_on(found);
  team.take(*found);
}

}  // namespace weft::detail
