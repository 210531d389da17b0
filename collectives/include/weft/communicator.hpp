// SPDX-License-Identifier: Apache-2.0
// The collective API: messages and collectives among an ordered set of ranks.
//
//   weft::runtime runtime{argc, argv};
//   weft::communicator& world = runtime.world();
//   world.allreduce(std::span<const double>(x), std::span<double>(sum), weft::sum);
//   const double norm = std::sqrt(world.allreduce(of_mine, weft::sum));
//
// Buffers are contiguous ranges (std::span, std::vector, std::array) of trivially copyable elements; or parts of arrays
// (array_view.hpp), or elements whose type is known when the program runs (type.hpp), which may lie in pieces.
// Reductions take the elements that their operator combines. Counts are elements, std::size_t. In place is the same
// span twice.
//
// Blocking calls park the fiber that makes them, or poll on a plain thread. A weft::deadline limits how long they do.
// Every call throws weft::error on bad arguments (before anything is sent), peer_lost once a member of the communicator
// is lost, and errc::revoked after `revoke` or `abort`. Without memory it throws std::bad_alloc, and perhaps takes no
// part in what the others wait for: who goes on all the same calls `abort`.
//
// Who calls what: a communicator is used by its rank alone, that is by the fiber of its program, fibers that this
// spawns (runtime::spawn), and threads that it starts, of std::thread or OpenMP, say, also while `run` lives, and
// blocking.
// - Any of them may send, receive and probe, at any time.
// - The collectives of a communicator have an order, the same on every rank. Two of its calls at a time, from two
// fibers
//   or threads, are refused with errc::invalid_argument, plan_ calls included. (A blocking call lasts until it returns,
//   one that begins with i until it has started its operation.) Likewise, one call at a time divides a communicator of
//   the rank.
// - One waits for a handle, a plan or a pending communicator at a time.
// - Only fibers spawn fibers, and nobody calls `run` while it lives: both are refused.
// - A rank waits for its threads by an event (runtime::wait), or by runtime::blocking, before its program ends.
//   std::thread::join, and the end of a parallel loop, stop the other ranks of its thread: for ever where a thread that
//   is waited for so waits for one of these.
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>
#include <weft/matched_message.hpp>
#include <weft/operators.hpp>
#include <weft/request.hpp>
#include <weft/runtime/time_limit.hpp>
#include <weft/wait.hpp>

namespace weft {

namespace detail {
struct choices;
struct communicator_names;
struct runtime_state;
struct stamped;
class window_base;
struct communicator_state;
struct part;
struct known_call;
struct request_shape;

/// When a send that was started leaves: at once, with those that are begun after it, or when its receiver is there.
enum class leaves : unsigned char { now, with_others, when_received };

/// Made behind the buffers of a call that nobody else has: where a deadline passes, what was left in flight there is
/// dropped before they go.
class own_buffers {
 public:
  own_buffers() {
    if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]]
      limit_.emplace(limit->when());
  }

 private:
  std::optional<time_limit> limit_;
};
}  // namespace detail

/// What `communicator::agree` returns.
struct agreed {
  int flag = 0;              ///< of all that took part, by bitwise and
  std::vector<int> missing;  ///< the ranks that did not, being dead or having left, in ascending order
  explicit operator bool() const noexcept { return flag != 0; }
};

/// An ordered set of ranks with its own matching space.
class WEFT_API communicator {
 public:
  /// Made by weft::runtime, `split` and `dup`; does not outlive its runtime.
  explicit communicator(std::shared_ptr<detail::communicator_state> state) noexcept;
  communicator(communicator&&) noexcept;
  communicator& operator=(communicator&&) noexcept;
  /// Frees it on this rank, alone and without blocking. Operations in flight go on, and their handles stay valid. Its
  /// plans cannot be started any more. Messages that were not received are dropped.
  ~communicator();

  int rank() const noexcept;
  int size() const noexcept;
  /// The rank in the job of each member, by its rank here. Known without an exchange; valid as long as this.
  std::span<const int> members() const noexcept;

  // Messages. Tags are 0 to weft::largest_tag. Messages between two ranks with tags that match are received in the
  // order sent.

