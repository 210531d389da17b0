// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>
#include <weft/choice/tuning.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/text_file.hpp>

namespace weft::detail {
namespace {

using kernels::operation, kernels::type;
using schedules::road, schedules::road_costs;

struct road_key {
  std::string_view name;
  double road_costs::*member;
};
constexpr std::array<road_key, 6> road_keys{{{"latency", &road_costs::latency},
                                             {"overhead", &road_costs::overhead},
                                             {"gap", &road_costs::gap},
                                             {"gap_per_byte", &road_costs::gap_per_byte},
                                             {"exchange_per_byte", &road_costs::exchange_per_byte},
                                             {"handshake", &road_costs::handshake}}};

constexpr std::string_view boards_family = "boards";

/// Calls `each` with the key of every parameter and its place.
template <class Costs, class Each>
void for_board_keys(Costs& costs, Each&& each) {
  each(std::string("round"), costs.round);
  each(std::string("call"), costs.call);
  for (const schedules::collective by : schedules::measured_by)
    for (std::size_t i = 0; i < schedules::board_lengths.size(); ++i) {
      const std::string collective(option_name(by)), kib = std::to_string(schedules::board_lengths[i] >> 10) + "k";
      each(collective + "_copy_" + kib, costs[use_of(by)].copy[i]);
      each(collective + "_read_" + kib, costs[use_of(by)].read[i]);
    }
}

/// The operator that stands for its kind.
operation kind_of(operation op) {
  switch (op) {
    case operation::product:
    case operation::sum:
      return operation::sum;
    case operation::min:
    case operation::max:
      return operation::min;
    case operation::bit_and:
    case operation::bit_or:
    case operation::bit_xor:
      return operation::bit_and;
    case operation::logical_and:
    case operation::logical_or:
    case operation::logical_xor:
      return operation::logical_and;
    case operation::min_location:
    case operation::max_location:
      break;
  }
  return operation::min_location;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string text_of(double seconds) {
  std::array<char, 32> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), seconds, std::chars_format::general, 6);
  return {digits.data(), written.ptr};
}

class parser {
 public:
  parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  tuning parse() {
    parse_part();
    check_whole();
    return std::move(result_);
  }

  tuning parse_part() {
    for (std::size_t from = 0; from < text_.size(); ++line_) {
      const std::size_t end = std::min(text_.find('\n', from), text_.size());
      const std::string_view line = text_.substr(from, end - from);
      from = end + 1;
      take(trimmed(line.substr(0, line.find('#'))));
    }
    return result_;
  }

 private:
  void check_whole() const {
    for (std::size_t i = 0; i < schedules::roads; ++i)
      for (const road_key& key : road_keys)
        if (result_.machine.by_road[i]) require(std::string(name(static_cast<road>(i))) + "." + std::string(key.name));
    if (result_.machine.boards)
      for_board_keys(*result_.machine.boards,
                     [&](const std::string& key, double) { require(std::string(boards_family) + "." + key); });
    if (std::none_of(result_.machine.by_road.begin(), result_.machine.by_road.end(),
                     [](const auto& one) { return one.has_value(); }))
      refuse("no road: a line such as \"node.latency = 7e-07\" is missing");
    if (result_.combine.empty()) refuse("no kernel: a line such as \"combine.sum.float = 5e-11\" is missing");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw error(errc::invalid_argument, name_ + ":" + std::to_string(line_) + ": " + why);
  }

  void require(const std::string& key) const {
    if (!seen_.contains(key)) refuse(key + " is missing");
  }

  void take(std::string_view line) {
    if (line.empty()) return;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) refuse("\"" + std::string(line) + "\" is not KEY = SECONDS");
    const std::string key(trimmed(line.substr(0, equals)));
    double& value = place_of(key);
    if (!seen_.insert(key).second) refuse(key + " is there twice");
    value = seconds(trimmed(line.substr(equals + 1)));
  }

