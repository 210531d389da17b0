// SPDX-License-Identifier: Apache-2.0
// A process of a job: its connections to the others, and the ranks that it hosts.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <weft/choice/tuning.hpp>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/arena_boards.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/fabric/monitor.hpp>
#include <weft/fabric/node_transport.hpp>
#include <weft/process/membership.hpp>
#include <weft/process/roll_call.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/memory_budget.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/trace.hpp>
#include <weft/schedules/selection.hpp>
#include <weft/statistics.hpp>
#include <weft/topology/network_place.hpp>
#include <weft/topology/switches_above.hpp>

namespace weft::detail {

class job_trace;
class node_memory;
class started_calls;
enum class note_kind : std::uint8_t;

/// What the objects of a rank's communicator are counted as, bytes: no more once it has been used (job-memory-taken).
inline constexpr std::size_t objects_of_communicator = 64 << 10;

/// Joins the job in its constructor, which blocks until every process has; see weft::runtime.
class process {
 public:
  explicit process(membership member);
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  /// Without `leave` the others are told of a loss.
  ~process();

  /// Waits for every other process to get here, and says goodbye. Blocks. Before that what was recorded is written.
  void leave() noexcept;
  /// Ends all that connects it to the others without a word, so that they see a loss and not, first, what a process
  /// says that frees its communicators one by one.
  void abandon() noexcept;

  const options& settings() const noexcept { return settings_; }
  /// What is taken here is counted there: by all that is of unbounded number or length. Not null.
  const std::shared_ptr<memory_budget>& budget() const noexcept { return budget_; }
  const schedules::selection_parameters& selection() const noexcept { return selection_; }
  /// The costs that the job goes by; null where it chooses by length. The same on every process.
  const tuning* measured() const noexcept { return measured_ ? &*measured_ : nullptr; }
  fabric::messenger& messages() noexcept { return *messages_; }
  /// Whether calls that are made often try what is near the choice (candidate_trial.hpp). The same on every process.
  /// Not in the checked mode: all its calls wait for the others before they begin.
  bool tunes_online() const noexcept { return measured_ && settings_.tune == "online" && !settings_.check; }
  /// Whether calls by an algorithm that goes by when ranks come find that out.
  bool watches_arrivals() const noexcept { return measured_ && settings_.tunes_at_start() && !settings_.check; }
  progress& moved_by() noexcept { return *progress_; }
  started_calls& calls() noexcept { return *calls_; }
  roll_call& roll() noexcept { return *roll_; }
  /// What the ranks here do is recorded by it; null: it is not.
  trace::recorder* records() const noexcept { return records_; }
  /// It has joined: what it has done for that is not counted any more. Before any other thread knows of this.
  void begin_counting() noexcept { before_ = counts_in_all(); }
  /// What it has done since. Any thread.
  statistics counts() const noexcept;

  /// What the communicator of a rank here has failed with. Any thread.
  std::exception_ptr failure_of(const fabric::participant& member);
  /// Fails it because something but the caller's operator has failed in a collective of that rank, which is in flight:
  /// without its part the others' would wait for ever. What the collective ends with. Any thread.
  std::exception_ptr break_communicator(const fabric::participant& member) noexcept;

