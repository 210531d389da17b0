#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/node_transport.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

/// The longest frame that is copied from its sender's memory before `inject` returns.
constexpr std::size_t longest_injected = 4 << 10;

constexpr std::size_t longest_payload = 1 << 30;

/// Records of one peer before it is the next one's turn.
constexpr int records_in_turn = 32;

/// What is read of a payload before other things get their turn; less while frames come between, which are not to wait
/// for ten times as long as they take.
constexpr std::size_t slice = 256 << 10;
constexpr std::size_t short_slice = 8 << 10;
constexpr int short_slices_after_frame = 8;

/// What is copied of a payload at a time where it cannot be read.
constexpr std::size_t part = 8 << 10;

enum class record_kind : std::uint16_t {
  frame = 1,
  payload,  ///< payload_record
  part,     ///< part_record | bytes of it
  taken     ///< the name of a payload that its sender may forget
};

struct payload_record {
  std::uint64_t tag = 0;
  std::uint64_t address = 0;  ///< in the sender's memory
  std::uint64_t bytes = 0;
  std::uint64_t name = 0;  ///< to be told when it has been taken
};

struct part_record {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;   ///< of the payload
  std::uint64_t offset = 0;  ///< of the part in it
};

template <class Body>
std::span<const std::byte> bytes_of(const Body& body) {
  return std::as_bytes(std::span(&body, 1));
}

template <class Body>
Body read_body(std::span<const std::byte> record) {
  Body body;
  if (record.size() < sizeof body) throw error(errc::protocol, "a record of the node's memory is cut short");
  std::memcpy(&body, record.data(), sizeof body);
  return body;
}

}  // namespace

/// A transfer between processes of the node; lies in its transfer's space.
struct node_transport::moving {
  transfer* of = nullptr;
  moving* next = nullptr;
  std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t done = 0;
  std::uint64_t tag = 0;
  std::uint64_t address = 0;  ///< landing: where it is in the sender's memory
  std::uint64_t name = 0;     ///< landing: the sender's for it
  std::errc failure{};        ///< ended: by what

  static moving& begin(transfer& context, bool receiving, std::byte* data, std::size_t bytes, std::uint64_t tag) {
    static_assert(sizeof(moving) <= sizeof context.provider_space && alignof(moving) <= alignof(transfer));
    context.receiving = receiving;
    moving& begun = *new (context.provider_space) moving;
    begun.of = &context;
    begun.data = data;
    begun.bytes = static_cast<std::uint32_t>(bytes);
    begun.tag = tag;
    return begun;
  }
};

/// Transfers, the first ones first.
class node_transport::transfer_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  moving& front() const noexcept { return *first_; }
  void push(moving& added) noexcept {
    added.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &added;
    last_ = &added;
  }
  moving& pop() noexcept { return *take(nullptr, first_); }
  /// Takes the first one out of which this holds; null where there is none.
  template <class Predicate>
  moving* take_if(Predicate holds) noexcept {
    for (moving *before = nullptr, *each = first_; each != nullptr; before = std::exchange(each, each->next))
      if (holds(*each)) return take(before, each);
    return nullptr;
  }

 private:
  moving* take(moving* before, moving* taken) noexcept {
    (before == nullptr ? first_ : before->next) = taken->next;
    if (last_ == taken) last_ = before;
    return taken;
  }

  moving* first_ = nullptr;
  moving* last_ = nullptr;
};

/// Another process of the node.
class node_transport::neighbor {
 public:
  neighbor(const arena& memory, int peer, transfer_list& ended)
      : out_(memory.ring_to(peer)),
        in_(memory.ring_from(peer)),
        pid_(memory.pid(peer)),
        reads_(memory.reading_refusal().empty()),
        ended_(ended) {}

  bool put_frame(std::span<const std::byte> frame) { return put(record_kind::frame, frame); }

  bool send(std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) {
    if (cut_) return false;
    if (reads_) {
      const payload_record there{tag, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size(), name_of(context)};
      if (!put(record_kind::payload, bytes_of(there))) return false;
    }
    leaving_.push(moving::begin(context, false, const_cast<std::byte*>(bytes.data()), bytes.size(), tag));
    return true;
  }

  void receive(std::uint64_t tag, std::span<std::byte> bytes, transfer& context) {
    posted_.push(moving::begin(context, true, bytes.data(), bytes.size(), tag));
  }

