// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <weft/fabric/monitor.hpp>
#include <weft/runtime/error.hpp>

#include "bell.hpp"
#include "watch.hpp"

namespace weft::fabric {
namespace {

void refuse(const std::string& what) { throw error(errc::invalid_argument, "monitor: " + what); }

monitor_options checked(monitor_options options) {
  using namespace std::chrono_literals;
  if (options.peer_timeout < 10ms || options.heartbeat < 1ms)
    refuse("a peer timeout of " + std::to_string(options.peer_timeout.count()) + " ms and a heartbeat of " +
           std::to_string(options.heartbeat.count()) + " ms; at least 10 and 1 are needed");
  options.heartbeat = std::min(options.heartbeat, options.peer_timeout / 10);
  return options;
}

/// So many ports are tried until one is free for connections and for datagrams.
constexpr int most_ports = 100;

}  // namespace

monitor::monitor(monitor_options options) : options_(checked(std::move(options))), bell_(std::make_unique<bell>()) {
  for (int tried = 1;; ++tried) {
    listeners_.clear();
    control_address_ = local_address(listeners_.emplace_back(listen_on(options_.address)));
    if (bell_->hang(control_address_)) break;
    if (tried == most_ports) throw_system_error(EADDRINUSE, "bind", "the bell at " + control_address_);
  }
  for (const std::string& each : options_.more_addresses)
    control_address_ += " " + local_address(listeners_.emplace_back(listen_on(each)));
}

monitor::~monitor() = default;

const std::string& monitor::control_address() const noexcept { return control_address_; }

void monitor::start(int process, std::vector<process_record> all, std::uint64_t job, std::span<const std::byte> secret,
                    monitor_events events) {
  if (watch_) refuse("start is called a second time");
  if (process < 0 || static_cast<std::size_t>(process) >= all.size())
    refuse("process " + std::to_string(process) + " of " + std::to_string(all.size()));
  if (secret.empty()) refuse("the job's secret is empty");
  bell_->meet(all);
  watch_ = std::make_unique<watch>(
      options_, std::move(listeners_), *bell_,
      watch_setup{process, std::move(all), job, {secret.begin(), secret.end()}, std::move(events)});
}

watch& monitor::started() const {
  if (!watch_) refuse("not started");
  return *watch_;
}

const job_news& monitor::news_about(int process) const {
  const job_news& news = started().news();
  if (process < 0 || process >= news.processes())
    refuse("process " + std::to_string(process) + " of " + std::to_string(news.processes()));
  return news;
}

void monitor::all_joined() noexcept { watch_->all_joined(); }

bool monitor::lost(int process) const { return news_about(process).lost(process); }
bool monitor::left(int process) const { return news_about(process).left(process); }
std::string monitor::reason(int process) const { return news_about(process).reason(process); }

bool monitor::ended(int process) const {
  news_about(process);
  return started().has_ended(process);
}

void monitor::flood(std::span<const std::byte> note) {
  if (note.size() > maximum_note)
    refuse("a note of " + std::to_string(note.size()) + " bytes; at most " + std::to_string(maximum_note) + " travel");
  started().flood(note);
}

void monitor::ring(int process) const noexcept { bell_->ring(process); }
void monitor::listen() const noexcept { watch_->listen(); }

void monitor::leave() { started().end(watch::request::leave); }

void monitor::stop() noexcept {
  if (watch_) watch_->end(watch::request::stop);
}

}  // namespace weft::fabric