  double seconds(std::string_view text) const {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || !(value >= 0) || !std::isfinite(value))
      refuse("\"" + std::string(text) + "\" is not a time in seconds, a number from 0");
    return value;
  }

  /// Where the value of `key` belongs.
  double& place_of(std::string_view key) {
    const auto dot = key.find('.');
    const std::string_view family = key.substr(0, dot);
    const std::string_view rest = dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
    if (family == "combine") return place_of_kernel(key, rest);
    for (std::size_t i = 0; i < schedules::roads; ++i) {
      if (name(static_cast<road>(i)) != family) continue;
      for (const road_key& known : road_keys)
        if (known.name == rest) {
          auto& costs = result_.machine.by_road[i];
          if (!costs) costs.emplace();
          return *costs.*known.member;
        }
    }
    if (family == boards_family)
      if (double* const found = place_of_boards(rest)) return *found;
    std::string valid;
    for (const road_key& known : road_keys) valid += ", " + std::string(known.name);
    refuse("there is no parameter \"" + std::string(key) + "\": valid are (memory|node|fabric|line).(" +
           valid.substr(2) + "), boards.(round, call, allreduce_copy_4k, ...) and combine.OPERATION.TYPE");
  }

  double* place_of_boards(std::string_view rest) {
    schedules::board_costs none;
    double* found = nullptr;
    auto& costs = result_.machine.boards;
    for_board_keys(costs ? *costs : none, [&](const std::string& key, double&) {
      if (key == rest && !costs) costs.emplace();
    });
    if (costs)
      for_board_keys(*costs, [&](const std::string& key, double& place) {
        if (key == rest) found = &place;
      });
    return found;
  }

  double& place_of_kernel(std::string_view key, std::string_view rest) {
    const auto dot = rest.find('.');
    const auto op = kernels::find_operation(rest.substr(0, dot));
    const auto element = kernels::find_type(dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1));
    if (!op || !element || !kernels::has(*op, *element))
      refuse("there is no kernel \"" + std::string(key) + "\": valid are such as combine.sum.float");
    return result_.combine[{*op, *element}];
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t line_ = 1;
  std::set<std::string, std::less<>> seen_;
  tuning result_;
};

}  // namespace

double combine_seconds(const tuning& of, operation op, type element) {
  for (const operation like : {op, kind_of(op)})
    if (const auto found = of.combine.find({like, element}); found != of.combine.end()) return found->second;
  return combine_seconds_of_custom(of);
}

double combine_seconds_of_custom(const tuning& of) {
  double most = 0;
  for (const auto& [kernel, seconds] : of.combine) most = std::max(most, seconds);
  return most;
}

std::string to_text(const tuning& of, std::string_view comment) {
  std::string text;
  while (!comment.empty()) {
    const std::string_view line = comment.substr(0, comment.find('\n'));
    comment.remove_prefix(std::min(comment.size(), line.size() + 1));
    text += "# " + std::string(line) + "\n";
  }
  for (std::size_t i = 0; i < schedules::roads; ++i)
    if (const auto& costs = of.machine.by_road[i])
      for (const road_key& key : road_keys)
        text += std::string(name(static_cast<road>(i))) + "." + std::string(key.name) + " = " +
                text_of(*costs.*key.member) + "\n";
  if (of.machine.boards)
    for_board_keys(*of.machine.boards, [&](const std::string& key, double seconds) {
      text += std::string(boards_family) + "." + key + " = " + text_of(seconds) + "\n";
    });
  for (const auto& [kernel, seconds] : of.combine)
    text += "combine." + std::string(kernels::name(kernel.first)) + "." + std::string(kernels::name(kernel.second)) +
            " = " + text_of(seconds) + "\n";
  return text;
}

tuning parse_tuning(std::string_view text, const std::string& name) { return parser(text, name).parse(); }

tuning parse_tuning_part(std::string_view text, const std::string& name) { return parser(text, name).parse_part(); }

tuning read_tuning(const std::string& file) {
  const std::optional<std::string> text = read_text(file);
  if (!text) throw error(errc::invalid_argument, file + ": cannot be read: " + std::strerror(errno));
  return parse_tuning(*text, file);
}

}  // namespace weft::detail
