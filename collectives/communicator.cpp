#include <algorithm>
#include <utility>
#include <weft/communicator.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/scheduler.hpp>

#include "accumulators.hpp"
#include "communicator_state.hpp"
#include "schedule_builder.hpp"

namespace weft {
namespace detail {
namespace {

/// An operation on a message, and the event that it is done.
template <class Operation>
struct awaited : Operation {
  void finished() noexcept override { done.set(); }
  event done;
};

class pending_send final : public pending {
 public:
  using pending::pending;
  event& done() noexcept override { return operation.done; }
  const std::exception_ptr& failure() const noexcept override { return operation.failure; }
  awaited<fabric::send_operation> operation;
};

status status_of(const fabric::receive_operation& ended) {
  return {ended.source, static_cast<int>(ended.received_tag), ended.received};
}

class pending_receive final : public pending {
 public:
  using pending::pending;
  event& done() noexcept override { return operation.done; }
  const std::exception_ptr& failure() const noexcept override { return operation.failure; }
  status result() const noexcept override { return status_of(operation); }
  awaited<fabric::receive_operation> operation;
};

class pending_collective final : public pending {
 public:
  pending_collective(std::shared_ptr<communicator_state> state, const char* operation,
                     std::shared_ptr<plan_cache::entry> plan, std::unique_ptr<dataflow_execution> run,
                     std::shared_ptr<const void> keeps)
      : pending(std::move(state), operation), plan_(std::move(plan)), run_(std::move(run)), keeps_(std::move(keeps)) {}
  ~pending_collective() override { state().plans.put_back(plan_, std::move(run_)); }
  event& done() noexcept override { return run_->finished(); }
  const std::exception_ptr& failure() const noexcept override { return run_->failure(); }

 private:
  std::shared_ptr<plan_cache::entry> plan_;
  std::unique_ptr<dataflow_execution> run_;
  std::shared_ptr<const void> keeps_;  // the caller's operator
};

/// A reproducible sum: another collective, of accumulators, that ends with their values.
class pending_reproducible final : public pending {
 public:
  /// `out` is null where no result is wanted.
  pending_reproducible(std::shared_ptr<communicator_state> state, const char* operation, accumulators sums, void* out)
      : pending(std::move(state), operation), sums_(std::move(sums)), out_(out) {}
  event& done() noexcept override { return of_accumulators->done(); }
  const std::exception_ptr& failure() const noexcept override { return of_accumulators->failure(); }
  void deliver() noexcept override {
    if (out_ != nullptr) sums_.values(std::exchange(out_, nullptr));
  }
  std::unique_ptr<pending> of_accumulators;

