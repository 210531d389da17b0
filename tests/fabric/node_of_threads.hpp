// SPDX-License-Identifier: Apache-2.0
// A node whose processes are threads of this one.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/process_record.hpp>

namespace weft_test {

namespace fabric = weft::fabric;

/// The processes `numbers` of a job in which others live elsewhere; each is a thread here.
class node_of_threads {
 public:
  explicit node_of_threads(std::vector<int> numbers) : numbers_(std::move(numbers)), doors_(numbers_.size()) {
    records.resize(static_cast<std::size_t>(numbers_.back()) + 1, fabric::local_record());
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      fabric::process_record& mine = records[static_cast<std::size_t>(numbers_[i])];
      mine = fabric::local_record();
      mine.door = doors_[i].number();
    }
  }

  /// What came of it for each.
  std::vector<fabric::arena::joined> join(std::chrono::milliseconds patience = std::chrono::seconds(10)) {
    std::vector<fabric::arena::joined> results(numbers_.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      threads.emplace_back([&, i] {
        results[i] = fabric::arena::join(numbers_, numbers_[i], records, job, doors_[i],
                                         std::chrono::steady_clock::now() + patience, [] {});
      });
    for (auto& thread : threads) thread.join();
    return results;
  }

  std::vector<fabric::process_record> records;

  static constexpr std::uint64_t job = 0x1234'5678'9abc'def0;

 private:
  std::vector<int> numbers_;
  std::vector<fabric::arena_door> doors_;
};

}  // namespace weft_test
