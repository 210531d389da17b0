// SPDX-License-Identifier: Apache-2.0
// What the processes of a node, or of several, or the ranks of a process carry out, step by step, is what is recorded
// of it, and that verifies. Each process is a thread here.
#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>
#include <weft/process/workers.hpp>
#include <weft/schedules/pattern_call.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/schedules/step_writers.hpp>
#include <weft/verifier/verifier.hpp>

#include "open_process.hpp"
#include "sanitized.hpp"
#include "tracing_party.hpp"
#include "tracing_stages.hpp"

using namespace weft_test;

using weft::schedules::collective;
using weft::schedules::recorded_call;
using weft::schedules::recording_party;

namespace {

struct traced_call {
  collective what = collective::barrier;
  int ranks = 2;
  int root = 0;
  std::size_t count = 0;  ///< numbers of a rank's vector, or of a block
  bool mapped = false;    ///< all buffers lie in memory that the node shares
  bool reads = false;     ///< the others' memory is read, whatever the length
};

struct trace {
  std::string steps, recorded;
  weft::schedules::schedule schedule;
  weft::schedules::memory_pattern by = weft::schedules::memory_pattern::none;
};

template <class Recorder>
std::string text_of_steps(const Recorder& of) {
  std::string all;
  weft::schedules::text_steps to([&](std::string_view line) { all.append(line).append(1, '\n'); });
  of.emit(to);
  return all;
}

std::size_t numbers_of(const traced_call& of) {
  return of.count * (weft::schedules::has_blocks(of.what) ? static_cast<std::size_t>(of.ranks) : 1);
}

/// The number at a place of a rank's input; small, so that every sum is exact.
double given(int rank, std::size_t at) {
  return static_cast<double>((at * 7 + static_cast<std::size_t>(rank) * 13) % 31);
}

/// What a rank's output holds there in the end, or nothing where it has none.
std::optional<double> expected(const traced_call& of, int rank, std::size_t at) {
  const auto sum = [](int end, std::size_t where) {
    double all = 0;
    for (int i = 0; i < end; ++i) all += given(i, where);
    return all;
  };
  const std::size_t mine = static_cast<std::size_t>(rank) * of.count;
  const auto block = static_cast<int>(of.count == 0 ? 0 : at / of.count);
  switch (of.what) {
    case collective::barrier:
      return std::nullopt;
    case collective::allreduce:
      return sum(of.ranks, at);
    case collective::reduce:
      return rank == of.root ? std::optional(sum(of.ranks, at)) : std::nullopt;
    case collective::broadcast:
      return given(of.root, at);
    case collective::scan:
      return sum(rank + 1, at);
    case collective::exscan:
      return rank != 0 ? std::optional(sum(rank, at)) : std::nullopt;
    case collective::reduce_scatter:
      return at < of.count ? std::optional(sum(of.ranks, mine + at)) : std::nullopt;
    case collective::allgather:
      return given(block, at % of.count);
    case collective::gather:
      return rank == of.root ? std::optional(given(block, at % of.count)) : std::nullopt;
    case collective::scatter:
      return at < of.count ? std::optional(given(of.root, mine + at)) : std::nullopt;
    case collective::alltoall:
      return given(block, mine + at % of.count);
  }
  return std::nullopt;
}

recorded_call recording_of(const traced_call& call, int rank, const weft::detail::board_party& by) {
  recorded_call recorded{call.what, call.ranks, rank, call.root};
  recorded.count = call.count * sizeof(double) / by.element_bytes();
  recorded.room = by.room();
  recorded.line = by.line();
  recorded.shares_slots = by.shares_slots();
  if (call.mapped) recorded.mapped.assign(static_cast<std::size_t>(call.ranks), true);
  return recorded;
}

weft::detail::request request_of(const traced_call& call) {
  weft::detail::request of;
  of.what = call.what;
  of.element_bytes = sizeof(double);
  of.type = weft::kernels::type_of<double>;
  of.op = weft::kernels::operation::sum;
  return of;
}

weft::detail::leader_call among_processes(const weft::detail::request& of, const traced_call& call,
                                          std::span<double> in, std::span<double> out) {
  weft::detail::leader_call between;
  between.what = call.what;
  between.of = &of;
  between.count = numbers_of(call);
  between.block = weft::schedules::has_blocks(call.what) ? call.count : 0;
  between.root = call.root;
  between.in = reinterpret_cast<const std::byte*>(in.data());
  between.out = reinterpret_cast<std::byte*>(out.data());
  return between;
}

template <class Recorder>
trace trace_of(const Recorder& notes, const Recorder& alone, weft::schedules::memory_pattern by) {
  return {text_of_steps(notes), text_of_steps(alone),
          weft::schedules::built_by([&](weft::schedules::sink& to) { notes.emit(to); }), by};
}

/// Runs `pattern`; `in_steps`: in two, as a plan does.
template <class Party, class Pattern>
bool run_round(Party& p, bool in_steps, Pattern pattern) {
  if (!in_steps) return pattern(p);
  weft::patterns::first_step first(p);
  const auto reached = pattern(first) ? weft::patterns::reached::end : first.where();
  weft::patterns::second_step second(p, reached);
  return pattern(second);
}

/// One rank's part of a call, carried out and recorded at once, and then recorded alone. Of those that are over in one
/// round half go in two steps, among ranks that do not.
trace run_on_one_node(open_process& here, const traced_call& call, std::span<double> in, std::span<double> out) {
  const weft::detail::request of = request_of(call);
  weft::detail::node_team& team = *here.state->here->between().team();
  if (call.reads) team.take({1, 1, 1, 1});
  const weft::detail::leader_call among = among_processes(of, call, in, out);
  const bool one_round = team.is_one_round(among, weft::schedules::memory_pattern::none);
  expect(team.begin(among), "the call to begin");
  const recorded_call recorded = recording_of(call, here.state->member.rank, team.party());
  recording_party notes(recorded), alone(recorded);
  const bool in_steps = (call.count + static_cast<std::size_t>(here.state->member.rank)) % 2 == 0;
  bool ended = false;
  if (among.on_node.in_line) {
    weft::detail::line_party lines(team.party(), among);
    tracing_party traced(lines, notes);
    ended = run_round(traced, in_steps, [&](auto& p) {
      return weft::patterns::reduce_at_once(p, team.how().all(), weft::patterns::everyone);
    });
  } else {
    tracing_party traced(team.party(), notes);
    ended = one_round ? run_round(traced, in_steps, [&](auto& p) { return run_one_round(p, team.how()); })
                      : run_pattern(traced, team.how(), team.levels());
    team.party().finish();
  }
  expect(ended, "the pattern to end well");
  run_pattern(alone, team.how(), team.levels());
  return trace_of(notes, alone, team.how().by);
}

/// The same of one of several nodes.
trace run_in_stages(open_process& here, const traced_call& call, std::span<double> in, std::span<double> out) {
  const weft::detail::request of = request_of(call);
  weft::detail::leader_call among = among_processes(of, call, in, out);
  among.sequence = here.state->next_sequence();
  std::vector<int> processes(static_cast<std::size_t>(call.ranks)), speakers;
  std::iota(processes.begin(), processes.end(), 0);
  const weft::detail::node_layout layout(processes, here.host.nodes());
  for (const auto& node : layout.members) speakers.push_back(node.front());
  const int rank = here.state->member.rank;
  weft::detail::message_stage between(here.host, speakers, speakers, layout.node[static_cast<std::size_t>(rank)]);
  weft::detail::staged_party party({layout, rank, here.state->here->between().team(), between}, among,
                                   here.state->member, here.state->selection);
  weft::schedules::algorithm_arguments shape;
  shape.ranks = call.ranks;
  shape.rank = rank;
  shape.root = call.root;
  shape.nodes = layout.members;
  shape.by.segments = static_cast<std::uint32_t>(party.pieces());
  weft::schedules::staged_recorder notes(shape, call.what), alone(shape, call.what);
  tracing_stages traced(party, notes);
  expect(weft::schedules::run_in_stages(traced, call.what), "the stages to end well");
  expect(party.take_result().failure == nullptr, "no failure");
  weft::schedules::run_in_stages(alone, call.what);
  return trace_of(notes, alone, weft::schedules::memory_pattern::staged);
}

/// The traces of these calls, one after another, each twice: the first opens longer slots. By call and rank. `nodes`: a
/// letter for that of each rank; empty: all are on one.
std::vector<std::vector<trace>> trace_all(int ranks, const std::vector<traced_call>& calls, int group,
                                          const std::string& nodes) {
  job what;
  for (const char each : nodes) what.nodes.emplace_back(1, each);
  what.processes = ranks;
  what.settings = by_length();
  what.settings.group_ranks = group;
  std::vector<std::vector<trace>> all(calls.size(), std::vector<trace>(static_cast<std::size_t>(ranks)));
  const std::size_t most = std::ranges::max(calls, {}, numbers_of).count * static_cast<std::size_t>(ranks) + 1;
  const auto failures = run_members(what, [&](int rank, weft::detail::membership member) {
    open_process here(std::move(member));
    std::vector<double> own(2 * most);
    const auto shared = nodes.empty() ? here.shared(2 * most) : std::span<double>();
    for (std::size_t c = 0; c < calls.size(); ++c) {
      const auto both = calls[c].mapped ? shared : std::span(own);
      for (int again = 0; again < 2; ++again) {
        for (std::size_t i = 0; i < most; ++i) both[i] = given(rank, i);
        std::ranges::fill(both.last(most), -1);
        const auto run = nodes.empty() ? run_on_one_node : run_in_stages;
        all[c][static_cast<std::size_t>(rank)] = run(here, calls[c], both.first(most), both.last(most));
        for (std::size_t i = 0; i < most; ++i) {
          const double right = i < numbers_of(calls[c]) ? expected(calls[c], rank, i).value_or(-1) : -1;
          const double found = both[most + i];
          expect(found == right, "number ", i, " of rank ", rank, " to be ", right, ", found ", found, " in a ",
                 weft::schedules::call_name(calls[c].what), " of ", calls[c].count, " by ", ranks, " from ",
                 calls[c].root);
        }
      }
    }
    here.world->barrier();
  });
  for (const auto& each : failures)
    if (each != nullptr) std::rethrow_exception(each);
  return all;
}

/// How the ranks of a process divide a call.
enum class division {
  shown,   ///< each worker's first does the part of its ranks, out of what all show
  shared,  ///< all firsts work in the buffers of all
  sole,    ///< that of the first worker alone
};

/// Whether ranks that show what they give do so at once.
bool is_exchange(const traced_call& call, const weft::detail::meeting& here, division by) {
  const bool takes_all = call.what == collective::allreduce || call.what == collective::barrier;
  return by == division::shown && takes_all && here.most_on_a_worker() == 1;
}

template <class Party>
bool run_among_ranks(Party& p, const traced_call& call, std::size_t block, division by) {
  const auto root = static_cast<std::size_t>(call.root);
  const bool has_blocks = weft::schedules::has_blocks(call.what);
  const std::size_t all = block * (has_blocks ? p.size() : 1);
  const bool gives_block = call.what == collective::gather || call.what == collective::allgather;
  if (by == division::shown) return weft::patterns::serve_all_shown(p, call.what, root, all, gives_block ? block : all);
  return weft::patterns::serve(
      p, [&] { weft::patterns::work_of_first(p, call.what, root, all, false); }, [] { return true; });
}

/// The part of all ranks of a worker, by the last of them, on its seat: into the trace of its first. By the last of the
/// first worker also what is recorded of those that others serve.
void run_for_worker(weft::detail::meeting& here, std::size_t seat, const traced_call& call, division by,
                    std::vector<trace>& traces) {
  const weft::detail::request of = request_of(call);
  const std::size_t worker = here.worker_of(seat), element = weft::schedules::combines(call.what) ? sizeof(double) : 1;
  const std::size_t block = call.count * sizeof(double) / element;
  here.workers()[worker].places.assign(block);
  weft::detail::process_party party(here, seat);
  party.take_terms(of, element, by == division::sole);
  party.start({});
  recorded_call recorded{call.what, call.ranks, static_cast<int>(party.self()), call.root, block};
  recorded.room = block * party.size() * party.size();
  recorded.line = party.line();
  recorded.near = party.near();
  for (std::size_t m = 0; m < party.size(); ++m) recorded.first_of.push_back(party.first_of(m));
  const bool exchanges = is_exchange(call, here, by);
  const auto at_once = [block](auto& p) {
    return weft::patterns::show_input(p, {0, block}, weft::patterns::everyone) &&
           weft::patterns::combine_shown(p, {0, block});
  };
  const auto record = [&](std::size_t m) {
    recorded.rank = static_cast<int>(m);
    recording_party alone(recorded);
    exchanges ? at_once(alone) : run_among_ranks(alone, call, block, by);
    return alone;
  };
  recording_party notes(recorded);
  if (exchanges) {
    weft::detail::exchange_party exchange(here, seat);
    exchange.take_terms(of, block * element);
    tracing_party traced(exchange, notes);
    expect(at_once(traced), "the exchange to end well");
  } else {
    tracing_party traced(party, notes);
    expect(run_among_ranks(traced, call, block, by), "the pattern to end well");
  }
  const auto pattern =
      by == division::shown ? weft::schedules::memory_pattern::served_shown : weft::schedules::memory_pattern::served;
  traces[party.self()] = trace_of(notes, record(party.self()), pattern);
  if (worker != 0) return;
  for (const std::size_t m : here.everyone())
    if (!std::ranges::count(here.firsts(), m)) traces[m] = trace_of(record(m), record(m), pattern);
}

/// One rank's part of that.
void run_on_seat(weft::detail::communicator_state& state, const traced_call& call, division by, std::uint32_t number,
                 std::span<double> in, std::span<double> out, std::vector<trace>& traces) {
  weft::detail::meeting& here = *state.here;
  weft::detail::meeting::seat& its = here.at(state.seat);
  weft::detail::known_call known;
  known.hash = number;
  if (weft::schedules::combines(call.what)) known.kernel = weft::detail::array_operator(request_of(call)).kernel;
  its.known = &known;
  its.sequence = number;
  its.member = &state.member;
  its.input = reinterpret_cast<const std::byte*>(in.data());
  its.output = reinterpret_cast<std::byte*>(out.data());
  auto arrived = here.arrive(state.seat);
  if (arrived == weft::detail::meeting::arrival::early) arrived = here.await_end(state.seat);
  expect(arrived != weft::detail::meeting::arrival::failed, "the communicator not to fail");
  if (arrived != weft::detail::meeting::arrival::last) return;
  run_for_worker(here, state.seat, call, by, traces);
  here.release(state.seat);
}

/// The traces of these calls, one after another, among the ranks of one process. By call and rank.
std::vector<std::vector<trace>> trace_among_ranks(int ranks, int workers, division by,
                                                  const std::vector<traced_call>& calls) {
  job what;
  what.ranks_per_process = ranks;
  what.settings = by_length();
  what.settings.workers = workers;
  std::vector<std::vector<trace>> all(calls.size(), std::vector<trace>(static_cast<std::size_t>(ranks)));
  const std::size_t most = std::ranges::max(calls, {}, numbers_of).count * static_cast<std::size_t>(ranks) + 1;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
  const auto failed = run_members(what, [&](int, weft::detail::membership member) {
    weft::detail::process host(std::move(member));
    const auto met = std::make_shared<weft::detail::meetings>();
    run_on_workers(host, [&](int rank) {
      try {
        weft::detail::communicator_state state(host, std::make_shared<weft::detail::rank_identity>(rank, met),
                                               host.everyone(), rank);
        std::vector<double> both(2 * most);
        const std::span<double> in(both.data(), most), out(both.data() + most, most);
        for (std::size_t c = 0; c < calls.size(); ++c) {
          for (std::size_t i = 0; i < most; ++i) in[i] = given(rank, i);
          std::ranges::fill(out, -1);
          run_on_seat(state, calls[c], by, static_cast<std::uint32_t>(c) + 1, in, out, all[c]);
          for (std::size_t i = 0; i < most; ++i) {
            const double right = i < numbers_of(calls[c]) ? expected(calls[c], rank, i).value_or(-1) : -1;
            expect(out[i] == right, "number ", i, " of rank ", rank, " to be ", right, ", found ", out[i]);
          }
        }
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
    host.leave();
  });
  failures.insert(failures.end(), failed.begin(), failed.end());
  for (const auto& each : failures)
    if (each != nullptr) std::rethrow_exception(each);
  return all;
}

void check_traces(const std::vector<std::vector<trace>>& traced, const std::vector<traced_call>& calls) {
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const traced_call& call = calls[c];
    CAPTURE(name(call.what), call.ranks, call.root, call.count, call.mapped, call.reads);
    std::vector<weft::schedules::schedule> executed;
    for (const trace& each : traced[c]) {
      REQUIRE(each.by == traced[c][0].by);
      REQUIRE(each.steps == each.recorded);
      executed.push_back(each.schedule);
    }
    if (slowed && c % 4 != 0) continue;  // no thread takes part in verifying; a release does it for all
    const auto fault = weft::schedules::verify({call.what, call.root}, executed);
    REQUIRE((fault ? fault->what : "") == "");
  }
}

void check(int ranks, const std::vector<traced_call>& calls, int group = 0, const std::string& nodes = "") {
  CAPTURE(group, nodes);
  check_traces(trace_all(ranks, calls, group, nodes), calls);
}

/// Of many cases a quarter is drawn.
bool left_out(std::mt19937_64& random, bool many) { return (slowed || many) && random() % 4 != 0; }

constexpr collective every_one[]{collective::barrier,        collective::allreduce, collective::reduce,
                                 collective::broadcast,      collective::scan,      collective::exscan,
                                 collective::reduce_scatter, collective::allgather, collective::gather,
                                 collective::scatter,        collective::alltoall};

}  // namespace

TEST_CASE("what the processes of a node carry out is what is recorded, and that verifies", "[traced]") {
  const int ranks = GENERATE(range(2, slowed ? 5 : 10));
  std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(ranks));
  CAPTURE(seed_of_this_run());
  std::vector<traced_call> calls;
  for (const bool reads : {false, true})
    for (const collective what : every_one)
      for (const std::size_t count : {1u, 40u, 700u, 3000u})  // in a line, in a slot, told of, in pieces or long slots
        for (const bool mapped : {false, true}) {
          if (left_out(random, ranks > 4)) continue;
          const auto root = static_cast<int>(random() % static_cast<unsigned>(ranks));
          calls.push_back({what, ranks, root, what == collective::barrier ? 0 : count, mapped, reads});
        }
  check(ranks, calls);
}

TEST_CASE("what they carry out in groups is what is recorded, too", "[traced]") {
  const int ranks = GENERATE(6, 9);
  check(ranks,
        {{collective::barrier, ranks}, {collective::allreduce, ranks, 0, 1}, {collective::allreduce, ranks, 0, 300}},
        3);
}

TEST_CASE("what processes of several nodes carry out is what is recorded, and that verifies", "[traced]") {
  const std::string nodes = GENERATE("ab", "aab", "abb", "abab", "aabbb", "abcddd", "aabbccddd");
  const bool in_rows = nodes != "abab";
  const auto ranks = static_cast<int>(nodes.size());
  std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(ranks));
  CAPTURE(seed_of_this_run());
  std::vector<traced_call> calls;
  for (const collective what : every_one) {
    const bool goes = what != collective::gather && what != collective::scatter;
    const bool needs_rows = what == collective::scan || what == collective::exscan || weft::schedules::has_blocks(what);
    if (!goes || (needs_rows && !in_rows)) continue;
    for (const int root : {0, ranks - 1})
      for (const std::size_t count : {1u, 700u, 3000u, 70'000u}) {  // the last in pieces
        if (root != 0 && !weft::schedules::is_rooted(what)) continue;
        if (count > 3000 && weft::schedules::has_blocks(what)) continue;
        if (left_out(random, false)) continue;
        calls.push_back({what, ranks, root, what == collective::barrier ? 0 : count});
      }
  }
  if (!calls.empty()) check(ranks, calls, 0, nodes);
}

TEST_CASE("what the ranks of a process carry out is what is recorded, and that verifies", "[traced]") {
  const int ranks = GENERATE(range(2, slowed ? 5 : 10)), workers = GENERATE(1, 2, 3);
  const auto by = GENERATE(division::shown, division::shared, division::sole);
  if (workers > ranks || (workers == 1 && by != division::shared)) return;
  std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(ranks));
  CAPTURE(seed_of_this_run(), workers, static_cast<int>(by));
  std::vector<traced_call> calls;
  for (const collective what : every_one)
    for (const int root : {0, ranks - 1})
      for (const std::size_t count : {1u, 40u, 3000u}) {
        if (root != 0 && !weft::schedules::is_rooted(what)) continue;
        const std::size_t given = count * (weft::schedules::has_blocks(what) ? static_cast<std::size_t>(ranks) : 1);
        if (by == division::shown && given > 9 * 40) continue;  // longer ones have no room
        if (left_out(random, ranks > 4)) continue;
        calls.push_back({what, ranks, root, what == collective::barrier ? 0 : count});
      }
  if (!calls.empty()) check_traces(trace_among_ranks(ranks, workers, by, calls), calls);
}
