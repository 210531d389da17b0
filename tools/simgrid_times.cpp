// SPDX-License-Identifier: Apache-2.0
// What SimGrid says that GOAL files take on a network: tools/simgrid_table.py compiles and runs this.
//
//   simgrid_times NETWORK OPTION=VALUES... FILE...      prints a line for each file: when the last step ends, in ns
//
// NETWORK is torus:XxYxZ, fat-tree:LEVELS;DOWN;UP;CABLES, or tree:P,P,... with the parent of each node, -1 of the root;
// ranks are on the machines in their order, one each. Options are those of `weft sim` without their dashes: latency,
// overhead, gap, gap-per-byte; ports (pipelined, many); by level of links, separated by commas: link-gap, link-latency,
// link-overhead, link-message-gap, flow-gap.
//
// A nanosecond is SimGrid's second. Its model CM02 shares links max-min fairly, with factors 1, no bound by TCP's
// window and no traffic of acknowledgements. It would give a transfer whose way has a longer latency less of a link,
// and let its bytes flow only after that latency; therefore it gets a latency factor of 0, and the latency that it says
// the way has follows the transfer. The rest, overheads and gaps of ports, is LogGP, carried out by actors that sleep.
#include <xbt/log.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, between);) parts.push_back(part);
  return parts;
}

template <class Number>
std::vector<Number> numbers(const std::string& text, char between) {
  std::vector<Number> all;
  for (const std::string& part : split(text, between)) all.push_back(static_cast<Number>(std::stod(part)));
  return all;
}

struct settings {
  std::map<std::string, std::vector<double>> values;
  bool many_ports = false;

  double of(const std::string& name) const { return of_level(name, 0, 0); }
  double of_level(const std::string& name, std::size_t level, double otherwise) const {
    const auto found = values.find(name);
    if (found == values.end()) return otherwise;
    return found->second[std::min(level, found->second.size() - 1)];
  }
};

/// Hosts in the order of ranks, and the level of each link.
struct platform {
  std::vector<sg4::Host*> hosts;
  std::unordered_map<const sg4::Link*, std::size_t> level;
};

using net_point = simgrid::kernel::routing::NetPoint;

sg4::ClusterCallbacks adding_to(std::vector<sg4::Host*>& hosts) {
  return sg4::ClusterCallbacks([&hosts](sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    sg4::Host* const host = zone->create_host("host" + std::to_string(id), 1)->seal();
    hosts.push_back(host);
    return std::pair<net_point*, net_point*>(host->get_netpoint(), nullptr);
  });
}

/// SimGrid names them NAME_link_from_A_to_B_UP and _DOWN.
void make_torus(platform& made, const std::string& text) {
  const auto sizes = numbers<unsigned long>(text, 'x');
  sg4::create_torus_zone("torus", nullptr, sizes, adding_to(made.hosts), 1, 0, sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  for (const sg4::Link* link : sg4::Engine::get_instance()->get_all_links()) {
    unsigned long from = 0, to = 0;
    if (std::sscanf(link->get_cname(), "torus_link_from_%lu_to_%lu", &from, &to) != 2) continue;
    const unsigned long apart = from < to ? to - from : from - to;
    unsigned long stride = 1;
    for (std::size_t dimension = 0; dimension < sizes.size(); ++dimension) {
      if (apart == stride || apart == stride * (sizes[dimension] - 1)) made.level[link] = dimension;
      stride *= sizes[dimension];
    }
  }
}

/// SimGrid numbers the links from the machines up, a cable after the other: link_from_A_B_NUMBER_UP and _DOWN.
void make_fat_tree(platform& made, const std::string& text) {
  const auto parts = split(text, ';');
  const auto below = numbers<unsigned>(parts.at(1), ','), above = numbers<unsigned>(parts.at(2), ','),
             cables = numbers<unsigned>(parts.at(3), ',');
  sg4::create_fatTree_zone("fat tree", nullptr, {static_cast<unsigned>(below.size()), below, above, cables},
                           adding_to(made.hosts), 1, 0, sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  std::vector<unsigned> ends;  // of each level: the number behind its last link
  for (std::size_t level = 0, all = 0; level < below.size(); ++level) {
    std::size_t nodes = 1;
    for (std::size_t i = 0; i < below.size(); ++i) nodes *= i < level ? above[i] : below[i];
    all += nodes * above[level] * cables[level];
    ends.push_back(static_cast<unsigned>(all));
  }
  for (const sg4::Link* link : sg4::Engine::get_instance()->get_all_links()) {
    unsigned from = 0, to = 0, number = 0;
    if (std::sscanf(link->get_cname(), "link_from_%u_%u_%u_", &from, &to, &number) != 3) continue;
    made.level[link] = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), number) - ends.begin());
  }
}

