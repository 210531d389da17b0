// SPDX-License-Identifier: Apache-2.0
// The messengers of a whole job in one process, over a loopback network.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <weft/fabric/loopback.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/error.hpp>

#include "fabric/breakable_link.hpp"
#include "fabric/collecting_receiver.hpp"
#include "fabric/node_links.hpp"
#include "fabric/watched_transport.hpp"

namespace weft_test {

namespace fabric = weft::fabric;

/// Code and text of a failure.
struct described_failure {
  std::error_code code;
  std::string text;
};
inline described_failure describe(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const weft::error& e) {
    return {e.code(), e.what()};
  } catch (const std::exception& e) {
    return {{}, std::string("not a weft::error: ") + e.what()};
  }
}

/// A send of memory of its own, which is freed as soon as it has finished.
struct test_send final : fabric::send_operation {
  test_send(fabric::participant& from, int to, std::uint64_t its_tag, const weft_test::bytes& message,
            bool in_collective = false, std::uint64_t its_fingerprint = 0)
      : memory(std::make_unique<std::byte[]>(message.size())) {
    at = &from;
    peer = to;
    tag = its_tag;
    collective = in_collective;
    fingerprint = its_fingerprint;
    fabric::operation::bytes = message.size();
    if (!message.empty()) std::memcpy(memory.get(), message.data(), message.size());
    data = memory.get();
  }
  void finished() noexcept override {
    const allocations_that_succeed unharmed;
    memory.reset();
    ++endings;
    done.store(true, std::memory_order_release);  // pairs with whoever waits for it
  }
  std::unique_ptr<std::byte[]> memory;
  int endings = 0;
  std::atomic<bool> done{false};
};

/// A receive into memory of its own, of exactly its capacity: copied out when it finishes, then freed.
struct test_receive final : fabric::receive_operation {
  test_receive(fabric::participant& to, int from, std::uint64_t its_tag, std::size_t capacity,
               bool in_collective = false, std::uint64_t its_fingerprint = 0)
      : memory(std::make_unique<std::byte[]>(capacity)) {
    at = &to;
    peer = from;
    tag = its_tag;
    collective = in_collective;
    fingerprint = its_fingerprint;
    fabric::operation::bytes = capacity;
    data = memory.get();
  }
  void finished() noexcept override {
    const allocations_that_succeed unharmed;
    if (failure == nullptr) message.assign(memory.get(), memory.get() + received);
    memory.reset();
    ++endings;
    done.store(true, std::memory_order_release);  // pairs with whoever waits for it
  }
  std::unique_ptr<std::byte[]> memory;
  weft_test::bytes message;
  int endings = 0;
  std::atomic<bool> done{false};
};

struct job_shape {
  int processes = 2;
  int ranks_each = 1;
  fabric::messenger_settings settings = {};
  fabric::loopback_options network = {};
  bool on_node = false;  ///< the processes share memory
  bool reads = true;     ///< and may read each other's
  int links = 1;         ///< side by side between them
};

/// Limits that a few kilobytes reach.
inline job_shape small_shape(int processes, int ranks_each = 1) {
  job_shape shape;
  shape.processes = processes;
  shape.ranks_each = ranks_each;
  shape.settings.eager_limit = 256;
  shape.settings.credit = 4096;
  shape.settings.unexpected_limit = 8192;
  shape.settings.send_buffer_limit = 16384;
  shape.settings.piece = 1024;
  shape.settings.window = 4096;
  return shape;
}

template <class... Operation>
bool all_done(const Operation&... each) {
  return (each.done && ...);
}

/// A message's name in errors, for tests that break fingerprints.
inline std::string describe_fingerprint(std::uint64_t fingerprint) {
  return "call number " + std::to_string(fingerprint);
}

class messenger_job {
 public:
  explicit messenger_job(const job_shape& shape)
      : shape_(shape), network_(shape.processes, shape.network), counts_(static_cast<std::size_t>(shape.processes)) {
    std::vector<fabric::address> addresses;
    auto endpoints = endpoints_of(shape);
    for (int index = 0; index < shape.processes; ++index) {
      auto watched =
          std::make_unique<watched_transport>(std::move(endpoints[static_cast<std::size_t>(index)]),
                                              counts_[static_cast<std::size_t>(index)], shape.settings.eager_limit);
      addresses.push_back(watched->local_address());
      links_.push_back(watched.get());
      fabric::messenger_settings mine = shape.settings;
      mine.job = 4711;
      mine.process = index;
      mine.describe = describe_fingerprint;
      for (int other = 0; other < shape.processes; ++other) {
        mine.first_rank.push_back(other * shape.ranks_each);
        mine.incarnations.push_back(static_cast<std::uint16_t>(other + 1));
      }
      mine.suspected = [this, index](int process, const std::string& why) {
        const allocations_that_succeed unharmed;
        suspicions.push_back({index, process, why});
      };
      mine.broadcast = [this, index](std::span<const std::byte> note) {
        const allocations_that_succeed unharmed;
        for (int other = 0; other < processes(); ++other)
          if (other != index) notes_.push_back({other, {note.begin(), note.end()}});
      };
      messengers_.push_back(std::make_unique<fabric::messenger>(std::move(watched), std::move(mine)));
    }
    connect(addresses);
    if (shape.links > 1) keep_links();
  }

