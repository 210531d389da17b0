// Runs the schedules of all ranks on numbers, in one thread, in an order drawn at random from those that can happen.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>
#include <weft/verifier/verifier.hpp>

namespace weft_test {

struct run_options {
  weft::schedules::purpose meant;
  std::size_t elements = 0;
  bool in_place = false;
  bool in_order = false;  ///< steps begin in their order
  bool buffered = false;  ///< some sends end before their receives begin; else none
};

/// Each element of each rank is a number of its own. The operator is addition; in scans, which must keep the order, it
/// is composition of affine functions, which does not commute. True when every step ended, the inputs are
/// what they were (unless in place) and the outputs are right.
bool runs_right(const run_options& options, std::span<const weft::schedules::schedule> ranks, std::mt19937_64& random);

}  // namespace weft_test
