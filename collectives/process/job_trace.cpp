// SPDX-License-Identifier: Apache-2.0
#include "job_trace.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>
#include <weft/fabric/build_identity.hpp>
#include <weft/kernels/combine.hpp>
#include <weft/runtime/error.hpp>

#include "process_channel.hpp"

namespace weft::detail {
namespace {

/// Questions of the time at once, the quickest of which counts.
constexpr int questions = 64;
/// Where a process hosts more ranks than this, they share the memory of so many.
constexpr int most_whole_tracks = 64;
/// Text that travels at once, bytes.
constexpr std::size_t piece_bytes = 256 << 10;

/// What the messages of a channel are.
enum tag : std::uint64_t { wish_tag, question_tag, time_tag, introduction_tag, frame_tag, text_tag };

std::int64_t steady_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& each : parts) (all += all.empty() || each.empty() ? "" : ",\n  ") += each;
  return all;
}

trace::kernel_name named_kernel(std::uint64_t address) {
  if (address == 0) return {"custom", nullptr};
  for (const kernels::operation by : kernels::all_operations())
    for (const kernels::type type : kernels::all_types())
      if (kernels::is_built(by, type) && reinterpret_cast<std::uintptr_t>(kernels::combine(by, type)) == address)
        return {kernels::name(by).data(), kernels::name(type).data()};
  return {"kernel", nullptr};
}

std::string time_of_day(std::chrono::system_clock::time_point of) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(of.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(since / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>(since % 1000));
  return text.data();
}

/// Of a loss the program is told; nothing else is to come between two that live.
void say_unless_lost(int process, fabric::messenger& messages, const error& failed) {
  if (is_lost(messages, process)) return;
  std::fprintf(stderr, "weft: warning: the trace of process %d and this one's do not meet: %s\n", process,
               failed.what());
}

}  // namespace

/// What a process says of itself first.
struct job_trace::introduction {
  std::int64_t begun = 0;                ///< on its clock
  trace::clock_offset at_begin, at_end;  ///< of that
};

/// By what its times become those of the trace.
struct job_trace::time_frame {
  std::int64_t origin = 0;
  trace::clock_offset at_begin, at_end;
};

/// Between the process that collects and one other.
class job_trace::channel : public process_channel {
 public:
  channel(const traced_job& job, purpose of, int collector, int other, fabric::messenger& messages, progress& by)
      : process_channel(messages, by, job.first_ranks, of, collector, other) {}

  template <class Value>
  void send_value(tag what, const Value& value) {
    send(what, std::as_bytes(std::span(&value, 1)));
  }
  template <class Value>
  Value receive_value(tag what) {
    Value value{};
    const std::size_t came = receive(what, std::as_writable_bytes(std::span(&value, 1)));
    if (came != sizeof value) throw error(errc::protocol, "a message of the trace is too short");
    return value;
  }
};

/// The file, which takes the place of one of its name only once it is whole. After a failure nothing is written.
class job_trace::file {
 public:
  explicit file(const std::string& name) : name_(name), beside_(name + "." + std::to_string(::getpid()) + ".part") {
    struct stat is {};
    // What is no file, as /dev/stdout, is not replaced.
    if (::stat(name_.c_str(), &is) == 0 && !S_ISREG(is.st_mode)) beside_ = name_;
    descriptor_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("open", beside_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    discard();
  }

  void write(std::string_view text) {
    held_ += text;
    if (held_.size() >= piece_bytes) flush();
  }
  void close() {
    flush();
    if (descriptor_ < 0) return;
    if (::close(std::exchange(descriptor_, -1)) != 0) {
      fail("close", beside_);
      return discard();
    }
    if (beside_ == name_ || ::rename(beside_.c_str(), name_.c_str()) == 0) return;
    fail("rename", name_);
    discard();
  }

 private:
  void flush() {
    for (std::string_view left = held_; descriptor_ >= 0 && !left.empty();) {
      const ssize_t written = ::write(descriptor_, left.data(), left.size());
      if (written >= 0) {
        left.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        fail("write", beside_);
        ::close(std::exchange(descriptor_, -1));
        discard();
      }
    }
    held_.clear();
  }
  void fail(const char* call, const std::string& of) {
    const int failed = errno;
    std::fprintf(stderr, "weft: the trace is not written: %s %s: %s (errno %d)\n", call, of.c_str(),
                 std::generic_category().message(failed).c_str(), failed);
  }
  void discard() {
    if (beside_ != name_) ::unlink(beside_.c_str());
  }

  const std::string name_;
  std::string beside_, held_;
  int descriptor_ = -1;
};

job_trace::job_trace(traced_job job, std::size_t track_bytes, std::shared_ptr<memory_budget> memory)
    : job_(std::move(job)),
      records_(job_.first_rank, job_.hosted,
               track_bytes * std::size_t{most_whole_tracks} /
                   static_cast<std::size_t>(std::max(job_.hosted, most_whole_tracks)),
               std::move(memory)) {}

bool job_trace::compares(int p) const noexcept { return job_.nodes[static_cast<std::size_t>(p)] == p && p != 0; }

trace::clock_offset job_trace::ask_for_time(channel& other) const {
  trace::clock_offset found;
  for (int i = 0; i < questions; ++i) {
    trace::clock_question asked;
    asked.sent = steady_now();
    other.send_value(question_tag, asked.sent);
    asked.told = other.receive_value<std::int64_t>(time_tag);
    asked.received = steady_now();
    found.learn(asked);
  }
  return found;
}

void job_trace::tell_time(channel& other) const {
  for (int i = 0; i < questions; ++i) {
    other.receive_value<std::int64_t>(question_tag);
    other.send_value(time_tag, steady_now());
  }
}

void job_trace::compare_clocks(fabric::messenger& messages, progress& by) {
  if (compares(job_.process)) {
    channel first(job_, channel::purpose::clocks, 0, job_.process, messages, by);
    at_begin_ = ask_for_time(first);
  }
  if (job_.process != 0) return;
  for (int p = 1; p < std::ssize(job_.nodes); ++p) {
    if (!compares(p)) continue;
    channel other(job_, channel::purpose::clocks, 0, p, messages, by);
    tell_time(other);
  }
}

void job_trace::finish(fabric::messenger& messages, progress& by) noexcept {
  try {
    for (int collector = 0; collector < job_.process; ++collector) {
      if (is_lost(messages, collector)) continue;
      // One that lives writes the file without this process's part.
      if (hand_over(collector, messages, by) || !is_lost(messages, collector)) return;
    }
    collect(messages, by);
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "weft: the trace is not written: %s\n", failed.what());
  }
}

