// SPDX-License-Identifier: Apache-2.0
// Frames that a messenger takes from two other processes, while its own two ranks send, receive, join and leave.
//
// The input is a row of actions. Most frames have the right job, incarnation and number, and name what there is: others
// are dropped where they come in.
#include <array>
#include <deque>
#include <memory>
#include <set>
#include <tuple>
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/error.hpp>

#include "fed_transport.hpp"
#include "input.hpp"

using namespace weft_fuzz;
using weft::errc;

namespace {

constexpr std::uint32_t job_number = 4711;
constexpr int processes = 3;  // 0 is the messenger's, with ranks 0 and 1; ranks 2 and 3 are the others
constexpr std::array<std::uint16_t, processes> incarnations{1, 2, 3};
constexpr std::size_t lengths[] = {0, 1, 63, 64, 65, 128, 129, 1000, 1024, 1025, 2048, 5000};

/// With memory of its own, which is freed as soon as it has finished.
template <class Operation>
struct begun final : Operation {
  void finished() noexcept override {
    if constexpr (std::is_same_v<Operation, fabric::receive_operation>) {
      require(this->failure != nullptr || this->received <= this->bytes);
      require(this->failure != nullptr || this->received == 0 ||
              (this->source >= 0 && this->source < this->at->members->size()));
    }
    memory.reset();
    ended = true;
  }
  std::unique_ptr<std::byte[]> memory;
  bool ended = false;
};
struct begun_agreement final : fabric::agreement_call {
  void finished() noexcept override {
    require(failure != nullptr || agreed != nullptr);
    ended = true;
  }
  bool ended = false;
};
using begun_send = begun<fabric::send_operation>;
using begun_receive = begun<fabric::receive_operation>;

class job {
 public:
  job() {
    fabric::messenger_settings settings;
    settings.job = job_number;
    settings.first_rank = {0, 2, 3};
    settings.incarnations.assign(incarnations.begin(), incarnations.end());
    settings.eager_limit = 128;
    settings.credit = 4096;
    settings.unexpected_limit = 1024;
    settings.send_buffer_limit = 1024;
    settings.piece = 1024;
    settings.window = 2048;
    settings.suspected = [](int, const std::string&) {};
    settings.ended = [this](int) { return ended_; };
    settings.broadcast = [this](std::span<const std::byte> note) { feed_.read(note); };
    messenger_ = std::make_unique<fabric::messenger>(std::make_unique<fed_transport>(feed_), std::move(settings));
    for (std::uint32_t process = 1; process < processes; ++process) {
      fabric::header hello = head_of(process);
      hello.kind = fabric::message_kind::hello;
      hello.length = 64;
      arrive(hello, {});
    }
    messenger_->connect({}, weft::clock::time_point::max());
    for (std::size_t rank = 0; rank < 2; ++rank) join(rank, 0);
  }
  // The messenger goes before what it must not touch any more.
  ~job() { messenger_.reset(); }

  void act(input& from);

 private:
  fabric::header head_of(std::uint32_t process) {
    fabric::header head;
    head.job = job_number;
    head.process = process;
    head.incarnation = incarnations[process];
    head.sequence = sent_[process]++;
    return head;
  }
  void arrive(const fabric::header& head, std::span<const std::byte> body) {
    auto& frame = feed_.frames.emplace_back(sizeof head + body.size());
    fabric::write_part(frame.data(), 0, head);
    std::copy(body.begin(), body.end(), frame.begin() + sizeof head);
  }

  void join(std::size_t rank, std::size_t which);
  void leave(std::size_t rank, std::size_t which);
  std::uint64_t communicator(input& from);
  std::uint64_t tag(input& from, bool collective);
  std::uint64_t length(input& from);
  std::uint32_t name(input& from);
  void send_frame(input& from);
  void post_send(input& from);
  void post_receive(input& from);
  void end_transfer(input& from);
  void take_note(input& from);
  void agree(std::size_t rank, std::size_t which);
  void probe(std::size_t rank, std::size_t which, input& from);
  template <class Operation>
  bool begin(Operation& op, input& from);

  static constexpr std::size_t communicators = 2;
  static std::uint64_t fingerprint_of(std::uint64_t tag) { return 100 + (tag >> 32); }

