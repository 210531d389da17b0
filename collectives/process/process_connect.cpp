// SPDX-License-Identifier: Apache-2.0
// How a process joins its job: what it exchanges with the others before any of them may talk.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <weft/choice/cost_measurement.hpp>
#include <weft/choice/selection_settings.hpp>
#include <weft/fabric/node_transport.hpp>
#include <weft/fabric/process_record.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/process/process.hpp>
#include <weft/process/started_call.hpp>
#include <weft/request/fingerprint.hpp>
#include <weft/runtime/error.hpp>

#include "node_memory.hpp"
#include "process_channel.hpp"

namespace weft::detail {
namespace {

/// The options that every rank must have alike: those of process 0 hold for all.
constexpr std::string_view agreed_options[]{"barrier",        "bcast",         "reduce",         "allreduce",
                                            "reduce-scatter", "allgather",     "gather",         "scatter",
                                            "alltoall",       "scan",          "exscan",         "eager-limit",
                                            "prepost",        "segment",       "ring-threshold", "ring-threshold-pair",
                                            "bruck-limit",    "degree",        "splits",         "group-ranks",
                                            "connections",    "max-transfers", "max-reducers",   "transfer-cost",
                                            "compute-cost",   "tune",          "tune-budget",    "check",
                                            "node",           "topology",      "spares",         "trace",
                                            "trace-buffer",   "statistics",    "endpoints",      "credit"};

/// Of a leader that no rank is (fabric::leader_from_end).
constexpr std::uint64_t processes_communicator = ~std::uint64_t{0};

/// Where process 0 puts the costs of its file.
constexpr const char* costs_key = "weft/tuning";

/// Where process 0 puts the options that hold for all.
constexpr const char* options_key = "weft/options";

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool tunes_by_file(const options& settings) { return !settings.tunes_at_start() && settings.tune != "off"; }

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

/// The longest message that reaches this process without its being asked, as far as that is known.
std::size_t longest_eager(const membership& member) {
  std::size_t frame = fabric::node_transport::longest_frame;
  if (member.network != nullptr) frame = std::min(frame, member.network->limits().frame);
  return frame - fabric::messenger::frame_overhead;
}

/// Empty: the default one.
void check_same_provider(int process, const std::string& its, const std::string& own) {
  if (its == own) return;
  const auto which = [](const std::string& name) { return name.empty() ? std::string("(the default)") : name; };
  throw error(errc::incompatible, "process " + std::to_string(process) + " uses provider " + which(its) +
                                      ", this one " + which(own) + ": give every process the same --provider");
}

/// An address behind the name of its provider.
fabric::address with_name(const std::string& provider, const fabric::address& own) {
  const auto name = std::as_bytes(std::span(provider.c_str(), provider.size() + 1));
  fabric::address all(name.begin(), name.end());
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

/// Takes the name off.
std::string take_name(fabric::address& named) {
  const auto end = std::ranges::find(named, std::byte{0});
  const std::string name(reinterpret_cast<const char*>(named.data()), static_cast<std::size_t>(end - named.begin()));
  named.erase(named.begin(), end == named.end() ? end : end + 1);
  return name;
}

/// On the node where that is the most; 1 at the least.
double most_processes_a_cpu(std::span<const fabric::process_record> records) {
  struct on_node {
    int processes = 0;
    topology::cpu_set cpus;
  };
  std::map<std::string_view, on_node> nodes;
  for (const fabric::process_record& each : records) {
    on_node& its = nodes[each.host.node];
    ++its.processes;
    its.cpus = its.cpus | each.cpus;
  }
  double most = 1;
  for (const auto& [name, its] : nodes) most = std::max(most, its.processes / std::max(1.0, double(its.cpus.size())));
  return most;
}

/// Whether this process has been bound to some of its node's CPUs, where so many threads have one each and no other
/// process of the job may go.
bool has_own_cpus(std::span<const fabric::process_record> records, std::size_t self, int threads) {
  const fabric::process_record& mine = records[self];
  if (mine.cpus.size() >= ::sysconf(_SC_NPROCESSORS_ONLN)) return false;  // other programs are there as well
  for (std::size_t i = 0; i < records.size(); ++i)
    if (i != self && records[i].host.node == mine.host.node && records[i].cpus.intersects(mine.cpus)) return false;
  return threads <= mine.cpus.size();
}

}  // namespace

void process::connect(membership& member) {
  selection_of(settings_);  // refuses what nobody has before anybody waits for this process
  const auto deadline = steady_clock_source().now() + settings_.join_timeout;
  const std::size_t longest = longest_eager(member);
  settings_.eager_limit = std::min(settings_.eager_limit, longest);
  std::optional<fabric::arena_door> door;
  if (rendezvous_->processes() > 1) door.emplace();
  auto records = exchange_records(member, door ? door->number() : -1, deadline);
  take_agreed_options(longest, deadline);
  selection_ = selection_of(settings_);
  number_ranks(records);
  roll_->set_ranks(first_rank_, local_ranks_);
  settle_interfaces(records, deadline);
  settle_topology(records, deadline);
  fabric::messenger_settings how = messenger_settings_for(member, records);
  auto network = std::make_unique<fabric::node_transport>();
  fabric::node_transport& roads = *network;
  messages_ = std::make_unique<fabric::messenger>(std::move(network), std::move(how));
  calls_ = std::make_unique<started_calls>(*messages_, settings_.fiber_stack, budget_);
  roll_->set_calls(*calls_);
  const int threads = workers_ + (settings_.progress == progress_mode::thread ? 1 : 0);
  const bool alone = (workers_ == 1 || std::ssize(worker_cpus_) == workers_) &&
                     has_own_cpus(records, static_cast<std::size_t>(rendezvous_->process()), threads);
  progress_ = std::make_unique<progress>(*calls_, steady_clock_source(), sleep_times{},
                                         alone ? backoff::cores::one_each : backoff::cores::may_be_shared);
  still_missing_.store(rendezvous_->processes() - 1);
  if (monitor_ != nullptr) watch(member, records);
  if (door) share_memory(member, records, *door, deadline);
  memory_ = std::make_shared<node_memory>(arena_ != nullptr ? arena_->heap() : nullptr, budget_);
  messages_->connect(open_roads(member, roads, records, deadline), deadline, [this] { check_nobody_lost(); });
  settle_links(deadline);
  reading_.assign(nodes_.size(), reads_on_node());
  if (std::ranges::count(nodes_, nodes_[0]) != std::ssize(nodes_)) tell_who_shares(deadline);
  auto among = std::make_unique<fabric::participant>(processes_, rendezvous_->process());
  messages_->join(*among);
  among_processes_ = std::move(among);
  agree_on_costs(deadline);
  begin_trace(member);
  limit_memory();
  if (monitor_ != nullptr) monitor_->all_joined();
}

void process::check_nobody_lost() const {
  if (const int gone = lost_.load(); gone >= 0)
    throw peer_lost(everyone_->world[static_cast<std::size_t>(processes_->world[static_cast<std::size_t>(gone)])],
                    "process " + std::to_string(gone) + " was lost while the job started: " + monitor_->reason(gone));
}

void process::share_memory(const membership& member, std::span<const fabric::process_record> records,
                           const fabric::arena_door& door, clock::time_point deadline) {
  const int self = rendezvous_->process();
  std::vector<int> mine;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i)
    if (nodes_[static_cast<std::size_t>(i)] == nodes_[static_cast<std::size_t>(self)]) mine.push_back(i);
  if (!settings_.node || mine.size() < 2) return;
  auto shared = fabric::arena::join(mine, self, records, member.job, door, deadline, [this] { check_nobody_lost(); });
  arena_ = std::move(shared.memory);
  constexpr std::size_t head = fabric::messenger::frame_overhead;
  const std::size_t credit =
      fabric::credit_of_each(settings_.credit, budget_.get(), nodes_.size() - 1, head + settings_.eager_limit);
  if (arena_ != nullptr) arena_->count_in(budget_, head + fabric::longest_at_once(settings_.eager_limit, credit));
  if (arena_ != nullptr) boards_ = std::make_unique<fabric::arena_boards>(*arena_, self);
  if (arena_ == nullptr && self == mine[0])
    std::fprintf(stderr,
                 "weft: warning: the %zu processes of this node share no memory and talk over the network: %s\n",
                 mine.size(), shared.refusal.c_str());
  if (arena_ != nullptr && !arena_->heap_refusal().empty())
    std::fprintf(stderr, "weft: warning: no arrays are taken from memory that the node shares: %s\n",
                 arena_->heap_refusal().c_str());
}

std::vector<fabric::address> process::open_roads(membership& member, fabric::node_transport& roads,
                                                 std::span<const fabric::process_record> records,
                                                 clock::time_point deadline) {
  if (arena_ != nullptr) {
    roads.share(*arena_);
    if (std::ssize(arena_->processes()) == rendezvous_->processes()) return std::vector<fabric::address>(nodes_.size());
  }
  if (member.network == nullptr) {
    network_plan plan{links_, {}};
    for (const fabric::process_record& each : records) plan.incarnations.push_back(each.incarnation);
    member.network = member.open_network(settings_, plan);
  }
  const std::string provider = member.network->limits().provider;  // the default's name differs between libfabrics
  auto gathered = rendezvous_->gather("weft/endpoint", with_name(provider, member.network->local_address()), deadline);
  for (std::size_t i = 0; i < gathered.size(); ++i)
    check_same_provider(static_cast<int>(i), take_name(gathered[i]), provider);
  roads.reach_others_by(std::move(member.network));
  return gathered;
}

const schedules::board_costs& process::board_costs() const noexcept {
  const bool known = measured_ && measured_->machine.boards && !arena_->crowded();
  return known ? *measured_->machine.boards : schedules::assumed_boards(arena_->heap() != nullptr, arena_->crowded());
}

bool process::reads_on_node() const noexcept { return arena_ != nullptr && arena_->reading_refusal().empty(); }

void process::tell_who_shares(clock::time_point deadline) {
  if (!settings_.node) return;
  enum sharing : unsigned char { nothing, arena, arena_and_reading };
  const std::byte mine{arena_ == nullptr ? nothing : reads_on_node() ? arena_and_reading : arena};
  const auto shares = rendezvous_->gather("weft/arena", {&mine, 1}, deadline);
  const auto is = [&](std::size_t process, sharing what) { return shares[process] == store::bytes{std::byte{what}}; };
  auto all = std::make_shared<fabric::group>(*everyone_);
  for (int rank = 0; rank < all->size(); ++rank) {
    const auto its = static_cast<std::size_t>(all->process[static_cast<std::size_t>(rank)]);
    if (!is(its, arena) && !is(its, arena_and_reading)) all->board[static_cast<std::size_t>(rank)] = {};
    reading_[its] = is(its, arena_and_reading);
  }
  everyone_ = std::move(all);
}

std::vector<fabric::process_record> process::exchange_records(const membership& member, int door,
                                                              clock::time_point deadline) {
  const int processes = rendezvous_->processes();
  const std::string& provider = member.provider;
  fabric::process_record mine = fabric::local_record();
  mine.provider = provider;
  mine.ranks = local_ranks_;
  mine.door = door;
  mine.interfaces = member.interfaces;
  mine.switches = member.switches;
  if (!member.node.empty()) mine.host.node = mine.host.name = member.node;
  if (processes > 1) {
    open_monitor();
    mine.control = monitor_->control_address();
  }
  if (rendezvous_->process() == 0) {
    if (tunes_by_file(settings_)) rendezvous_->put(costs_key, as_bytes(to_text(read_tuning(settings_.tune))));
    rendezvous_->put(options_key, as_bytes(agreed_text(settings_)));
  }
  const auto gathered = rendezvous_->gather("weft/process", fabric::encode(mine), deadline);
  std::vector<fabric::process_record> records;
  for (int i = 0; i < processes; ++i) {
    records.push_back(fabric::decode(gathered[static_cast<std::size_t>(i)], i));
    check_same_provider(i, records.back().provider, provider);
  }
  return records;
}

void process::take_agreed_options(std::size_t longest_eager, clock::time_point deadline) {
  if (rendezvous_->process() == 0) return;
  take_agreed(settings_, as_text(rendezvous_->get(options_key, deadline)));
  if (settings_.eager_limit > longest_eager)
    throw error(errc::incompatible, "this process takes messages of " + std::to_string(longest_eager) +
                                        " bytes without asking, process 0 sends " +
                                        std::to_string(settings_.eager_limit) +
                                        ": give every process the same WEFT_EAGER_LIMIT");
}

void process::number_ranks(std::span<const fabric::process_record> records) {
  auto ranks = std::make_shared<fabric::group>();
  auto all = std::make_shared<fabric::group>();
  all->communicator = processes_communicator;
  for (int i = 0; i < static_cast<int>(records.size()); ++i) {
    const fabric::process_record& record = records[static_cast<std::size_t>(i)];
    if (i == rendezvous_->process()) first_rank_ = ranks->size();
    all->world.push_back(ranks->size());
    all->process.push_back(i);
    for (int r = 0; r < record.ranks; ++r) {
      ranks->world.push_back(ranks->size());
      ranks->process.push_back(i);
      ranks->board.push_back(fabric::ticket_of_world);
    }
    const auto same = std::find_if(records.begin(), records.end(), [&](const fabric::process_record& other) {
      return other.host.node == record.host.node;
    });
    nodes_.push_back(static_cast<int>(same - records.begin()));
    hosts_.push_back(record.host.name);
  }
  const std::uint64_t named = ranks->world.size() + process_channel::leaders_each * all->world.size() + 1;
  if (named > fabric::most_leaders)
    throw error(errc::invalid_argument,
                "the job has " + std::to_string(ranks->size()) + " ranks in " + std::to_string(all->size()) +
                    " processes: ranks, and " + std::to_string(process_channel::leaders_each) +
                    " times as many as processes, are less than " + std::to_string(fabric::most_leaders) + " together");
  if (settings_.spares >= ranks->size())
    throw error(errc::invalid_argument, "--spares=" + std::to_string(settings_.spares) + ": the job has " +
                                            std::to_string(ranks->size()) +
                                            " ranks, spares among them; one at least is to be none");
  everyone_ = ranks;
  processes_ = all;
  processes_a_cpu_ = most_processes_a_cpu(records);
}

fabric::messenger_settings process::messenger_settings_for(const membership& member,
                                                           std::span<const fabric::process_record> records) {
  fabric::messenger_settings how;
  how.job = static_cast<std::uint32_t>(member.job ^ (member.job >> 32));
  how.process = rendezvous_->process();
  how.memory = budget_;
  how.first_rank.assign(processes_->world.begin(), processes_->world.end());
  for (const fabric::process_record& each : records)
    how.incarnations.push_back(static_cast<std::uint16_t>(each.incarnation));
  how.eager_limit = settings_.eager_limit;
  how.credit = std::min(settings_.credit, fabric::traits_of(member.provider).credit);
  how.unexpected_limit = settings_.unexpected_limit;
  how.send_buffer_limit = settings_.send_buffer_limit;
  how.piece = settings_.piece;
  how.window = settings_.window != 0 ? settings_.window : fabric::traits_of(member.provider).window;
  how.prepost = settings_.prepost;
  how.describe = describe_fingerprint;
  how.refusal_limit = std::max(how.refusal_limit, settings_.peer_timeout);  // a receiver may compute for long
  how.broadcast = [this](std::span<const std::byte> note) { tell_failed(note); };
  if (monitor_ != nullptr) {
    how.ring = [this](int asleep) { monitor_->ring(asleep); };
    how.listen = [this] { monitor_->listen(); };
  }
  how.ring_after = std::chrono::duration_cast<std::chrono::milliseconds>(sleep_times{}.delay / 2);
  how.suspected = [this](int gone, const std::string& why) { tell_lost(gone, why); };
  how.ended = [this](int gone) { return monitor_ != nullptr && monitor_->ended(gone); };
  return how;
}

void process::agree_on_costs(clock::time_point deadline) {
  if (settings_.tune == "off") return;
  if (settings_.tunes_at_start()) {
    const measured_job job{nodes_,  processes_->world,    local_ranks_, settings_.eager_limit, settings_.tune_budget,
                           places_, settings_.connections};
    measured_ = measure_costs(job, *messages_, *progress_, *rendezvous_, deadline);
  } else {
    take_costs_of_file(deadline);
  }
  if (!measured_) return;
  measured_->machine.eager = static_cast<double>(settings_.eager_limit);
  measured_->machine.at_once = static_cast<double>(messages_->longest_at_once());
  measured_->machine.sharing = processes_a_cpu_;
}

void process::take_costs_of_file(clock::time_point deadline) {
  measured_ = parse_tuning(as_text(rendezvous_->get(costs_key, deadline)), "the costs of process 0");
}

}  // namespace weft::detail