  /// Whether it was one of this one's receives.
  bool cancel(transfer& context) {
    const auto is_it = [&](const moving& each) { return each.of == &context; };
    moving* found = posted_.take_if(is_it);
    if (found == nullptr) {
      found = landing_.take_if(is_it);
      if (found == nullptr) return false;
      if (reads_) owed_.push_back(found->name);
    }
    end(*found, std::errc::operation_canceled);
    return true;
  }

  void cut() noexcept {
    cut_ = true;
    while (!leaving_.empty()) end(leaving_.pop(), std::errc::connection_aborted);
    while (!landing_.empty()) end(landing_.pop(), std::errc::connection_aborted);
  }

  std::size_t poll(receiver& to) {
    if (cut_) return 0;
    std::size_t events = take_records(to);
    if (!landing_.empty() && reads_) events += read_slice(to);
    if (!owed_.empty()) tell_taken();
    if (!leaving_.empty() && !reads_) events += put_parts();
    return events;
  }

 private:
  static std::uint64_t name_of(const transfer& context) noexcept { return reinterpret_cast<std::uintptr_t>(&context); }

  bool put(record_kind kind, std::span<const std::byte> first, std::span<const std::byte> second = {}) {
    return !cut_ && out_.put(static_cast<std::uint16_t>(kind), first, second);
  }

  void end(moving& ended, std::errc failure) noexcept {
    ended.failure = failure;
    ended_.push(ended);
  }

  std::size_t take_records(receiver& to) {
    std::size_t taken = 0;
    for (int left = records_in_turn; left > 0 && !cut_; --left) {
      const arena_ring_reader::record next = in_.next();
      if (next.kind == 0) break;
      take(static_cast<record_kind>(next.kind), next.bytes, to);
      ++taken;
    }
    if (taken != 0) in_.release();
    return taken;
  }

  void take(record_kind kind, std::span<const std::byte> bytes, receiver& to) {
    switch (kind) {
      case record_kind::frame:
        if (!landing_.empty()) short_slices_ = short_slices_after_frame;
        return to.arrived(bytes);
      case record_kind::payload:
        return take_payload(read_body<payload_record>(bytes));
      case record_kind::part:
        return take_part(bytes, to);
      case record_kind::taken:
        return take_taken(read_body<std::uint64_t>(bytes), to);
    }
    throw error(errc::protocol, "a record of the node's memory is of an unknown kind");
  }

  void take_payload(const payload_record& there) {
    moving* const found = posted_.take_if([&](const moving& each) { return each.tag == there.tag; });
    if (found == nullptr || found->bytes < there.bytes) {  // it has been taken back, or is too short
      if (found != nullptr) end(*found, std::errc::message_size);
      return owed_.push_back(there.name);
    }
    found->bytes = static_cast<std::uint32_t>(there.bytes);
    found->address = there.address;
    found->name = there.name;
    landing_.push(*found);
  }

  std::size_t read_slice(receiver& to) {
    moving& first = landing_.front();
    const std::size_t most = short_slices_ > 0 ? short_slice : slice;
    if (short_slices_ > 0) --short_slices_;
    const std::size_t bytes = std::min<std::size_t>(most, first.bytes - first.done);
    const std::error_code refused =
        read_process_memory(pid_, first.address + first.done, {first.data + first.done, bytes});
    first.done += static_cast<std::uint32_t>(bytes);
    if (!refused && first.done < first.bytes) return 1;
    landing_.pop();
    owed_.push_back(first.name);
    to.done(*first.of, refused ? 0 : first.bytes, refused);
    return 1;
  }

  void tell_taken() {
    std::size_t told = 0;
    while (told < owed_.size() && put(record_kind::taken, bytes_of(owed_[told]))) ++told;
    owed_.erase(owed_.begin(), owed_.begin() + static_cast<std::ptrdiff_t>(told));
  }

  void take_taken(std::uint64_t name, receiver& to) {
    if (moving* const found = leaving_.take_if([&](const moving& each) { return name_of(*each.of) == name; }))
      to.done(*found->of, found->bytes, {});
  }

  std::size_t put_parts() {
    std::size_t parts = 0;
    for (; parts < records_in_turn && !leaving_.empty(); ++parts) {
      moving& first = leaving_.front();
      const std::size_t bytes = std::min<std::size_t>(part, first.bytes - first.done);
      if (!put(record_kind::part, bytes_of(part_record{first.tag, first.bytes, first.done}),
               {first.data + first.done, bytes}))
        break;
      first.done += static_cast<std::uint32_t>(bytes);
      if (first.done == first.bytes) end(leaving_.pop(), {});
    }
    return parts;
  }