/// Nodes that are nobody's parent are machines.
void make_tree(platform& made, const std::string& text) {
  const auto parent = numbers<int>(text, ',');
  std::vector<std::size_t> height(parent.size());
  for (std::size_t node = 0; node < parent.size(); ++node)
    for (int up = static_cast<int>(node), levels = 0; up != -1; up = parent[static_cast<std::size_t>(up)], ++levels)
      height[static_cast<std::size_t>(up)] =
          std::max(height[static_cast<std::size_t>(up)], static_cast<std::size_t>(levels));
  sg4::NetZone* const zone = sg4::create_floyd_zone("tree");
  std::vector<net_point*> points;
  for (std::size_t node = 0; node < parent.size(); ++node) {
    const std::string name = "node" + std::to_string(node);
    if (height[node] > 0) {
      points.push_back(zone->create_router(name));
      continue;
    }
    made.hosts.push_back(zone->create_host(name, 1)->seal());
    points.push_back(made.hosts.back()->get_netpoint());
  }
  for (std::size_t node = 0; node < parent.size(); ++node) {
    if (parent[node] == -1) continue;
    net_point* const above = points[static_cast<std::size_t>(parent[node])];
    const auto join = [&](net_point* from, net_point* to, const char* way) {
      const sg4::Link* const link = zone->create_link("link" + std::to_string(node) + way, 1.0)->seal();
      made.level[link] = height[node];
      zone->add_route(from, to, nullptr, nullptr, {sg4::LinkInRoute(link)}, false);
    };
    join(points[node], above, "up");
    join(above, points[node], "down");
  }
  zone->seal();
}

platform make_platform(const std::string& network, const settings& by) {
  platform made;
  const auto colon = network.find(':');
  const std::string kind = network.substr(0, colon), rest = network.substr(colon + 1);
  if (kind == "torus") {
    make_torus(made, rest);
  } else if (kind == "fat-tree") {
    make_fat_tree(made, rest);
  } else if (kind == "tree") {
    make_tree(made, rest);
  } else {
    throw std::invalid_argument("no network: " + network);
  }
  for (const auto& [link, level] : made.level) {
    sg4::Link* const its = sg4::Link::by_name(link->get_name());
    its->set_bandwidth(1 / by.of_level("link-gap", level, by.of("gap-per-byte")));
    its->set_latency(by.of_level("link-latency", level, 0));
  }
  return made;
}

enum class kind { send, receive, calculate };

struct step {
  kind what = kind::calculate;
  std::size_t peer = 0, tag = 0;
  double amount = 0;                      // bytes, or ns
  std::size_t other = 0;                  // of a message: the step of the peer
  std::size_t waits = 0;                  // for so many events, its own dependencies
  std::vector<std::size_t> ends, begins;  // who waits for its end, its begin
  bool ready = false, arrived = false;
};

struct goal {
  std::vector<std::vector<step>> ranks;
};

/// What `weft plan` and the script write.
goal read_goal(const std::string& file) {
  std::ifstream in(file);
  goal made;
  std::map<std::string, std::size_t> labels;
  std::vector<step>* steps = nullptr;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, second, word;
    if (!(words >> first) || first == "}") continue;
    words >> second;
    if (first == "num_ranks") {
      made.ranks.resize(std::stoul(second));
    } else if (first == "rank") {
      steps = &made.ranks.at(std::stoul(second));
      labels.clear();
    } else if (second == "requires" || second == "irequires") {
      words >> word;
      const std::size_t later = labels.at(first), earlier = labels.at(word);
      step& before = steps->at(earlier);
      (second == "requires" ? before.ends : before.begins).push_back(later);
      ++steps->at(later).waits;
    } else {
      labels[first.substr(0, first.size() - 1)] = steps->size();
      step one;
      one.what = second == "send" ? kind::send : second == "recv" ? kind::receive : kind::calculate;
      words >> one.amount >> word;  // "8b", whose b is left
      for (; words; words >> word) {
        if (word == "to" || word == "from") words >> one.peer;
        if (word == "tag") words >> one.tag;
      }
      steps->push_back(one);
    }
  }
  if (made.ranks.empty()) throw std::invalid_argument(file + " is no GOAL");
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::deque<std::size_t>> sends;
  for (std::size_t rank = 0; rank < made.ranks.size(); ++rank)
    for (std::size_t i = 0; i < made.ranks[rank].size(); ++i)
      if (const step& one = made.ranks[rank][i]; one.what == kind::send) sends[{rank, one.peer, one.tag}].push_back(i);
  for (std::size_t rank = 0; rank < made.ranks.size(); ++rank)
    for (std::size_t i = 0; i < made.ranks[rank].size(); ++i)
      if (step& one = made.ranks[rank][i]; one.what == kind::receive) {
        auto& from = sends[{one.peer, rank, one.tag}];
        if (from.empty()) throw std::invalid_argument(file + ": a receive without a send");
        one.other = from.front();
        made.ranks[one.peer][one.other].other = i;
        from.pop_front();
      }
  return made;
}

