// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <weft/roll_call/report.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/roll_line.hpp>

namespace weft::tools {
namespace {

[[noreturn]] void refuse(std::string_view line, const std::string& why) {
  throw error(errc::protocol, "the roll of a process: \"" + std::string(line.substr(0, 80)) + "\": " + why);
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// A line, word by word.
class words {
 public:
  explicit words(std::string_view line) : line_(line), rest_(line) { name_ = take(); }

  std::string_view name() const noexcept { return name_; }
  /// The next KEY=VALUE, if there is one.
  bool next() {
    if (rest_.empty()) return false;
    const std::string_view word = take();
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) refuse(line_, "\"" + std::string(word) + "\" is not KEY=VALUE");
    key_ = word.substr(0, equals);
    value_ = word.substr(equals + 1);
    return true;
  }
  bool is(std::string_view key) const noexcept { return key_ == key; }

  void get(std::string_view key, std::string& to) const {
    if (is(key)) to = text();
  }
  template <class Number>
  void get(std::string_view key, Number& to) const {
    if (!is(key)) return;
    const auto [end, failure] = std::from_chars(value_.data(), value_.data() + value_.size(), to);
    if (failure != std::errc{} || end != value_.data() + value_.size())
      refuse(line_, std::string(key_) + " is not such a number");
  }
  std::string text() const {
    std::string result;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      if (value_[i] != '%') {
        result += value_[i];
        continue;
      }
      const int high = i + 2 < value_.size() ? digit(value_[i + 1]) : -1, low = high < 0 ? -1 : digit(value_[i + 2]);
      if (low < 0) refuse(line_, "a % without two digits");
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
    return result;
  }

 private:
  std::string_view take() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    return word;
  }

