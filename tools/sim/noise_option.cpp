// SPDX-License-Identifier: Apache-2.0
#include "noise_option.hpp"

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <weft/command_line/command_line.hpp>
#include <weft/simulator/noise_trace.hpp>

#include "text_file.hpp"

namespace weft::tools {
namespace {

using simulator::noise_model;

constexpr std::size_t drawn_detours = 1 << 16;

constexpr const char* right_noise =
    " is not PERIOD:DURATION with a duration less than the period, followed by :random, :coscheduled, :exponential or "
    "nothing, nor a file of a noise trace, followed by :coscheduled or nothing";

/// PERIOD:DURATION and what may follow. Leaves what is something else.
bool read_periods(noise_option& line) {
  const std::string& text = line.text;
  noise_model& noise = line.model;
  const std::vector<std::string> parts = CLI::detail::split(text, ':');
  if (parts.size() < 2 || !parse(parts[0], noise.period) || !parse(parts[1], noise.duration)) return false;
  const std::string how = parts.size() == 2 ? "random" : parts[2];
  if (parts.size() > 3 || (how != "random" && how != "coscheduled" && how != "exponential") ||
      !(noise.duration >= 0 && noise.duration < noise.period))
    throw CLI::ValidationError("--noise", "\"" + text + "\"" + right_noise);
  if (how == "coscheduled") noise.phases = noise_model::phase::coscheduled;
  line.exponential = how == "exponential";
  return true;
}

}  // namespace

void read_noise(noise_option& line) {
  if (line.text.empty() || read_periods(line)) return;
  noise_model& noise = line.model;
  noise.period = noise.duration = 0;
  std::string file = line.text;
  constexpr std::string_view together = ":coscheduled";
  if (file.ends_with(together)) {
    file.resize(file.size() - together.size());
    noise.phases = noise_model::phase::coscheduled;
  }
  if (!std::ifstream(file)) throw CLI::ValidationError("--noise", "\"" + line.text + "\"" + right_noise);
  try {
    noise.trace =
        std::make_shared<const simulator::noise_trace>(simulator::parse_noise_trace(text_of(file, "--noise")));
  } catch (const std::invalid_argument& failure) {
    throw CLI::ValidationError("--noise", file + ": " + failure.what());
  }
}

noise_model drawn(const noise_option& line, std::uint64_t seed) {
  noise_model noise = line.model;
  noise.seed = seed;
  if (line.exponential)
    noise.trace = std::make_shared<const simulator::noise_trace>(
        simulator::exponential_noise(noise.period, noise.duration, drawn_detours, seed));
  return noise;
}

}  // namespace weft::tools