 private:
  accumulators sums_;
  void* out_;
};

[[noreturn]] void refuse(const communicator_state& state, const char* operation, const std::string& what) {
  throw error(errc::invalid_argument, where(state, operation) + ": " + what);
}

void check_rank(const communicator_state& state, const char* operation, const char* role, int rank, bool or_any) {
  if ((rank >= 0 && rank < state.size()) || (or_any && rank == any_source)) return;
  refuse(state, operation,
         std::string(role) + " " + std::to_string(rank) + " is not a rank of the communicator: valid are 0 to " +
             std::to_string(state.size() - 1) + (or_any ? " and any_source" : ""));
}

void check_tag(const communicator_state& state, const char* operation, int tag, bool or_any) {
  if (tag >= 0 || (or_any && tag == any_tag)) return;
  refuse(state, operation,
         "tag " + std::to_string(tag) + " is not valid: tags are 0 to 2147483647" + (or_any ? ", or any_tag" : ""));
}

/// `data` is null only where there is nothing to read or write.
void check_memory(const communicator_state& state, const char* operation, const void* data, std::size_t bytes) {
  if (data == nullptr && bytes != 0)
    refuse(state, operation, "a buffer of " + std::to_string(bytes) + " bytes at address 0");
}

std::uint64_t wire_tag(int tag) { return tag == any_tag ? fabric::any_message_tag : static_cast<std::uint64_t>(tag); }

void prepare(fabric::send_operation& send, communicator_state& state, const char* operation,
             std::span<const std::byte> data, int to, int tag) {
  check_rank(state, operation, "destination", to, false);
  check_tag(state, operation, tag, false);
  check_memory(state, operation, data.data(), data.size());
  send.at = &state.member;
  send.peer = to;
  send.tag = wire_tag(tag);
  send.data = data.data();
  send.bytes = data.size();
}

void prepare(fabric::receive_operation& receive, communicator_state& state, const char* operation,
             std::span<std::byte> data, int from, int tag) {
  check_rank(state, operation, "source", from, true);
  check_tag(state, operation, tag, true);
  check_memory(state, operation, data.data(), data.size());
  receive.at = &state.member;
  receive.peer = from;
  receive.tag = wire_tag(tag);
  receive.data = data.data();
  receive.bytes = data.size();
}

/// Posts `operation`; a progress thread that sleeps is told.
void post(communicator_state& state, fabric::operation& operation) {
  state.host.messages().post(operation);
  if (state.host.moved_by().threaded()) state.host.moved_by().notify();
}

/// Waits for an operation on this stack, and throws what it failed with.
template <class Operation>
void finish(communicator_state& state, const char* name, awaited<Operation>& operation) {
  operation.done.wait(state.host.moved_by());
  if (operation.failure != nullptr) rethrow(state, name, operation.failure);
}

/// A collective call as it will run.
struct chosen {
  collective_call call;
  bool in_order = true;
};

/// Whether a kernel combines, and not an operator of the caller's.
bool kernel_combines(const collective_call& call) {
  return (call.what == collective::reduce || call.what == collective::allreduce) &&
         call.custom == custom_operator::none;
}

custom_operator custom_of(const user_function& function) {
  if (function.apply == nullptr) return custom_operator::none;
  return function.order == commutes ? custom_operator::commutes : custom_operator::keeps_order;
}

/// An operator that does not commute takes the algorithms that combine in the order of the ranks.
template <class Request>
chosen choose(const communicator_state& state, const Request& wanted) {
  chosen c;
  c.call.what = wanted.what;
  c.call.count = wanted.in_count;
  c.call.element_bytes = static_cast<std::uint32_t>(wanted.element_bytes);
  c.call.root = wanted.root;
  c.call.custom = custom_of(wanted.custom);
  const bool in_order_of_ranks = c.call.custom == custom_operator::keeps_order;
  const std::size_t bytes = wanted.in_count * wanted.element_bytes;
  const auto& agreed = state.host.selection();
  switch (wanted.what) {
    case collective::barrier:
      break;
    case collective::broadcast: {
      const auto tree = schedules::select_broadcast(agreed, state.size(), bytes);
      c.call.how = algorithm::binomial;
      c.call.count = bytes;  // ranks may see them as elements of different sizes
      c.call.element_bytes = 1;
      c.call.segments = tree.segments;
      c.in_order = tree.in_order;
      break;
    }
    case collective::reduce: {
      const auto tree = schedules::select_reduce(agreed, state.size(), bytes);
      c.call.how = tree.greedy && !in_order_of_ranks ? algorithm::greedy : algorithm::binomial;
      c.call.segments = tree.segments;
      c.in_order = tree.in_order;
      break;
    }
    case collective::allreduce: {
      const auto selected = schedules::select_allreduce(agreed, state.size(), bytes);
      const bool ring = selected.ring && !in_order_of_ranks;
      c.call.how = ring ? algorithm::ring : algorithm::recursive_doubling;
      c.call.segments = ring ? selected.segments : 1;
      c.in_order = selected.in_order;
      break;
    }
  }
  if (kernel_combines(c.call)) {
    c.call.op = wanted.op;
    c.call.type = wanted.type;
  }
  return c;
}

std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call) {
  if (auto known = state.plans.find(call)) return known;
  const auto schedule = build_schedule(call, state.member.rank, state.size(), state.host.settings());
  const auto bound = std::make_shared<bound_schedule>(
      schedule, call.count, call.element_bytes, kernel_combines(call) ? kernels::combine(call.op, call.type) : nullptr);
  if (call.custom != custom_operator::none) bound->reserve_between();
  return state.plans.add(call, bound);
}

/// An execution of `plan`: one at rest, or a new one.
template <class Execution>
std::unique_ptr<Execution> take(communicator_state& state, plan_cache::entry& plan) {
  if (auto at_rest = state.plans.take<Execution>(plan)) return at_rest;
  return std::make_unique<Execution>(state.host.messages(), state.member, plan.plan);
}

}  // namespace
}  // namespace detail

using detail::collective;
using detail::communicator_state;

communicator::communicator(std::shared_ptr<communicator_state> state) noexcept : state_(std::move(state)) {}
communicator::communicator(communicator&&) noexcept = default;
communicator& communicator::operator=(communicator&&) noexcept = default;
communicator::~communicator() = default;

int communicator::rank() const noexcept { return state_->member.rank; }
int communicator::size() const noexcept { return state_->size(); }