  feed feed_;
  std::array<std::uint32_t, processes> sent_{};
  bool ended_ = false;
  std::deque<fabric::participant> participants_;
  std::array<std::array<fabric::participant*, communicators>, 2> here_{};  // by rank and communicator; null: left
  std::array<std::array<std::uint32_t, communicators>, 2> counters_{};
  std::array<std::array<std::uint32_t, communicators>, 2> agreements_{};  // that it has begun in the latest
  std::array<std::array<begun_agreement*, communicators>, 2> agreeing_{};
  std::set<std::tuple<const fabric::participant*, bool, int, std::uint64_t>> collective_;  // begun: each of them once
  std::deque<begun_send> sends_;
  std::deque<begun_receive> receives_;
  std::deque<begun_agreement> agreed_;
  std::unique_ptr<fabric::messenger> messenger_;
};

/// The next communicator of the leader `which`, of all ranks in another order.
void job::join(std::size_t rank, std::size_t which) {
  if (here_[rank][which] != nullptr) return;
  auto members = std::make_shared<fabric::group>();
  members->communicator = fabric::communicator_id(which, ++counters_[rank][which]);
  members->world = which == 0 ? std::vector<std::int32_t>{0, 1, 2, 3} : std::vector<std::int32_t>{3, 0, 2, 1};
  for (const std::int32_t world : members->world)
    members->process.push_back(std::array{0, 0, 1, 2}[static_cast<std::size_t>(world)]);
  const int number = which == 0 ? static_cast<int>(rank) : (rank == 0 ? 1 : 3);
  here_[rank][which] = &participants_.emplace_back(std::move(members), number);
  agreements_[rank][which] = 0;
  agreeing_[rank][which] = nullptr;
  messenger_->join(*here_[rank][which]);
}

void job::leave(std::size_t rank, std::size_t which) {
  fabric::participant* const member = here_[rank][which];
  if (member == nullptr || !member->active.empty()) return;
  if (agreeing_[rank][which] != nullptr && !agreeing_[rank][which]->ended) return;
  messenger_->leave(*member);
  here_[rank][which] = nullptr;
}

std::uint64_t job::communicator(input& from) {
  const std::size_t choice = from.below(16);
  const std::size_t which = choice % communicators;
  if (choice >= 14) return from.take<std::uint64_t>();
  return fabric::communicator_id(which, counters_[choice / 2 % 2][which] + (choice >= 12 ? 1 : 0));
}

std::uint64_t job::tag(input& from, bool collective) {
  const std::size_t choice = from.below(32);
  if (choice == 31) return from.take<std::uint64_t>();
  return collective ? std::uint64_t{1 + choice / 8} << 32 | choice % 8 : choice % 4;
}

std::uint64_t job::length(input& from) {
  const std::size_t choice = from.below(std::size(lengths) + 1);
  return choice < std::size(lengths) ? lengths[choice] : from.take<std::uint64_t>();
}

std::uint32_t job::name(input& from) {
  const std::size_t choice = from.take();
  if (choice < 32 || feed_.names.empty()) return static_cast<std::uint32_t>(choice % 8);
  if (choice < 40) return from.take<std::uint32_t>();
  return feed_.names[feed_.names.size() - 1 - choice % std::min<std::size_t>(feed_.names.size(), 8)];
}

void job::send_frame(input& from) {
  const std::uint8_t way = from.take();
  fabric::header head = head_of(1 + way % 2);
  const std::uint8_t kind = from.take();
  head.kind = static_cast<fabric::message_kind>(kind < 240 ? 1 + kind % 15 : kind);
  const bool collective = (way & 2) != 0;
  head.matching = collective ? fabric::space::collective : fabric::space::message;
  head.communicator = communicator(from);
  const std::uint8_t ranks = from.take();
  head.source = ranks % 8 < 7 ? ranks % 8 - 1 : from.take<std::int32_t>();
  head.destination = ranks / 8 % 8 < 7 ? ranks / 8 % 8 - 1 : from.take<std::int32_t>();
  head.tag = tag(from, collective);
  head.length = length(from);
  const bool named = head.kind != fabric::message_kind::eager && head.kind != fabric::message_kind::envelope &&
                     head.kind != fabric::message_kind::grant && head.kind != fabric::message_kind::inquiry &&
                     head.kind != fabric::message_kind::poisoned;
  head.detail = named ? name(from) : collective ? fingerprint_of(head.tag) : 0;
  head.credit = way < 200 ? 2 : from.take<std::uint32_t>();
  if (way >= 252) {  // nobody's, or not the next one
    const std::size_t what = from.below(4);
    if (what == 0) head.version = from.take();
    if (what == 1) head.job = from.take<std::uint32_t>();
    if (what == 2) head.process = static_cast<std::uint32_t>(from.below(5));
    if (what == 3) head.sequence = from.take<std::uint32_t>();
  } else if (way >= 248) {
    head.detail = from.take<std::uint64_t>();
  }
  std::vector<std::byte> body;
  const auto put = [&](const auto& part) {
    body.resize(sizeof part);
    fabric::write_part(body.data(), 0, part);
  };
  if (head.kind == fabric::message_kind::several) {
    for (std::size_t frames = from.below(4); frames != 0; --frames) {
      const std::size_t at = body.size();
      const auto size = static_cast<std::uint32_t>(sizeof(fabric::header) + (from.take() < 240 ? 0 : from.below(8)));
      body.resize(at + sizeof size + sizeof(fabric::header));
      fabric::write_part(body.data(), at, size);
      fabric::header inner = head;
      inner.kind = static_cast<fabric::message_kind>(1 + from.take() % 15);
      fabric::write_part(body.data(), at + sizeof size, inner);
    }
  }
  if (head.kind == fabric::message_kind::envelope) put(fabric::envelope_body{name(from)});
  if (head.kind == fabric::message_kind::inquiry) put(fabric::inquiry_body{from.take(), from.take()});
  if (head.kind == fabric::message_kind::grant) {
    fabric::grant_body grant;
    grant.granted = length(from);
    grant.sender_name = collective ? 0 : name(from);
    grant.id = name(from);
    grant.piece = static_cast<std::uint32_t>(length(from));
    put(grant);
  }
  if (head.kind == fabric::message_kind::poisoned || head.kind == fabric::message_kind::withdrawn) {
    put(fabric::poison_body{from.take()});
    body.resize(body.size() + from.below(8), std::byte{'w'});
  }
  if (head.kind == fabric::message_kind::consensus) {
    const std::uint8_t ballot = from.take();
    put(static_cast<std::uint8_t>(from.take() % 9));
    body.resize(5, ballot < 8 ? std::byte{0xff} : std::byte{0});
    if (ballot >= 8) body[1] = static_cast<std::byte>(ballot % 4);
    const auto value = from.take_bytes(from.below(40));
    body.insert(body.end(), value.begin(), value.end());
    head.tag = from.below(4);
    if (way < 240) {
      head.length = body.size();
      head.detail = 0;
    }
  }
  if (head.kind == fabric::message_kind::eager) body.resize(from.one_of({0, 1, 63, 64, 65, 128}), std::byte{'m'});
  if ((way & 4) != 0 && !body.empty()) body.resize(from.below(body.size()));  // cut short
  arrive(head, body);
}

/// False where nobody may post that.
template <class Operation>
bool job::begin(Operation& op, input& from) {
  const std::uint8_t what = from.take();
  op.at = here_[what % 2][what / 2 % communicators];
  if (op.at == nullptr) return false;
  op.peer = static_cast<int>(from.below(4));
  op.collective = (what & 4) != 0;
  op.tag = op.collective ? tag(from, true) : from.below(4);
  if (op.collective && op.peer == op.at->rank) return false;
  if (op.collective && !collective_.insert({op.at, op.is_send, op.peer, op.tag}).second) return false;
  op.fingerprint = op.collective ? fingerprint_of(op.tag) : 0;
  op.bytes = from.one_of(lengths);
  op.memory = std::make_unique<std::byte[]>(op.bytes);
  op.data = op.memory.get();
  return true;
}

void job::post_send(input& from) {
  begun_send& op = sends_.emplace_back();
  if (!begin(op, from)) return sends_.pop_back();
  if (op.collective && from.below(8) == 0)
    op.poisoned = std::make_shared<fabric::poison>(fabric::poison{op.at->rank, "of an operator"});
  op.may_wait = !op.collective && sends_.size() % 2 == 0;
  messenger_->post(op);
}

void job::post_receive(input& from) {
  begun_receive& op = receives_.emplace_back();
  if (!begin(op, from)) return receives_.pop_back();
  const std::size_t wild = op.collective ? 0 : from.below(4);
  if ((wild & 1) != 0) op.peer = fabric::any_peer;
  if ((wild & 2) != 0) op.tag = fabric::any_message_tag;
  messenger_->post(op);
}

void job::end_transfer(input& from) {
  if (feed_.transfers.empty()) return;
  const std::uint8_t how = from.take();
  feed::posted_transfer& one = feed_.transfers[from.below(feed_.transfers.size())];
  if (one.ended) return;
  const std::size_t whole = std::max(one.lands.size(), one.leaves.size());
  if (how < 224)
    feed_.end(one, whole);
  else if (how < 240)
    feed_.end(one, whole / 2);
  else
    feed_.end(one, 0, std::make_error_code(std::errc::connection_reset));
}

/// Of another process's `broadcast`, as it comes by the monitors.
void job::take_note(input& from) {
  std::vector<std::byte> note(16);
  fabric::write_part(note.data(), 0, communicator(from));
  fabric::write_part(note.data(), 8, static_cast<std::int32_t>(from.take() % 16));
  const auto text = from.take_bytes(from.below(16));
  fabric::write_part(note.data(), 12, static_cast<std::uint32_t>(text.size() + (from.below(8) == 0 ? 1 : 0)));
  note.insert(note.end(), text.begin(), text.end());
  note.resize(note.size() - (from.below(8) == 0 ? from.below(note.size()) : 0));
  messenger_->take_note(note);
}

/// One agreement of a rank at a time.
void job::agree(std::size_t rank, std::size_t which) {
  begun_agreement*& latest = agreeing_[rank][which];
  if (here_[rank][which] == nullptr || (latest != nullptr && !latest->ended)) return;
  latest = &agreed_.emplace_back();
  latest->at = here_[rank][which];
  latest->number = agreements_[rank][which]++;
  latest->given.assign(rank + 1, std::byte{'g'});
  latest->combine = [](const fabric::group& members, std::span<const fabric::contribution> all) {
    std::vector<std::byte> value;
    for (const fabric::contribution& each : all) {
      require(each.rank >= 0 && each.rank < members.size());
      value.insert(value.end(), each.given.begin(), each.given.end());
    }
    return value;
  };
  messenger_->agree(*latest);
}

/// Throws where who would have to send has left.
void job::probe(std::size_t rank, std::size_t which, input& from) try {
  messenger_->probe(*here_[rank][which], static_cast<int>(from.below(4)), from.below(4));
} catch (const weft::error& gone) {
  if (gone.code() != errc::mismatched_call && gone.code() != errc::peer_lost) throw;
}

void job::act(input& from) {
  const std::uint8_t action = from.take();
  const std::size_t rank = action % 2, which = action / 2 % 2;
  switch (action / 4 % 16) {
    default:
      send_frame(from);
      break;
    case 6:
    case 7:
      return post_receive(from);
    case 8:
    case 9:
      return post_send(from);
    case 10:
      end_transfer(from);
      break;
    case 11:
      leave(rank, which);
      return join(rank, which);
    case 12:
      take_note(from);
      break;
    case 13:
      if (!receives_.empty()) {
        begun_receive& one = receives_[from.below(receives_.size())];
        messenger_->while_held([&] {
          if (one.collective && !one.ended) messenger_->take_back_held(one);
        });
      }
      break;
    case 14:
      feed_.refusing = rank != 0 && from.below(2) != 0;
      feed_.dropping = which != 0;
      ended_ = from.below(4) == 0;
      break;
    case 15: {
      const std::size_t what = from.below(16);
      if (what == 0) messenger_->lose(1 + static_cast<int>(rank), "it was silent");
      if (what == 1) messenger_->break_communicator(communicator(from), errc::revoked, "it was given up");
      if (what == 3) agree(rank, which);
      if (what == 2 && here_[rank][which] != nullptr) messenger_->break_here(*here_[rank][which]);
      if (what >= 4 && here_[rank][which] != nullptr && here_[rank][which]->failure == nullptr)
        probe(rank, which, from);
    }
  }
  messenger_->poll();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input from(data, size);
  job one;
  for (int i = 0; i < 200 && !from.empty(); ++i) one.act(from);
  return 0;
}