  /// All ranks of the job, the spare ones last, and those of them that live here.
  const std::shared_ptr<const fabric::group>& everyone() const noexcept { return everyone_; }
  bool is_spare(int rank) const noexcept { return rank >= everyone_->size() - settings_.spares; }
  int first_rank() const noexcept { return first_rank_; }
  int local_ranks() const noexcept { return local_ranks_; }
  /// Bytes of plans that each of those keeps for each communicator: its part of what the process may, or enough for a
  /// few short ones.
  std::size_t plan_bytes() const noexcept {
    constexpr std::size_t few_plans = 1 << 20;
    const auto ranks = static_cast<std::size_t>(local_ranks_);
    return std::max(settings_.plan_cache / ranks, std::min(settings_.plan_cache, few_plans));
  }
  /// The threads that these run on, and what each is bound to (empty: to nothing).
  int workers() const noexcept { return workers_; }
  const std::vector<topology::cpu_set>& worker_cpus() const noexcept { return worker_cpus_; }
  /// The processes of the job, and which of them this is.
  int processes() const noexcept { return messages_->processes(); }
  int number() const noexcept { return messages_->process(); }
  /// Of each process of the job: a number that those of its node have, too.
  const std::vector<int>& nodes() const noexcept { return nodes_; }
  /// Of each process of the job: whether those of its node can read its memory. The same on every process.
  const std::vector<bool>& reading() const noexcept { return reading_; }
  /// Of each process of the job: where it is on the network; empty where nothing says that. The same on every process.
  const std::vector<topology::network_place>& places() const noexcept { return places_; }
  /// What of the network is between these.
  const topology::network& network() const noexcept { return network_; }
  /// The memory that the processes of this node share; null where they do not.
  const fabric::arena* arena() const noexcept { return arena_.get(); }
  /// What patterns cost in it: assumed where that was not measured, or processes share CPUs.
  const schedules::board_costs& board_costs() const noexcept;
  /// What was measured of it, the same in all processes. Before any other thread knows of this, where there are costs.
  void agree_on(const std::optional<schedules::board_costs>& costs) noexcept { measured_->machine.boards = costs; }
  /// This process's part of it, then; else null.
  fabric::arena_boards* boards() noexcept { return boards_.get(); }
  /// Whether a process of this node has ended for certain. False where that is not known.
  bool has_ended(int process) const { return monitor_ != nullptr && monitor_->ended(process); }
  /// Where the program's arrays lie that others of the node may use in place.
  const std::shared_ptr<node_memory>& memory() const noexcept { return memory_; }
  /// The machine that this process is on. Any thread; the first call may take some ten milliseconds.
  const topology::machine& machine();

 private:
  /// It has not joined the job.
  struct alone {};
  process(alone, membership& member);

  // process_connect.cpp: joining the job, in this order; each blocks until the deadline at the latest
  void connect(membership& member);
  /// Tells the others where this process is, and process 0 what holds for all; what they tell. Throws
  /// errc::incompatible for one that uses another provider.
  std::vector<fabric::process_record> exchange_records(const membership& member, int door, clock::time_point deadline);
  /// Where processes are on several nodes: by which interfaces each is reached (process_interfaces.cpp). Throws where
  /// one is not, or by a provider of one node.
  void settle_interfaces(std::vector<fabric::process_record>& records, clock::time_point deadline);
  void open_monitor();
  /// Where each is on the network, by the file of process 0 or by the switches that each knows of, if there is either
  /// (process_topology.cpp). What is wrong with the file is an error of every process.
  void settle_topology(std::span<const fabric::process_record> records, clock::time_point deadline);
  /// What process 0 reads in the file and tells all.
  std::vector<topology::machine_below> told_topology(std::span<const fabric::process_record> records,
                                                     clock::time_point deadline);
  std::string read_topology(std::span<const fabric::process_record> records) const;
  /// Throws errc::incompatible where process 0 sends longer messages without asking than arrive here.
  void take_agreed_options(std::size_t longest_eager, clock::time_point deadline);
  void number_ranks(std::span<const fabric::process_record> records);
  /// Shares memory with the other processes of this node, unless the option `node` forbids it; where they cannot, the
  /// first of them says why.
  void share_memory(const membership& member, std::span<const fabric::process_record> records,
                    const fabric::arena_door& door, clock::time_point deadline);
  /// Gives `roads` the node's memory, and the network where that does not reach all, which is then opened; by all
  /// processes or by none. The addresses of all endpoints, by process: empty where none is needed.
  std::vector<fabric::address> open_roads(membership& member, fabric::node_transport& roads,
                                          std::span<const fabric::process_record> records, clock::time_point deadline);
  /// Where there are several links between hosts: those by which all processes reach each other are used from now on
  /// (process_interfaces.cpp). Process 0 warns of others.
  void settle_links(clock::time_point deadline);
  /// Whether the processes of this node can read each other's memory.
  bool reads_on_node() const noexcept;
  /// Tells the other nodes whether the processes of this one do; the world's boards are those of who does. Blocks until
  /// the deadline at the latest.
  void tell_who_shares(clock::time_point deadline);
  /// Throws where a process was lost while the job started.
  void check_nobody_lost() const;
  fabric::messenger_settings messenger_settings_for(const membership& member,
                                                    std::span<const fabric::process_record> records);
  /// Agrees on the costs that the choice of algorithms goes by, where it does: measures them, or takes those of the
  /// file that process 0 was given.
  void agree_on_costs(clock::time_point deadline);
  void take_costs_of_file(clock::time_point deadline);