void communicator::send_bytes(std::span<const std::byte> data, int to, int tag) {
  detail::awaited<fabric::send_operation> send;
  detail::prepare(send, *state_, "send", data, to, tag);
  detail::post(*state_, send);
  detail::finish(*state_, "send", send);
}

status communicator::receive_bytes(std::span<std::byte> data, int from, int tag) {
  detail::awaited<fabric::receive_operation> receive;
  detail::prepare(receive, *state_, "recv", data, from, tag);
  detail::post(*state_, receive);
  detail::finish(*state_, "recv", receive);
  return detail::status_of(receive);
}

status communicator::exchange_bytes(std::span<const std::byte> data, int to, int send_tag, std::span<std::byte> into,
                                    int from, int receive_tag) {
  detail::awaited<fabric::receive_operation> receive;
  detail::awaited<fabric::send_operation> send;
  detail::prepare(receive, *state_, "sendrecv", into, from, receive_tag);
  detail::prepare(send, *state_, "sendrecv", data, to, send_tag);
  detail::post(*state_, receive);
  detail::post(*state_, send);
  send.done.wait(state_->host.moved_by());
  receive.done.wait(state_->host.moved_by());
  if (receive.failure != nullptr) detail::rethrow(*state_, "sendrecv", receive.failure);
  if (send.failure != nullptr) detail::rethrow(*state_, "sendrecv", send.failure);
  return detail::status_of(receive);
}

handle communicator::start_send(std::span<const std::byte> data, int to, int tag) {
  auto begun = std::make_unique<detail::pending_send>(state_, "isend");
  detail::prepare(begun->operation, *state_, "isend", data, to, tag);
  detail::post(*state_, begun->operation);
  return handle(std::move(begun));
}

handle communicator::start_receive(std::span<std::byte> data, int from, int tag) {
  auto begun = std::make_unique<detail::pending_receive>(state_, "irecv");
  detail::prepare(begun->operation, *state_, "irecv", data, from, tag);
  detail::post(*state_, begun->operation);
  return handle(std::move(begun));
}

std::optional<status> communicator::iprobe(int from, int tag) {
  detail::check_rank(*state_, "probe", "source", from, true);
  detail::check_tag(*state_, "probe", tag, true);
  state_->host.moved_by().poll();
  const int source = from == any_source ? fabric::any_peer : from;
  try {
    const auto found = state_->host.messages().probe(state_->member, source, detail::wire_tag(tag));
    if (!found) {
      scheduler::yield();  // it may be another fiber that is to send
      return std::nullopt;
    }
    return status{found->source, static_cast<int>(found->tag), found->bytes};
  } catch (const error&) {
    detail::rethrow(*state_, "probe", std::current_exception());
  }
}

status communicator::probe(int from, int tag) {
  for (detail::patience until_it_comes(state_->host.moved_by());; until_it_comes.wait())
    if (const auto found = iprobe(from, tag)) return *found;
}

namespace detail {
namespace {

bool has_output(const communicator_state& state, collective what, int root) {
  return what != collective::reduce || root == state.member.rank;
}

/// Throws on arguments that cannot be right on this rank, whatever the others give.
template <class Request>
void check(const communicator_state& state, const Request& call) {
  const char* const operation = name(call.what);
  if (call.what == collective::broadcast || call.what == collective::reduce)
    check_rank(state, operation, "root", call.root, false);
  const bool with_output = has_output(state, call.what, call.root);
  if (with_output && call.in_count != call.out_count)
    refuse(
        state, operation,
        "the input has " + std::to_string(call.in_count) + " elements, the output " + std::to_string(call.out_count));
  check_memory(state, operation, call.in, call.in_count * call.element_bytes);
  if (with_output) check_memory(state, operation, call.out, call.out_count * call.element_bytes);
  const bool combines = call.what == collective::reduce || call.what == collective::allreduce;
  if (combines && call.custom.apply == nullptr && !kernels::has(call.op, call.type))
    refuse(state, operation, kernels::refusal(call.op, call.type));
  const auto* const in = static_cast<const std::byte*>(call.in);
  const auto* const out = static_cast<const std::byte*>(call.out);
  const std::size_t bytes = call.in_count * call.element_bytes;
  if (with_output && in != out && in < out + bytes && out < in + bytes)
    refuse(state, operation, "input and output overlap: they must be the same or apart");
}

/// The same reduction of `sums` in place.
template <class Request>
Request of_accumulators(Request call, accumulators& sums) {
  call.in = call.out = sums.data();
  call.out_count = call.in_count;
  call.type = sums.type();
  call.element_bytes = kernels::size_of(sums.type());
  call.reproducible = false;
  return call;
}

template <class Request>
run_arguments arguments_of(communicator_state& state, const Request& call, const collective_call& how) {
  return {static_cast<const std::byte*>(call.in), static_cast<std::byte*>(call.out), state.sequence++, fingerprint(how),
          call.custom};
}

}  // namespace
}  // namespace detail

