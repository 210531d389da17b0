// SPDX-License-Identifier: Apache-2.0
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <weft/fabric/build_identity.hpp>
#include <weft/fabric/process_record.hpp>
#include <weft/fabric/wire_bytes.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/runtime/text_file.hpp>
#include <weft/topology/affinity.hpp>

namespace weft::fabric {
namespace {

constexpr std::string_view magic = "weft-rec";

void put_text(std::vector<std::byte>& to, std::string_view text, const char* what) {
  if (text.size() > longest_record_text)
    throw error(errc::invalid_argument, std::string("process record: ") + what + " of " + std::to_string(text.size()) +
                                            " bytes; at most " + std::to_string(longest_record_text) + " travel");
  put(to, static_cast<std::uint16_t>(text.size()));
  put(to, std::as_bytes(std::span(text)));
}

void put_interfaces(std::vector<std::byte>& to, const std::vector<network_interface>& all) {
  put(to, static_cast<std::uint8_t>(all.size()));
  for (const network_interface& one : all) {
    put_text(to, one.name, "interface");
    put_text(to, one.address, "address of an interface");
    put(to, static_cast<std::uint8_t>(one.prefix));
    put(to, static_cast<std::uint8_t>(one.default_route));
    put(to, one.speed);
  }
}

std::string take_text(byte_reader& from) { return from.text(from.number<std::uint16_t>()); }

std::vector<network_interface> take_interfaces(byte_reader& from) {
  std::vector<network_interface> all(from.number<std::uint8_t>());
  for (network_interface& one : all) {
    one.name = take_text(from);
    one.address = take_text(from);
    one.prefix = from.number<std::uint8_t>();
    one.default_route = from.number<std::uint8_t>() != 0;
    one.speed = from.number<std::uint32_t>();
  }
  return all;
}

[[noreturn]] void throw_malformed(int process, const std::string& what) {
  throw error(errc::protocol, "record of process " + std::to_string(process) + ": " + what);
}

topology::cpu_set cpus_of(const std::string& list, int process) try {
  return topology::cpu_set::parse(list);
} catch (const error& refused) {
  throw_malformed(process, refused.what());
}

build_prefix read_compatible_prefix(std::span<const std::byte> bytes, int process) {
  if (bytes.size() < build_prefix::size)
    throw_malformed(
        process, std::to_string(bytes.size()) + " bytes; even its beginning has " + std::to_string(build_prefix::size));
  const auto prefix = read_prefix(bytes, magic);
  if (!prefix)
    throw error(errc::incompatible, "process " + std::to_string(process) + " is not weft: its record begins with \"" +
                                        byte_reader(bytes).field(magic.size()) + "\" and not with \"" +
                                        std::string(magic) + "\"");
  if (prefix->build.wire != build_identity::current_wire)
    throw error(errc::incompatible, describe_incompatible(process, prefix->host, prefix->build));
  return *prefix;
}

std::string first_line(const char* path) {
  std::string text = read_text(path).value_or("");
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  return text.substr(0, text.find('\n'));
}

std::uint32_t draw_incarnation() {
  std::uint32_t result = 0;
  while (result == 0)
    if (::getrandom(&result, sizeof result, 0) != sizeof result)
      throw_system_error(errno, "getrandom", "drawing an incarnation");
  return result;
}

host_identity local_host() {
  host_identity result;
  result.node = node_identity();
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) == 0) result.name = name;
  struct stat status;
  if (::stat("/proc/self/ns/pid", &status) == 0) result.pid_namespace = status.st_ino;
  return result;
}

}  // namespace

process_record local_record() {
  process_record result;
  result.build = this_build();
  result.host = local_host();
  result.cpus = topology::this_thread_binding();
  result.pid = ::getpid();
  result.started = process_start_time(result.pid);
  result.incarnation = draw_incarnation();
  return result;
}

std::vector<std::byte> encode(const process_record& record) {
  std::vector<std::byte> result;
  put_prefix(result, magic, {record.build, record.host.name});
  put(result, static_cast<std::uint64_t>(record.pid));
  put(result, record.started);
  put(result, record.incarnation);
  put(result, static_cast<std::uint32_t>(record.ranks));
  put(result, static_cast<std::uint32_t>(record.door));
  put(result, record.host.pid_namespace);
  put_text(result, record.host.node, "node");
  put_text(result, record.control, "control address");
  put_text(result, record.provider, "provider name");
  put_text(result, record.switches, "switches");
  put_text(result, to_string(record.cpus), "list of CPUs");
  put_interfaces(result, record.interfaces);
  return result;
}

process_record decode(std::span<const std::byte> bytes, int process) {
  build_prefix prefix = read_compatible_prefix(bytes, process);
  process_record result;
  result.build = std::move(prefix.build);
  result.host.name = std::move(prefix.host);
  byte_reader from(bytes.subspan(build_prefix::size));
  result.pid = static_cast<std::int64_t>(from.number<std::uint64_t>());
  result.started = from.number<std::uint64_t>();
  result.incarnation = from.number<std::uint32_t>();
  const auto ranks = from.number<std::uint32_t>();
  result.door = static_cast<std::int32_t>(from.number<std::uint32_t>());
  result.host.pid_namespace = from.number<std::uint64_t>();
  result.host.node = take_text(from);
  result.control = take_text(from);
  result.provider = take_text(from);
  result.switches = take_text(from);
  const std::string cpus = take_text(from);
  result.interfaces = take_interfaces(from);
  if (!from.good()) throw_malformed(process, "cut off after " + std::to_string(bytes.size()) + " bytes");
  if (!from.rest().empty()) throw_malformed(process, std::to_string(from.rest().size()) + " bytes too many");
  if (ranks < 1 || ranks > std::uint32_t{std::numeric_limits<int>::max()})
    throw_malformed(process, "hosts " + std::to_string(ranks) + " ranks; at least 1 is needed");
  result.cpus = cpus_of(cpus, process);
  if (result.incarnation == 0) throw_malformed(process, "incarnation 0, which no process has");
  result.ranks = static_cast<int>(ranks);
  return result;
}

std::uint64_t process_start_time(std::int64_t pid) {
  // proc(5): the fields after the parenthesised name, which may hold spaces and parentheses itself; the 22nd is wanted.
  const std::string line = first_line(("/proc/" + std::to_string(pid) + "/stat").c_str());
  std::size_t at = line.rfind(')');
  for (int field = 3; field <= 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  std::uint64_t result = 0;
  if (at != std::string::npos) std::from_chars(line.data() + at + 1, line.data() + line.size(), result);
  return result;
}

}  // namespace weft::fabric
