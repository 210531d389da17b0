// SPDX-License-Identifier: Apache-2.0
// Processes that join a job by the PMI of a server under test, and what they say of it.
#pragma once

#include <atomic>
#include <random>
#include <weft/runtime/launch.hpp>

#include "catch.hpp"
#include "runtime/pmi_server.hpp"
#include "runtime/served_store.hpp"

namespace weft_test {

inline weft::environment variables_of(const weft::pmi_environment& started) {
  return [descriptor = std::to_string(started.descriptor), process = std::to_string(started.process),
          processes = std::to_string(started.processes)](const char* name) -> const char* {
    const std::string variable = name;
    if (variable == "PMI_FD") return descriptor.c_str();
    if (variable == "PMI_RANK") return process.c_str();
    return variable == "PMI_SIZE" ? processes.c_str() : nullptr;
  };
}

/// A message of PMI-2 as hydra writes it.
inline std::string framed(const std::string& body) {
  const std::string length = std::to_string(body.size());
  return std::string(6 - length.size(), ' ') + length + body;
}

/// Joins all processes of a server, each in a thread, and calls `body` with what each has joined; how many were right.
template <typename Body>
int join_all_by_pmi(const pmi_server& server, int processes, Body body) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int p = 0; p < processes; ++p)
    threads.emplace_back([&, p] {
      try {
        weft::joined_job job = weft::join_job(soon(), variables_of(server.started(p)));
        if (body(job)) ++right;
        job.rendezvous->leave();
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "process %d: %s\n", p, failure.what());
      }
    });
  for (auto& thread : threads) thread.join();
  return right;
}

/// Whether a gather and the puts before it come back whole, of every length that a random draw has.
inline bool gathers_whole(weft::store& store, unsigned seed) {
  const auto record = [&](int process) {
    std::mt19937 random(seed + static_cast<unsigned>(process));
    bytes content(random() % 5000);
    for (std::byte& each : content) each = static_cast<std::byte>(random());
    return content;
  };
  store.put("of " + std::to_string(store.process()), from_text("a value; with =\n everything\0"));
  const auto records = store.gather("records", record(store.process()), soon());
  for (int p = 0; p < store.processes(); ++p)
    if (records[static_cast<std::size_t>(p)] != record(p) ||
        to_text(store.get("of " + std::to_string(p), soon())) != "a value; with =\n everything\0")
      return false;
  return true;
}

/// What process 0 of 2 says of a launcher that answers so; the other one joins as it can.
inline std::string complaint(pmi_twist twist, weft::errc expected, std::string close_on = "",
                             std::chrono::milliseconds limit = 60s, pmi_version version = pmi_version::one) {
  pmi_server server(2, std::move(twist), 1024, std::move(close_on), version);
  std::thread other([&] {
    error_of(
        [&] { weft::join_job(weft::store::clock::now() + std::min(limit, 2000ms), variables_of(server.started(1))); },
        expected);
  });
  const std::string text =
      error_of([&] { weft::join_job(weft::store::clock::now() + limit, variables_of(server.started(0))); }, expected);
  other.join();
  CHECK_THAT(text, ContainsSubstring("process 0 of 2") && ContainsSubstring("weft run -n 2"));
  return text;
}

/// A launcher that answers requests that begin with `command` by `text`.
inline pmi_twist says(const std::string& command, const std::string& text) {
  return [=](int, const std::string& request, const std::string& answer) {
    return request.starts_with("cmd=" + command) ? text : answer;
  };
}

}  // namespace weft_test
