// SPDX-License-Identifier: Apache-2.0
#include "road_probe.hpp"

#include <algorithm>
#include <cstring>
#include <weft/choice/steady_time.hpp>
#include <weft/schedules/partition.hpp>
#include <weft/schedules/schedule_sink.hpp>

namespace weft::detail {
namespace {

constexpr std::size_t short_message = sizeof(std::int64_t);
constexpr int most_messages = 16;

std::shared_ptr<const bound_schedule> plan_of(schedules::probe_pattern how, int messages, int rank, std::size_t bytes) {
  const auto steps = schedules::built_by([&](schedules::sink& to) { probe(how, messages, rank, to); });
  const auto counts =
      schedules::partition::of_chunks(std::vector<std::size_t>(static_cast<std::size_t>(messages), bytes));
  return std::make_shared<bound_schedule>(steps, counts, 1, nullptr);
}

/// y = intercept + slope x, by least squares of what x and y deviate by in proportion to y: times vary by factors.
struct line {
  double intercept = 0;
  double slope = 0;
};
line fitted(const std::vector<std::pair<double, double>>& points) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [x, y] : points) {
    const double weight = 1 / std::max(y * y, 1e-18);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const double spread = w * wxx - wx * wx;
  const double slope = spread > 0 ? std::max(0.0, (w * wxy - wx * wy) / spread) : 0;
  return {(wy - slope * wx) / w, slope};
}

}  // namespace

/// One rank's execution of a pattern.
struct road_probe::side {
  std::unique_ptr<in_order_execution> in_order;  ///< for short messages where the other side is elsewhere
  std::unique_ptr<dataflow_execution> dataflow;  ///< for the others
};

road_probe::road_probe(fabric::messenger& messages, progress& by, std::shared_ptr<const fabric::group> pair,
                       std::vector<int> here, std::size_t eager)
    : messages_(messages), by_(by), here_(std::move(here)), eager_(eager), input_(short_message) {
  for (const int rank : here_) {
    members_.push_back(std::make_unique<fabric::participant>(pair, rank));
    messages_.join(*members_.back());
  }
}

road_probe::~road_probe() {
  for (const auto& member : members_) messages_.leave(*member);
}

std::vector<std::unique_ptr<road_probe::side>>& road_probe::sides_of(pattern how, int messages, std::size_t bytes) {
  auto& sides = sides_[{how, messages, bytes}];
  if (!sides.empty()) return sides;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    const auto plan = plan_of(how, messages, here_[i], bytes);
    sides.push_back(std::make_unique<side>());
    if (here_.size() == 1 && bytes <= eager_)
      sides.back()->in_order = std::make_unique<in_order_execution>(messages_, *members_[i], nullptr, plan);
    else
      sides.back()->dataflow = std::make_unique<dataflow_execution>(messages_, *members_[i], nullptr, plan);
  }
  return sides;
}

double road_probe::run(pattern how, int messages, std::size_t bytes) {
  auto& sides = sides_of(how, messages, bytes);
  input_.resize(std::max(input_.size(), bytes));
  output_.resize(std::max(output_.size(), static_cast<std::size_t>(messages) * bytes));
  const run_arguments arguments{input_.data(), output_.data(), sequence_++, 0, {}};
  const double start = seconds_now();
  for (const auto& one : sides) {
    if (one->in_order)
      one->in_order->run(arguments, by_);
    else
      one->dataflow->start(arguments, by_);
  }
  std::exception_ptr failure;
  for (const auto& one : sides) {
    if (one->dataflow) one->dataflow->finished().wait(by_);
    const std::exception_ptr& ended = one->dataflow ? one->dataflow->failure() : one->in_order->failure();
    if (failure == nullptr) failure = ended;
  }
  const double seconds = seconds_now() - start;
  if (failure != nullptr) std::rethrow_exception(failure);
  return seconds;
}

