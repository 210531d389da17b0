// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>
#include <weft/process/roll_call.hpp>
#include <weft/process/started_call.hpp>
#include <weft/runtime/roll_line.hpp>
#include <weft/runtime/text_file.hpp>

namespace weft::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto milliseconds_between_looks = static_cast<int>(kept_threads::between_looks.count());
/// For what another thread holds; then no other entry waits for it, since nobody makes a communicator meanwhile.
constexpr std::chrono::milliseconds longest_wait{100};
/// For whoever asks to take what he is told.
constexpr auto answering_time = 1s;

void add_number(std::string& line, std::string_view key, std::uint64_t number) {
  add_to_roll_line(line, key, std::to_string(number));
}

void add_address(std::string& line, std::string_view key, const void* address) {
  add_number(line, key, reinterpret_cast<std::uintptr_t>(address));
}

/// The range of this process's first stack, "BEGIN-END" in hexadecimal digits.
std::string main_stack() {
  const std::string maps = read_text("/proc/self/maps").value_or("");
  for (const std::string_view line : lines_of(maps))
    if (line.ends_with("[stack]")) return std::string(first_word_of(line));
  return {};
}

bool lies_in(const void* address, std::string_view range) {
  std::uintptr_t begin = 0, end = 0;
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return false;
  std::from_chars(range.data(), range.data() + dash, begin, 16);
  std::from_chars(range.data() + dash + 1, range.data() + range.size(), end, 16);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return begin <= at && at < end;
}

/// What a thread of this process does, as far as the system sees it.
const char* doing(pid_t thread) {
  const std::string stat = read_text("/proc/self/task/" + std::to_string(thread) + "/stat").value_or("");
  const std::size_t name_end = stat.rfind(')');
  const bool runs = name_end != std::string::npos && name_end + 2 < stat.size() && stat[name_end + 2] == 'R';
  return runs ? "computing" : "blocked in a system call";
}

/// A connection to a socket of this machine that listens; empty where it does not.
file_descriptor connection_to(std::string_view name) {
  file_descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un whom{};
  whom.sun_family = AF_UNIX;
  if (!made || name.size() >= sizeof whom.sun_path) return {};
  std::memcpy(whom.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&whom), length) != 0) return {};
  return made;
}

bool may_ask(const file_descriptor& who) {
  ucred its{};
  socklen_t length = sizeof its;
  return ::getsockopt(who.get(), SOL_SOCKET, SO_PEERCRED, &its, &length) == 0 &&
         (its.uid == 0 || its.uid == ::getuid());
}

/// Blocks all signals while it lives: a thread that is started meanwhile has them blocked.
class no_signals {
 public:
  no_signals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;
  ~no_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

roll_call::roll_call(std::uint64_t job, int process, int processes, std::string desk)
    : job_(job), process_(process), processes_(processes), desk_(std::move(desk)) {
  if (!listen()) return;
  const no_signals blocked;
  try {
    thread_ = thread("weft-roll", [this] { serve(); });
  } catch (const std::exception&) {  // the job can do without
    listener_.reset();
  }
}

roll_call::~roll_call() {
  if (!thread_.joinable()) return;
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &once, sizeof once);
  thread_.join();
}

bool roll_call::listen() {
  stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!stop_ || !listener_) return false;
  const std::string name = roll_socket_name(roll_job_name(job_), std::to_string(process_));
  sockaddr_un own{};
  own.sun_family = AF_UNIX;
  std::memcpy(own.sun_path + 1, name.data(), name.size());  // behind a zero: the name is in no folder
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const bool listens = ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&own), length) == 0 &&
                       ::listen(listener_.get(), SOMAXCONN) == 0;
  if (!listens) listener_.reset();
  return listens;
}

void roll_call::say(const char* phase) {
  const std::lock_guard lock(lock_);
  phase_ = phase;
}

void roll_call::set_ranks(int first, int count) {
  const std::lock_guard lock(lock_);
  first_rank_ = first;
  ranks_.assign(static_cast<std::size_t>(count), {});
  for (seated_rank& each : ranks_) each.since = std::chrono::steady_clock::now();
  kept_.make_room(ranks_.size());
}

