#include "process.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <utility>
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/error.hpp>
#include <weft/selection_settings.hpp>
#include <weft/topology/affinity.hpp>

#include "cost_measurement.hpp"
#include "execution.hpp"
#include "fingerprint.hpp"
#include "schedule_builder.hpp"

namespace weft::detail {

/// What processes flood; the first byte of the note says which.
enum class note_kind : std::uint8_t {
  ready,   ///< a process has come to its end after a loss
  failed,  ///< a communicator has failed: the messenger's note follows
  lost,    ///< a process cannot be reached: its number and the reason follow
};

namespace {

/// The options that every rank must have alike: those of process 0 hold for all.
constexpr std::string_view agreed_options[]{"barrier",        "bcast",         "reduce",         "allreduce",
                                            "reduce-scatter", "allgather",     "gather",         "scatter",
                                            "alltoall",       "scan",          "exscan",         "eager-limit",
                                            "prepost",        "segment",       "ring-threshold", "ring-threshold-pair",
                                            "bruck-limit",    "degree",        "splits",         "group-ranks",
                                            "connections",    "max-transfers", "max-reducers",   "transfer-cost",
                                            "compute-cost",   "tune",          "tune-budget"};

/// Ids of communicators begin with the leader's world rank, which is never this.
constexpr std::uint64_t processes_communicator = ~std::uint64_t{0};

std::vector<std::byte> note_of(note_kind kind, std::span<const std::byte> content) {
  std::vector<std::byte> note(1 + content.size(), static_cast<std::byte>(kind));
  std::copy(content.begin(), content.end(), note.begin() + 1);
  return note;
}

/// Where process 0 puts the costs of its file.
constexpr const char* costs_key = "weft/tuning";

/// How long the last frames may take to leave.
constexpr std::chrono::seconds leaving_time{2};

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

bool tunes_by_file(const options& settings) { return settings.tune != "start" && settings.tune != "off"; }

std::string agreed_text(const options& settings) {
  std::string text;
  for (const option_listing& each : list_options(settings))
    if (std::find(std::begin(agreed_options), std::end(agreed_options), each.name) != std::end(agreed_options))
      text += each.name + "=" + each.value + "\n";
  return text;
}

void take_agreed(options& settings, std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals != std::string_view::npos)
      set_option(settings, line.substr(0, equals), line.substr(equals + 1), "process 0");
  }
}

/// What keeps a short message behind a stream below ten times its idle latency: over net 16 B take 3.5 us alone and 28
/// us beside pieces of 128 KiB, over shm 0.7 us alone and 4.8 us beside pieces of 8 KiB (`weft bench latency`).
std::size_t window_of(std::string_view provider) { return provider == "shm" ? 32 << 10 : 512 << 10; }

}  // namespace

process::process(membership member)
    : settings_(std::move(member.settings)), local_ranks_(member.ranks), rendezvous_(std::move(member.rendezvous)) {
  try {
    connect(member);
  } catch (const peer_lost&) {
    throw;
  } catch (const error& failed) {
    // The rendezvous knows processes; which ranks each hosts is not known before it has gathered that.
    if (failed.code() == errc::peer_lost) throw peer_lost(-1, failed.what());
    throw;
  }
  if (settings_.progress != progress_mode::thread) return;
  progress_->start([cpus = std::move(member.progress_cpus)] {
    if (cpus.empty()) return;
    try {
      topology::bind_this_thread(cpus);
    } catch (const error& e) {  // costs speed, not correctness
      std::fprintf(stderr, "weft: warning: the progress thread is not bound: %s\n", e.what());
    }
  });
}