std::int64_t road_probe::told(std::int64_t value) {
  if (here_.size() > 1) return value;
  if (leads()) std::memcpy(input_.data(), &value, sizeof value);
  run(pattern::sends, 1, short_message);
  if (!leads()) std::memcpy(&value, output_.data(), sizeof value);
  return value;
}

double road_probe::time_of(pattern how, int messages, std::size_t bytes, const repeats& often) {
  // These do not end with an answer to rank 0: runs, one after the other, would overlap more or less.
  const bool apart = how == pattern::exchange || how == pattern::sends;
  const auto one = [&] {
    if (apart) run(pattern::ping_pong, 1, short_message);
    return run(how, messages, bytes);
  };
  return steady_time(
             often, one, [&](std::int64_t more) { return told(more); }, seconds_now) /
         messages;
}

/// Over a long line TCP takes some round trips until as much is on its way as fits: of shorter messages nothing is
/// learned of bytes.
std::vector<std::size_t> road_probe::lengths_for(double budget, schedules::road which) {
  if (which == schedules::road::line) return {1 << 20, 4 << 20};
  if (budget < 0.05) return {64 << 10, 256 << 10};
  return {32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20};
}

/// A run over a line takes so long that it hardly varies, and that not many should be waited for.
repeats road_probe::repeats_for(double budget, schedules::road which) {
  repeats often;
  often.budget = budget;
  if (which == schedules::road::line) often.warm_ups = 1, often.least = 2, often.patience = 1;
  return often;
}

std::optional<schedules::road_costs> road_probe::measure(double budget, schedules::road which) {
  const std::vector<std::size_t> lengths = lengths_for(budget, which);
  const repeats often = repeats_for(budget / (4 + 2 * static_cast<double>(lengths.size())), which);
  run(pattern::ping_pong, 1, short_message);  // both sides are there
  const double end = seconds_now() + often.patience * budget;
  // Whether there is time for another pattern: rank 0 says so.
  const auto goes_on = [&] { return told(seconds_now() < end ? 1 : 0) != 0; };
  const int round_trips = which == schedules::road::line ? 1 : 4;
  const auto short_one = [&] { return time_of(pattern::ping_pong, round_trips, short_message, often) / 2; };
  double one_way = short_one();
  std::vector<std::pair<double, double>> there, both_ways;
  for (const std::size_t bytes : lengths) {
    if (there.size() > 1 && !goes_on()) break;  // without two of them nothing is known of bytes
    const auto x = static_cast<double>(bytes);
    there.emplace_back(x, time_of(pattern::ping_pong, 1, bytes, often) / 2);
    if (!goes_on()) continue;
    both_ways.emplace_back(x, time_of(pattern::exchange, 1, bytes, often));
  }
  const auto many = [&](pattern how) { return time_of(how, most_messages, short_message, often); };
  double sends = 0, stream = 0;  // 0: there was no time for it
  if (goes_on()) sends = many(pattern::sends);
  if (goes_on()) stream = many(pattern::stream);
  // Where others take the processor a time can be that of waking up all along; some while later it may be another one.
  if (goes_on()) one_way = std::min(one_way, short_one());
  if (!leads()) return std::nullopt;

  schedules::road_costs costs;
  line long_ones = fitted(there);
  // Where others took the processor, the longer message may have been the faster one.
  if (long_ones.slope <= 0) long_ones = {0, there.back().second / there.back().first};
  costs.gap_per_byte = long_ones.slope;
  costs.handshake = std::max(0.0, long_ones.intercept - one_way);
  costs.exchange_per_byte =
      both_ways.size() > 1 ? std::max(fitted(both_ways).slope, costs.gap_per_byte) : costs.gap_per_byte;
  costs.overhead = sends > 0 ? std::min(one_way / 2, sends) : one_way / 2;
  costs.gap = one_way;
  if (stream > 0)
    costs.gap = std::clamp((stream * most_messages - 2 * one_way) / (most_messages - 1), costs.overhead, one_way);
  costs.latency = one_way - 2 * costs.overhead;
  return costs;
}

}  // namespace weft::detail
