// SPDX-License-Identifier: Apache-2.0
// What `weft bench` prints: a table, one JSON object a line, or its fields as comma-separated values.
#pragma once

#include <optional>
#include <string>
#include <weft/communicator.hpp>

#include "idle.hpp"
#include "measurement.hpp"
#include "settings.hpp"

namespace weft::tools {

/// On standard output, at once.
void print_line(const std::string& line);

/// As printf has it; of at most 63 characters.
std::string fixed(const char* format, double value);

/// On the rank that prints.
class bench_report {
 public:
  bench_report(const bench_settings& settings, std::string provider, communicator& world);

  /// Prints a line, at once.
  void add(const measurement& measured);

  /// Prints the two lines of `weft bench latency`: the second is what was measured behind a stream of so many bytes.
  void add_latency(const measurement& idle, const measurement& loaded, std::size_t stream_bytes);

  /// Prints the three lines of `weft bench agree`: the column of the algorithm has the call.
  void add_agreement(const agreement_times& measured);

  /// Prints what `weft bench idle` found, with progress by "caller" or "thread".
  void add_idle(const idle_costs& costs, const std::string& progress) const;

 private:
  void print(const std::string& object);
  std::string json(const measurement& measured) const;
  std::string json_of_windows() const;
  std::string json(const idleness& measured, const char* what) const;

  const bench_settings& settings_;
  std::string provider_;
  std::string road_;  ///< that was taken, whichever provider was named
  int ranks_;
  std::string csv_names_;  // those printed last
};

}  // namespace weft::tools
