// The collective API: messages and collectives among an ordered set of ranks.
//
//   weft::runtime runtime{argc, argv};
//   weft::communicator& world = runtime.world();
//   world.allreduce(std::span<const double>(x), std::span<double>(sum), weft::sum);
//
// Buffers are contiguous ranges (std::span, std::vector, std::array) of trivially copyable elements, for reductions of
// those that the operator combines; counts are elements of std::size_t. In place is the same span twice.
//
// Blocking calls park the fiber that makes them, or poll on a plain thread. Every call throws weft::error on bad
// arguments (before anything is sent), peer_lost once a member of the communicator is lost, and errc::revoked after
// `abort`. A communicator is used by its rank alone: by one thread or fiber at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <weft/operators.hpp>

namespace weft {

namespace detail {
struct communicator_state;
class pending;
enum class collective : std::uint8_t { barrier, broadcast, reduce, allreduce };
}  // namespace detail

/// From any rank of the communicator; with any tag.
inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

template <class R>
concept message_range =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && carriable<std::ranges::range_value_t<R>>;

/// Elements that Operator combines: for a built-in one, see weft::kernels::has.
template <class R, class Operator>
concept reduced_by = message_range<R> && combines<Operator, std::ranges::range_value_t<R>>;

/// What a receive or a probe found.
struct status {
  int source = any_source;
  int tag = any_tag;
  std::size_t bytes = 0;
  /// Whole elements of type T in the message.
  template <carriable T>
  std::size_t count() const noexcept {
    return bytes / sizeof(T);
  }
};

/// An operation in flight, with sole use of its buffers until it is done. Movable. Destroying one in flight waits for
/// it; where an exception is unwinding, it aborts the communicator first so that the wait ends.
class handle {
 public:
  handle() noexcept;
  explicit handle(std::unique_ptr<detail::pending> operation) noexcept;
  handle(handle&&) noexcept;
  handle& operator=(handle&&) noexcept;
  ~handle();

  /// Whether there is an operation that has not been waited for.
  bool valid() const noexcept { return operation_ != nullptr; }
  /// Polls once; true when the operation is done, and throws what it failed with. Does not block, but lets other fibers
  /// run when it is not done.
  bool test();
  /// Blocks until the operation is done; throws what it failed with. Afterwards the handle is not valid. For receives
  /// the status says what came. Throws errc::invalid_argument on a handle that is not valid.
  status wait();
  /// Blocks until the operation is done (true) or the deadline has passed (false: still in flight, the handle valid).
  bool wait_until(std::chrono::steady_clock::time_point deadline);

 private:
  std::unique_ptr<detail::pending> operation_;
};

/// Waits for every valid handle, in whatever order they end; then throws the first error, if any.
void wait_all(std::span<handle> handles);

/// An ordered set of ranks with its own matching space.
class communicator {
 public:
  /// Made by weft::runtime, `split` and `dup`; does not outlive its runtime.
  explicit communicator(std::shared_ptr<detail::communicator_state> state) noexcept;
  communicator(communicator&&) noexcept;
  communicator& operator=(communicator&&) noexcept;
  ~communicator();

  int rank() const noexcept;
  int size() const noexcept;

  // Messages. Tags are 0 to 2^31 - 1. Messages between two ranks with tags that match are received in the order sent.

  /// Blocks until `data` may be reused. A short message never waits for its receiver.
  template <message_range R>
  void send(const R& data, int to, int tag = 0) {
    send_bytes(bytes_of(data), to, tag);
  }
  /// Blocks until a message is in `data`. One longer than `data` leaves the buffer untouched and throws errc::truncated
  /// with both lengths; its sender too, unless the message was short enough to be sent without asking.
  template <message_range R>
  status recv(R&& data, int from = any_source, int tag = any_tag) {
    return receive_bytes(writable_bytes_of(data), from, tag);
  }
  /// Sends and receives at the same time; the buffers do not overlap.
  template <message_range R, message_range S>
  status sendrecv(const R& data, int to, int send_tag, S&& into, int from, int receive_tag) {
    return exchange_bytes(bytes_of(data), to, send_tag, writable_bytes_of(into), from, receive_tag);
  }
  template <message_range R>
  [[nodiscard]] handle isend(const R& data, int to, int tag = 0) {
    return start_send(bytes_of(data), to, tag);
  }
  template <message_range R>
  [[nodiscard]] handle irecv(R&& data, int from = any_source, int tag = any_tag) {
    return start_receive(writable_bytes_of(data), from, tag);
  }
  /// Blocks until a message that matches could be received, and says which.
  status probe(int from = any_source, int tag = any_tag);
  /// The same without blocking; empty, after other fibers had their turn, when there is none yet.
  std::optional<status> iprobe(int from = any_source, int tag = any_tag);

  // Collectives: every rank of the communicator calls the same ones in the same order, with the same operator, type,
  // count and root. The forms that begin with i start the operation and return.

  void barrier() { run(barrier_request()); }
  [[nodiscard]] handle ibarrier() { return start(barrier_request()); }

  /// `data` of rank `root` to everybody's `data`, of as many bytes.
  template <message_range R>
  void bcast(R&& data, int root) {
    run(broadcast_request(data, root));
  }
  template <message_range R>
  [[nodiscard]] handle ibcast(R&& data, int root) {
    return start(broadcast_request(data, root));
  }