  int processes() const { return shape_.processes; }
  int ranks() const { return shape_.processes * shape_.ranks_each; }
  int process_of(int rank) const { return rank / shape_.ranks_each; }
  fabric::messenger& operator[](int process) { return *messengers_[static_cast<std::size_t>(process)]; }
  fabric::messenger& of_rank(int rank) { return (*this)[process_of(rank)]; }
  watched_transport& link(int process) { return *links_[static_cast<std::size_t>(process)]; }
  fabric::loopback_network& network() { return network_; }

  /// What processes have said of others, to be told to everybody.
  struct suspicion {
    int by, process;
    std::string why;
  };
  std::vector<suspicion> suspicions;

  /// Operations that may be in flight when the job ends.
  std::deque<test_send> sends;
  std::deque<test_receive> receives;

  const traffic_counts& counts(int process) const { return counts_[static_cast<std::size_t>(process)]; }
  traffic_counts total() const {
    traffic_counts sum;
    for (const traffic_counts& each : counts_) sum.add(each);
    return sum;
  }

  /// A communicator of these ranks of the world, all joined. The job owns them.
  std::vector<fabric::participant*> communicator(std::uint64_t id, const std::vector<int>& world) {
    auto group = std::make_shared<fabric::group>();
    group->communicator = id;
    for (const int rank : world) {
      group->world.push_back(rank);
      group->process.push_back(process_of(rank));
    }
    std::vector<fabric::participant*> members;
    for (int i = 0; i < group->size(); ++i) {
      members.push_back(&participants_.emplace_back(group, i));
      if (alive(process_of(world[static_cast<std::size_t>(i)])))
        of_rank(world[static_cast<std::size_t>(i)]).join(*members.back());
    }
    return members;
  }
  std::vector<fabric::participant*> world(std::uint64_t id = 1) {
    std::vector<int> all;
    for (int i = 0; i < ranks(); ++i) all.push_back(i);
    return communicator(id, all);
  }

  bool alive(int process) const {
    return messengers_[static_cast<std::size_t>(process)] != nullptr &&
           !links_[static_cast<std::size_t>(process)]->frozen;
  }
  void poll() {
    if (!hold_notes) deliver_notes();
    for (int i = 0; i < processes(); ++i)
      if (alive(i)) (*this)[i].poll();
  }
  /// Hands over what processes have broadcast since the last call.
  void deliver_notes() {
    for (const note& each : std::exchange(notes_, {}))
      if (alive(each.to)) (*this)[each.to].take_note(each.contents);
  }
  bool hold_notes = false;  ///< polls do not do that by themselves
  template <class Condition>
  void poll_until(Condition condition, const char* what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    for (poll(); !condition(); poll())  // yields nothing: there is no other thread to wait for
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error(std::string("waited in vain for ") + what);
  }
  /// Polls until nothing has happened for a while.
  void settle() {
    for (int quiet = 0; quiet < 60; ++quiet) {
      if (!hold_notes) deliver_notes();
      for (int i = 0; i < processes(); ++i)
        if (alive(i) && (*this)[i].poll()) quiet = 0;
    }
  }

  /// An interface of the process goes down.
  void break_link(int process, int link) { broken_.insert({process, link}); }

  /// The process dies as by SIGKILL; nobody is told.
  void kill(int process) {
    network_.kill(process);
    link(process).frozen = true;
  }
  void destroy(int process) { messengers_[static_cast<std::size_t>(process)].reset(); }

 private:
  std::vector<std::unique_ptr<fabric::transport>> endpoints_of(const job_shape& shape) {
    std::vector<std::unique_ptr<fabric::transport>> endpoints;
    for (int index = 0; index < shape.processes; ++index) endpoints.push_back(network_.endpoint(index));
    for (int link = 1; link < shape.links; ++link) more_networks_.emplace_back(shape.processes, shape.network);
    for (int index = 0; shape.links > 1 && index < shape.processes; ++index) {
      std::vector<std::unique_ptr<fabric::transport>> links;
      links.push_back(std::move(endpoints[static_cast<std::size_t>(index)]));
      for (fabric::loopback_network& each : more_networks_) links.push_back(each.endpoint(index));
      endpoints[static_cast<std::size_t>(index)] = joined(std::move(links), index, shape.processes, broken_);
    }
    return shape.on_node ? on_a_node(std::move(endpoints), shape.reads) : std::move(endpoints);
  }

  /// One thread connects them all: while one waits, the next starts.
  void connect(const std::vector<fabric::address>& addresses, int first = 0) {
    bool others = first + 1 == processes();
    (*this)[first].connect(addresses, weft::steady_clock_source().now() + std::chrono::seconds(60), [&] {
      if (!std::exchange(others, true)) connect(addresses, first + 1);
      poll();
    });
  }

  /// Those by which all have met: all of them.
  void keep_links() {
    const std::uint32_t all = (1u << shape_.links) - 1;
    poll_until(
        [&] {
          return std::ranges::all_of(messengers_, [&](const auto& each) { return each->links_in_contact() == all; });
        },
        "contact by all links");
    for (const auto& each : messengers_) each->keep_links(all);
  }

  struct note {
    int to;
    weft_test::bytes contents;
  };

  job_shape shape_;
  std::vector<note> notes_;
  broken_links broken_;
  fabric::loopback_network network_;
  std::deque<fabric::loopback_network> more_networks_;  // of the links but the first
  std::vector<traffic_counts> counts_;
  std::vector<watched_transport*> links_;
  std::deque<fabric::participant> participants_;
  std::vector<std::unique_ptr<fabric::messenger>> messengers_;
};

}  // namespace weft_test
