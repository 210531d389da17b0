#include "hosts.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>
#include <weft/processes/this_host.hpp>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

constexpr int most_ranks = 1'000'000;

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

void add(std::vector<named_host>& hosts, const named_host& next, const std::string& where) {
  const auto same = [&](const named_host& other) {
    return other.name == next.name || (is_this_host(other.name) && is_this_host(next.name));
  };
  const auto found = std::find_if(hosts.begin(), hosts.end(), same);
  if (found == hosts.end()) return hosts.push_back(next);
  found->ranks = found->ranks.value_or(1) + next.ranks.value_or(1);
  if (*found->ranks > most_ranks)
    refuse(where, "host " + next.name + " has more than " + std::to_string(most_ranks) + " ranks in all");
}

void add_line(std::vector<named_host>& hosts, const std::string& line, const std::string& where) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  if (!(words >> word)) return;
  named_host next = read_host(word, where);
  while (words >> word) {
    if (!word.starts_with("slots=") || next.ranks)
      refuse(where, "\"" + word + "\" is not expected there: a line is HOST, HOST:RANKS or HOST slots=RANKS");
    next.ranks = read_count(word.substr(6), where);
  }
  add(hosts, next, where);
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
  std::vector<named_host> hosts;
  const std::string where = "--hosts " + list;
  std::istringstream stream(list + ",");
  for (std::string text; std::getline(stream, text, ',');) add(hosts, read_host(text, where), where);
  return hosts;
}

std::vector<named_host> read_hostfile(const std::string& path) {
  std::ifstream file(path);
  std::vector<named_host> hosts;
  int number = 0;
  for (std::string line; std::getline(file, line);) add_line(hosts, line, path + ":" + std::to_string(++number));
  if (!file.eof()) throw error(errc::invalid_argument, "--hostfile " + path + ": it cannot be read");
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