void process::connect(membership& member) {
  selection_of(settings_);  // refuses what nobody has before anybody waits for this process
  const auto deadline = steady_clock_source().now() + settings_.join_timeout;
  const int processes = rendezvous_->processes();
  const int me = rendezvous_->process();
  fabric::process_record mine = fabric::local_record();
  mine.endpoints = {{member.network->limits().provider, member.network->local_address()}};
  mine.ranks = local_ranks_;
  if (processes > 1) {
    monitor_ = std::make_unique<fabric::monitor>(fabric::monitor_options{
        settings_.address, settings_.peer_timeout,
        std::min<std::chrono::milliseconds>(std::chrono::seconds(1), settings_.peer_timeout / 4)});
    mine.control = monitor_->control_address();
  }
  const std::size_t longest_eager = member.network->limits().frame - fabric::messenger::frame_overhead;
  settings_.eager_limit = std::min(settings_.eager_limit, longest_eager);
  if (me == 0) {
    if (tunes_by_file(settings_)) rendezvous_->put(costs_key, as_bytes(to_text(read_tuning(settings_.tune))));
    rendezvous_->put("weft/options", as_bytes(agreed_text(settings_)));
  }
  const auto gathered = rendezvous_->gather("weft/process", fabric::encode(mine), deadline);
  std::vector<fabric::process_record> records;
  for (int i = 0; i < processes; ++i) records.push_back(fabric::decode(gathered[static_cast<std::size_t>(i)], i));
  if (me != 0) {
    const auto text = rendezvous_->get("weft/options", deadline);
    take_agreed(settings_, {reinterpret_cast<const char*>(text.data()), text.size()});
    if (settings_.eager_limit > longest_eager)
      throw error(errc::incompatible, "this process takes messages of " + std::to_string(longest_eager) +
                                          " bytes without asking, process 0 sends " +
                                          std::to_string(settings_.eager_limit) +
                                          ": give every process the same WEFT_EAGER_LIMIT");
  }
  selection_ = selection_of(settings_);

  auto world = std::make_shared<fabric::group>();
  auto all = std::make_shared<fabric::group>();
  all->communicator = processes_communicator;
  fabric::messenger_settings how;
  std::vector<fabric::address> addresses;
  for (int i = 0; i < processes; ++i) {
    const auto& record = records[static_cast<std::size_t>(i)];
    if (record.endpoints.empty() || record.endpoints[0].provider != mine.endpoints[0].provider)
      throw error(errc::incompatible, "process " + std::to_string(i) + " uses provider " +
                                          (record.endpoints.empty() ? "none" : record.endpoints[0].provider) +
                                          ", this one " + mine.endpoints[0].provider +
                                          ": give every process the same --provider");
    if (i == me) first_rank_ = world->size();
    how.first_rank.push_back(world->size());
    how.incarnations.push_back(static_cast<std::uint16_t>(record.incarnation));
    all->world.push_back(world->size());
    all->process.push_back(i);
    for (int r = 0; r < record.ranks; ++r) {
      world->world.push_back(world->size());
      world->process.push_back(i);
    }
    const auto same = std::find_if(records.begin(), records.end(), [&](const fabric::process_record& other) {
      return other.host.boot_id == record.host.boot_id;
    });
    nodes_.push_back(static_cast<int>(same - records.begin()));
    addresses.push_back(record.endpoints[0].bytes);
  }
  world_ = world;
  processes_ = all;

  how.job = static_cast<std::uint32_t>(member.job ^ (member.job >> 32));
  how.process = me;
  how.eager_limit = settings_.eager_limit;
  how.credit = settings_.credit;
  how.unexpected_limit = settings_.unexpected_limit;
  how.send_buffer_limit = settings_.send_buffer_limit;
  how.piece = settings_.piece;
  how.window = settings_.window != 0 ? settings_.window : window_of(member.network->limits().provider);
  how.prepost = settings_.prepost;
  how.describe = describe_fingerprint;
  how.refusal_limit = settings_.peer_timeout;
  how.broadcast = [this](std::span<const std::byte> note) {
    if (monitor_ != nullptr) monitor_->flood(note_of(note_kind::failed, note));
  };
  how.suspected = [this](int gone, const std::string& why) {
    if (monitor_ != nullptr)
      monitor_->flood(note_of(note_kind::lost, as_bytes(std::to_string(gone) + " " + why.substr(0, 500))));
  };
  how.ended = [this](int gone) { return monitor_ != nullptr && monitor_->ended(gone); };
  messages_ = std::make_unique<fabric::messenger>(std::move(member.network), std::move(how));
  progress_ = std::make_unique<progress>(*messages_);
  still_missing_.store(processes - 1);
  if (monitor_ != nullptr) watch(member, std::move(records));
  messages_->connect(addresses, deadline, [this] {
    if (const int gone = lost_.load(); gone >= 0)
      throw peer_lost(world_->world[static_cast<std::size_t>(processes_->world[static_cast<std::size_t>(gone)])],
                      "process " + std::to_string(gone) + " was lost while the job started: " + monitor_->reason(gone));
  });
  among_processes_ = std::make_unique<fabric::participant>(processes_, me);
  messages_->join(*among_processes_);
  agree_on_costs(deadline);
}

