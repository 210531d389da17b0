// SPDX-License-Identifier: Apache-2.0
// A load of every kind of call, mixed by a seed: what a rank may be in the middle of when another one dies.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>
#include <weft/weft.hpp>

#include "board.hpp"

namespace weft_test {

/// A call returned something else than it should have.
class wrong_result : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class load {
 public:
  /// Collective over `world`; says in `line` what it is doing. By the seed its vectors are in memory that the node
  /// shares, in each process's own, or in either.
  load(weft::runtime& runtime, weft::communicator& world, std::uint64_t seed, board_line& line);

  /// One round, the same kind on every rank. Throws what the calls throw, and wrong_result.
  void round(std::int64_t number);

  /// Once a call has failed: marks all that it may have been writing, and looks whether anybody goes on to write there.
  void mark_outputs();
  void check_marks() const;

  /// The ranks of the world whose number is as even or odd as this one's: apart from their split unused.
  weft::communicator& half() noexcept { return half_; }

 private:
  void short_sums();
  void long_sum();
  void sums_behind_messages(std::int64_t number);
  void neighbours(std::size_t bytes);
  void everyone_to_one(std::int64_t number);
  void large_to_all();
  void rooted(std::int64_t number);
  void waves(std::int64_t number);
  void check(bool right, const char* what) const;

  weft::communicator& world_;
  weft::communicator half_;
  std::uint64_t seed_;
  board_line& line_;
  std::vector<double> own_;
  weft::node_array<double> shared_;
  std::span<double> in_, out_, other_;
  std::vector<std::byte> left_, right_;
};

}  // namespace weft_test