  /// Parts of one payload follow one another; those of a receive that has been taken back are dropped.
  void take_part(std::span<const std::byte> record, receiver& to) {
    const auto head = read_body<part_record>(record);
    record = record.subspan(sizeof head);
    if (head.offset == 0) {
      moving* const found = posted_.take_if([&](const moving& each) { return each.tag == head.tag; });
      if (found == nullptr) return;
      if (found->bytes < head.bytes) return end(*found, std::errc::message_size);
      found->bytes = static_cast<std::uint32_t>(head.bytes);
      landing_.push(*found);
    }
    if (landing_.empty()) return;
    moving& first = landing_.front();
    if (first.tag != head.tag || first.done != head.offset || first.bytes - first.done < record.size()) return;
    std::memcpy(first.data + first.done, record.data(), record.size());
    first.done += static_cast<std::uint32_t>(record.size());
    if (first.done < first.bytes) return;
    landing_.pop();
    to.done(*first.of, first.bytes, {});
  }

  arena_ring_writer out_;
  arena_ring_reader in_;
  const std::int64_t pid_;
  const bool reads_;
  transfer_list& ended_;
  bool cut_ = false;
  int short_slices_ = 0;
  transfer_list posted_;             // receives that nothing has come for
  transfer_list landing_;            // and those that something has
  transfer_list leaving_;            // payloads that have not been taken
  std::vector<std::uint64_t> owed_;  // names of payloads that have been, for their sender
};

node_transport::node_transport(std::unique_ptr<transport> outside)
    : outside_(std::move(outside)), limits_(outside_->limits()), ended_(std::make_unique<transfer_list>()) {
  limits_.payload = std::min(limits_.payload, longest_payload);
}

node_transport::~node_transport() = default;

void node_transport::share(const arena& memory) { memory_ = &memory; }

void node_transport::start(std::span<const address> peers, std::size_t ring_bytes) {
  if (memory_ != nullptr) {
    by_peer_.resize(peers.size());
    for (const int process : memory_->processes()) {
      auto& made = by_peer_[static_cast<std::size_t>(process)];
      made = std::make_unique<neighbor>(*memory_, process, *ended_);
      near_.push_back(made.get());
    }
    uses_outside_ = near_.size() < peers.size();
  }
  if (uses_outside_) return outside_->start(peers, ring_bytes);
  limits_.inject = std::min(longest_injected, limits_.frame);
  limits_.receives = SIZE_MAX;
}

bool node_transport::inject(int peer, std::span<const std::byte> frame) {
  if (neighbor* const there = near(peer)) return there->put_frame(frame);
  return outside_->inject(peer, frame);
}

bool node_transport::send(int peer, std::span<const std::byte> frame, transfer& context) {
  neighbor* const there = near(peer);
  if (there == nullptr) return outside_->send(peer, frame, context);
  if (!there->put_frame(frame)) return false;
  ended_->push(moving::begin(context, false, nullptr, frame.size(), 0));
  return true;
}

bool node_transport::send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) {
  if (neighbor* const there = near(peer)) return there->send(tag, bytes, context);
  return outside_->send_payload(peer, tag, bytes, context);
}

bool node_transport::receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) {
  neighbor* const there = near(peer);
  if (there == nullptr) return outside_->receive_payload(peer, tag, bytes, context);
  there->receive(tag, bytes, context);
  return true;
}

void node_transport::cancel(transfer& context) {
  for (neighbor* const each : near_)
    if (each->cancel(context)) return;
  if (uses_outside_) outside_->cancel(context);
}

std::vector<std::uint64_t> node_transport::connection_ends() const {
  return uses_outside_ ? outside_->connection_ends() : std::vector<std::uint64_t>{};
}

void node_transport::cut(int peer, std::uint64_t their_end) noexcept {
  if (neighbor* const there = near(peer)) return there->cut();
  outside_->cut(peer, their_end);
}

std::size_t node_transport::report_ended(receiver& to) {
  std::size_t reported = 0;
  for (transfer_list now = std::exchange(*ended_, {}); !now.empty(); ++reported) {
    const moving& ended = now.pop();
    const bool well = ended.failure == std::errc{};
    to.done(*ended.of, well ? ended.bytes : 0, well ? std::error_code{} : make_error_code(ended.failure));
  }
  return reported;
}

std::size_t node_transport::poll(receiver& to) {
  std::size_t events = ended_->empty() ? 0 : report_ended(to);
  for (neighbor* const each : near_) events += each->poll(to);
  return uses_outside_ ? events + outside_->poll(to) : events;
}

}  // namespace weft::fabric