void process::agree_on_costs(clock::time_point deadline) {
  if (settings_.tune == "off") return;
  if (settings_.tune == "start") {
    const measured_job job{nodes_, processes_->world, local_ranks_, settings_.eager_limit, settings_.tune_budget};
    measured_ = measure_costs(job, *messages_, *progress_, *rendezvous_, deadline);
  } else {
    take_costs_of_file(deadline);
  }
  if (measured_) measured_->machine.eager = static_cast<double>(settings_.eager_limit);
}

void process::take_costs_of_file(clock::time_point deadline) {
  const auto text = rendezvous_->get(costs_key, deadline);
  measured_ = parse_tuning({reinterpret_cast<const char*>(text.data()), text.size()}, "the costs of process 0");
}

void process::watch(const membership& member, std::vector<fabric::process_record> records) {
  fabric::monitor_events events;
  events.lost = [this](int gone, const std::string& why) {
    int nobody = -1;
    lost_.compare_exchange_strong(nobody, gone);
    lose(gone, why);
  };
  events.left = [this](int) { somebody_left_.store(true); };
  events.note = [this](int origin, std::span<const std::byte> note) {
    if (!note.empty()) take_note(origin, static_cast<note_kind>(note[0]), note.subspan(1));
  };
  came_.assign(records.size(), false);
  monitor_->start(rendezvous_->process(), std::move(records), member.job, as_bytes(member.secret), std::move(events));
}

void process::lose(int gone, const std::string& why) {
  messages_->lose(gone, why);
  come(gone);
  if (gone == messages_->process()) somebody_left_.store(true);  // the others do not wait for this one any more
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
  if (settings_.progress == progress_mode::caller) progress_->start();
  progress_->notify();
}

void process::come(int who) {
  std::vector<bool>::reference came = came_[static_cast<std::size_t>(who)];
  if (came) return;
  came = true;
  still_missing_.fetch_sub(1);
}

void process::await_all() {
  collective_call barrier;
  barrier.how = schedules::find_algorithm(collective::barrier, "dissemination");
  const place here{rendezvous_->processes(), rendezvous_->process()};
  dataflow_execution together(*messages_, *among_processes_, build_schedule(barrier, here, settings_));
  together.start({});
  bool told = false;
  for (backoff pause; !somebody_left_.load() && still_missing_.load() > 0;) {
    if (together.finished().ready()) {
      if (together.failure() == nullptr) break;
      if (!std::exchange(told, true)) monitor_->flood(note_of(note_kind::ready, {}));
    }
    if (progress_->poll())
      pause.reset();
    else
      pause.pause();
  }
  if (!together.finished().ready()) messages_->break_here(*among_processes_);
  together.finished().wait(*progress_);
}

void process::leave() noexcept {
  if (monitor_ == nullptr) return;
  try {
    await_all();
    messages_->drain(steady_clock_source().now() + leaving_time);
    monitor_->leave();
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