void job_trace::write_own(const trace::time_axis& time, int process,
                          const std::function<void(std::string_view)>& write) const {
  const std::string pid = ",\"pid\":" + std::to_string(process) + ",\"tid\":0,\"args\":{";
  write(",\n{\"ph\":\"M\",\"name\":\"process_name\"" + pid + "\"name\":" +
        trace::json_string("process " + std::to_string(process) + " on " +
                           job_.hosts[static_cast<std::size_t>(process)]) +
        "}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\"" + pid + "\"sort_index\":" + std::to_string(process) +
        "}}");
  int number = 0;
  for (const trace::track* each : records_.all()) {
    write(trace::name_track(*each, process, number));
    trace::write_events(*each, process, number++, time, named_kernel, write);
  }
}

std::string job_trace::describe_tracks() const {
  std::vector<std::string> all;
  for (const trace::track* each : records_.all())
    all.push_back(trace::describe_track(*each, job_.process, static_cast<int>(all.size())));
  return joined(all);
}

bool job_trace::hand_over(int collector, fabric::messenger& messages, progress& by) {
  try {
    channel to(job_, channel::purpose::trace, collector, job_.process, messages, by);
    introduction mine{records_.begun().nanoseconds, collector == 0 ? at_begin_ : trace::clock_offset{}, {}};
    if (to.receive_value<std::int64_t>(wish_tag) != 0) mine.at_end = ask_for_time(to);
    to.send_value(introduction_tag, mine);
    const auto frame = to.receive_value<time_frame>(frame_tag);
    const trace::time_axis time{{records_.begun(), read_ticks()}, {frame.at_begin, frame.at_end}, frame.origin};
    std::string held;
    const auto flush = [&] {
      for (std::string_view left = held; !left.empty();) {
        const std::string_view some = left.substr(0, piece_bytes);
        to.send(text_tag, std::as_bytes(std::span(some)));
        left.remove_prefix(some.size());
      }
      held.clear();
    };
    const auto write = [&](std::string_view text) {
      if (held.size() + text.size() > piece_bytes) flush();  // a piece ends with an event
      held += text;
    };
    const auto end = [&] {
      flush();
      to.send(text_tag, std::span<const std::byte>());
    };
    write_own(time, job_.process, write);
    end();
    write(describe_tracks());
    end();
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const error& failed) {
    say_unless_lost(collector, messages, failed);
    return false;  // the next one collects
  }
}