  /// Where the rendezvous knows of a loss, waits a moment until the monitors do: the others are to hear of it before
  /// they see the end of this process, which would look to them like the first loss.
  void let_loss_be_told() const;
  void watch(const membership& member, std::vector<fabric::process_record> records);
  /// Blocks until every other process has come to its end, or is lost: whoever left earlier could not answer those who
  /// take back what they granted it. Once one has left, all have come this far. A barrier over the network, and where a
  /// loss broke that, notes of the monitor.
  void await_all();
  void begin_trace(const membership& member);
  /// Throws errc::invalid_argument where the option memory-limit is less than a process needs.
  void limit_memory();
  void end_trace() noexcept;
  // By whoever polls:
  void tell_failed(std::span<const std::byte> note);
  void tell_lost(int gone, const std::string& why);
  // On the monitor's thread:
  void lose(int gone, const std::string& why);
  void take_note(int origin, note_kind kind, std::span<const std::byte> content);
  /// After a failure others ask this process to take back what it has granted them, or they it; they must not wait
  /// until its program calls weft again. From now on a thread makes progress.
  void answer_others();
  statistics counts_in_all() const noexcept;
  /// The option `statistics`: what all have done, on stderr of the first that is there. Blocks until it is told.
  void tell_statistics() noexcept;
  /// Process `who` need not be waited for any more.
  void come(int who);

  options settings_;
  std::shared_ptr<memory_budget> budget_;
  statistics before_;  ///< what it had done when it had joined
  schedules::selection_parameters selection_;
  std::optional<tuning> measured_;
  std::shared_ptr<const fabric::group> everyone_;
  int first_rank_ = 0;
  int local_ranks_ = 1;
  int workers_ = 1;
  std::vector<topology::cpu_set> worker_cpus_;
  std::vector<int> nodes_;
  double processes_a_cpu_ = 1;                    ///< on the node where that is the most
  std::vector<std::string> hosts_;                ///< of each process: its host's name
  std::vector<fabric::network_interface> links_;  ///< by which other nodes reach this process, side by side
  std::vector<bool> reading_;
  topology::network network_;
  std::vector<topology::network_place> places_;
  std::once_flag machine_found_;
  std::shared_ptr<const topology::machine> machine_;
  std::shared_ptr<void> serves_;  ///< the others' rendezvous
  std::unique_ptr<store> rendezvous_;
  std::unique_ptr<job_trace> traced_;
  trace::recorder* records_ = nullptr;  ///< of that
  std::unique_ptr<fabric::arena> arena_;
  std::unique_ptr<fabric::arena_boards> boards_;
  std::shared_ptr<node_memory> memory_;
  std::unique_ptr<fabric::participant> among_processes_;  ///< outlives the messenger, which knows it
  std::unique_ptr<fabric::messenger> messages_;
  std::unique_ptr<started_calls> calls_;
  std::unique_ptr<progress> progress_;
  std::shared_ptr<const fabric::group> processes_;  ///< one rank a process, for leaving together
  std::atomic<bool> somebody_left_{false};          ///< or this process has been given up
  std::atomic<bool> given_up_{false};               ///< this process has, by itself or by the others
  std::vector<bool> came_;                          ///< of each process; the monitor's thread alone uses it
  std::atomic<int> still_missing_{0};               ///< how many processes have not come
  std::atomic<int> lost_{-1};                       ///< the first process that was lost
  std::unique_ptr<fabric::monitor> monitor_;        // its thread uses the others,
  std::unique_ptr<roll_call> roll_;                 // and so does this one's
};

}  // namespace weft::detail
