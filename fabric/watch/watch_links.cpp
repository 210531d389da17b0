// SPDX-License-Identifier: Apache-2.0
// The monitor's connections: who connects to whom, and how the two prove themselves before they talk.
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <weft/runtime/error.hpp>

#include "process_handle.hpp"
#include "watch.hpp"
#include "watch_targets.hpp"

namespace weft::fabric {
namespace {

/// How long somebody who ends connections before they stand may do so: it drops a connector that was too slow.
constexpr std::chrono::milliseconds greeting_time{3000};
constexpr std::chrono::milliseconds longest_pause{100};
constexpr std::chrono::milliseconds listen_pause{100};  // when descriptors run out

}  // namespace

void watch::relink() {
  stale_ = false;
  const auto alive = [this](int process) { return news_.alive(process); };
  for (const int process : watch_targets(setup_.process, news_.processes(), alive))
    if (const auto known = targets_.find(process); known != targets_.end())
      known->second.sought = false;
    else
      begin_watching(process);
}

watch::watched& watch::begin_watching(int process) {
  watched& target = targets_[process];
  const auto& all = setup_.all;
  target.addresses = control_addresses(all[static_cast<std::size_t>(process)].control);
  target.next_attempt = clock::now();
  target.expected = !verdict_.open();
  target.give_up = target.next_attempt + time_to_answer(process);
  target.trouble = "it does not answer at its control address " + all[static_cast<std::size_t>(process)].control;
  target.process = open_process(all[static_cast<std::size_t>(process)], all[static_cast<std::size_t>(setup_.process)]);
  if (target.process) poll_for(target.process.get(), process_bit | static_cast<std::uint64_t>(process), EPOLLIN);
  if (!linked(process)) connect(process, target);
  return target;
}

void watch::connect(int process, watched& target) {
  const auto now = clock::now();
  target.next_attempt = now + target.pause;
  target.pause = std::min(target.pause * 2, longest_pause);
  ++target.attempts;
  try {
    auto socket = begin_connecting(address_of(target));
    target.link = add_link(
        std::make_unique<control_link>(std::move(socket), stage::connecting, process, options_.peer_timeout), EPOLLOUT);
  } catch (const error& failure) {
    target.trouble = failure.what();
    target.ended = failure.code() == std::errc::connection_refused;
    if (target.ended) target.give_up = std::min(target.give_up, now + time_for_goodbye());
  }
}

/// That of the latest attempt.
const std::string& watch::address_of(const watched& target) const noexcept {
  static const std::string none;
  return target.addresses.empty() ? none : target.addresses[(target.attempts - 1) % target.addresses.size()];
}

/// To those that have several addresses: beside an attempt that takes long the next one begins, and who is not heard
/// any more is connected to once more, by the next address.
void watch::go_other_ways(clock::time_point now) {
  for (auto& [process, target] : targets_) {
    if (target.addresses.size() < 2) continue;
    const auto attempt = links_.find(target.link);
    const bool trying = attempt != links_.end() && attempt->second->at != stage::standing &&
                        now < attempt->second->since + time_to_ask();
    if (!trying && !linked(process)) target.link = 0;
    const bool heard = std::ranges::any_of(links_, [&, peer = process](const auto& link) {
      return link.second->peer == peer && link.second->at == stage::standing &&
             (link.second->held || now < link.second->heard + time_to_ask());
    });
    if (!trying && !heard && linked(process) && now >= target.next_attempt) connect(process, target);
  }
}

/// Whether the end of this connection says nothing of its process, which would have ended all of them.
bool watch::is_heard_elsewhere(const control_link& link, clock::time_point now) const {
  if (control_addresses(setup_.all[static_cast<std::size_t>(link.peer)].control).size() < 2) return false;
  return std::ranges::any_of(links_, [&](const auto& other) {
    return other.second.get() != &link && other.second->peer == link.peer && other.second->at == stage::standing &&
           now < other.second->heard + time_to_ask() && std::ranges::find(ended_, other.first) == ended_.end();
  });
}

/// How long somebody may take to answer at all: on a busy machine some processes start late.
std::chrono::milliseconds watch::time_to_answer(int process) const {
  constexpr std::chrono::milliseconds late_start{30'000};
  const bool joining = joining_.load(std::memory_order_relaxed);  // relaxed: see all_joined()
  return joining ? std::max(options_.peer_timeout, late_start) : patience_with(process);
}

/// How long somebody who refuses connections, or has ended, may still turn out to have left; while the job starts, to
/// have ended because another one had, which is then to be named.
std::chrono::milliseconds watch::time_for_goodbye() const noexcept {
  return std::chrono::milliseconds(joining_.load(std::memory_order_relaxed) ? 100 : 500);  // relaxed: see all_joined()
}

/// The attempt that `link` was came to nothing; others may follow for as long as `patience`. `ended`: its process has,
/// by what its host says.
void watch::attempt_failed(control_link& link, const std::string& why, std::chrono::milliseconds patience, bool ended) {
  link.at = stage::over;
  const auto target = targets_.find(link.peer);
  if (target == targets_.end()) return;
  target->second.trouble = why;
  target->second.ended = ended;
  target->second.give_up = std::min(target->second.give_up, clock::now() + patience);
}

void watch::accept_all() {
  try {
    for (const file_descriptor& each : listeners_)
      while (auto socket = accept_from(each)) {
        add_link(std::make_unique<control_link>(std::move(socket), stage::accepted, -1, options_.peer_timeout),
                 EPOLLIN);
        if (++strangers_ >= most_strangers) return;  // the rest waits in the backlog
      }
  } catch (const error&) {  // no descriptors left: those that connect wait in the backlog
    listen_no_more();
    listen_again_ = clock::now() + listen_pause;
  }
}

void watch::listen_no_more() noexcept {
  for (const file_descriptor& each : listeners_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, each.get(), nullptr);
  listening_ = false;
}

std::uint64_t watch::add_link(std::unique_ptr<control_link> link, unsigned events) {
  const std::uint64_t id = next_link_++;
  link->polled = events;
  poll_for(link->descriptor(), id, events);
  links_.emplace(id, std::move(link));
  return id;
}

void watch::update_polling(std::uint64_t id, control_link& link) {
  const unsigned wanted = link.at == stage::connecting ? EPOLLOUT : EPOLLIN | (link.wants_to_send() ? EPOLLOUT : 0U);
  if (link.at == stage::over || link.polled == wanted) return;
  link.polled = wanted;
  poll_for(link.descriptor(), id, wanted);
}

void watch::serve(std::uint64_t id, control_link& link, unsigned events) {
  if (link.at == stage::connecting) {
    finish_connecting(link);
  } else {
    if ((events & EPOLLOUT) != 0) link.flush();
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
      const bool open = link.receive();
      understand(link);
      if (!open) ended_.push_back(id);
    }
  }
  update_polling(id, link);
}

/// Ends come after all that was said before them on any connection: that this process was given up, for one, explains
/// them, and it may have been stopped between two reads.
void watch::serve_ends() {
  if (ended_.empty()) return;
  for (const auto& [id, link] : links_) {
    if (link->at != stage::standing || std::ranges::find(ended_, id) != ended_.end()) continue;
    if (!link->receive()) ended_.push_back(id);
    understand(*link);
  }
  for (const std::uint64_t id : ended_) {
    control_link& link = *links_.at(id);
    const bool by_peer = link.failure().empty();
    connection_ended(link, by_peer ? "its control connection ended" : link.failure(), by_peer);
  }
  ended_.clear();
}

void watch::finish_connecting(control_link& link) {
  if (const int number = link.connect_error(); number != 0) {
    const auto target = targets_.find(link.peer);
    const std::string address = target != targets_.end() ? address_of(target->second) : std::string();
    const bool ended = number == ECONNREFUSED || number == ECONNRESET;
    attempt_failed(link, "connecting to its control address " + address + ": " + std::strerror(number),
                   ended ? time_for_goodbye() : options_.peer_timeout, ended);
    return;
  }
  link.at = stage::greeting;
  link.own_hello = encode(own_hello(static_cast<std::uint32_t>(link.peer)));
  link.send(link.own_hello);
}

void watch::understand(control_link& link) {
  try {
    while (link.at != stage::over && understand_next(link)) {
    }
  } catch (const error& failure) {
    connection_ended(link, failure.what(), true);
  }
}

bool watch::understand_next(control_link& link) {
  switch (link.at) {
    case stage::accepted:
      return greeted(link);
    case stage::greeting:
      return greeted_back(link);
    case stage::challenging:
      return proven(link);
    case stage::confirming:
    case stage::standing:
      return take_news(link);
    default:
      return false;
  }
}

/// Acceptor: the connector's hello.
bool watch::greeted(control_link& link) {
  const auto incoming = link.incoming();
  if (incoming.size() < build_prefix::size) return false;
  const auto prefix = read_prefix(incoming, control_hello::magic);
  if (!prefix) throw error(errc::protocol, "not a monitor of weft");
  if (prefix->build.wire != build_identity::current_wire) {
    link.send(encode(own_hello(0)));  // its prefix is enough for the other side to name us
    throw error(errc::incompatible, "speaks another wire version");
  }
  if (incoming.size() < control_hello::size) return false;
  link.peer_hello.assign(incoming.begin(), incoming.begin() + control_hello::size);
  const auto hello = decode_hello(link.peer_hello);
  if (!hello || !fits(*hello)) throw error(errc::protocol, "belongs elsewhere");
  link.understood(control_hello::size);
  link.peer = static_cast<int>(hello->from);
  link.own_hello = encode(own_hello(hello->from));
  link.at = stage::challenging;
  link.send(link.own_hello);
  link.send(prove_end(control_end::acceptor, setup_.secret, link.peer_hello, link.own_hello));
  return true;
}

/// Connector: the acceptor's hello and proof.
bool watch::greeted_back(control_link& link) {
  const auto incoming = link.incoming();
  if (incoming.size() < build_prefix::size) return false;
  const auto prefix = read_prefix(incoming, control_hello::magic);
  if (!prefix) throw error(errc::protocol, "what answers at its control address is not a monitor of weft");
  if (prefix->build.wire != build_identity::current_wire) {
    const int peer = link.peer;
    link.at = stage::over;
    declare_lost(peer, "incompatible: " + describe_incompatible(peer, prefix->host, prefix->build));
    return false;
  }
  if (incoming.size() < control_hello::size + sizeof(proof)) return false;
  const auto peer_hello = incoming.first(control_hello::size);
  const auto hello = decode_hello(peer_hello);
  if (!hello || !fits(*hello) || hello->from != static_cast<std::uint32_t>(link.peer))
    throw error(errc::protocol, "another process answers at its control address");
  const proof expected = prove_end(control_end::acceptor, setup_.secret, link.own_hello, peer_hello);
  if (!same_proof(expected, incoming.subspan(control_hello::size, sizeof(proof))))
    throw error(errc::protocol, "it does not know the job's secret");
  const proof own = prove_end(control_end::connector, setup_.secret, link.own_hello, peer_hello);
  link.understood(control_hello::size + sizeof(proof));
  link.at = stage::confirming;
  link.send(own);
  say_all(link);  // at once: this process may end before the other one answers, and would be taken for the first loss
  return true;
}

/// Acceptor: the connector's proof.
bool watch::proven(control_link& link) {
  const auto incoming = link.incoming();
  if (incoming.size() < sizeof(proof)) return false;
  const proof expected = prove_end(control_end::connector, setup_.secret, link.peer_hello, link.own_hello);
  if (!same_proof(expected, incoming.first(sizeof(proof))))
    throw error(errc::protocol, "does not know the job's secret");
  link.understood(sizeof(proof));
  stand(link);
  return true;
}

control_hello watch::own_hello(std::uint32_t to) const {
  const process_record& own = setup_.all[static_cast<std::size_t>(setup_.process)];
  return {.prefix = {this_build(), own.host.name},
          .job = setup_.job,
          .from = static_cast<std::uint32_t>(setup_.process),
          .to = to,
          .incarnation = own.incarnation,
          .number = draw_challenge()};
}

bool watch::fits(const control_hello& hello) const {
  return hello.job == setup_.job && hello.to == static_cast<std::uint32_t>(setup_.process) && hello.from != hello.to &&
         hello.from < setup_.all.size() && hello.incarnation == setup_.all[hello.from].incarnation;
}

/// To one that has proven itself: all that is known here, votes first: no verdict is to look like a death.
void watch::say_all(control_link& link) {
  link.send(encode(control_message{}));
  repeat_votes(link);
  link.send(news_.everything());
}

/// Both sides have proven themselves.
void watch::stand(control_link& link) {
  link.at = stage::standing;
  link.own_hello.clear();
  link.peer_hello.clear();
  link.keep_for(options_.peer_timeout * kept_silent);
  if (const auto target = targets_.find(link.peer); target != targets_.end()) {
    target->second.pause = std::chrono::milliseconds(5);
    // Other attempts are not needed; but for those that may stand at the other end, where their end would look like a
    // death.
    for (const auto& [id, other] : links_)
      if (target->second.addresses.size() > 1 && other->peer == link.peer &&
          (other->at == stage::connecting || other->at == stage::greeting))
        other->at = stage::over;
    target->second.give_up = clock::now() + patience_with(link.peer);
  }
  if (!link.outbound) say_all(link);
  if (leaving_ || news_.lost(link.peer)) link.finish();  // who was given up has been told so
}

/// `by_peer`: by its process, or by its system where that has ended, not by the network.
void watch::connection_ended(control_link& link, const std::string& why, bool by_peer) {
  if (link.at == stage::over) return;
  const bool stood = link.at == stage::standing;
  const bool attempt = link.outbound && !stood;
  const bool matters = stood && !leaving_ && news_.alive(link.peer) && !is_heard_elsewhere(link, clock::now());
  if (attempt) attempt_failed(link, why, greeting_time, false);
  if (matters && by_peer) declare_lost(link.peer, why);
  link.at = stage::over;
  if (matters && !by_peer) fell_silent(link.peer, why);
}

bool watch::linked(int process) const {
  return std::ranges::any_of(
      links_, [&](const auto& link) { return link.second->peer == process && link.second->at == stage::standing; });
}

}  // namespace weft::fabric
