// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <vector>
#include <weft/runtime/trace_text.hpp>

namespace weft::trace {
namespace {

const char* category(kind what) noexcept {
  switch (what) {
    case kind::call:
      return "call";
    case kind::step:
      return "step";
    case kind::transfer:
      return "transfer";
    case kind::wait:
      return "wait";
    case kind::kernel:
      return "kernel";
    case kind::sleep:
      return "sleep";
  }
  return "";
}

const char* name_of(form made) noexcept {
  constexpr std::array names{"", "blocking", "started", "planned"};
  return names[static_cast<std::size_t>(made)];
}

const char* name_of(road by) noexcept {
  constexpr std::array names{"", "node", "process", "messages"};
  return names[static_cast<std::size_t>(by)];
}

/// `"args":{...}` of what is known of a record.
class arguments {
 public:
  explicit arguments(std::string& to) : to_(to) { to_ += "\"args\":{"; }
  ~arguments() { to_ += '}'; }
  arguments(const arguments&) = delete;
  arguments& operator=(const arguments&) = delete;

  void number(const char* key, std::uint64_t value) { begin(key) += std::to_string(value); }
  void text(const char* key, const char* value) {
    if (value != nullptr && *value != '\0') begin(key) += json_string(value);
  }
  std::string& begin(const char* key) {
    to_.append(first_ ? "\"" : ",\"").append(key).append("\":");
    first_ = false;
    return to_;
  }

 private:
  std::string& to_;
  bool first_ = true;
};

void add_arguments(std::string& to, const record& of, const kernel_name& kernel) {
  arguments all(to);
  const auto rank = static_cast<std::uint64_t>(of.peer);
  if (of.what == kind::sleep) return;
  if (of.what == kind::kernel) {
    all.text("operator", kernel.by);
    all.text("type", kernel.type);
    return all.number("bytes", of.bytes);
  }
  if (of.what == kind::wait) {
    all.begin("for") += of.peer >= 0 ? "[" + std::to_string(of.peer) + "]" : "[]";
    if (of.bytes != 0) all.number("bytes", of.bytes);
    return;
  }
  if (of.communicator != record::no_communicator) all.number("communicator", of.communicator);
  if (of.tagged)
    all.number("tag", of.tag());
  else if (of.number != record::no_number)
    all.number("sequence", of.number);
  all.number("bytes", of.bytes);
  if (of.peer >= 0) all.number("peer", rank);
  all.text("algorithm", of.detail);
  all.text("form", name_of(of.made));
  all.text("road", name_of(of.by));
  if (!of.tagged && of.predicted > 0) {
    std::array<char, 32> us{};
    std::snprintf(us.data(), us.size(), "%.3f", static_cast<double>(of.predicted) * 1e6);
    all.begin("predicted_us") += us.data();
  }
}

/// The end of what is open, the outermost first.
class nesting {
 public:
  /// Whether what begins then and ends then lies within all that is open; then it is open, too.
  bool take(std::int64_t begin, std::int64_t end) {
    while (!ends_.empty() && ends_.back() <= begin) ends_.pop_back();
    if (!ends_.empty() && end > ends_.back()) return false;
    ends_.push_back(end);
    return true;
  }

 private:
  std::vector<std::int64_t> ends_;
};

struct timed {
  std::int64_t begin, end;
  const record* of;
};

std::vector<timed> in_order(const track& of, const time_axis& time) {
  std::vector<timed> all;
  all.reserve(of.kept());
  for (std::size_t i = 0; i < of.kept(); ++i) {
    const record& each = of.at(i);
    const std::int64_t begin = std::max<std::int64_t>(time(each.begin), 0);
    all.push_back({begin, std::max(time(each.end), begin), &each});
  }
  std::ranges::stable_sort(all, [](const timed& one, const timed& other) {
    return one.begin != other.begin ? one.begin < other.begin : one.end > other.end;
  });
  return all;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      all += code.data();
      continue;
    }
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all += '"';
}

std::string microseconds(std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const std::uint64_t size =
      negative ? ~static_cast<std::uint64_t>(nanoseconds) + 1 : static_cast<std::uint64_t>(nanoseconds);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%s%llu.%03llu", negative ? "-" : "",
                static_cast<unsigned long long>(size / 1000), static_cast<unsigned long long>(size % 1000));
  return text.data();
}

void write_events(const track& of, int process, int number, const time_axis& time, const find_kernel& find,
                  const std::function<void(std::string_view)>& write) {
  const auto place_on = [&](int its) {
    return ",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(its);
  };
  const std::string place = place_on(number);
  nesting open;
  std::uint64_t pairs = 0;
  std::string line;
  for (const timed& each : in_order(of, time)) {
    const bool within = !each.of->overlaps && each.of->owner == 0 && open.take(each.begin, each.end);
    const bool is_kernel = each.of->what == kind::kernel;
    const kernel_name kernel = is_kernel ? find(each.of->communicator) : kernel_name{};
    std::string head = "\"cat\":\"";
    head.append(category(each.of->what))
        .append("\",\"name\":")
        .append(json_string(is_kernel ? kernel.by : each.of->name));
    head += each.of->owner == 0 ? place : place_on(each.of->owner - 1);
    if (!within)
      head +=
          ",\"id\":\"" + std::to_string(process) + "." + std::to_string(number) + "." + std::to_string(pairs++) + "\"";
    line = within ? ",\n{\"ph\":\"X\"," : ",\n{\"ph\":\"b\",";
    line.append(head).append(",\"ts\":").append(microseconds(each.begin));
    if (within) line.append(",\"dur\":").append(microseconds(each.end - each.begin));
    line += ',';
    add_arguments(line, *each.of, kernel);
    line += '}';
    if (!within) line.append(",\n{\"ph\":\"e\",").append(head).append(",\"ts\":").append(microseconds(each.end)) += '}';
    write(line);
  }
}

std::string name_track(const track& of, int process, int number) {
  const std::string place =
      ",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(number) + ",\"args\":{";
  std::string text = ",\n{\"ph\":\"M\",\"name\":\"thread_name\"" + place + "\"name\":" + json_string(of.name());
  if (of.rank() >= 0) text += ",\"rank\":" + std::to_string(of.rank());
  return text + "}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\"" + place +
         "\"sort_index\":" + std::to_string(number) + "}}";
}

std::string describe_track(const track& of, int process, int number) {
  return "{\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(number) +
         ",\"name\":" + json_string(of.name()) + (of.rank() >= 0 ? ",\"rank\":" + std::to_string(of.rank()) : "") +
         ",\"events\":" + std::to_string(of.kept()) + ",\"dropped\":" + std::to_string(of.dropped()) + "}";
}

}  // namespace weft::trace