/// Runs a GOAL by actors that sleep and send, one at a time.
class run {
 public:
  run(goal what, const platform& on, const settings& by) : what_(std::move(what)), on_(on), by_(by) {
    if (what_.ranks.size() > on.hosts.size()) throw std::invalid_argument("more ranks than machines");
    ranks_.resize(what_.ranks.size());
  }

  /// Every step that waits for nothing begins.
  void begin() {
    start_ = sg4::Engine::get_clock();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (std::size_t i = 0; i < what_.ranks[rank].size(); ++i) {
        ++left_;
        if (what_.ranks[rank][i].waits == 0) to_begin_.emplace_back(rank, i);
      }
    begin_all();
  }
  bool done() const { return left_ == 0; }
  double taken() const { return end_ - start_; }

 private:
  struct rank_state {
    bool cpu_busy = false, port_busy = false;
    std::set<std::tuple<double, std::size_t>> cpu, port;  // who waits: since when, which step
    double port_in_free = 0;
  };

  void begin_all() {
    while (!to_begin_.empty()) {
      const auto [rank, i] = to_begin_.front();
      to_begin_.pop_front();
      begin(rank, i);
    }
  }

  void begin(std::size_t rank, std::size_t i) {
    step& one = what_.ranks[rank][i];
    one.ready = true;
    release(rank, one.begins);
    if (one.what != kind::receive || one.arrived) want_cpu(rank, i);
  }

  void release(std::size_t rank, const std::vector<std::size_t>& waiting) {
    for (const std::size_t next : waiting)
      if (--what_.ranks[rank][next].waits == 0) to_begin_.emplace_back(rank, next);
  }

  /// What the links between two ranks make of a parameter of all.
  double most(const char* name, const char* of_links, std::size_t from, std::size_t to) const {
    double value = by_.of(name);
    for (const sg4::Link* link : links(from, to))
      value = std::max(value, by_.of_level(of_links, on_.level.at(link), 0));
    return value;
  }
  std::vector<sg4::Link*> links(std::size_t from, std::size_t to) const {
    std::vector<sg4::Link*> all;
    double latency = 0;
    on_.hosts[from]->route_to(on_.hosts[to], all, &latency);
    return all;
  }
  double latency(std::size_t from, std::size_t to) const {
    double all = by_.of("latency");
    for (const sg4::Link* link : links(from, to)) all += link->get_latency();
    return all;
  }

  void later(std::size_t rank, double time, const std::function<void()>& what) {
    sg4::Actor::create("later", on_.hosts[rank], [this, time, what] {
      if (time > 0) sg4::this_actor::sleep_for(time);
      what();
      begin_all();
    });
  }

  /// Of a step's CPU.
  double work(std::size_t rank, const step& one) const {
    if (one.what == kind::calculate) return one.amount;
    const bool sends = one.what == kind::send;
    return most("overhead", "link-overhead", sends ? rank : one.peer, sends ? one.peer : rank);
  }

  void want_cpu(std::size_t rank, std::size_t i) {
    const step& one = what_.ranks[rank][i];
    if (work(rank, one) == 0) return worked(rank, i);
    ranks_[rank].cpu.emplace(sg4::Engine::get_clock(), i);
    serve_cpu(rank);
  }

  void serve_cpu(std::size_t rank) {
    rank_state& here = ranks_[rank];
    if (here.cpu_busy || here.cpu.empty()) return;
    const std::size_t i = std::get<1>(*here.cpu.begin());
    here.cpu.erase(here.cpu.begin());
    here.cpu_busy = true;
    later(rank, work(rank, what_.ranks[rank][i]), [this, rank, i] {
      ranks_[rank].cpu_busy = false;
      worked(rank, i);
      begin_all();
      serve_cpu(rank);
    });
  }

