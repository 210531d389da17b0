// SPDX-License-Identifier: Apache-2.0
// What the ranks of a simulated job see of it.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <vector>
#include <weft/fabric/messenger.hpp>

#include "fabric/failing_allocation.hpp"
#include "fabric/simulation/simulated_operations.hpp"
#include "fabric/simulation/simulation_plan.hpp"

namespace weft_test {

class simulated_rank;

/// What came to pass in some simulations.
struct simulation_counts {
  std::size_t jobs = 0, messages = 0, failures = 0, deaths = 0, false_losses = 0, agreements = 0, revokes = 0;
  std::size_t jumps = 0, divided = 0, given_up = 0, memory_failures = 0, steps = 0, refused = 0, left_errors = 0;
};

class simulated_world {
 public:
  virtual const simulation_plan& plan() const = 0;
  virtual const std::vector<planned_transfer>& transfers(std::size_t step, const weft::fabric::group& among) = 0;
  virtual weft::fabric::messenger& of_rank(int rank) = 0;
  virtual bool is_dead(int process) const = 0;
  virtual bool is_lost(int process) const = 0;
  virtual std::int64_t now() const = 0;
  virtual void wrong(const std::string& what) = 0;
  virtual void say(const std::string& what) = 0;
  virtual bool traced() const = 0;
  /// Runs it as the code under test of the rank's process.
  template <class Function>
  void in_process_of(int rank, Function function) {
    if (plan().process_of(rank) != plan().short_process) return function();
    const allocations_that_may_fail harmed;
    function();
  }

  /// A message that is sent now.
  struct message {
    std::uint64_t communicator = 0;
    std::size_t step = 0, which = 0;
    int from = 0, to = 0;
    std::uint64_t tag = 0;
    std::size_t bytes = 0;
    bool collective = false;
    std::size_t posted = 0;          ///< its place among all posts; 0: not yet
    std::size_t receive = SIZE_MAX;  ///< which has got it
  };
  virtual std::size_t message_number(const weft::fabric::group& among, std::size_t step, std::size_t which) = 0;
  virtual std::vector<std::byte> contents(std::size_t number) const = 0;
  virtual simulated_send& new_send(simulated_rank& of, int slot, std::size_t message) = 0;
  virtual simulated_receive& new_receive(simulated_rank& of, int slot, std::size_t capacity) = 0;
  virtual void check_received(simulated_receive& got) = 0;
  virtual void check_failure(const simulated_rank& rank, const weft::fabric::group& in,
                             const std::exception_ptr& failure) = 0;
  virtual void check_answer(const simulated_rank& rank, const simulated_agreement& call) = 0;
  virtual void note_call(const simulated_rank& rank, const weft::fabric::group& in, std::uint32_t number) = 0;
  virtual void agreement_begins() = 0;

  /// What has happened in a communicator that explains failures.
  struct events {
    bool revoked = false;
    bool abandoned = false;                         ///< somebody has left it, or did not get it, or waits in vain
    std::set<int> left_in;                          ///< processes of which a rank has left it, or did not get it
    std::set<int> broken_on;                        ///< ranks of the world that have failed there alone
    std::map<std::uint32_t, std::set<int>> called;  ///< by number of the agreement, the ranks
    std::map<std::uint32_t, std::vector<std::byte>> answers;
  };
  events& of(std::uint64_t communicator) { return events_[communicator]; }
  simulation_counts counts;

 protected:
  simulated_world() = default;
  ~simulated_world() = default;

  std::map<std::uint64_t, events> events_;
};

}  // namespace weft_test
