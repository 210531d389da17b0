// SPDX-License-Identifier: Apache-2.0
#include "rendezvous_table.hpp"

#include <utility>
#include <weft/runtime/error.hpp>
#include <weft/runtime/store.hpp>

#include "bytes.hpp"

namespace weft {
namespace {

[[noreturn]] void throw_lost(const std::pair<const int, std::string>& gone, const std::string& what) {
  throw error(errc::peer_lost, what + ": process " + std::to_string(gone.first) + " of the job " + gone.second);
}

rendezvous_table::answer pack(const std::vector<std::optional<rendezvous_table::bytes>>& records) {
  rendezvous_table::bytes packed;
  for (const auto& record : records) {
    append(packed, static_cast<std::uint32_t>(record->size()));
    append(packed, std::span<const std::byte>(*record));
  }
  return std::make_shared<const rendezvous_table::bytes>(std::move(packed));
}

}  // namespace

rendezvous_table::rendezvous_table(int processes) {
  if (processes < 1)
    throw error(errc::invalid_argument, "a job of " + std::to_string(processes) + " processes; it needs at least one");
  fences_.resize(static_cast<std::size_t>(processes));
}

void rendezvous_table::put(std::string_view key, bytes value) {
  values_.insert_or_assign(std::string(key), std::make_shared<const bytes>(std::move(value)));
}

rendezvous_table::answer rendezvous_table::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : found->second;
}

rendezvous_table::wait rendezvous_table::arrive(int process) {
  const std::uint64_t round = ++fences_[static_cast<std::size_t>(process)];
  if (++fence_arrivals_[round] == processes()) {
    fence_arrivals_.erase(round);
    fences_complete_ = round;  // nobody arrives at a round before the one below it
  }
  return {wait::kind::fence, "", round};
}

rendezvous_table::wait rendezvous_table::contribute(int process, std::string_view key, bytes record) {
  auto found = gathers_.find(key);
  if (found == gathers_.end()) found = gathers_.emplace(std::string(key), gather_key{}).first;
  auto& [rounds, open] = found->second;
  rounds.resize(fences_.size());
  const std::uint64_t round = ++rounds[static_cast<std::size_t>(process)];
  gathering& g = open[round];
  if (g.records.empty()) g = {std::vector<std::optional<bytes>>(fences_.size()), processes(), processes(), nullptr};
  g.records[static_cast<std::size_t>(process)] = std::move(record);
  if (--g.missing == 0) {
    g.packed = pack(g.records);
    g.records.clear();
  }
  return {wait::kind::gather, std::string(key), round};
}

rendezvous_table::answer rendezvous_table::answer_to(const wait& w) {
  if (w.what == wait::kind::value) return find(w.key);
  if (w.what == wait::kind::gather) return gathered(w);
  if (w.round <= fences_complete_) return std::make_shared<const bytes>();
  check_fence(w.round);
  return nullptr;
}

rendezvous_table::answer rendezvous_table::gathered(const wait& w) {
  auto& open = gathers_.find(w.key)->second.open;
  const auto found = open.find(w.round);
  answer result = found->second.packed;
  if (!result)
    check_gather(w.key, found->second);
  else if (--found->second.untaken == 0)
    open.erase(found);
  return result;
}

void rendezvous_table::check_fence(std::uint64_t round) const {
  for (const auto& gone : gone_)
    if (fences_[static_cast<std::size_t>(gone.first)] < round) throw_lost(gone, "fence");
}

void rendezvous_table::check_gather(const std::string& key, const gathering& g) const {
  for (const auto& gone : gone_)
    if (!g.records[static_cast<std::size_t>(gone.first)]) throw_lost(gone, "gathering \"" + key + "\"");
}

void rendezvous_table::lose(int process, std::string_view how) {
  const auto text = as_bytes(how);
  put("lost/" + std::to_string(process), bytes(text.begin(), text.end()));
  leave(process);
}

void rendezvous_table::leave(int process, std::string_view why) { gone_.try_emplace(process, why); }

std::vector<std::vector<std::byte>> unpack(std::span<const std::byte> packed, int processes) {
  std::vector<std::vector<std::byte>> records;
  for (int process = 0; process < processes; ++process) {
    const std::size_t length = packed.size() < 4 ? SIZE_MAX : take<std::uint32_t>(packed);
    if (length > packed.size())
      throw error(errc::protocol, "gathered records end within that of process " + std::to_string(process));
    records.emplace_back(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
    packed = packed.subspan(length);
  }
  return records;
}

void throw_timed_out(const rendezvous_table::wait& w, int process) {
  using kind = rendezvous_table::wait::kind;
  const std::string what = w.what == kind::fence    ? "fence"
                           : w.what == kind::gather ? "gathering \"" + w.key + "\""
                                                    : "getting \"" + w.key + "\"";
  throw error(errc::timed_out, "store, process " + std::to_string(process) + ": " + what +
                                   (w.what == kind::value ? ": nobody put it before the deadline"
                                                          : ": not every process came before the deadline"));
}

void check_sizes(std::string_view key, std::size_t value) {
  if (key.empty() || key.size() > store::maximum_key)
    throw error(errc::invalid_argument, "store: a key of " + std::to_string(key.size()) + " bytes; 1 to " +
                                            std::to_string(store::maximum_key) + " are possible");
  if (value > store::maximum_value)
    throw error(errc::invalid_argument, "store: a value of " + std::to_string(value) + " bytes for key \"" +
                                            std::string(key) + "\"; at most " + std::to_string(store::maximum_value) +
                                            " are possible");
}

}  // namespace weft
