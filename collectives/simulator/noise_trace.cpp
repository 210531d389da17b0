// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <weft/simulator/noise_trace.hpp>

#include "draw.hpp"

namespace weft::simulator {
namespace {

[[noreturn]] void bad_line(std::size_t line, const std::string& what) {
  throw std::invalid_argument("noise trace, line " + std::to_string(line) + ": " + what);
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r')) text.remove_prefix(1);
}

/// The next word of a line, a time.
double take_time(std::string_view& text, std::size_t line, const char* meaning) {
  constexpr double most = 9e18;  // LogGOPSim's are whole numbers of 64 bits
  skip_blanks(text);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end - text.data());
  const bool whole = length == text.size() || text[length] == ' ' || text[length] == '\t' || text[length] == '\r';
  if (failure != std::errc{} || !whole || !(value >= 0 && value <= most))
    bad_line(line, "there should be a detour's begin and its duration, nanoseconds from 0; the " +
                       std::string(meaning) + " is \"" + std::string(text.substr(0, text.find_first_of(" \t\r"))) +
                       "\"");
  text.remove_prefix(length);
  return value;
}

std::string whole_text(double time) { return std::to_string(static_cast<std::uint64_t>(std::llround(time))); }

}  // namespace

noise_trace parse_noise_trace(std::string_view text) {
  noise_trace trace;
  double taken = 0;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view rest = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), rest.size() + 1));
    skip_blanks(rest);
    if (rest.empty() || rest.front() == '#') continue;
    detour next;
    next.begin = take_time(rest, line, "begin");
    next.duration = take_time(rest, line, "duration");
    skip_blanks(rest);
    if (!rest.empty()) bad_line(line, "\"" + std::string(rest) + "\" behind a begin and a duration");
    if (next.begin < trace.length)
      bad_line(line,
               "the detour before this one ends at " + whole_text(trace.length) + ", and this one begins earlier");
    trace.length = next.begin + next.duration;
    taken += next.duration;
    if (next.duration > 0) trace.detours.push_back(next);
  }
  if (trace.length == 0) throw std::invalid_argument("noise trace: there is no line that says a begin and a duration");
  if (!(taken < trace.length)) throw std::invalid_argument("noise trace: it leaves no time to work");
  return trace;
}

std::string to_text(const noise_trace& trace) {
  std::string text;
  double end = 0;
  for (const detour& each : trace.detours) {
    text += whole_text(each.begin) + "\t" + whole_text(each.duration) + "\n";
    end = each.begin + each.duration;
  }
  if (trace.length > end) text += whole_text(trace.length) + "\t0\n";
  return text;
}

noise_trace exponential_noise(double period, double duration, std::size_t detours, std::uint64_t seed) {
  noise_trace trace;
  trace.detours.reserve(detours);
  std::uint64_t number = 0;
  const auto exponential = [&](double mean) { return -mean * std::log1p(-draw(seed, number++)); };
  for (std::size_t i = 0; i < detours; ++i) {
    detour next;
    next.begin = trace.length + exponential(period - duration);
    next.duration = exponential(duration);
    trace.length = next.begin + next.duration;
    trace.detours.push_back(next);
  }
  return trace;
}

}  // namespace weft::simulator
