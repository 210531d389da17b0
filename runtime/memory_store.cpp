// SPDX-License-Identifier: Apache-2.0
// The store of simulated processes: one table in this process's memory.
#include <condition_variable>
#include <mutex>
#include <weft/runtime/error.hpp>
#include <weft/runtime/store.hpp>

#include "rendezvous_table.hpp"

namespace weft {
namespace {

struct shared_table {
  explicit shared_table(int processes) : table(processes) {}
  std::mutex mutex;
  std::condition_variable changed;
  rendezvous_table table;  // under `mutex`
};

class memory_store final : public store {
 public:
  memory_store(std::shared_ptr<shared_table> shared, int process)
      : shared_(std::move(shared)), process_(process), processes_(shared_->table.processes()) {}

  int process() const noexcept override { return process_; }
  int processes() const noexcept override { return processes_; }

  void put(std::string_view key, std::span<const std::byte> value) override {
    check_sizes(key, value.size());
    const std::lock_guard lock(shared_->mutex);
    shared_->table.put(key, bytes(value.begin(), value.end()));
    shared_->changed.notify_all();
  }

  bytes get(std::string_view key, clock::time_point deadline) override {
    check_sizes(key, 0);
    std::unique_lock lock(shared_->mutex);
    return *answer_to({rendezvous_table::wait::kind::value, std::string(key)}, lock, deadline);
  }

  std::optional<bytes> find(std::string_view key) override {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->table.find(key);
    return found ? std::optional<bytes>(*found) : std::nullopt;
  }

  void fence(clock::time_point deadline) override {
    std::unique_lock lock(shared_->mutex);
    const auto wait = shared_->table.arrive(process_);
    shared_->changed.notify_all();
    answer_to(wait, lock, deadline);
  }

  std::vector<bytes> gather(std::string_view key, std::span<const std::byte> mine,
                            clock::time_point deadline) override {
    check_sizes(key, mine.size());
    std::unique_lock lock(shared_->mutex);
    const auto wait = shared_->table.contribute(process_, key, bytes(mine.begin(), mine.end()));
    shared_->changed.notify_all();
    return unpack(*answer_to(wait, lock, deadline), processes_);
  }

 private:
  rendezvous_table::answer answer_to(const rendezvous_table::wait& wait, std::unique_lock<std::mutex>& lock,
                                     clock::time_point deadline) {
    rendezvous_table::answer answer;
    const auto answered = [&] { return (answer = shared_->table.answer_to(wait)) != nullptr; };
    if (!shared_->changed.wait_until(lock, deadline, answered)) throw_timed_out(wait, process_);
    return answer;
  }

  std::shared_ptr<shared_table> shared_;
  int process_;
  int processes_;
};

}  // namespace

std::vector<std::unique_ptr<store>> memory_stores(int processes) {
  const auto shared = std::make_shared<shared_table>(processes);
  std::vector<std::unique_ptr<store>> views;
  for (int process = 0; process < processes; ++process)
    views.push_back(std::make_unique<memory_store>(shared, process));
  return views;
}

}  // namespace weft