  std::string_view line_, rest_, name_, key_, value_;
};

constexpr std::array<std::string_view, 3> owners{"program", "weft", "system"};

roll_process read_process(words line) {
  roll_process its;
  while (line.next()) {
    line.get("job", its.job);
    line.get("number", its.number);
    line.get("of", its.of);
    line.get("pid", its.pid);
    line.get("host", its.host);
    line.get("begun", its.begun);
    line.get("phase", its.phase);
  }
  return its;
}

roll_rank read_rank(words line) {
  roll_rank its;
  while (line.next()) {
    line.get("rank", its.rank);
    line.get("thread", its.thread);
    line.get("moves", its.moves);
    line.get("quiet", its.quiet);
    line.get("keeps", its.keeps);
    line.get("phase", its.phase);
    line.get("fiber", its.fiber);
    line.get("running", its.running);
    line.get("left-at", its.left_at);
    line.get("kept-by", its.kept_by);
    line.get("top", its.top);
    if (line.is("state")) its.state = (line.text() + "?")[0];
    if (line.is("parked")) its.parked = line.text() == "1";
  }
  return its;
}

roll_coroutine read_coroutine(words line) {
  roll_coroutine its;
  while (line.next()) {
    line.get("bottom", its.bottom);
    line.get("top", its.top);
    line.get("resumed-by", its.resumed_by);
  }
  return its;
}

roll_member read_member(words line) {
  roll_member its;
  while (line.next()) {
    line.get("communicator", its.communicator);
    line.get("size", its.size);
    line.get("rank", its.rank);
    line.get("begun", its.begun);
    line.get("started", its.started);
    line.get("call", its.call);
    line.get("agrees", its.agrees);
    line.get("divides", its.divides);
    line.get("latest", its.latest);
    line.get("unknown", its.unknown);
  }
  return its;
}

roll_operation read_operation(words line) {
  roll_operation its;
  while (line.next()) {
    line.get("kind", its.kind);
    line.get("stage", its.stage);
    line.get("peer", its.peer);
    line.get("tag", its.tag);
    line.get("sequence", its.sequence);
    line.get("bytes", its.bytes);
    if (line.is("blocks")) its.blocks = line.text() == "1";
  }
  return its;
}

roll_frame read_frame(words line) {
  roll_frame its;
  while (line.next()) {
    line.get("function", its.function);
    line.get("file", its.file);
    line.get("line", its.line);
    line.get("module", its.module);
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (line.is("whose") && line.text() == owners[i]) its.whose = static_cast<frame_owner>(i);
  }
  return its;
}

void add(std::string& line, std::string_view key, const std::string& value) {
  if (!value.empty()) add_to_roll_line(line, key, value);
}
template <class Number>
void add(std::string& line, std::string_view key, Number value, Number usual) {
  if (value != usual) add_to_roll_line(line, key, std::to_string(value));
}

void write(std::string& to, const roll_operation& its) {
  to += "operation";
  add(to, "kind", its.kind);
  add(to, "stage", its.stage);
  add(to, "peer", its.peer, -1);
  add(to, "tag", its.tag, std::int64_t{-1});
  add(to, "sequence", its.sequence, std::int64_t{-1});
  add(to, "bytes", its.bytes, std::uint64_t{0});
  add(to, "blocks", its.blocks ? 1 : 0, 0);
  to += '\n';
}

void write(std::string& to, const roll_member& its) {
  to += "member";
  add(to, "communicator", its.communicator, std::uint64_t{0});
  add(to, "size", its.size, 0);
  add(to, "rank", its.rank, 0);
  add(to, "begun", its.begun, 0u);
  add(to, "started", its.started, 0u);
  add(to, "call", its.call);
  add(to, "agrees", its.agrees);
  add(to, "divides", its.divides);
  add(to, "latest", its.latest);
  add(to, "unknown", its.unknown);
  to += '\n';
  for (const roll_operation& each : its.operations) write(to, each);
}

void write(std::string& to, const roll_frame& its) {
  to += "frame";
  add(to, "function", its.function);
  add(to, "file", its.file);
  add(to, "line", its.line, 0);
  add(to, "module", its.module);
  add(to, "whose", std::string(owners[static_cast<std::size_t>(its.whose)]));
  to += '\n';
}

void write(std::string& to, const roll_rank& its) {
  to += "rank";
  add(to, "rank", its.rank, 0);
  add(to, "thread", its.thread, 0);
  add(to, "moves", its.moves, std::uint64_t{0});
  add(to, "quiet", its.quiet, std::uint64_t{0});
  add(to, "keeps", its.keeps, std::uint64_t{0});
  add(to, "phase", its.phase);
  add(to, "state", std::string(its.state == '?' ? 0 : 1, its.state));
  add(to, "parked", its.parked ? 1 : 0, 0);
  add(to, "kept-by", its.kept_by, -1);
  add(to, "fiber", its.fiber, std::uint64_t{0});
  add(to, "running", its.running, std::uint64_t{0});
  add(to, "left-at", its.left_at, std::uint64_t{0});
  add(to, "top", its.top, std::uint64_t{0});
  to += '\n';
  for (const roll_member& each : its.members) write(to, each);
  for (const roll_frame& each : its.frames) write(to, each);
}

using nlohmann::json;

json as_json(const roll_operation& its) {
  json to{{"kind", its.kind}, {"bytes", its.bytes}, {"blocks", its.blocks}, {"stage", its.stage}};
  if (its.peer >= 0) to["peer"] = its.peer;
  if (its.tag >= 0) to["tag"] = its.tag;
  if (its.sequence >= 0) to["sequence"] = its.sequence;
  return to;
}

json as_json(const roll_member& its) {
  json to{{"communicator", its.communicator}, {"size", its.size},           {"rank", its.rank}, {"begun", its.begun},
          {"started", its.started},           {"operations", json::array()}};
  if (!its.call.empty()) to["call"] = its.call;
  if (!its.agrees.empty()) to["agrees"] = its.agrees;
  if (!its.divides.empty()) to["divides"] = its.divides;
  if (!its.latest.empty()) to["latest"] = its.latest;
  if (!its.unknown.empty()) to["unknown"] = its.unknown;
  for (const roll_operation& each : its.operations) to["operations"].push_back(as_json(each));
  return to;
}

json as_json(const roll_frame& its) {
  json to{{"function", its.function}, {"module", its.module}, {"of", owners[static_cast<std::size_t>(its.whose)]}};
  if (!its.file.empty()) to["file"] = its.file;
  if (its.line != 0) to["line"] = its.line;
  return to;
}

json as_json(const roll_rank& its) {
  json to{{"rank", its.rank},           {"thread", its.thread},
          {"quiet_seconds", its.quiet}, {"state", std::string(1, its.state)},
          {"parked", its.parked},       {"communicators", json::array()},
          {"stack", json::array()}};
  if (!its.phase.empty()) to["phase"] = its.phase;
  if (its.kept_by >= 0) to["thread_kept_by"] = its.kept_by;
  if (its.keeps > 0) to["keeps_thread_seconds"] = its.keeps;
  for (const roll_member& each : its.members) to["communicators"].push_back(as_json(each));
  for (const roll_frame& each : its.frames) to["stack"].push_back(as_json(each));
  return to;
}

}  // namespace