void communicator::run(const request& call) {
  detail::check(*state_, call);
  if (call.reproducible) {
    detail::accumulators sums(call.type, call.in, call.in_count);
    run(detail::of_accumulators(call, sums));
    if (detail::has_output(*state_, call.what, call.root)) sums.values(call.out);
    return;
  }
  const auto how = detail::choose(*state_, call);
  if (!how.in_order) {
    start(call).wait();
    return;
  }
  const auto plan = detail::plan_for(*state_, how.call);
  auto execution = detail::take<detail::in_order_execution>(*state_, *plan);
  execution->run(detail::arguments_of(*state_, call, how.call), state_->host.moved_by());
  const std::exception_ptr failure = execution->failure();
  state_->plans.put_back(plan, std::move(execution));
  if (failure != nullptr) detail::rethrow(*state_, detail::name(call.what), failure);
}

handle communicator::start(const request& call) { return handle(begin(call)); }

std::unique_ptr<detail::pending> communicator::begin(const request& call) {
  detail::check(*state_, call);
  if (call.reproducible) {
    detail::accumulators sums(call.type, call.in, call.in_count);
    const request summed = detail::of_accumulators(call, sums);
    void* const out = detail::has_output(*state_, call.what, call.root) ? call.out : nullptr;
    auto begun = std::make_unique<detail::pending_reproducible>(state_, detail::name(call.what), std::move(sums), out);
    begun->of_accumulators = begin(summed);
    return begun;
  }
  const auto how = detail::choose(*state_, call);
  auto plan = detail::plan_for(*state_, how.call);
  auto execution = detail::take<detail::dataflow_execution>(*state_, *plan);
  detail::dataflow_execution& started = *execution;
  auto begun = std::make_unique<detail::pending_collective>(state_, detail::name(call.what), std::move(plan),
                                                            std::move(execution), call.keeps);
  started.start(detail::arguments_of(*state_, call, how.call));
  if (state_->host.moved_by().threaded()) state_->host.moved_by().notify();
  return begun;
}

std::optional<communicator> communicator::split(int colour, int key) {
  // Everybody learns everybody's colour, key, and the id that the rank would give to a communicator that it leads.
  constexpr std::size_t each = 3;
  std::vector<std::int64_t> table(each * static_cast<std::size_t>(size()), 0);
  const auto entry = [&](int rank) { return std::span(table).subspan(each * static_cast<std::size_t>(rank), each); };
  entry(rank())[0] = colour;
  entry(rank())[1] = key;
  entry(rank())[2] = state_->self->next_communicator++;  // used or not: where this fails, others may have got that far
  try {
    allreduce(table, table, sum);
  } catch (const error&) {
    detail::rethrow(*state_, "split", std::current_exception());
  }
  if (colour < 0) return std::nullopt;

  std::vector<int> ranks;
  for (int r = 0; r < size(); ++r)
    if (entry(r)[0] == colour) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) { return entry(a)[1] < entry(b)[1]; });
  auto members = std::make_shared<fabric::group>();
  int mine = 0;
  for (const int r : ranks) {
    if (r == rank()) mine = members->size();
    members->world.push_back(state_->member.members->world[static_cast<std::size_t>(r)]);
    members->process.push_back(state_->member.members->process[static_cast<std::size_t>(r)]);
  }
  members->communicator =
      static_cast<std::uint64_t>(members->world[0]) << 32 | static_cast<std::uint64_t>(entry(ranks[0])[2]);
  return communicator(std::make_shared<communicator_state>(state_->host, state_->self, std::move(members), mine));
}

communicator communicator::dup() { return *split(0, rank()); }

void communicator::abort() {
  fabric::messenger& messages = state_->host.messages();
  messages.break_communicator(
      state_->id(), errc::revoked,
      "rank " + std::to_string(rank()) + " aborted communicator " + std::to_string(state_->id()));
  for (detail::patience until_it_ends(state_->host.moved_by());; until_it_ends.wait()) {
    bool quiet = false;
    messages.while_held([&] { quiet = state_->member.active.empty(); });
    if (quiet) return;
  }
}

}  // namespace weft
