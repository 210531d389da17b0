// SPDX-License-Identifier: Apache-2.0
// The state behind every kind of store, without locks or sockets: who has put what, and what may be answered. Whoever
// serves it turns a call into a `wait`, and asks for its answer again whenever the table has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class rendezvous_table {
 public:
  using bytes = std::vector<std::byte>;
  using answer = std::shared_ptr<const bytes>;

  /// What a call waits for. The k-th fence of a process belongs to the k-th of every other, and so do gathers of one
  /// key: programs that follow one another in the same processes do not see each other's records.
  struct wait {
    enum class kind { value, fence, gather } what;
    std::string key;
    std::uint64_t round = 0;
  };

  explicit rendezvous_table(int processes);

  int processes() const noexcept { return static_cast<int>(fences_.size()); }
  void put(std::string_view key, bytes value);
  answer find(std::string_view key) const;  ///< null: not there

  /// Process `process` arrives at its next fence, or gives its record for its next gather of `key`.
  wait arrive(int process);
  wait contribute(int process, std::string_view key, bytes record);

  /// The answer to `w`, or null as long as there is none; ask no more after it was given. Empty for a fence; for a
  /// gather every record behind its length (`unpack`). Throws errc::peer_lost for what a process that has ended will
  /// never complete.
  answer answer_to(const wait& w);

  /// Process `process` died and will arrive nowhere any more. `how` becomes the value of "lost/PROCESS".
  void lose(int process, std::string_view how);

  /// The same for a process that ended as it should: nobody finds it under "lost/". Who waits for it is told `why`.
  void leave(int process, std::string_view why = "ended before it came");

 private:
  struct gathering {
    std::vector<std::optional<bytes>> records;
    int missing = 0;  ///< records still to come
    int untaken = 0;  ///< processes that have not had the answer
    answer packed;
  };
  struct gather_key {
    std::vector<std::uint64_t> rounds;  ///< by process: gathers begun
    std::map<std::uint64_t, gathering> open;
  };

  answer gathered(const wait& w);
  void check_fence(std::uint64_t round) const;
  void check_gather(const std::string& key, const gathering& g) const;

  std::map<std::string, answer, std::less<>> values_;
  std::vector<std::uint64_t> fences_;            ///< by process: fences that it arrived at
  std::map<std::uint64_t, int> fence_arrivals_;  ///< by round, for rounds that not everybody arrived at
  std::uint64_t fences_complete_ = 0;
  std::map<std::string, gather_key, std::less<>> gathers_;
  std::map<int, std::string> gone_;  ///< and why
};

/// Reads the answer to a gather of `processes` records. Throws errc::protocol when it is not one.
std::vector<std::vector<std::byte>> unpack(std::span<const std::byte> packed, int processes);

/// Throws errc::timed_out: process `process` waited for `w` in vain.
[[noreturn]] void throw_timed_out(const rendezvous_table::wait& w, int process);

/// Throws errc::invalid_argument for a key or value that no store takes.
void check_sizes(std::string_view key, std::size_t value);

}  // namespace weft
