// SPDX-License-Identifier: Apache-2.0
// Adds up the time that is spent in a part of a program.
#pragma once

#include <chrono>

namespace cg {

class stopwatch {
 public:
  /// Runs `work` and returns what it returns.
  template <class Work>
  decltype(auto) time(Work&& work) {
    const measurement running{seconds_};
    return work();
  }
  double seconds() const { return seconds_; }

 private:
  using clock = std::chrono::steady_clock;
  struct measurement {
    double& total;
    clock::time_point start = clock::now();
    ~measurement() { total += std::chrono::duration<double>(clock::now() - start).count(); }
  };

  double seconds_ = 0;
};

}  // namespace cg