std::vector<roll_process> parse_roll(std::string_view text) {
  std::vector<roll_process> roll;
  bool open = false;
  const auto close = [&] {
    if (open) roll.back().problems.emplace_back("it did not say all that it has to say");
    open = false;
  };
  while (!text.empty()) {
    const std::string_view all = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), all.size() + 1));
    const words line(all);
    if (line.name() == "process") {
      close();
      roll.push_back(read_process(line));
      open = true;
      continue;
    }
    if (!open) refuse(all, "no process is named before it");
    std::vector<roll_rank>& ranks = roll.back().ranks;
    if (line.name() == "end") {
      open = false;
    } else if (line.name() == "problem") {
      words its = line;
      while (its.next())
        if (its.is("text") && !its.text().empty()) roll.back().problems.push_back(its.text());
    } else if (line.name() == "coroutine") {
      roll.back().coroutines.push_back(read_coroutine(line));
    } else if (line.name() == "rank") {
      ranks.push_back(read_rank(line));
    } else if (line.name() == "member" || line.name() == "frame" || line.name() == "operation") {
      if (ranks.empty()) refuse(all, "no rank is named before it");
      if (line.name() == "member") {
        ranks.back().members.push_back(read_member(line));
      } else if (line.name() == "frame") {
        ranks.back().frames.push_back(read_frame(line));
      } else {
        if (ranks.back().members.empty()) refuse(all, "no communicator is named before it");
        ranks.back().members.back().operations.push_back(read_operation(line));
      }
    }
  }
  close();
  return roll;
}

std::string to_text(const std::vector<roll_process>& roll) {
  std::string text;
  for (const roll_process& its : roll) {
    text += "process";
    add(text, "job", its.job);
    add(text, "number", its.number, 0);
    add(text, "of", its.of, 1);
    add(text, "pid", its.pid, 0);
    add(text, "host", its.host);
    add(text, "begun", its.begun, std::int64_t{0});
    add(text, "phase", its.phase);
    text += '\n';
    for (const std::string& each : its.problems) {
      text += "problem";
      add(text, "text", each);
      text += '\n';
    }
    for (const roll_coroutine& each : its.coroutines) {
      text += "coroutine";
      add(text, "bottom", each.bottom, std::uint64_t{0});
      add(text, "top", each.top, std::uint64_t{0});
      add(text, "resumed-by", each.resumed_by, std::uint64_t{0});
      text += '\n';
    }
    for (const roll_rank& each : its.ranks) write(text, each);
    text += "end\n";
  }
  return text;
}

std::string to_json(const std::vector<roll_process>& roll) {
  std::string text;
  for (const roll_process& its : roll) {
    json to{{"job", its.job},   {"process", its.number}, {"processes", its.of},      {"pid", its.pid},
            {"host", its.host}, {"phase", its.phase},    {"problems", its.problems}, {"ranks", json::array()}};
    for (const roll_rank& each : its.ranks) to["ranks"].push_back(as_json(each));
    // What is not UTF-8 is replaced: names of files may be anything.
    text += to.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace weft::tools
