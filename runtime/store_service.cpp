// SPDX-License-Identifier: Apache-2.0
#include "store_service.hpp"

#include <algorithm>
#include <charconv>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"

namespace weft {
namespace {

namespace protocol = store_protocol;

}  // namespace

store_service::store_service(store_job job)
    : job_(std::move(job)), table_(job_.processes), came_(static_cast<std::size_t>(table_.processes())) {
  if (job_.secret.size() < protocol::shortest_secret)
    throw error(errc::invalid_argument, "store: a secret of " + std::to_string(job_.secret.size()) +
                                            " characters; at least " + std::to_string(protocol::shortest_secret) +
                                            " are needed");
}

void store_service::greet(store_connection& c) const {
  append(c.output, protocol::magic);
  append(c.output, protocol::version);
  append(c.output, std::span<const std::byte>(c.nonce));
}

void store_service::handle(store_connection& c, std::span<const std::byte> message,
                           const std::list<store_connection>& all) {
  if (c.is_stranger())
    handle_hello(c, message, all);
  else
    handle_request(c, message);
}

void store_service::handle_hello(store_connection& c, std::span<const std::byte> message,
                                 const std::list<store_connection>& all) {
  if (take<std::uint64_t>(message) != protocol::magic) throw error(errc::protocol, "not a process of weft");
  const auto version = take<std::uint32_t>(message);
  protocol::handshake h{job_.number, 0, 0, c.nonce, {}};
  h.process = take<std::uint32_t>(message);
  h.processes = take<std::uint32_t>(message);
  std::copy_n(message.begin(), h.client.size(), h.client.begin());

  const protocol::verdict verdict = judge(h, message.subspan(h.client.size()), version, all);
  append(c.output, static_cast<std::uint32_t>(verdict));
  if (verdict == protocol::verdict::accepted) {
    append(c.output, std::span<const std::byte>(protocol::prove(protocol::side::launcher, job_.secret, h)));
    c.process = static_cast<int>(h.process);
    if (h.process != protocol::witness) came_[h.process] = true;
  } else {
    append(c.output, std::span<const std::byte>(proof{}));
    c.closing = true;
  }
}

protocol::verdict store_service::judge(const protocol::handshake& h, std::span<const std::byte> given,
                                       std::uint32_t version, const std::list<store_connection>& all) const {
  using protocol::verdict;
  if (version != protocol::version) return verdict::wrong_version;
  if (!same_proof(protocol::prove(protocol::side::process, job_.secret, h), given)) return verdict::wrong_secret;
  const auto processes = static_cast<std::uint32_t>(job_.processes);
  if (h.processes == processes && h.process == protocol::witness) return verdict::accepted;
  if (h.processes != processes || h.process >= processes) return verdict::wrong_process;
  const bool there = std::any_of(all.begin(), all.end(), [&](const store_connection& other) {
    return !other.closing && other.process == static_cast<int>(h.process);
  });
  return there ? verdict::already_connected : verdict::accepted;
}

void store_service::handle_request(store_connection& c, std::span<const std::byte> message) {
  using kind = rendezvous_table::wait::kind;
  const auto what = static_cast<protocol::request>(take<std::uint8_t>(message));
  take<std::uint8_t>(message);
  const std::size_t key_length = take<std::uint16_t>(message);
  take<std::uint32_t>(message);  // the value is what follows the key
  c.sequence = take<std::uint32_t>(message);
  const std::string key(as_text(message.first(key_length)));
  rendezvous_table::bytes value(message.begin() + static_cast<std::ptrdiff_t>(key_length), message.end());
  if ((c.process == static_cast<int>(protocol::witness)) != (what == protocol::request::ended))
    throw error(errc::protocol, "store request of somebody who may not make it");
  c.waiting.reset();  // a process that asks anew has given up what it asked before
  switch (what) {
    case protocol::request::put:
      table_.put(key, std::move(value));
      c.reply(protocol::reply::value, {});
      break;
    case protocol::request::find: {
      const auto found = table_.find(key);
      c.reply(found ? protocol::reply::value : protocol::reply::absent, found ? *found : rendezvous_table::bytes{});
      return;
    }
    case protocol::request::get:
      c.waiting = {kind::value, key};
      break;
    case protocol::request::fence:
      c.waiting = table_.arrive(c.process);
      break;
    case protocol::request::gather:
      c.waiting = table_.contribute(c.process, key, std::move(value));
      break;
    case protocol::request::ended:
      record_end(key, as_text(value));
      c.reply(protocol::reply::value, {});
      break;
    default:
      throw error(errc::protocol, "store request of an unknown kind");
  }
  changed_ = true;
}

void store_service::record_end(std::string_view process, std::string_view how) {
  int number = -1;
  const auto [end, failure] = std::from_chars(process.data(), process.data() + process.size(), number);
  if (failure != std::errc{} || end != process.data() + process.size() || number < 0 || number >= job_.processes)
    throw error(errc::protocol, "store: the end of a process that the job does not have");
  if (how.empty()) return table_.leave(number);
  table_.lose(number, how);
}

void store_service::answer(store_connection& c) {
  if (!c.waiting) return;
  try {
    const auto found = table_.answer_to(*c.waiting);
    if (!found) return;
    c.reply(protocol::reply::value, *found);
  } catch (const error& lost) {
    c.reply(protocol::reply::lost, as_bytes(lost.what()));
  }
  c.waiting.reset();
}

void store_service::lose(int process, std::string_view how) {
  table_.lose(process, how);
  changed_ = true;
}

void store_service::leave(int process) {
  table_.leave(process);
  changed_ = true;
}

void store_service::miss(int process, std::string_view why) {
  table_.leave(process, why);
  changed_ = true;
}

std::vector<int> store_service::absent() const {
  std::vector<int> all;
  for (int process = 0; process < job_.processes; ++process)
    if (!came_[static_cast<std::size_t>(process)]) all.push_back(process);
  return all;
}

}  // namespace weft
