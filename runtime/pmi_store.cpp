// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"
#include "exchanged_store.hpp"
#include "met_job.hpp"
#include "pmi_pieces.hpp"
#include "process_mapping.hpp"
#include "rendezvous_table.hpp"

namespace weft {
namespace {

/// So many processes get each other's values one by one. More of them go by groups, which costs another barrier, and
/// for which a process asks for some hundred bytes of every other process and not for a value of each.
constexpr int most_without_groups = 32;

constexpr std::chrono::seconds finalize_limit{5};

/// Processes 0 to width - 1 are group 0, the next group 1, ...; the first of a group joins what all of it have put:
///
///   0 1 2 3 | 4 5 6 7 | 8 9        put their own, barrier
///   0         4         8          get those of their group, put them together, barrier
///   0 1 2 3   4 5 6 7   8 9        get those of every group
class pmi_store final : public exchanged_store {
 public:
  pmi_store(std::unique_ptr<pmi_client> manager, const pmi_environment& started)
      : manager_(std::move(manager)), process_(started.process), processes_(started.processes) {}

  ~pmi_store() override {
    if (!left_) manager_->abort_at_exit();
  }

  int process() const noexcept override { return process_; }
  int processes() const noexcept override { return processes_; }

  void leave() noexcept override {
    left_ = true;
    try {
      manager_->finalize(clock::now() + finalize_limit);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "weft: leaving the job: %s\n", failure.what());
    }
  }

 private:
  std::vector<bytes> exchange(std::span<const std::byte> mine, clock::time_point deadline) override;
  std::vector<bytes> exchange_by_groups(clock::time_point deadline);
  bytes record_of(int process, clock::time_point deadline);
  std::string key(const char* kind, int number) const;

  std::unique_ptr<pmi_client> manager_;
  int process_;
  int processes_;
  int round_ = 0;  ///< of the exchange: a key is put once
  bool left_ = false;
};

std::string pmi_store::key(const char* kind, int number) const {
  return "weft-" + std::to_string(round_) + kind + std::to_string(number);
}

store::bytes pmi_store::record_of(int process, clock::time_point deadline) {
  return get_pieces(*manager_, key("p", process), deadline);
}

std::vector<store::bytes> pmi_store::exchange(std::span<const std::byte> mine, clock::time_point deadline) {
  ++round_;
  put_pieces(*manager_, key("p", process_), mine, deadline);
  manager_->barrier(deadline);
  if (processes_ > most_without_groups) return exchange_by_groups(deadline);
  std::vector<bytes> all;
  for (int p = 0; p < processes_; ++p)
    all.push_back(p == process_ ? bytes(mine.begin(), mine.end()) : record_of(p, deadline));
  return all;
}

std::vector<store::bytes> pmi_store::exchange_by_groups(clock::time_point deadline) {
  const int width = static_cast<int>(std::ceil(std::sqrt(processes_)));
  if (process_ % width == 0) {
    bytes together;
    for (int p = process_; p < std::min(process_ + width, processes_); ++p) {
      const bytes record = record_of(p, deadline);
      append(together, static_cast<std::uint32_t>(record.size()));
      append(together, record);
    }
    put_pieces(*manager_, key("g", process_ / width), together, deadline);
  }
  manager_->barrier(deadline);
  std::vector<bytes> all;
  for (int first = 0; first < processes_; first += width) {
    const bytes together = get_pieces(*manager_, key("g", first / width), deadline);
    for (bytes& record : unpack(together, std::min(width, processes_ - first))) all.push_back(std::move(record));
  }
  return all;
}

}  // namespace

std::optional<node_place> place_by(pmi_client& manager, const pmi_environment& started,
                                   pmi_client::time_point deadline) {
  const std::string mapping = manager.find("PMI_process_mapping", deadline).value_or("");
  if (!mapping.starts_with("(vector")) return std::nullopt;  // none, or of another kind
  return place_among(read_process_mapping(mapping, started.processes), started.process);
}

met_job connect_pmi_store(const pmi_environment& started, store::clock::time_point deadline) try {
  auto manager = connect_pmi(started, deadline);
  const auto place = place_by(*manager, started, deadline);
  return {std::make_unique<pmi_store>(std::move(manager), started), place};
} catch (const error& failure) {
  if (failure.code() != errc::timed_out) throw;
  throw error(errc::no_rendezvous, failure.what());
}

}  // namespace weft