  /// Everybody's `in`, combined element by element, into `out` of rank `root`; other ranks may give an empty `out`.
  template <class Operator, reduced_by<Operator> R, message_range S>
  void reduce(const R& in, S&& out, const Operator& op, int root) {
    run(reduction_request(collective::reduce, in, out, op, root));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  [[nodiscard]] handle ireduce(const R& in, S&& out, const Operator& op, int root) {
    return start(keeping(op, reduction_request(collective::reduce, in, out, op, root)));
  }

  /// Everybody's `in`, combined element by element, into everybody's `out`; the same bits on every rank.
  template <class Operator, reduced_by<Operator> R, message_range S>
  void allreduce(const R& in, S&& out, const Operator& op) {
    run(reduction_request(collective::allreduce, in, out, op, 0));
  }
  template <class Operator, reduced_by<Operator> R, message_range S>
  [[nodiscard]] handle iallreduce(const R& in, S&& out, const Operator& op) {
    return start(keeping(op, reduction_request(collective::allreduce, in, out, op, 0)));
  }

  // Communicators. Collective over this communicator, blocking.

  /// One communicator for each colour, ranked by key, then by rank here. A negative colour gets none.
  std::optional<communicator> split(int colour, int key = 0);
  /// The same ranks with a matching space of their own.
  communicator dup();

  /// Revokes the communicator on every rank: pending and later calls on it throw errc::revoked. Returns when neither
  /// the network nor a peer touches this rank's buffers any more. Not collective; any rank may call it.
  void abort();

 private:
  using collective = detail::collective;

  /// A collective call without its types.
  struct request {
    collective what = collective::barrier;
    const void* in = nullptr;
    std::size_t in_count = 0;
    void* out = nullptr;
    std::size_t out_count = 0;
    std::size_t element_bytes = 1;
    kernels::type type = kernels::type::float32;
    kernels::operation op = kernels::operation::sum;
    int root = 0;
    bool reproducible = false;  ///< float or double, by reproducible_sum
    detail::user_function custom;       ///< in place of `op` and `type`
    std::shared_ptr<const void> keeps;  ///< what lives as long as the operation
  };

  template <class R>
  static std::span<const std::byte> bytes_of(const R& data) {
    return std::as_bytes(std::span(std::ranges::data(data), std::ranges::size(data)));
  }
  template <class R>
  static std::span<std::byte> writable_bytes_of(R& data) {
    static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>,
                  "weft: this buffer is written to, but its elements are const");
    return std::as_writable_bytes(std::span(std::ranges::data(data), std::ranges::size(data)));
  }
  static request barrier_request() { return {}; }
  template <class R>
  static request broadcast_request(R& data, int root) {
    request call;
    call.what = collective::broadcast;
    call.in = call.out = writable_bytes_of(data).data();
    call.in_count = call.out_count = std::ranges::size(data);
    call.element_bytes = sizeof(std::ranges::range_value_t<R>);
    call.root = root;
    return call;
  }
  template <class R, class S>
  static request reduction_of(collective what, const R& in, S& out, int root) {
    using value = std::ranges::range_value_t<R>;
    static_assert(std::is_same_v<value, std::ranges::range_value_t<S>>,
                  "weft: input and output are of different types");
    request call;
    call.what = what;
    call.in = std::ranges::data(in);
    call.in_count = std::ranges::size(in);
    call.out = writable_bytes_of(out).data();
    call.out_count = std::ranges::size(out);
    call.element_bytes = sizeof(value);
    call.root = root;
    return call;
  }
  template <class R, class S>
  static request reduction_request(collective what, const R& in, S& out, reduction_operator op, int root) {
    request call = reduction_of(what, in, out, root);
    call.type = kernels::type_of<std::ranges::range_value_t<R>>;
    call.op = op.operation;
    return call;
  }
  template <class R, class S, class T, class F>
  static request reduction_request(collective what, const R& in, S& out, const user_operator<T, F>& op, int root) {
    request call = reduction_of(what, in, out, root);
    call.custom = detail::erased(op);
    return call;
  }
  /// With a copy of the caller's operator, for operations that outlive the call.
  template <class Operator>
  static request keeping(const Operator&, request call) {
    return call;
  }
  template <class T, class F>
  static request keeping(const user_operator<T, F>& op, request call) {
    const auto copy = std::make_shared<const user_operator<T, F>>(op);
    call.custom = detail::erased(*copy);
    call.keeps = copy;
    return call;
  }
  template <class R, class S>
  static request reduction_request(collective what, const R& in, S& out, reproducible_sum_operator, int root) {
    request call = reduction_request(what, in, out, reduction_operator(sum), root);
    call.reproducible = true;
    return call;
  }

  void send_bytes(std::span<const std::byte> data, int to, int tag);
  status receive_bytes(std::span<std::byte> data, int from, int tag);
  status exchange_bytes(std::span<const std::byte> data, int to, int send_tag, std::span<std::byte> into, int from,
                        int receive_tag);
  handle start_send(std::span<const std::byte> data, int to, int tag);
  handle start_receive(std::span<std::byte> data, int from, int tag);
  void run(const request& call);
  handle start(const request& call);
  std::unique_ptr<detail::pending> begin(const request& call);

  std::shared_ptr<detail::communicator_state> state_;
};

}  // namespace weft
