// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <thread>
#include <utility>
#include <weft/choice/schedule_builder.hpp>
#include <weft/executor/execution.hpp>
#include <weft/fabric/process_record.hpp>
#include <weft/process/process.hpp>
#include <weft/process/started_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>

#include "job_trace.hpp"
#include "progress_thread.hpp"

namespace weft::detail {

/// What processes flood; the first byte of the note says which.
enum class note_kind : std::uint8_t {
  ready,   ///< a process has come to its end after a loss
  failed,  ///< a communicator has failed: the messenger's note follows
  lost,    ///< a process cannot be reached: its number and the reason follow
};

namespace {

std::vector<std::byte> note_of(note_kind kind, std::span<const std::byte> content) {
  std::vector<std::byte> note(1 + content.size(), static_cast<std::byte>(kind));
  std::copy(content.begin(), content.end(), note.begin() + 1);
  return note;
}

/// What the thread is called in traces.
constexpr const char* progress_track = "progress thread";

/// How long the last frames may take to leave.
constexpr std::chrono::seconds leaving_time{2};

/// How long it may take until a loss that the rendezvous has seen is seen by a monitor, too.
constexpr std::chrono::seconds telling_time{1};

/// Characters of a reason that is told to all.
constexpr std::size_t longest_reason = 500;

}  // namespace

process::process(alone, membership& member)
    : settings_(std::move(member.settings)),
      budget_(std::make_shared<memory_budget>(settings_.memory_limit)),
      local_ranks_(member.ranks),
      workers_(std::min(settings_.workers > 0 ? settings_.workers : member.workers, local_ranks_)),
      worker_cpus_(std::move(member.worker_cpus)),
      machine_(std::move(member.described)),
      serves_(std::move(member.serves)),
      rendezvous_(std::move(member.rendezvous)),
      roll_(std::make_unique<roll_call>(member.job, rendezvous_->process(), rendezvous_->processes(),
                                        std::move(member.roll_desk))) {}

// Where it does not get to the end it is destroyed all the same, since the other constructor has: the threads of the
// monitor and of `progress_`, which answers others from the first loss on, use each other's.
process::process(membership member) : process(alone{}, member) {
  try {
    connect(member);
  } catch (const peer_lost&) {
    check_nobody_lost();  // names the first: one loss ends others, which have then not died by themselves
    throw;
  } catch (const error& failed) {
    // The rendezvous knows processes; which ranks each hosts is not known before it has gathered that.
    if (failed.code() != errc::peer_lost) throw;
    let_loss_be_told();
    check_nobody_lost();
    throw peer_lost(-1, failed.what());
  }
  roll_->say("runs");
  if (settings_.progress != progress_mode::thread) return;
  trace::track* const track = records_ != nullptr ? &records_->of_thread(progress_track) : nullptr;
  progress_->start([cpus = std::move(member.progress_cpus), real_time = settings_.real_time, track] {
    trace::current_track = track;  // until the thread ends
    return settle_progress_thread(cpus, real_time);
  });
}

const topology::machine& process::machine() {
  std::call_once(machine_found_, [this] {
    if (machine_ == nullptr) machine_ = std::make_shared<const topology::machine>(topology::discover_processors());
  });
  return *machine_;
}

std::exception_ptr process::failure_of(const fabric::participant& member) {
  std::exception_ptr failure;
  messages_->while_held([&] { failure = member.failure; });
  if (failure == nullptr) failure = std::make_exception_ptr(error(errc::revoked, "the communicator has failed"));
  return failure;
}

std::exception_ptr process::break_communicator(const fabric::participant& member) noexcept {
  std::exception_ptr why = std::current_exception();
  try {
    messages_->break_communicator(member, why);
    why = failure_of(member);
  } catch (...) {  // no memory to say it
  }
  return why;
}

void process::let_loss_be_told() const {
  if (messages_ == nullptr) return;  // nobody is watched yet
  const auto until = steady_clock_source().now() + telling_time;
  while (lost_.load() < 0 && steady_clock_source().now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void process::watch(const membership& member, std::vector<fabric::process_record> records) {
  fabric::monitor_events events;
  events.lost = [this](int gone, const std::string& why) {
    int nobody = -1;
    lost_.compare_exchange_strong(nobody, gone);
    lose(gone, why);
  };
  events.left = [this](int) {
    somebody_left_.store(true);
    progress_->ring();
  };
  events.rung = [this] { progress_->ring(); };
  events.note = [this](int origin, std::span<const std::byte> note) {
    if (!note.empty()) take_note(origin, static_cast<note_kind>(note[0]), note.subspan(1));
  };
  came_.assign(records.size(), false);
  monitor_->start(rendezvous_->process(), std::move(records), member.job, std::as_bytes(std::span(member.secret)),
                  std::move(events));
}

void process::tell_failed(std::span<const std::byte> note) {
  if (monitor_ != nullptr) monitor_->flood(note_of(note_kind::failed, note));
}

void process::tell_lost(int gone, const std::string& why) {
  if (monitor_ == nullptr) return;
  if (gone == messages_->process()) {  // by itself, and the others do not wait for it
    given_up_.store(true);
    somebody_left_.store(true);
  }
  const std::string text = std::to_string(gone) + " " + why.substr(0, longest_reason);
  monitor_->flood(note_of(note_kind::lost, std::as_bytes(std::span(text))));
}

void process::lose(int gone, const std::string& why) {
  messages_->lose(gone, why);
  come(gone);
  if (gone == messages_->process()) {  // the others do not wait for this one any more
    given_up_.store(true);
    somebody_left_.store(true);
  }
  answer_others();
}

void process::take_note(int origin, note_kind kind, std::span<const std::byte> content) {
  switch (kind) {
    case note_kind::ready:
      return come(origin);
    case note_kind::failed:
      messages_->take_note(content);
      return answer_others();
    case note_kind::lost: {
      const std::string text(reinterpret_cast<const char*>(content.data()), content.size());
      int gone = -1;
      const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), gone);
      if (failure != std::errc{} || gone < 0 || gone >= processes_->size()) return;
      return lose(gone,
                  std::string(end, text.data() + text.size()) + " (process " + std::to_string(origin) + " noticed)");
    }
  }
}

void process::answer_others() {
  try {
    if (settings_.progress == progress_mode::caller) progress_->start();
  } catch (const std::exception& failed) {  // weft::error, std::bad_alloc
    std::fprintf(stderr, "weft: warning: the others are answered only while this process calls: %s\n", failed.what());
  }
  progress_->notify();
  progress_->ring();
}

void process::come(int who) {
  std::vector<bool>::reference came = came_[static_cast<std::size_t>(who)];
  if (came) return;
  came = true;
  still_missing_.fetch_sub(1);
  progress_->ring();
}

void process::await_all() {
  messages_->retire(processes_->communicator);
  if (boards_ != nullptr) boards_->abandon_all();
  collective_call barrier;
  barrier.how = schedules::find_algorithm(collective::barrier, "dissemination");
  const place here{rendezvous_->processes(), rendezvous_->process()};
  dataflow_execution together(*messages_, *among_processes_, nullptr, build_schedule(barrier, here, settings_));
  together.start({}, *progress_);
  const auto end = [&] {
    if (!together.finished().ready()) messages_->break_here(*among_processes_);
    together.finished().wait(*progress_);
  };
  bool told = false;
  try {
    look_for(*progress_, [&] {
      if (somebody_left_.load() || still_missing_.load() <= 0) return true;
      if (!together.finished().ready()) return false;
      if (together.failure() == nullptr) return true;
      if (!std::exchange(told, true)) monitor_->flood(note_of(note_kind::ready, {}));
      return false;
    });
  } catch (...) {  // no memory
    end();
    throw;
  }
  end();
}

void process::begin_trace(const membership& member) {
  if (settings_.trace.empty()) return;
  traced_job job;
  job.job = member.job;
  job.file = settings_.trace;
  job.process = rendezvous_->process();
  job.ranks = everyone_->size();
  job.first_rank = first_rank_;
  job.hosted = local_ranks_;
  job.first_ranks.assign(processes_->world.begin(), processes_->world.end());
  job.nodes = nodes_;
  job.hosts = hosts_;
  traced_ = std::make_unique<job_trace>(std::move(job), settings_.trace_buffer, budget_);
  traced_->compare_clocks(*messages_, *progress_);
  records_ = &traced_->records();
}

void process::limit_memory() {
  const auto ranks = static_cast<std::size_t>(local_ranks_);
  const std::size_t base = budget_->taken() + ranks * (settings_.fiber_stack + objects_of_communicator);
  // With a higher limit some of that is more (flow_control::start).
  if (budget_->limit() / 2 < base)
    throw error(errc::invalid_argument, "--weft-memory-limit=" + std::to_string(settings_.memory_limit) +
                                            " (WEFT_MEMORY_LIMIT): this process of " + std::to_string(ranks) +
                                            " ranks takes " + std::to_string(base) +
                                            " bytes to start, and needs as much again; " +
                                            std::to_string(base / 2 * 5) + " are enough");
  budget_->begin_to_limit();
}

void process::end_trace() noexcept {
  if (traced_ == nullptr || given_up_.load()) return;
  // From here on whoever waits polls. Only a thread that was there from the start records, and nobody else starts or
  // stops that.
  if (settings_.progress == progress_mode::thread) progress_->stop();
  traced_->finish(*messages_, *progress_);
}

void process::leave() noexcept {
  roll_->say("leaves the job");
  if (settings_.statistics) tell_statistics();
  end_trace();
  if (monitor_ == nullptr) return;
  try {
    await_all();
    messages_->drain(steady_clock_source().now() + leaving_time);
    monitor_->leave();
    rendezvous_->leave();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft: leaving the job failed: %s\n", e.what());
  }
}

void process::abandon() noexcept {
  if (monitor_ == nullptr) return;
  monitor_->stop();
  try {
    for (int p = 0; p < messages_->processes(); ++p)
      messages_->lose(p, "this process left the job in the middle of it");
    messages_->while_held([] {});  // now
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft: abandoning the job failed: %s\n", e.what());
  }
}

process::~process() {
  if (monitor_ != nullptr) monitor_->stop();
  if (progress_ != nullptr) progress_->stop();
  if (among_processes_ != nullptr) messages_->leave(*among_processes_);
}

}  // namespace weft::detail
