// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>
#include <string>
#include <weft/simulator/model.hpp>

namespace weft::simulator {
namespace {

void check_time(double value, const char* name) {
  if (!std::isfinite(value) || value < 0)
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) + ": not a time from 0");
}

void check(const noise_trace& trace) {
  double end = 0, taken = 0;
  for (const detour& each : trace.detours) {
    check_time(each.begin, "begin of a detour");
    check_time(each.duration, "duration of a detour");
    if (each.begin < end) throw std::invalid_argument("a detour begins before the one before it has ended");
    end = each.begin + each.duration;
    taken += each.duration;
  }
  check_time(trace.length, "length of a noise trace");
  if (end > trace.length) throw std::invalid_argument("a noise trace ends before its last detour does");
  if (!(taken < trace.length)) throw std::invalid_argument("a noise trace leaves no time to work");
}

}  // namespace

void check(const machine_model& model) {
  check_time(model.latency, "latency");
  check_time(model.overhead, "overhead");
  check_time(model.gap, "gap");
  check_time(model.gap_per_byte, "gap per byte");
  check_time(model.overhead_per_byte, "overhead per byte");
  check_time(model.compute_per_byte, "compute per byte");
  check_time(model.noise.period, "noise period");
  check_time(model.noise.duration, "noise duration");
  if (model.noise.period > 0 && model.noise.duration >= model.noise.period)
    throw std::invalid_argument("noise leaves no time to work: its duration must be less than its period");
  if (model.noise.trace) check(*model.noise.trace);
}

}  // namespace weft::simulator
