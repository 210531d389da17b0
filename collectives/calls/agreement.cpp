// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <string>
#include <weft/calls/agreement.hpp>
#include <weft/calls/memory_way.hpp>
#include <weft/calls/prepared_calls.hpp>
#include <weft/runtime/error.hpp>
#include <weft/schedules/algorithms.hpp>

namespace weft::detail {
namespace {

constexpr std::uint64_t refused = ~std::uint64_t{0};

/// The most groups of ranks, and rows of ranks in a group, that an error lists.
constexpr std::size_t most_listed = 8;

std::uint64_t hash_of(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
  std::uint64_t hash = from << 32 ^ to;
  for (const std::uint64_t each : {bytes, std::uint64_t{1}}) {
    hash = (hash ^ each) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

/// What a rank that sends `sent` and expects `received` bytes adds. A pair of ranks (i, j) whose counts differ leaves
/// some d in the first sum, i d in the second and j d in the third, which name the pair where it is the only one.
std::array<std::uint64_t, 3> balance_of(std::span<const std::size_t> sent, std::span<const std::size_t> received,
                                        std::uint64_t rank) {
  std::array<std::uint64_t, 3> sums{};
  const auto add = [&](std::uint64_t from, std::uint64_t to, std::uint64_t d) {
    sums[0] += d;
    sums[1] += from * d;
    sums[2] += to * d;
  };
  for (std::uint64_t other = 0; other < sent.size(); ++other) {
    add(rank, other, hash_of(rank, other, sent[other]));
    add(other, rank, 0 - hash_of(other, rank, received[other]));
  }
  return sums;
}

/// x where x d = product, in arithmetic modulo 2^64; x is small and d is not 0.
std::uint64_t factor(std::uint64_t product, std::uint64_t d) {
  const int zeros = std::countr_zero(d);
  d >>= zeros;
  std::uint64_t inverse = d;  // of an odd number, right to 3 bits; each step of Newton's doubles them
  for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - d * inverse;
  return (product >> zeros) * inverse << zeros >> zeros;
}

std::string describe_imbalance(const std::array<std::uint64_t, 3>& sums, std::uint64_t ranks) {
  const std::uint64_t from = factor(sums[1], sums[0]), to = factor(sums[2], sums[0]);
  if (from >= ranks || to >= ranks)
    return "the ranks of several pairs send each other other numbers of elements than they expect";
  return "rank " + std::to_string(from) + " sends rank " + std::to_string(to) +
         " another number of bytes than that expects of it";
}

/// "ranks 0 to 2, 5"
std::string describe_ranks(const std::vector<std::size_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t rows = 0;
  for (std::size_t i = 0; i < ranks.size(); ++rows) {
    if (rows == most_listed) return text + " and others";
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string describe_call(const announcement& of) {
  if (of.terms.fingerprint == refused) return " made a call whose arguments were refused";
  return (of.planned != 0 ? " planned " : " called ") + describe_terms(of.terms);
}

bool are_alike(const std::vector<announcement>& all) {
  std::array<std::uint64_t, 3> sums{};
  for (const announcement& each : all) {
    if (each.terms != all[0].terms || each.planned != all[0].planned) return false;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += each.balance[i];
  }
  return sums[0] == 0 || all[0].terms.fingerprint == refused;
}

}  // namespace

announcement announcement::of(const collective_call& call, bool planned, int rank, int ranks) {
  announcement made;
  made.terms = terms_of(call);
  made.planned = planned ? 1 : 0;
  if (call.at_root) {  // what goes between each rank and the root
    std::vector<std::size_t> sent(static_cast<std::size_t>(ranks)), received(sent.size());
    auto& by_rank = call.what() == collective::gather ? sent : received;
    auto& by_root = call.what() == collective::gather ? received : sent;
    if (rank == call.root) by_root = call.counts;
    by_rank[static_cast<std::size_t>(call.root)] = call.counts[static_cast<std::size_t>(rank)];
    made.balance = balance_of(sent, received, static_cast<std::uint64_t>(rank));
  } else if (call.what() == collective::alltoall && !call.counts.empty()) {
    const std::span all(call.counts);
    const auto n = static_cast<std::size_t>(ranks);
    made.balance = balance_of(all.first(n), all.subspan(n), static_cast<std::uint64_t>(rank));
  }
  return made;
}

announcement announcement::of_refusal() {
  announcement made;
  made.terms.fingerprint = refused;
  return made;
}

std::exception_ptr disagreement(const std::vector<announcement>& all) {
  if (are_alike(all)) return nullptr;
  std::vector<std::vector<std::size_t>> groups;  // of ranks that call the same, by the first of each
  std::array<std::uint64_t, 3> sums{};
  for (std::size_t r = 0; r < all.size(); ++r) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += all[r].balance[i];
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const announcement& first = all[group[0]];
      return first.terms == all[r].terms && first.planned == all[r].planned;
    });
    if (same != groups.end())
      same->push_back(r);
    else
      groups.push_back({r});
  }
  std::string text;
  if (groups.size() == 1) text = describe_imbalance(sums, all.size());
  for (std::size_t g = 0; groups.size() > 1 && g < groups.size(); ++g) {
    if (g == most_listed) {
      text += "; others called other things";
      break;
    }
    text += (g == 0 ? "" : "; ") + describe_ranks(groups[g]) + describe_call(all[groups[g][0]]);
  }
  return std::make_exception_ptr(error(errc::mismatched_call, text));
}

agreement::agreement(communicator_state& state, const announcement& mine, std::uint32_t number)
    : dataflow_execution(state.host.messages(), state.member, nullptr, state.announces_by),
      state_(state),
      mine_(mine),
      all_(static_cast<std::size_t>(state.size())),
      number_(number) {}

void agreement::exchange() {
  start({reinterpret_cast<const std::byte*>(&mine_),
         reinterpret_cast<std::byte*>(all_.data()),
         number_ | sequence_of_agreement,
         0,
         {}},
        state_.host.moved_by());
}

void agreement::start_before(dataflow_execution& run, const run_arguments& arguments) {
  run.announce(arguments);
  run_ = &run;
  exchange();
}

void agreement::await(const char* operation) {
  exchange();
  finished().wait(state_.host.moved_by());
  if (failure_ != nullptr) rethrow(state_, operation, failure_);
}

void agreement::ended() noexcept {
  if (failure_ == nullptr) failure_ = disagreement(all_);
  if (run_ == nullptr) return dataflow_execution::ended();
  if (failure_ != nullptr)
    run_->refuse_held(failure_);
  else
    run_->start_held();
}

std::shared_ptr<const bound_schedule> exchange_by_messages(communicator_state& state) {
  collective_call exchange;
  exchange.how = schedules::find_algorithm(collective::allgather, "bruck");
  exchange.count = sizeof(announcement);
  return plan_for(state, exchange, {})->plan;
}

request exchange_of(const communicator_state& state, const announcement* mine, announcement* all) {
  request exchange;
  exchange.what = collective::allgather;
  exchange.in = mine;
  exchange.in_count = sizeof(announcement);
  exchange.out = all;
  exchange.out_count = sizeof(announcement) * static_cast<std::size_t>(state.size());
  return exchange;
}

void agree(communicator_state& state, const announcement& mine, std::uint32_t number, const char* operation) {
  if (!announces_in_memory(state)) return agreement(state, mine, number).await(operation);
  std::vector<announcement> all(static_cast<std::size_t>(state.size()));
  try {
    run_in_turn(state, exchange_of(state, &mine, all.data()), *state.announcing, number | sequence_of_agreement);
  } catch (const error&) {
    rethrow(state, operation, std::current_exception());
  }
  if (const auto failure = disagreement(all)) rethrow(state, operation, failure);
}

void agree_on(communicator_state& state, const request& call, const known_call& known, std::uint32_t sequence) {
  auto mine = announcement::of(agreed_call(call, known.shape), false, state.member.rank, state.size());
  mine.terms = known.terms;
  agree(state, mine, sequence, schedules::call_name(call.what));
}

void announce_refusal(communicator_state& state) noexcept {
  try {
    state.turns.await_all();
    agree(state, announcement::of_refusal(), state.next_sequence(), "");
  } catch (const std::exception&) {  // the refusal is what its own rank throws
  }
}

}  // namespace weft::detail
