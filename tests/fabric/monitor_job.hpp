// SPDX-License-Identifier: Apache-2.0
// A job of monitors in this process, and what each of them has reported.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/monitor.hpp>

namespace weft_test {

inline const std::string secret_of_the_job = "known to the job alone";

/// What one monitor has reported.
class witness {
 public:
  weft::fabric::monitor_events events() {
    return {
        .lost = [this](int process, const std::string& reason) { note([&] { lost_.emplace_back(process, reason); }); },
        .left = [this](int process) { note([&] { left_.push_back(process); }); },
        .note =
            [this](int origin, std::span<const std::byte> bytes) {
              note([&] { notes_[origin].emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size()); });
            },
        .rung = [this] { note([&] { ++rings_; }); }};
  }

  std::vector<std::pair<int, std::string>> lost() const { return locked(lost_); }
  std::vector<int> left() const { return locked(left_); }
  std::map<int, std::vector<std::string>> notes() const { return locked(notes_); }
  int rings() const { return locked(rings_); }

  std::set<int> lost_processes() const {
    std::set<int> result;
    for (const auto& [process, reason] : lost()) result.insert(process);
    return result;
  }

  std::string reason(int process) const {
    for (const auto& [lost, reason] : lost())
      if (lost == process) return reason;
    return {};
  }

  /// Waits until `done()`, which is asked after every report.
  template <class Predicate>
  bool wait_until(Predicate done, std::chrono::milliseconds most = std::chrono::seconds(20)) const {
    const auto deadline = std::chrono::steady_clock::now() + most;
    std::unique_lock lock(mutex_);
    for (auto seen = reports_;; seen = reports_) {
      lock.unlock();
      const bool satisfied = done();
      lock.lock();
      if (satisfied) return true;
      if (reports_ == seen && changed_.wait_until(lock, deadline) == std::cv_status::timeout) return false;
    }
  }

 private:
  void note(const std::function<void()>& change) {
    const std::lock_guard lock(mutex_);
    change();
    ++reports_;
    changed_.notify_all();
  }

  template <class T>
  T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  long reports_ = 0;
  int rings_ = 0;
  std::vector<std::pair<int, std::string>> lost_;
  std::vector<int> left_;
  std::map<int, std::vector<std::string>> notes_;
};

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Monitors 0 .. processes - 1, started unless told otherwise.
class monitor_job {
 public:
  static constexpr std::uint64_t number = 7;

  explicit monitor_job(int processes, weft::fabric::monitor_options options = {}, bool started = true) {
    for (int i = 0; i < processes; ++i) {
      witnesses.push_back(std::make_unique<witness>());
      monitors.push_back(std::make_unique<weft::fabric::monitor>(options));
      records.push_back(weft::fabric::local_record());
      records.back().control = monitors.back()->control_address();
    }
    if (started)
      for (int i = 0; i < processes; ++i) start(i);
  }

  ~monitor_job() {
    monitors.clear();  // before the witnesses
  }

  void start(int process, const std::string& secret = secret_of_the_job) {
    at(process).start(process, records, number, bytes_of(secret), seen_by(process).events());
  }

  int size() const { return static_cast<int>(monitors.size()); }
  weft::fabric::monitor& at(int process) { return *monitors[static_cast<std::size_t>(process)]; }
  witness& seen_by(int process) { return *witnesses[static_cast<std::size_t>(process)]; }
  bool running(int process) const { return monitors[static_cast<std::size_t>(process)] != nullptr; }

  /// As a crash looks to the others.
  void kill(int process) { monitors[static_cast<std::size_t>(process)].reset(); }

  /// Waits until every connection stands: then a note of each has reached each.
  bool settle() {
    for (int i = 0; i < size(); ++i) at(i).flood(bytes_of("settled"));
    return every_survivor(
        [this](int process) { return static_cast<int>(seen_by(process).notes().size()) == size() - 1; });
  }

  template <class Predicate>
  bool every_survivor(Predicate done) {
    for (int i = 0; i < size(); ++i)
      if (running(i) && !seen_by(i).wait_until([&] { return done(i); })) return false;
    return true;
  }

  std::vector<std::unique_ptr<witness>> witnesses;
  std::vector<std::unique_ptr<weft::fabric::monitor>> monitors;
  std::vector<weft::fabric::process_record> records;
};

}  // namespace weft_test