  /// Blocks until `data` may be reused. A short message never waits for its receiver.
  template <message_range R>
  void send(const R& data, int to, std::int64_t tag = 0) {
    if constexpr (described_buffer<R>)
      send_pieces(detail::pieces_of(data), to, tag);
    else
      send_bytes(detail::bytes_of(data), to, tag);
  }
  /// Blocks until a message is in `data`. A longer message leaves `data` untouched and throws errc::truncated, with
  /// both lengths. Its send fails likewise, unless the message was short enough to be sent without asking.
  template <message_range R>
  status recv(R&& data, int from = any_source, std::int64_t tag = any_tag) {
    if constexpr (described_buffer<R>)
      return receive_pieces(detail::writable_pieces_of(data), from, tag);
    else
      return receive_bytes(detail::writable_bytes_of(data), from, tag);
  }
  /// Sends and receives at the same time; the buffers do not overlap.
  template <message_range R, message_range S>
  status sendrecv(const R& data, int to, std::int64_t send_tag, S&& into, int from, std::int64_t receive_tag) {
    if constexpr (described_buffer<R> || described_buffer<S>)
      return exchange_pieces(detail::pieces_of(data), to, send_tag, detail::writable_pieces_of(into), from,
                             receive_tag);
    else
      return exchange_bytes(detail::bytes_of(data), to, send_tag, detail::writable_bytes_of(into), from, receive_tag);
  }
  /// As `send`, but blocks until a receive has met the message, or its receiver has left or discarded it
  /// (matched_message.hpp), however short it is.
  template <message_range R>
  void ssend(const R& data, int to, std::int64_t tag = 0) {
    start_send_of(data, to, tag, "ssend", detail::leaves::when_received).wait();
  }
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] handle issend(R&& data, int to, std::int64_t tag = 0) {
    return start_send_of(data, to, tag, "issend", detail::leaves::when_received);
  }
  /// Of short messages that are begun one after another, to the same process of another host, the first leaves at once,
  /// and the others together once one of them is waited for or tested, or anything else that is not done yet, or a
  /// thread makes progress (option `progress`). So who computes in between tests the last of them before, where the
  /// receiver is to have them meanwhile. Those of plan_send likewise.
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] handle isend(R&& data, int to, std::int64_t tag = 0) {
    return start_send_of(data, to, tag, "isend", detail::leaves::with_others);
  }
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] handle irecv(R&& data, int from = any_source, std::int64_t tag = any_tag) {
    if constexpr (described_buffer<R>)
      return start_receive(detail::writable_pieces_of(data), from, tag);
    else
      return start_receive(detail::writable_bytes_of(data), from, tag);
  }
  /// Messages that are sent or received again and again, from or into the same buffer (plan.hpp).
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] plan plan_send(R&& data, int to, std::int64_t tag = 0) {
    if constexpr (described_buffer<R>)
      return plan_send_pieces(detail::pieces_of(data), to, tag);
    else
      return plan_message(detail::bytes_of(data), to, tag);
  }
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] plan plan_recv(R&& data, int from = any_source, std::int64_t tag = any_tag) {
    if constexpr (described_buffer<R>)
      return plan_receive_pieces(detail::writable_pieces_of(data), from, tag);
    else
      return plan_message(detail::writable_bytes_of(data), from, tag);
  }
  /// Blocks until a message that matches could be received, and says which.
  status probe(int from = any_source, std::int64_t tag = any_tag);
  /// The same without blocking; empty, after other fibers had their turn, when there is none yet.
  std::optional<status> iprobe(int from = any_source, std::int64_t tag = any_tag);
  /// As `probe` and `iprobe`, but takes the message out: whoever else receives or probes does not get it.
  matched_message mprobe(int from = any_source, std::int64_t tag = any_tag);
  std::optional<matched_message> improbe(int from = any_source, std::int64_t tag = any_tag);

  // Collectives. Every rank of the communicator calls the same ones in the same order, with the same operator, type,
  // count and root, and in the same form. A call blocks. With an i in front it starts the operation and returns. With
  // plan_ in front it makes a plan, whose start is a call of its own (plan.hpp). In every form the ranks of a process,
  // or of a node, meet in memory.
  //
  // A buffer with a block for each rank holds the blocks one after another, by rank. Their counts are equal, or those
  // given, which are the same on every rank (but for alltoall's, and counts_at_root), and with them where the blocks
  // lie (block_layout): `gather(in, out, {counts, displacements}, root)`. They are of any integral type. With
  // displacements, or with counts that the root alone has, a call goes by messages, whatever memory the ranks share.
  // Counts and displacements are copied: their range may go once a call has started, or a plan is made. In place, this
  // rank's own block of that buffer is given as the buffer of one block.
  //
  // Blocks at displacements may be strided (weft::strided), so that an all-to-all transposes a matrix. They are copied
  // into scratch memory, of as many elements, when a call or a plan starts, and out of it when it is over (when its
  // handle or plan is waited for): then input and output may overlap as they like. How blocks lie is each rank's own
  // matter; ranks that give no strides for the same call give displacements. The buffer of one block is in one piece.

  void barrier() { run({}); }
  [[nodiscard]] handle ibarrier() { return start({}); }
  [[nodiscard]] plan plan_barrier() { return make_plan({}); }

  /// Copies `data` of rank `root` into every rank's `data`, of as many bytes. The root of a short one waits for nobody:
  /// that ranks differ in it may be found only by their next call, but in the checked mode (the option `check`).
  template <message_range R>
  void bcast(R&& data, int root) {
    run(detail::moving(collective::broadcast, data, data, root));
  }
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] handle ibcast(R&& data, int root) {
    return start(detail::moving(collective::broadcast, data, data, root));
  }
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] plan plan_bcast(R&& data, int root) {
    return make_plan(detail::moving(collective::broadcast, data, data, root));
  }

  /// Everybody's `in`, combined element by element, into `out` of rank `root`; other ranks may give an empty `out`.
  template <class Operator, reduced_by<Operator> R, message_range S>
  void reduce(const R& in, S&& out, const Operator& op, int root) {
    run(detail::combining(collective::reduce, in, out, op, root));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ireduce(R&& in, S&& out, const Operator& op, int root) {
    return start(detail::combining(collective::reduce, in, out, op, root));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_reduce(R&& in, S&& out, const Operator& op, int root) {
    return make_plan(detail::combining(collective::reduce, in, out, op, root));
  }

  /// Everybody's `in`, combined element by element, into everybody's `out`; the same bits on every rank.
  template <class Operator, reduced_by<Operator> R, message_range S>
  void allreduce(const R& in, S&& out, const Operator& op) {
    run(detail::combining(collective::allreduce, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle iallreduce(R&& in, S&& out, const Operator& op) {
    return start(detail::combining(collective::allreduce, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_allreduce(R&& in, S&& out, const Operator& op) {
    return make_plan(detail::combining(collective::allreduce, in, out, op));
  }

  /// Everybody's `in`, of a block for each rank, combined element by element: rank r gets block r in `out`. In place,
  /// `out` is this rank's block of `in`, or begins where `in` does: then the block is moved there in the end.
  template <class Operator, reduced_by<Operator> R, message_range S>
  void reduce_scatter(const R& in, S&& out, const Operator& op) {
    run(detail::combining(collective::reduce_scatter, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ireduce_scatter(R&& in, S&& out, const Operator& op) {
    return start(detail::combining(collective::reduce_scatter, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_reduce_scatter(R&& in, S&& out, const Operator& op) {
    return make_plan(detail::combining(collective::reduce_scatter, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  void reduce_scatter(const R& in, S&& out, const Operator& op, const given_counts& counts) {
    run(detail::with_counts(detail::combining(collective::reduce_scatter, in, out, op), counts));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ireduce_scatter(R&& in, S&& out, const Operator& op, const given_counts& counts) {
    return start(detail::with_counts(detail::combining(collective::reduce_scatter, in, out, op), counts));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_reduce_scatter(R&& in, S&& out, const Operator& op, const given_counts& counts) {
    return make_plan(detail::with_counts(detail::combining(collective::reduce_scatter, in, out, op), counts));
  }

  /// Everybody's `in`, one block after another, into everybody's `out`.
  template <message_range R, message_range S>
  void allgather(const R& in, S&& out) {
    run(detail::moving(collective::allgather, in, out));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle iallgather(R&& in, S&& out) { return start(detail::moving(collective::allgather, in, out)); }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_allgather(R&& in, S&& out) {
    return make_plan(detail::moving(collective::allgather, in, out));
  }
  template <message_range R, message_range S>
  void allgather(const R& in, S&& out, const block_layout& counts) {
    run(detail::with_counts(detail::moving(collective::allgather, in, out), counts));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle iallgather(R&& in, S&& out, const block_layout& counts) {
    return start(detail::with_counts(detail::moving(collective::allgather, in, out), counts));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_allgather(R&& in, S&& out, const block_layout& counts) {
    return make_plan(detail::with_counts(detail::moving(collective::allgather, in, out), counts));
  }

  /// Everybody's `in`, one block after another, into `out` of rank `root`; other ranks may give an empty `out`.
  template <message_range R, message_range S>
  void gather(const R& in, S&& out, int root) {
    run(detail::moving(collective::gather, in, out, root));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle igather(R&& in, S&& out, int root) {
    return start(detail::moving(collective::gather, in, out, root));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_gather(R&& in, S&& out, int root) {
    return make_plan(detail::moving(collective::gather, in, out, root));
  }
  template <message_range R, message_range S>
  void gather(const R& in, S&& out, const rooted_layout& counts, int root) {
    run(detail::with_rooted_counts(detail::moving(collective::gather, in, out, root), counts));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle igather(R&& in, S&& out, const rooted_layout& counts, int root) {
    return start(detail::with_rooted_counts(detail::moving(collective::gather, in, out, root), counts));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_gather(R&& in, S&& out, const rooted_layout& counts, int root) {
    return make_plan(detail::with_rooted_counts(detail::moving(collective::gather, in, out, root), counts));
  }

  /// The blocks of `in` of rank `root`: rank r gets block r in `out`. Other ranks may give an empty `in`.
  template <message_range R, message_range S>
  void scatter(const R& in, S&& out, int root) {
    run(detail::moving(collective::scatter, in, out, root));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle iscatter(R&& in, S&& out, int root) {
    return start(detail::moving(collective::scatter, in, out, root));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_scatter(R&& in, S&& out, int root) {
    return make_plan(detail::moving(collective::scatter, in, out, root));
  }
  template <message_range R, message_range S>
  void scatter(const R& in, S&& out, const rooted_layout& counts, int root) {
    run(detail::with_rooted_counts(detail::moving(collective::scatter, in, out, root), counts));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle iscatter(R&& in, S&& out, const rooted_layout& counts, int root) {
    return start(detail::with_rooted_counts(detail::moving(collective::scatter, in, out, root), counts));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_scatter(R&& in, S&& out, const rooted_layout& counts, int root) {
    return make_plan(detail::with_rooted_counts(detail::moving(collective::scatter, in, out, root), counts));
  }

  /// Sends block r of `in` to rank r, into the block of this rank in rank r's `out`. In place, the same span twice, the
  /// input is copied first. Counts are each rank's own: `sent[r]` elements go to rank r, and `received[r]` come from
  /// it.
  template <message_range R, message_range S>
  void alltoall(const R& in, S&& out) {
    run(detail::moving(collective::alltoall, in, out));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ialltoall(R&& in, S&& out) { return start(detail::moving(collective::alltoall, in, out)); }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_alltoall(R&& in, S&& out) { return make_plan(detail::moving(collective::alltoall, in, out)); }
  template <message_range R, message_range S>
  void alltoall(const R& in, S&& out, const block_layout& sent, const block_layout& received) {
    run(detail::with_counts(detail::moving(collective::alltoall, in, out), sent, received));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle ialltoall(R&& in, S&& out, const block_layout& sent, const block_layout& received) {
    return start(detail::with_counts(detail::moving(collective::alltoall, in, out), sent, received));
  }
  template <message_range R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_alltoall(R&& in, S&& out, const block_layout& sent, const block_layout& received) {
    return make_plan(detail::with_counts(detail::moving(collective::alltoall, in, out), sent, received));
  }

  /// The `in` of the ranks 0 to this one, combined element by element in their order, into `out`.
  template <class Operator, reduced_by<Operator> R, message_range S>
  void scan(const R& in, S&& out, const Operator& op) {
    run(detail::combining(collective::scan, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle iscan(R&& in, S&& out, const Operator& op) {
    return start(detail::combining(collective::scan, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_scan(R&& in, S&& out, const Operator& op) {
    return make_plan(detail::combining(collective::scan, in, out, op));
  }

  /// The `in` of the ranks before this one, likewise. Rank 0 may give an empty `out`, and its `out` stays as it is.
  template <class Operator, reduced_by<Operator> R, message_range S>
  void exscan(const R& in, S&& out, const Operator& op) {
    run(detail::combining(collective::exscan, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] handle iexscan(R&& in, S&& out, const Operator& op) {
    return start(detail::combining(collective::exscan, in, out, op));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  requires lasting<R, S>
  [[nodiscard]] plan plan_exscan(R&& in, S&& out, const Operator& op) {
    return make_plan(detail::combining(collective::exscan, in, out, op));
  }

  // Values. The same messages and collectives of one element, or of as many as there are, which are returned. They
  // block. Where a deadline passes in one, the communicator is aborted, since nobody can wait for it again.

  template <message_value T>
  void send(const T& value, int to, std::int64_t tag = 0) {
    send(std::span(&value, 1), to, tag);
  }
  /// A message, however long it is. One that is no whole number of elements is lost, and throws errc::mismatched_call.
  template <message_value T>
  [[nodiscard]] std::vector<T> recv(int from = any_source, std::int64_t tag = any_tag) {
    matched_message found = mprobe(from, tag);
    const std::size_t count = found.what().count<T>();
    check_length(found.what(), sizeof(T), count);
    std::vector<T> data(count);
    const detail::own_buffers owned;
    found.recv(data);
    return data;
  }
  /// A message of one element; one of another length throws errc::mismatched_call, or errc::truncated.
  template <message_value T>
  [[nodiscard]] T recv_value(int from = any_source, std::int64_t tag = any_tag) {
    T value;
    const detail::own_buffers owned;
    check_length(recv(std::span(&value, 1), from, tag), sizeof(T), 1);
    return value;
  }

  /// The root's.
  template <message_value T>
  [[nodiscard]] T bcast(const T& value, int root) {
    T all = value;
    const detail::own_buffers owned;
    bcast(std::span(&all, 1), root);
    return all;
  }
  /// Everybody's, combined; empty on other ranks than `root`.
  template <class Operator, value_reduced_by<Operator> T>
  [[nodiscard]] std::optional<T> reduce(const T& value, const Operator& op, int root) {
    T all = value;
    const detail::own_buffers owned;
    reduce(std::span(&all, 1), std::span(&all, rank() == root ? 1 : 0), op, root);
    return rank() == root ? std::optional<T>(all) : std::nullopt;
  }
  template <class Operator, value_reduced_by<Operator> T>
  [[nodiscard]] T allreduce(const T& value, const Operator& op) {
    return combined_with(value, [&](std::span<T> both) { allreduce(both, both, op); });
  }
  template <class Operator, value_reduced_by<Operator> T>
  [[nodiscard]] T scan(const T& value, const Operator& op) {
    return combined_with(value, [&](std::span<T> both) { scan(both, both, op); });
  }
  /// Rank 0, before which there is none, gets `of_first`.
  template <class Operator, value_reduced_by<Operator> T>
  [[nodiscard]] T exscan(const T& value, const Operator& op, const T& of_first = T()) {
    const T before = combined_with(value, [&](std::span<T> both) { exscan(both, both, op); });
    return rank() == 0 ? of_first : before;
  }
  /// Everybody's, by rank.
  template <message_value T>
  [[nodiscard]] std::vector<T> allgather(const T& value) {
    std::vector<T> all(static_cast<std::size_t>(size()));
    const T own = value;
    const detail::own_buffers owned;
    allgather(std::span(&own, 1), all);
    return all;
  }
  /// The same on `root`; empty on the others.
  template <message_value T>
  [[nodiscard]] std::vector<T> gather(const T& value, int root) {
    std::vector<T> all(rank() == root ? static_cast<std::size_t>(size()) : 0);
    const T own = value;
    const detail::own_buffers owned;
    gather(std::span(&own, 1), all, root);
    return all;
  }
  /// This rank's of `values` of `root`, of one for each rank. Other ranks may give none.
  template <element_range R>
  [[nodiscard]] std::ranges::range_value_t<R> scatter(const R& values, int root) {
    std::ranges::range_value_t<R> own{};
    const detail::own_buffers owned;
    scatter(values, std::span(&own, 1), root);
    return own;
  }
  /// Everybody's elements, of which each may have as many as it likes, one rank's after another's. `counts`, where it
  /// is not null, gets how many each has. One exchange more than `allgather` of known counts.
  template <element_range R>
  [[nodiscard]] std::vector<std::ranges::range_value_t<R>> allgatherv(const R& in,
                                                                      std::vector<std::size_t>* counts = nullptr) {
    std::vector<std::size_t> of_each = allgather(static_cast<std::size_t>(std::ranges::size(in)));
    std::vector<std::ranges::range_value_t<R>> all(std::reduce(of_each.begin(), of_each.end()));
    const detail::own_buffers owned;
    allgather(in, all, of_each);
    if (counts != nullptr) *counts = std::move(of_each);
    return all;
  }
  /// The same on `root`; empty on the others, and so are their counts.
  template <element_range R>
  [[nodiscard]] std::vector<std::ranges::range_value_t<R>> gatherv(const R& in, int root,
                                                                   std::vector<std::size_t>* counts = nullptr) {
    std::vector<std::size_t> of_each = gather(static_cast<std::size_t>(std::ranges::size(in)), root);
    std::vector<std::ranges::range_value_t<R>> all(std::reduce(of_each.begin(), of_each.end()));
    const detail::own_buffers owned;
    gather(in, all, counts_at_root(of_each), root);
    if (counts != nullptr) *counts = std::move(of_each);
    return all;
  }

  // Communicators. Collective over this communicator, blocking but for those with an i in front.

  /// One communicator for each colour, ranked by key, then by rank here. A negative colour gets none.
  std::optional<communicator> split(int colour, int key = 0);
  /// The same, started: the ranks exchange colours and keys while this one does something else
  /// (pending_communicator.hpp). In the order of the other collectives of this communicator.
  [[nodiscard]] pending_communicator isplit(int colour, int key = 0);
  /// The ranks of this rank's node, ranked likewise.
  communicator split_by_node(int key = 0);
  /// The ranks of this rank's node whose threads are confined to the same NUMA node. The ranks of a node that are
  /// confined to none are together, too. Ranked likewise.
  communicator split_by_numa(int key = 0);
  /// The listed ranks, in the order of the list; the others get none. Every rank gives the same list, listed or not;
  /// else all throw errc::mismatched_call.
  std::optional<communicator> subset(std::span<const int> ranks);
  /// The same ranks with a matching space of their own.
  communicator dup();
  [[nodiscard]] pending_communicator idup();
  /// The same as `subset`, made by the ranks of the list alone: each of them calls it with the same list, and no other
  /// rank does. Where several are made at a time by the same ranks, the tag tells them apart; it is no tag of messages,
  /// but nobody receives or probes with any_tag meanwhile. Blocks until all have called, whatever deadline there is.
  /// Throws errc::mismatched_call on all of them where lists with the same first rank differ; where the first ranks
  /// differ they wait for each other for ever.
  communicator create(std::span<const int> ranks, std::int64_t tag = 0);
  /// This rank alone. Not collective: it asks and awaits nobody, and may be made where others are lost.
  communicator alone();

  // When something has failed. Not collective: any rank may call these.

  /// The ranks of this communicator that this process knows to be lost, in ascending order. Others may know of more, or
  /// not yet of these. Does not block.
  std::vector<int> failed();
  /// Ends the communicator on every rank: pending and later calls on it throw errc::revoked, but for what has failed
  /// before. Does not block: this rank's buffers may be used until the calls that were given them have thrown.
  void revoke();
  /// The same, and returns when neither the network nor a peer touches this rank's buffers any more.
  void abort();

  // And then. Every rank that lives, and has not left, makes these calls in the same order, whatever has failed on the
  // communicator: they go on where others die, or have died, and block until the others have called, too. They throw
  // errc::mismatched_call on all ranks alike where some call another one of them, and peer_lost only on a rank that the
  // others have given up.

  /// The same answer on every rank that gets one, also on those that die thereafter (fabric/FAILURES.md).
  agreed agree(int flag);
  /// A communicator of those ranks, in this one's order: the same on all of them. Of those that die during the call it
  /// may have some: its calls throw peer_lost then, and it can be shrunk in turn.
  communicator shrink();
  /// The same with spares (the option `spares`, the last ranks of the job) in place of the dead, as far as there are
  /// some: each gets the rank of one here, if there is one on the node of the next rank that lives then that. On a
  /// spare `runtime::run` calls its program with this communicator. Without spares it is `shrink`. With them every rank
  /// of the job that lives calls it, on the same ranks, but for those whose program has ended.
  communicator grow();
  /// Whether this rank is a spare that has got its rank by `grow`.
  bool is_replacement() const noexcept;

 private:
  friend class grid;
  friend class halo;
  friend class runtime;
  friend struct detail::choices;
  friend struct detail::communicator_names;
  friend struct detail::runtime_state;
  friend struct detail::stamped;
  friend class detail::window_base;
  using collective = detail::collective;

  template <class T, class Call>
  static T combined_with(const T& value, const Call& call) {
    T both = value;
    const detail::own_buffers owned;
    call(std::span(&both, 1));
    return both;
  }
  /// Throws errc::mismatched_call unless the message was of so many elements.
  void check_length(const status& what, std::size_t element_bytes, std::size_t count) const;

  template <class R>
  handle start_send_of(const R& data, int to, std::int64_t tag, const char* name, detail::leaves when) {
    if constexpr (described_buffer<R>)
      return start_send(detail::pieces_of(data), to, tag, name, when);
    else
      return start_send(detail::bytes_of(data), to, tag, name, when);
  }

  void send_bytes(std::span<const std::byte> data, int to, std::int64_t tag);
  status receive_bytes(std::span<std::byte> data, int from, std::int64_t tag);
  status exchange_bytes(std::span<const std::byte> data, int to, std::int64_t send_tag, std::span<std::byte> into,
                        int from, std::int64_t receive_tag);
  handle start_send(std::span<const std::byte> data, int to, std::int64_t tag, const char* name, detail::leaves when);
  plan plan_message(std::span<const std::byte> data, int to, std::int64_t tag);
  plan plan_message(std::span<std::byte> data, int from, std::int64_t tag);
  handle start_receive(std::span<std::byte> data, int from, std::int64_t tag, const char* name = "irecv");
  // The same of buffers that may lie in pieces: then of a copy in one piece.
  void send_pieces(const detail::pieces& data, int to, std::int64_t tag);
  status receive_pieces(const detail::pieces& data, int from, std::int64_t tag);
  status exchange_pieces(const detail::pieces& data, int to, std::int64_t send_tag, const detail::pieces& into,
                         int from, std::int64_t receive_tag);
  handle start_send(const detail::pieces& data, int to, std::int64_t tag, const char* name, detail::leaves when);
  handle start_receive(const detail::pieces& data, int from, std::int64_t tag, const char* name = "irecv");
  plan plan_send_pieces(const detail::pieces& data, int to, std::int64_t tag);
  plan plan_receive_pieces(const detail::pieces& data, int from, std::int64_t tag);
  void run(detail::request call);
  void run_until(const time_limit& limit, detail::request call);
  handle start(detail::request call);
  void finish(detail::request& call);
  void finish_packed(const detail::request& call);
  void finish_reproducible(const detail::request& call);
  void finish_by_messages(detail::request& call, const detail::known_call& known);
  void finish_at_front(const detail::request& call, const detail::request_shape& shape);
  detail::begun_operation begin(detail::request call);
  plan make_plan(detail::request call);
  std::optional<communicator> divide(const char* operation, const detail::part& as);
  pending_communicator start_division(const char* operation, const detail::part& as);
  /// Of all ranks of the job those that are no spares. Collective, blocking.
  std::optional<communicator> without_spares();
  /// On a spare, of all ranks of the job: blocks until it has got a rank. Empty: the programs of all others have ended.
  std::optional<communicator> await_rank();

  std::shared_ptr<detail::communicator_state> state_;
};

}  // namespace weft
