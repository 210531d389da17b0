// SPDX-License-Identifier: Apache-2.0
// A store without a table of its own: all that its processes can do together is to exchange what each of them has. What
// is put travels with the next exchange.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <weft/runtime/store.hpp>

namespace weft {

/// What differs from other stores: a value is there for other processes after the next `fence` or `gather` that both
/// come to; `get` does not wait for it but throws errc::timed_out at once where there is none, since none can come
/// meanwhile; where several put one key before the same exchange, the last of them in the order of processes holds.
/// Every process calls `fence` and `gather` in the same order; otherwise all throw errc::protocol. After a call that
/// threw for its deadline or its launcher, all others throw.
class exchanged_store : public store {
 public:
  void put(std::string_view key, std::span<const std::byte> value) final;
  bytes get(std::string_view key, clock::time_point deadline) final;
  std::optional<bytes> find(std::string_view key) final;
  void fence(clock::time_point deadline) final;
  std::vector<bytes> gather(std::string_view key, std::span<const std::byte> mine, clock::time_point deadline) final;

 protected:
  /// Gives every process what each of them has given, in the order of processes. Called by one thread at a time. Throws
  /// as the calls of a store do.
  virtual std::vector<bytes> exchange(std::span<const std::byte> mine, clock::time_point deadline) = 0;

 private:
  using table = std::map<std::string, bytes, std::less<>>;

  /// `call` says which it is: that of every process must be the same.
  std::vector<bytes> meet(std::string_view call, std::span<const std::byte> mine, clock::time_point deadline);

  std::mutex mutex_;  // everything below
  table values_;
  table pending_;  ///< put here since the last exchange
};

}  // namespace weft
