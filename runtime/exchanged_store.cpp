// SPDX-License-Identifier: Apache-2.0
#include "exchanged_store.hpp"

#include <weft/runtime/error.hpp>

#include "bytes.hpp"
#include "rendezvous_table.hpp"

namespace weft {
namespace {

void append_sized(std::vector<std::byte>& to, std::span<const std::byte> part) {
  append(to, static_cast<std::uint32_t>(part.size()));
  append(to, part);
}

[[noreturn]] void throw_malformed(std::size_t process) {
  throw error(errc::protocol, "store: what process " + std::to_string(process) + " gave ends too early");
}

/// Takes a part off the front of what process `process` gave.
std::span<const std::byte> take_sized(std::span<const std::byte>& from, std::size_t process) {
  if (from.size() < 4) throw_malformed(process);
  const std::size_t length = take<std::uint32_t>(from);
  if (length > from.size()) throw_malformed(process);
  const auto part = from.first(length);
  from = from.subspan(length);
  return part;
}

}  // namespace

void exchanged_store::put(std::string_view key, std::span<const std::byte> value) {
  check_sizes(key, value.size());
  const std::lock_guard lock(mutex_);
  values_.insert_or_assign(std::string(key), bytes(value.begin(), value.end()));
  pending_.insert_or_assign(std::string(key), bytes(value.begin(), value.end()));
}

store::bytes exchanged_store::get(std::string_view key, clock::time_point) {
  auto found = find(key);
  if (!found)
    throw error(errc::timed_out, "store, process " + std::to_string(process()) + ": getting \"" + std::string(key) +
                                     "\": nobody put it before the latest fence or gather");
  return *std::move(found);
}

std::optional<store::bytes> exchanged_store::find(std::string_view key) {
  check_sizes(key, 0);
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional<bytes>(found->second);
}

void exchanged_store::fence(clock::time_point deadline) {
  const std::lock_guard lock(mutex_);
  meet("fence", {}, deadline);
}

std::vector<store::bytes> exchanged_store::gather(std::string_view key, std::span<const std::byte> mine,
                                                  clock::time_point deadline) {
  check_sizes(key, mine.size());
  const std::lock_guard lock(mutex_);
  return meet("gather of \"" + std::string(key) + "\"", mine, deadline);
}

/// What goes over: the call, the record, then keys and values, each behind its length.
std::vector<store::bytes> exchanged_store::meet(std::string_view call, std::span<const std::byte> mine,
                                                clock::time_point deadline) {
  bytes given;
  append_sized(given, as_bytes(call));
  append_sized(given, mine);
  for (const auto& [key, value] : pending_) {
    append_sized(given, as_bytes(key));
    append_sized(given, value);
  }
  const std::vector<bytes> all = exchange(given, deadline);
  pending_.clear();
  std::vector<bytes> records;
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::span<const std::byte> rest = all[p];
    if (const auto its = as_text(take_sized(rest, p)); its != call)
      throw error(errc::protocol, "store: process " + std::to_string(p) + " is at " + std::string(its) + ", process " +
                                      std::to_string(process()) + " at " + std::string(call) +
                                      ": all processes must call the same");
    const auto record = take_sized(rest, p);
    records.emplace_back(record.begin(), record.end());
    while (!rest.empty()) {
      const std::string key(as_text(take_sized(rest, p)));
      const auto value = take_sized(rest, p);
      values_.insert_or_assign(key, bytes(value.begin(), value.end()));
    }
  }
  return records;
}

}  // namespace weft
