// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>
#include <unordered_map>
#include <weft/launch/hosts.hpp>
#include <weft/processes/this_host.hpp>
#include <weft/runtime/error.hpp>
#include <weft/topology/host_list.hpp>

namespace weft::tools {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw error(errc::invalid_argument, where + ": " + why);
}

int read_count(const std::string& text, const std::string& where) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || rest != end || number < 1 || number > most_ranks)
    refuse(where, "\"" + text + "\" is no number of ranks, a whole number from 1 to " + std::to_string(most_ranks));
  return number;
}

/// What begins with a dash would be an option of the remote shell.
void check_name(const std::string& name, const std::string& text, const std::string& where) {
  const auto fits = [](unsigned char c) { return std::isgraph(c) != 0 || c >= 0x80; };
  if (name.empty() || name.front() == '-' || !std::all_of(name.begin(), name.end(), fits))
    refuse(where, "\"" + text + "\" does not begin with the name of a host, as in n1 or n1:4");
}

named_host read_host(const std::string& text, const std::string& where) {
  const bool bracketed = text.starts_with('[') && text.find(']') != std::string::npos;
  const std::size_t colon = text.find(':', bracketed ? text.find(']') : 0);
  named_host result{text.substr(0, colon), std::nullopt};
  if (bracketed) result.name = result.name.substr(1, result.name.size() - 2);
  check_name(result.name, text, where);
  if (!bracketed && colon != std::string::npos && text.find(':', colon + 1) != std::string::npos)
    refuse(where,
           "\"" + text + "\" has several colons: HOST:RANKS, and an IPv6 address in brackets, as in [fd00::1]:4");
  if (colon != std::string::npos) result.ranks = read_count(text.substr(colon + 1), where);
  return result;
}

/// Where an entry "[fd00::1]" or "[fd00::1]:4" begins; npos: nowhere.
std::size_t find_address(const std::string& list) {
  for (std::size_t open = list.find('['); open != std::string::npos; open = list.find('[', open + 1)) {
    const std::string inside = list.substr(open, list.find(']', open) - open);
    if ((open == 0 || list[open - 1] == ',') && inside.find(':') != std::string::npos) return open;
  }
  return std::string::npos;
}

/// "n1:4" and "n2:4" of "n[1-2]:4".
std::vector<std::string> entries_of(std::string list, const std::string& where) try {
  std::vector<std::string> entries;
  const auto expand = [&](const std::string& names) {
    for (std::string& entry : topology::expand_host_list(names)) entries.push_back(std::move(entry));
  };
  for (std::size_t address; (address = find_address(list)) != std::string::npos;) {
    if (address > 0) expand(list.substr(0, address - 1));
    const std::size_t comma = list.find(',', address);
    entries.push_back(list.substr(address, comma - address));
    if (comma == std::string::npos) return entries;
    list.erase(0, comma + 1);
  }
  expand(list);
  return entries;
} catch (const error& failure) {
  refuse(where, failure.what());
}

/// Hosts in the order in which they are named first.
class host_collector {
 public:
  void add(const named_host& next, const std::string& where) {
    const std::string known_as = is_this_host(next.name) ? "localhost" : next.name;
    const auto [found, added] = at_.try_emplace(known_as, hosts_.size());
    if (added) return hosts_.push_back(next);
    named_host& same = hosts_[found->second];
    same.ranks = same.ranks.value_or(1) + next.ranks.value_or(1);
    if (*same.ranks > most_ranks)
      refuse(where, "host " + next.name + " has more than " + std::to_string(most_ranks) + " ranks in all");
  }

  std::vector<named_host> take() { return std::move(hosts_); }

 private:
  std::vector<named_host> hosts_;
  std::unordered_map<std::string, std::size_t> at_;
};

void add_line(host_collector& hosts, const std::string& line, const std::string& where) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  if (!(words >> word)) return;
  std::vector<named_host> next;
  for (const std::string& entry : entries_of(word, where)) next.push_back(read_host(entry, where));
  while (words >> word) {
    if (!word.starts_with("slots=") || next.front().ranks)
      refuse(where, "\"" + word + "\" is not expected there: a line is HOST, HOST:RANKS or HOST slots=RANKS");
    for (named_host& each : next) each.ranks = read_count(word.substr(6), where);
  }
  for (const named_host& each : next) hosts.add(each, where);
}

/// The ranks that each host takes, in the order of hosts, of `total` at most.
std::vector<int> fill(const std::vector<named_host>& hosts, const host_choice& choice, int total) {
  std::vector<int> result;
  for (const named_host& host : hosts) {
    const int room = choice.ranks_per_node != 0 ? choice.ranks_per_node : host.ranks.value_or(1);
    result.push_back(std::min(room, total));
    total -= result.back();
  }
  if (total > 0 && choice.ranks > 0)
    throw error(errc::invalid_argument, "the hosts have room for " + std::to_string(choice.ranks - total) +
                                            " ranks, and -n asks for " + std::to_string(choice.ranks) +
                                            ": say how many each has, as in " + hosts.front().name +
                                            ":4, or --ranks-per-node");
  return result;
}

}  // namespace

std::vector<named_host> parse_hosts(const std::string& list) {
  host_collector hosts;
  const std::string where = "--hosts " + list;
  for (const std::string& entry : entries_of(list, where)) hosts.add(read_host(entry, where), where);
  return hosts.take();
}

std::vector<named_host> read_hostfile(const std::string& path) {
  std::ifstream file(path);
  host_collector collected;
  int number = 0;
  for (std::string line; std::getline(file, line);) add_line(collected, line, path + ":" + std::to_string(++number));
  if (!file.eof()) throw error(errc::invalid_argument, "--hostfile " + path + ": it cannot be read");
  std::vector<named_host> hosts = collected.take();
  if (hosts.empty()) throw error(errc::invalid_argument, "--hostfile " + path + ": it names no host");
  return hosts;
}

std::vector<host_share> allot(const std::vector<named_host>& hosts, const host_choice& choice) {
  std::vector<host_share> shares;
  int process = 0, ranks = 0;
  const std::vector<int> taken = fill(hosts, choice, choice.ranks > 0 ? choice.ranks : most_ranks);
  for (std::size_t i = 0; i < hosts.size() && taken[i] > 0; ++i) {
    if (ranks % choice.ranks_per_process != 0)
      throw error(errc::invalid_argument, "host " + shares.back().name + " has " + std::to_string(taken[i - 1]) +
                                              " ranks, which processes of " + std::to_string(choice.ranks_per_process) +
                                              " ranks (--ranks-per-process) do not share evenly");
    const int processes = (taken[i] + choice.ranks_per_process - 1) / choice.ranks_per_process;
    shares.push_back({hosts[i].name, {process, processes}, taken[i], static_cast<int>(i)});
    process += processes;
    ranks += taken[i];
  }
  return shares;
}

}  // namespace weft::tools