void roll_call::set_calls(const started_calls& calls) {
  const std::lock_guard lock(lock_);
  calls_ = &calls;
}

void roll_call::add(roll_entry& entry) {
  const std::lock_guard lock(lock_);
  entries_.push_back(entry);
}

void roll_call::take_back(roll_entry& entry) noexcept {
  const std::lock_guard lock(lock_);
  entries_.erase(entries_.iterator_to(entry));
  entry.add_calls(left_);
}

void roll_call::add_calls(statistics& sum) noexcept {
  const std::lock_guard lock(lock_);
  for (std::size_t what = 0; what < sum.collectives.size(); ++what)
    for (std::size_t by = 0; by < statistics::roads; ++by)
      for (std::size_t as = 0; as < statistics::forms; ++as) {
        statistics::volume& to = sum.collectives[what][by][as];
        to = to + left_.collectives[what][by][as];
      }
  for (const roll_entry& each : entries_) each.add_calls(sum);
}

std::vector<int> roll_call::behind(std::uint64_t communicator, std::uint32_t begun) {
  std::vector<int> ranks;
  {
    const std::lock_guard lock(lock_);
    for (const roll_entry& each : entries_)
      if (const auto its = each.where(); its.communicator == communicator && its.begun < begun)
        ranks.push_back(its.rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

roll_call::seat::seat(roll_call& of, int local) : of_(of), local_(local) {
  const fiber* const mine = fiber::current();
  if (mine != nullptr) thread_ = &mine->owner();
  const std::lock_guard lock(of_.lock_);
  seated_rank& its = of_.ranks_[static_cast<std::size_t>(local)];
  its.thread = ::gettid();
  its.on = mine != nullptr ? mine->where() : fiber::whereabouts();
  its.by = thread_;
  if (thread_ != nullptr) of_.kept_.add(*thread_);
}

roll_call::seat::~seat() {
  const std::lock_guard lock(of_.lock_);
  seated_rank& its = of_.ranks_[static_cast<std::size_t>(local_)];
  its.thread = 0;
  its.on = {};
  its.by = nullptr;
  if (thread_ != nullptr) of_.kept_.take_back(*thread_);
}

void roll_call::serve() noexcept {
  std::array<pollfd, 2> awaited{{{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
  while (true) try {
      ::poll(awaited.data(), awaited.size(), milliseconds_between_looks);
      if (awaited[0].revents != 0) return;
      if (const std::string warnings = look(); !warnings.empty()) {
        std::fputs(warnings.c_str(), stderr);
        tell_desk();
      }
      if (awaited[1].revents == 0) continue;
      file_descriptor asking(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (asking)
        answer(std::move(asking));
      else
        ::poll(awaited.data(), 1, milliseconds_between_looks);  // no descriptor is free: he waits
    } catch (const std::exception&) {                           // no memory, or whoever asked has gone
    }
}

/// Without memory of its own, as long as there is nothing to say: it is done whether or not somebody ever asks.
std::string roll_call::look() {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(lock_);
  for (const roll_entry& each : entries_) ranks_[local_of(each)].counted += each.moves();
  for (seated_rank& each : ranks_) {
    const std::uint64_t moves = std::exchange(each.counted, 0);
    if (std::exchange(each.moves, moves) != moves) each.since = now;
  }
  kept_.look(now);
  std::string warnings;
  while (const auto kept = kept_.next_to_tell()) warnings += warn_of(*kept);
  return warnings;
}

std::string roll_call::warn_of(const kept_threads::kept& which) const {
  const int others = kept_.ranks_of(*which.thread) - 1;
  std::string who, beside;
  pid_t thread = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].by != which.thread) continue;
    thread = ranks_[i].thread;
    const std::string number = std::to_string(first_rank_ + static_cast<int>(i));
    if (ranks_[i].on.self == which.fiber) who = "rank " + number;
    beside += (beside.empty() ? "" : ", ") + number;
  }
  if (who.empty()) who = "a fiber that a rank of " + beside + " has made";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(which.time).count();
  return "weft: warning: " + who + " keeps its thread (" + std::to_string(thread) + ", " + doing(thread) + ") for " +
         std::to_string(seconds) + " s now while other fibers could run; " + std::to_string(others) +
         (others == 1 ? " other rank is" : " other ranks are") +
         " on that thread. What blocks goes through weft::mutex, runtime.wait or runtime.blocking, and long work calls "
         "runtime.yield; `weft ps " +
         roll_job_name(job_) + "` shows the stack\n";
}

/// The connection alone says it.
void roll_call::tell_desk() const noexcept {
  if (!desk_.empty()) connection_to(desk_);
}

void roll_call::answer(file_descriptor asking) {
  if (!may_ask(asking)) return;
  const std::string text = describe();
  send_all(asking, std::as_bytes(std::span(text)), std::chrono::steady_clock::now() + answering_time, "the roll");
}

std::string roll_call::describe() {
  const std::string stack = main_stack();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string text = "process";
  add_to_roll_line(text, "job", roll_job_name(job_));
  add_number(text, "number", static_cast<std::uint64_t>(process_));
  add_number(text, "of", static_cast<std::uint64_t>(processes_));
  add_number(text, "pid", static_cast<std::uint64_t>(::getpid()));
  add_to_roll_line(text, "host", host.data());
  const auto begun = std::chrono::duration_cast<std::chrono::seconds>(begun_.time_since_epoch());
  add_number(text, "begun", static_cast<std::uint64_t>(begun.count()));
  const std::lock_guard lock(lock_);
  add_to_roll_line(text, "phase", phase_);
  text += '\n';
  const auto list = [&](const coroutine::whereabouts& each) {
    text += "coroutine";
    add_address(text, "bottom", each.bottom);
    add_address(text, "top", each.top);
    add_address(text, "resumed-by", each.resumed_by);
    text += '\n';
  };
  if (calls_ != nullptr) calls_->look_at_stacks(longest_wait, list);
  std::vector<std::vector<const roll_entry*>> entries(ranks_.size());
  for (const roll_entry& each : entries_) entries[local_of(each)].push_back(&each);
  std::chrono::nanoseconds patience = longest_wait;
  for (std::size_t i = 0; i < ranks_.size(); ++i) describe(text, i, stack, entries[i], patience);
  return text += "end\n";
}

void roll_call::describe(std::string& to, std::size_t local, std::string_view main_stack,
                         std::span<const roll_entry* const> entries, std::chrono::nanoseconds& patience) {
  const seated_rank& its = ranks_[local];
  const int rank = first_rank_ + static_cast<int>(local);
  const auto quiet = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - its.since);
  to += "rank";
  add_number(to, "rank", static_cast<std::uint64_t>(rank));
  // A process that has but one need not run it on fibers; then it is that of its first thread, most likely.
  add_number(to, "thread", static_cast<std::uint64_t>(its.thread != 0 ? its.thread : ::getpid()));
  add_number(to, "moves", its.moves);
  add_number(to, "quiet", static_cast<std::uint64_t>(quiet.count()));
  const auto kept = std::chrono::duration_cast<std::chrono::seconds>(kept_.time_of(its.on.self));
  if (kept.count() > 0) add_number(to, "keeps", static_cast<std::uint64_t>(kept.count()));
  if (its.on.self != nullptr) {
    add_address(to, "fiber", its.on.self);
    add_address(to, "running", its.on.running);
    add_address(to, "left-at", its.on.left_at);
    add_address(to, "top", its.on.top);
  } else if (its.thread == 0 && ranks_.size() > 1) {
    add_to_roll_line(to, "phase", "does not run");
  }
  to += '\n';
  const auto on_stack = [&](const void* address) {
    return lies_in(address, main_stack) || (its.on.bottom <= address && address < its.on.top);
  };
  for (const roll_entry* each : entries)
    if (!each->describe(to, on_stack, patience)) patience = std::chrono::nanoseconds(0);
}

}  // namespace weft::detail
