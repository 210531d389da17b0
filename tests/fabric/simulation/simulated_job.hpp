// SPDX-License-Identifier: Apache-2.0
// A whole job in one thread: the messengers of its processes on a simulated network, by a simulated clock, in the order
// of a simulated scheduler; its ranks, what befalls them, and whether all that they see is as it must be.
//
//   plan --steps--> ranks --operations--> messengers --frames--> links --> loopback network
//                   scheduler: which process goes on, what is told to whom and when, who dies
//
// All of it is drawn from one seed, so a run can be repeated.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/clock.hpp>

#include "fabric/simulation/simulated_link.hpp"
#include "fabric/simulation/simulated_operations.hpp"
#include "fabric/simulation/simulated_rank.hpp"
#include "fabric/simulation/simulated_world.hpp"
#include "fabric/simulation/simulation_plan.hpp"

namespace weft_test {

class simulated_job final : public simulated_world {
 public:
  /// `traced`: prints what happens.
  simulated_job(std::uint64_t seed, bool traced);
  ~simulated_job();

  void run();
  /// What went wrong first; empty: nothing.
  const std::string& fault() const { return fault_; }
  void add_to(simulation_counts& sum) const;

  const simulation_plan& plan() const override { return plan_; }
  const std::vector<planned_transfer>& transfers(std::size_t step, const weft::fabric::group& among) override;
  weft::fabric::messenger& of_rank(int rank) override { return *messengers_[index(plan_.process_of(rank))]; }
  bool is_dead(int process) const override { return links_[index(process)]->dead(); }
  bool is_lost(int process) const override { return is_dead(process) || declared_[index(process)]; }
  std::int64_t now() const override { return time_.now().time_since_epoch().count(); }
  void wrong(const std::string& what) override;
  void say(const std::string& what) override;
  bool traced() const override { return traced_; }
  std::size_t message_number(const weft::fabric::group& among, std::size_t step, std::size_t which) override;
  std::vector<std::byte> contents(std::size_t number) const override;
  simulated_send& new_send(simulated_rank& of, int slot, std::size_t message) override;
  simulated_receive& new_receive(simulated_rank& of, int slot, std::size_t capacity) override;
  void check_received(simulated_receive& got) override;
  void check_failure(const simulated_rank& rank, const weft::fabric::group& in,
                     const std::exception_ptr& failure) override;
  void check_answer(const simulated_rank& rank, const simulated_agreement& call) override;
  void note_call(const simulated_rank& rank, const weft::fabric::group& in, std::uint32_t number) override;
  void agreement_begins() override;

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  void make_messengers();
  void connect(const std::vector<weft::fabric::address>& addresses, int first);
  bool poll(int process);
  bool act(int process);
  bool go_on(int process);
  void pass_time();
  int pick();
  bool is_finished() const;
  bool can_suspect(int by, int process) const;

  // What befalls it.
  void trigger_faults();
  int living_process();
  void kill(int process, std::size_t posts);
  void notice_deaths();
  void declare(int process);
  void broadcast(int by, std::span<const std::byte> note);
  void cut_notes(int of);
  bool tell();
  void suspected(int by, int process, const std::string& why);
  bool jump();
  bool give_up_any_source();
  std::string pending() const;

  // When all is over.
  void drain();
  void check_order();
  void check_endings();

  struct note {
    int by = 0;
    std::vector<std::byte> contents;
    bool heard = false;  ///< by anybody: then it reaches all
    bool dropped = false;
  };
  struct event {
    enum kind : std::uint8_t { take_note, lose, vanish } what = lose;
    int to = 0;
    int process = 0;        ///< lost, or the note's origin
    std::size_t which = 0;  ///< note
  };

  const std::uint64_t seed_;
  const bool traced_;
  draws random_;
  const simulation_plan plan_;
  weft::manual_clock time_;
  std::string fault_;

  std::deque<simulated_send> sends_;
  std::deque<simulated_receive> receives_;
  std::vector<message> messages_;
  std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> first_message_;  ///< by communicator and step
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<planned_transfer>> transfers_;

  weft::fabric::loopback_network network_;
  std::vector<simulated_link*> links_;
  std::deque<simulated_rank> ranks_;
  std::vector<std::unique_ptr<weft::fabric::messenger>> messengers_;

  std::vector<bool> declared_;  ///< lost, though they may live
  std::vector<bool> outcast_;   ///< lost, and takes others for lost
  std::vector<bool> noticed_;   ///< dead, and the others are being told
  std::vector<std::int64_t> stopped_until_;
  std::vector<std::size_t> reluctance_;
  std::deque<note> notes_;
  std::multimap<std::int64_t, event> to_come_;
  std::map<std::pair<int, int>, std::int64_t> last_note_;  ///< when the latest is told, by origin and receiver
  std::int64_t pace_ = 1;                                  ///< time between two steps, at most, nanoseconds
  std::int64_t delay_ = 1;                                 ///< scale of what is told, nanoseconds
  std::size_t next_death_ = 0, next_false_loss_ = 0;
  std::size_t posted_ = 0;
  std::size_t idle_ = 0, jumps_in_a_row_ = 0;
};

}  // namespace weft_test
