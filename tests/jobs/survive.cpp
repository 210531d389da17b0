// SPDX-License-Identifier: Apache-2.0
// survive SCENARIO SEED BOARD: ranks under load, some of which die. SCENARIO: kill, two, exit, throw, start, leave,
// stop (it goes on later), divide, divide-two, shrink, grow, revoke (where nobody dies).
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

#include "draw.hpp"
#include "jobs.hpp"
#include "load.hpp"

namespace weft_test {
namespace {

using namespace std::chrono_literals;

struct script {
  std::string_view scenario;
  std::uint64_t seed = 0;
  int ranks_each = 1;  // of a process
  int ranks = 0;       // that may die: the first of each process that hosts no spares

  /// Whether those that live go on.
  bool goes_on() const { return scenario == "shrink" || scenario == "grow"; }
  /// Whether every rank of a process takes part.
  bool by_all() const { return scenario.starts_with("divide") || goes_on() || scenario == "revoke"; }
  int first_victim() const { return static_cast<int>(draw(seed, 1, static_cast<std::uint64_t>(ranks))); }
  bool dies(int rank) const {
    return rank == first_victim() ||
           ((scenario == "two" || scenario == "divide-two" || goes_on()) &&
            rank ==
                (first_victim() + 1 + static_cast<int>(draw(seed, 2, static_cast<std::uint64_t>(ranks - 1)))) % ranks);
  }
  std::chrono::microseconds delay() const {
    if (goes_on())  // one after another
      return std::chrono::microseconds(
          draw(seed, 20 + std::strtoull(std::getenv("WEFT_PROCESS"), nullptr, 10), 150'000));
    return std::chrono::microseconds(draw(seed, 3,
                                          scenario == "start"   ? 40'000
                                          : scenario == "leave" ? 6'000
                                                                : 150'000));
  }
  std::int64_t last_round() const { return scenario == "leave" ? 3 : static_cast<std::int64_t>(draw(seed, 4, 60)); }
};

/// Ends or stops this process a while from now, whatever it is in the middle of.
void strike_later(const script& what, board_line& line) {
  line.pid = ::getpid();
  std::thread([delay = what.delay(), number = what.scenario == "stop" ? SIGSTOP : SIGKILL, &line] {
    std::this_thread::sleep_for(delay);
    line.struck_at = common_clock();
    ::kill(::getpid(), number);
  }).detach();
}

/// Every later call must throw the same, and at once.
template <class Call>
void refuse(board_line& line, const char* name, Call call) {
  const std::int64_t begin = common_clock();
  try {
    call();
  } catch (const weft::peer_lost& e) {
    if (e.rank() != line.lost_rank) throw wrong_result(std::string(name) + " named another rank: " + e.what());
    line.slowest_refusal = std::max(line.slowest_refusal.load(), common_clock() - begin);
    return;
  }
  throw wrong_result(std::string(name) + " did not throw after a loss");
}

void see_refusals(const script& what, weft::communicator& world, load& work, board_line& line) {
  std::vector<std::byte> memory(100'000);
  const int other = (world.rank() + 1) % world.size();
  refuse(line, "barrier", [&] { world.barrier(); });
  refuse(line, "send", [&] { world.send(std::span(memory).first(8), other, 1); });
  refuse(line, "a long send", [&] { world.send(memory, what.first_victim(), 1); });
  refuse(line, "recv", [&] { world.recv(memory); });
  refuse(line, "probe", [&] { world.probe(); });
  const std::vector<double> in(30'000);
  std::vector<double> out(30'000);
  refuse(line, "iallreduce", [&] { world.iallreduce(in, out, weft::sum).wait(); });
  bool whole = true;
  for (int rank = world.rank() % 2; rank < world.size(); rank += 2) whole = whole && !what.dies(rank);
  if (!whole || what.scenario == "start") return;
  std::vector<std::int64_t> ones(40'000, 1), sums(40'000);
  work.half().allreduce(ones, sums, weft::sum);  // nobody of this one is lost
  if (sums.front() != work.half().size() || sums.back() != sums.front())
    throw wrong_result("the communicator of survivors");
}

/// Under load until somebody is lost. Writes down when it noticed, and whom.
void work_until_loss(const script& what, weft::runtime& runtime, const board& shared) {
  weft::communicator& world = runtime.world();
  board_line& line = shared[world.rank()];
  const bool victim = what.dies(world.rank());
  std::optional<load> work;
  try {
    work.emplace(runtime, world, what.seed, line);
    world.barrier();
    if (victim && (what.scenario == "kill" || what.scenario == "two")) strike_later(what, line);
    for (std::int64_t round = 0;; ++round) {
      if (victim && round == what.last_round() && (what.scenario == "exit" || what.scenario == "throw")) {
        line.struck_at = common_clock();
        if (what.scenario == "exit") std::exit(1);
        throw std::runtime_error("thrown out of main");
      }
      if (what.scenario == "leave" && round == what.last_round()) return;
      work->round(round);
    }
  } catch (const weft::peer_lost& e) {
    line.noticed_at = common_clock();
    line.lost_rank = e.rank();
    line.say(verdict::lost, e.what());
  }
  if (what.scenario == "leave") return;  // the others may have gone
  if (!work) return;                     // there is nothing yet that could refuse
  work->mark_outputs();
  see_refusals(what, world, *work, line);
  work->check_marks();
}

/// Lets a stopped process go on after more than twice the peer timeout of these jobs.
void wake(const board_line& stopped) {
  while (stopped.struck_at == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(2500ms);
  ::kill(static_cast<pid_t>(stopped.pid), SIGCONT);
}

/// Under load while a process is stopped, until it has gone on.
void work_past_stop(const script& what, weft::runtime& runtime, const board& shared) {
  weft::communicator& world = runtime.world();
  board_line& line = shared[world.rank()];
  load work(runtime, world, what.seed, line);
  world.barrier();
  if (what.dies(world.rank())) strike_later(what, line);
  std::atomic<int> woken{0};
  std::jthread waker;
  if (world.rank() == (what.first_victim() + 1) % world.size())
    waker = std::jthread([&] {
      wake(shared[what.first_victim()]);
      woken = 1;
    });
  for (std::int64_t round = 0;; ++round) {
    work.round(round);
    const int mine = woken;
    int all = 0;
    world.allreduce(std::span(&mine, 1), std::span(&all, 1), weft::max);
    if (all != 0) return;
  }
}

/// Divides communicators again and again, and uses what comes of that, until somebody is lost. By every rank.
void divide_until_loss(const script& what, weft::communicator& world, board_line& line, bool strikes) {
  try {
    world.barrier();
    if (strikes) strike_later(what, line);
    for (line.round = 0;; ++line.round) {
      const auto round = static_cast<std::uint64_t>(line.round.load());
      const auto draw_of_all = [&](std::uint64_t which, std::uint64_t bound) {
        return draw(mix(what.seed) ^ mix(round), which, bound);
      };
      const auto rank = static_cast<std::uint64_t>(world.rank());
      auto part =
          world.split(static_cast<int>(draw_of_all(10 + rank, 3)), static_cast<int>(draw_of_all(100 + rank, 5)));
      std::vector<std::int64_t> ones(draw_of_all(1, 4000) + 1, 1), sums(ones.size());
      part->allreduce(ones, sums, weft::sum);
      if (sums.front() != part->size() || sums.back() != sums.front()) throw wrong_result("a sum of a part");
      auto same = part->dup();
      const int next = (same.rank() + 1) % same.size(), before = (same.rank() + same.size() - 1) % same.size();
      same.sendrecv(ones, next, 1, sums, before, 1);
      same.bcast(sums, static_cast<int>(draw_of_all(2, static_cast<std::uint64_t>(same.size()))));
      if (draw_of_all(3, 3) == 0) world.barrier();
    }
  } catch (const weft::peer_lost& e) {
    line.noticed_at = common_clock();
    line.lost_rank = e.rank();
    line.say(verdict::lost, e.what());
  } catch (const std::exception& e) {
    line.say(verdict::wrong, e.what());
  }
}

/// A communicator that some of the lost were in names one of them.
void refuse_lost(weft::communicator& world, board_line& line) {
  try {
    world.barrier();
  } catch (const weft::peer_lost& e) {
    line.lost_rank = e.rank();
    return;
  }
  throw wrong_result("a barrier with the lost");
}

/// Sums over a communicator and agrees on whether that went well, and where not, goes on in one of those that live, or
/// of them and spares, until all have died that are to. By every rank; on a replacement `world` is what it begins with.
void go_on_after_losses(const script& what, weft::communicator& world, board_line& line, bool strikes) {
  const bool grows = what.scenario == "grow";
  std::size_t deaths = 0;
  for (int process = 0; process < what.ranks; ++process) deaths += what.dies(process) ? 1 : 0;
  deaths *= static_cast<std::size_t>(what.ranks_each);
  const int in_the_end = world.size() - (grows ? 0 : static_cast<int>(deaths));
  constexpr int well = 1, not_yet = 2;
  line.lost_rank = -1;
  try {
    if (strikes) strike_later(what, line);
    std::optional<weft::communicator> now;
    const auto all_have_died = [&] { return world.is_replacement() || world.failed().size() == deaths; };
    for (line.round = 0;; ++line.round) {
      weft::communicator& all = now ? *now : world;
      const auto round = static_cast<std::uint64_t>(line.round.load());
      std::vector<std::int64_t> ones(draw(mix(what.seed) ^ mix(round), 1, 4000) + 1, 1), sums(ones.size());
      int says = well | (world.is_replacement() || round < 20 || !all_have_died() ? not_yet : 0);
      try {
        all.allreduce(ones, sums, weft::sum);
        if (sums.front() != all.size() || sums.back() != sums.front()) throw wrong_result("a sum of those that live");
        if (all_have_died() && line.noticed_at == 0) line.noticed_at = common_clock();
      } catch (const weft::peer_lost& e) {
        line.lost_rank = e.rank();
        says &= ~well;
      }
      const weft::agreed agreed = all.agree(says);
      if (agreed.missing.size() > deaths) throw wrong_result("one that lives is missing");
      if ((agreed.flag & well) == 0 || !agreed.missing.empty()) {
        now = grows ? all.grow() : all.shrink();
        line.round = -1;  // as on replacements
        if (now->size() < in_the_end) throw wrong_result("a communicator of " + std::to_string(now->size()));
      } else if ((agreed.flag & not_yet) == 0) {
        break;
      }
    }
    if ((now ? *now : world).size() != in_the_end) throw wrong_result("not as many ranks in the end");
    if (!world.is_replacement()) refuse_lost(world, line);
    line.say(verdict::lost, ("went on with " + std::to_string(in_the_end)).c_str());
  } catch (const std::exception& e) {
    line.say(verdict::wrong, e.what());
  }
}

/// Uses a communicator until a rank of it revokes that. By every rank.
void work_until_revoked(const script& what, weft::communicator& world, board_line& line, bool revokes) {
  weft::communicator shared = world.dup();
  std::vector<std::int64_t> ones(draw(what.seed, 1, 4000) + 1, 1), sums(ones.size());
  world.barrier();
  const std::int64_t at = common_clock() + std::chrono::nanoseconds(what.delay()).count();
  try {
    for (line.round = 0;; ++line.round) {
      if (revokes && common_clock() >= at) {
        line.struck_at = common_clock();
        shared.revoke();
      }
      shared.allreduce(ones, sums, weft::sum);
    }
  } catch (const weft::error& e) {
    line.noticed_at = common_clock();
    line.lost_rank = what.first_victim() * what.ranks_each;
    line.say(e.code() == weft::errc::revoked ? verdict::lost : verdict::wrong, e.what());
  }
  auto again = shared.shrink();  // with whom that was
  again.allreduce(ones, sums, weft::sum);
  if (sums.back() != world.size()) line.say(verdict::wrong, "a sum of all");
}

void live(const script& what, board_line& line, const board& shared, int argc, char** argv) {
  std::optional<weft::runtime> runtime;
  try {
    runtime.emplace(argc, argv);
  } catch (const weft::peer_lost& e) {
    if (what.scenario != "start") throw;
    line.noticed_at = common_clock();
    line.lost_rank = e.rank() >= 0 ? e.rank() : what.first_victim();  // the text names it then
    line.say(verdict::lost, e.what());
    return;
  }
  if (what.by_all()) {
    const int process = std::atoi(std::getenv("WEFT_PROCESS"));
    std::atomic<int> replacements{0};
    return runtime->run([&](weft::communicator& world) {
      const int mine = world.is_replacement() ? process * what.ranks_each + replacements++ : world.rank();
      const bool strikes = mine == process * what.ranks_each && process < what.ranks && what.dies(process);
      if (what.scenario == "revoke")
        work_until_revoked(what, world, shared[mine], strikes);
      else if (what.goes_on())
        go_on_after_losses(what, world, shared[mine], strikes);
      else
        divide_until_loss(what, world, shared[mine], strikes);
      shared[mine].ended_at = common_clock();
    });
  }
  if (what.scenario == "stop") return work_past_stop(what, *runtime, shared);
  work_until_loss(what, *runtime, shared);
  if (what.scenario == "leave" && what.dies(runtime->world().rank())) strike_later(what, line);
}

}  // namespace

int survive(int argc, char** argv) {
  script what{argv[2], std::strtoull(argv[3], nullptr, 10), std::atoi(std::getenv("WEFT_RANKS_PER_PROCESS"))};
  const char* const spares = std::getenv("WEFT_SPARES");
  what.ranks = (std::atoi(std::getenv("WEFT_RANKS")) - (spares != nullptr ? std::atoi(spares) : 0)) / what.ranks_each;
  static const board& shared = *new board(argv[4]);  // stays: a strike may come when main has ended
  const int rank = std::atoi(std::getenv("WEFT_PROCESS"));
  board_line& line = shared[rank * what.ranks_each];
  if (what.scenario == "start" && what.dies(rank)) strike_later(what, line);
  try {
    live(what, line, shared, argc, argv);
  } catch (const std::exception& e) {
    if (what.scenario == "throw" && what.dies(rank)) throw;
    line.say(verdict::wrong, e.what());
    return 3;
  }
  line.ended_at = common_clock();
  if (line.what == verdict::silent) line.say(verdict::done, "");
  return 0;
}

}  // namespace weft_test