void job_trace::collect(fabric::messenger& messages, progress& by) {
  const auto processes = job_.nodes.size();
  const auto here = static_cast<std::size_t>(job_.process);
  std::vector<std::unique_ptr<channel>> others(processes);
  std::vector<introduction> said(processes);
  std::vector<bool> has_clock(processes, false);  // of each node, by its first process
  // A process that is lost on the way is left out, as are those that were before.
  const auto unless_lost = [&](std::size_t p, const auto& part) {
    try {
      part();
    } catch (const error& failed) {
      say_unless_lost(static_cast<int>(p), messages, failed);
      others[p].reset();
    }
  };
  for (std::size_t p = 0; p < processes; ++p) {
    if (p == here || is_lost(messages, static_cast<int>(p))) continue;
    unless_lost(p, [&] {
      others[p] =
          std::make_unique<channel>(job_, channel::purpose::trace, job_.process, static_cast<int>(p), messages, by);
      const auto node = static_cast<std::size_t>(job_.nodes[p]);
      const bool asks = job_.nodes[p] != job_.nodes[here] && !has_clock[node];
      others[p]->send_value(wish_tag, std::int64_t{asks});
      if (asks) tell_time(*others[p]);
      said[p] = others[p]->receive_value<introduction>(introduction_tag);
      if (!asks) return;
      has_clock[node] = true;
      said[node].at_begin = said[p].at_begin;
      said[node].at_end = said[p].at_end;
    });
  }
  const tick_reading now = read_ticks();
  std::vector<trace::clock_line> clocks(processes);
  std::int64_t origin = records_.begun().nanoseconds;
  for (std::size_t p = 0; p < processes; ++p) {
    if (others[p] == nullptr) continue;
    const auto node = static_cast<std::size_t>(job_.nodes[p]);
    if (has_clock[node]) clocks[p] = {said[node].at_begin, said[node].at_end};
    origin = std::min(origin, clocks[p].there(said[p].begun));
  }

  file to(job_.file);
  to.write("{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[");
  bool is_first = true;
  const auto write = [&](std::string_view text) {
    to.write(text.substr(std::exchange(is_first, false) ? 1 : 0));  // every line begins with a comma
  };
  write_own({{records_.begun(), now}, {}, origin}, job_.process, write);
  std::vector<std::string> tracks(processes);
  tracks[here] = describe_tracks();
  std::vector<std::byte> piece(piece_bytes);
  for (std::size_t p = 0; p < processes; ++p) {
    if (others[p] == nullptr) continue;
    const auto each_piece = [&](const auto& take) {
      while (const std::size_t came = others[p]->receive(text_tag, piece))
        take(std::string_view(reinterpret_cast<const char*>(piece.data()), came));
    };
    unless_lost(p, [&] {
      const auto node = static_cast<std::size_t>(job_.nodes[p]);
      time_frame frame{origin, {0, 0, 0}, {0, 0, 0}};
      if (has_clock[node]) frame = {origin, said[node].at_begin, said[node].at_end};
      others[p]->send_value(frame_tag, frame);
      each_piece(write);
      std::string all;
      each_piece([&](std::string_view text) { all += text; });
      tracks[p] = std::move(all);
      others[p].reset();
    });
  }
  to.write("\n],\n\"otherData\":" + other_data(tracks, clocks) + "}\n");
  to.close();
}

std::string job_trace::other_data(const std::vector<std::string>& tracks,
                                  const std::vector<trace::clock_line>& clocks) const {
  std::string hosts, missing;
  for (std::size_t node = 0; node < job_.nodes.size(); ++node) {
    std::string processes;
    std::optional<std::size_t> any;
    for (std::size_t p = 0; p < job_.nodes.size(); ++p) {
      if (job_.nodes[p] != static_cast<int>(node)) continue;
      processes += (processes.empty() ? "" : ",") + std::to_string(p);
      if (!tracks[p].empty()) any = p;
    }
    if (processes.empty()) continue;
    hosts += (hosts.empty() ? "" : ",\n  ") + std::string("{\"host\":") + trace::json_string(job_.hosts[node]) +
             ",\"processes\":[" + processes + "]";
    if (any)
      hosts += ",\"offset_us\":" + trace::microseconds(clocks[*any].offset()) +
               ",\"error_us\":" + trace::microseconds(clocks[*any].error());
    hosts += "}";
  }
  for (std::size_t p = 0; p < tracks.size(); ++p)
    if (tracks[p].empty()) missing += (missing.empty() ? "" : ",") + std::to_string(p);
  std::array<char, 20> job{};
  std::snprintf(job.data(), job.size(), "%016llx", static_cast<unsigned long long>(job_.job));
  return std::string("{\"program\":") + trace::json_string(program_invocation_name) +
         ",\"version\":" + trace::json_string(fabric::this_build().version) + ",\"job\":\"" + job.data() +
         "\",\"begun\":\"" + time_of_day(begun_) + "\",\n\"ranks\":" + std::to_string(job_.ranks) +
         ",\"processes\":" + std::to_string(job_.nodes.size()) + ",\n\"hosts\":[" + hosts + "],\n\"tracks\":[" +
         joined(tracks) + "],\n\"missing\":[" + missing + "]}";
}

}  // namespace weft::detail