  /// The CPU has done its part.
  void worked(std::size_t rank, std::size_t i) {
    const step& one = what_.ranks[rank][i];
    if (one.what == kind::send) {
      if (by_.many_ports) {
        sg4::Actor::create("send", on_.hosts[rank], [this, rank, i] { transfer(rank, i); });
      } else {
        ranks_[rank].port.emplace(sg4::Engine::get_clock(), i);
        serve_port(rank);
      }
    }
    --left_;
    end_ = std::max(end_, sg4::Engine::get_clock());
    release(rank, one.ends);
  }

  void serve_port(std::size_t rank) {
    rank_state& here = ranks_[rank];
    if (here.port_busy || here.port.empty()) return;
    const std::size_t i = std::get<1>(*here.port.begin());
    here.port.erase(here.port.begin());
    here.port_busy = true;
    sg4::Actor::create("port", on_.hosts[rank], [this, rank, i] {
      const double start = sg4::Engine::get_clock();
      transfer(rank, i);
      const double gap = most("gap", "link-message-gap", rank, what_.ranks[rank][i].peer);
      if (const double left = start + gap - sg4::Engine::get_clock(); left > 0) sg4::this_actor::sleep_for(left);
      ranks_[rank].port_busy = false;
      serve_port(rank);
    });
  }

  /// Returns when the last byte has left. LogGP's port of the receiver takes messages a gap apart.
  void transfer(std::size_t rank, std::size_t i) {
    step& one = what_.ranks[rank][i];
    const std::size_t peer = one.peer, receive = one.other;
    const double start = sg4::Engine::get_clock(), on_the_way = latency(rank, peer);
    if (one.amount > 0) {
      const double gap_per_byte = most("gap-per-byte", "flow-gap", rank, peer);
      // Not sg4::Comm::sendto, which has no rate.
      sg4::Mailbox* const box = sg4::Mailbox::by_name(std::to_string(peer) + "." + std::to_string(receive));
      sg4::Actor::create("receive", on_.hosts[peer], [box] { box->get<step>(); });
      sg4::CommPtr comm = box->put_init(&one, static_cast<std::uint64_t>(one.amount));
      if (gap_per_byte > 0) comm->set_rate(1 / gap_per_byte);
      comm->wait();
    }
    const double now = sg4::Engine::get_clock();
    double arrival = now + on_the_way;
    if (!by_.many_ports) {
      const double flow = one.amount * by_.of("gap-per-byte");
      double& free = ranks_[peer].port_in_free;
      const double taken = std::max(free, start + on_the_way);
      if (taken > start + on_the_way) arrival = std::max(arrival, taken + flow);
      free = taken + std::max(most("gap", "link-message-gap", rank, peer), flow);
    }
    later(peer, arrival - now, [this, peer, receive] {
      step& its = what_.ranks[peer][receive];
      its.arrived = true;
      if (its.ready) want_cpu(peer, receive);
    });
  }

  goal what_;
  const platform& on_;
  const settings& by_;
  std::vector<rank_state> ranks_;
  std::deque<std::pair<std::size_t, std::size_t>> to_begin_;
  std::size_t left_ = 0;
  double start_ = 0, end_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  sg4::Engine engine(&argc, argv);
  xbt_log_control_set("xbt_cfg.threshold:warning");
  for (const char* setting :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:0", "network/weight-S:0",
        "network/TCP-gamma:1e30", "network/crosstraffic:0", "maxmin/precision:1e-9", "contexts/stack-size:128"})
    sg4::Engine::set_config(setting);
  settings by;
  std::vector<std::string> files;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      files.push_back(word);
    } else if (word.substr(0, equals) == "ports") {
      by.many_ports = word.substr(equals + 1) == "many";
    } else {
      by.values[word.substr(0, equals)] = numbers<double>(word.substr(equals + 1), ',');
    }
  }
  if (argc < 2 || files.empty()) throw std::invalid_argument("usage: simgrid_times NETWORK OPTION=VALUES... FILE...");
  const platform on = make_platform(argv[1], by);
  std::vector<double> times;
  sg4::Actor::create("all", on.hosts.front(), [&] {
    for (const std::string& file : files) {
      run one(read_goal(file), on, by);
      one.begin();
      for (int looks = 0; !one.done(); ++looks) {
        if (looks == 1'000'000) {
          std::fprintf(stderr, "simgrid_times: %s does not end\n", file.c_str());
          std::exit(1);
        }
        sg4::this_actor::sleep_for(1e5);
      }
      sg4::this_actor::sleep_for(1e6);  // until ports are free that were its last
      times.push_back(one.taken());
    }
  });
  engine.run();
  for (const double time : times) std::printf("%.6f\n", time);
} catch (const std::exception& failure) {
  std::fprintf(stderr, "simgrid_times: %s\n", failure.what());
  return 1;
}
