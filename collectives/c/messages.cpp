// SPDX-License-Identifier: Apache-2.0
#include "handles.hpp"

using namespace weft::c;

static_assert(WEFT_LARGEST_TAG == weft::largest_tag);

int weft_send(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag) {
  return guarded([&] { of(comm).send(reading(data, count, type), to, tag); });
}
int weft_ssend(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag) {
  return guarded([&] { of(comm).ssend(reading(data, count, type), to, tag); });
}
int weft_recv(weft_comm* comm, void* data, size_t count, const weft_type* type, int from, int64_t tag,
              weft_status* status) {
  return guarded([&] { tell(status, of(comm).recv(writing(data, count, type), from, tag)); });
}
int weft_sendrecv(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t send_tag,
                  void* into, size_t room, const weft_type* into_type, int from, int64_t receive_tag,
                  weft_status* status) {
  return guarded([&] {
    tell(status, of(comm).sendrecv(reading(data, count, type), to, send_tag, writing(into, room, into_type), from,
                                   receive_tag));
  });
}
int weft_isend(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag,
               weft_request** request) {
  return give(request, [&] { return of(comm).isend(reading(data, count, type), to, tag); });
}
int weft_issend(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag,
                weft_request** request) {
  return give(request, [&] { return of(comm).issend(reading(data, count, type), to, tag); });
}
int weft_irecv(weft_comm* comm, void* data, size_t count, const weft_type* type, int from, int64_t tag,
               weft_request** request) {
  return give(request, [&] { return of(comm).irecv(writing(data, count, type), from, tag); });
}
int weft_plan_send(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag,
                   weft_plan** plan) {
  return give(plan, [&] { return of(comm).plan_send(reading(data, count, type), to, tag); });
}
int weft_plan_recv(weft_comm* comm, void* data, size_t count, const weft_type* type, int from, int64_t tag,
                   weft_plan** plan) {
  return give(plan, [&] { return of(comm).plan_recv(writing(data, count, type), from, tag); });
}

int weft_probe(weft_comm* comm, int from, int64_t tag, weft_status* status) {
  return guarded([&] { tell(status, of(comm).probe(from, tag)); });
}
int weft_iprobe(weft_comm* comm, int from, int64_t tag, int* found, weft_status* status) {
  return guarded([&] {
    int& is_there = at(found, "found");
    const auto what = of(comm).iprobe(from, tag);
    is_there = what.has_value();
    if (what) tell(status, *what);
  });
}

namespace {

/// Writes the message, or null where there is none.
template <class Probe>
int give_message(weft_message** message, weft_status* status, Probe&& probe) noexcept {
  return guarded([&] {
    weft_message*& place = at(message, "the place of the message");
    std::optional<weft::matched_message> found = probe();
    if (found) tell(status, found->what());
    place = found ? new weft_message{std::move(*found)} : nullptr;
  });
}

/// Calls `receive` with the message; what has been received then is freed.
template <class Receive>
int with_message(weft_message** message, Receive&& receive) noexcept {
  const int result = guarded([&] { receive(at(at(message, "message"), "message").it); });
  if (message != nullptr && *message != nullptr && !(*message)->it.valid()) delete std::exchange(*message, nullptr);
  return result;
}

}  // namespace

int weft_mprobe(weft_comm* comm, int from, int64_t tag, weft_message** message, weft_status* status) {
  return give_message(message, status, [&] { return std::optional(of(comm).mprobe(from, tag)); });
}
int weft_improbe(weft_comm* comm, int from, int64_t tag, weft_message** message, weft_status* status) {
  return give_message(message, status, [&] { return of(comm).improbe(from, tag); });
}
int weft_message_recv(weft_message** message, void* data, size_t count, const weft_type* type, weft_status* status) {
  return with_message(message, [&](weft::matched_message& of) { tell(status, of.recv(writing(data, count, type))); });
}
int weft_message_irecv(weft_message** message, void* data, size_t count, const weft_type* type,
                       weft_request** request) {
  return with_message(message, [&](weft::matched_message& of) {
    weft_request*& place = at(request, "the place of the request");
    place = new weft_request{of.irecv(writing(data, count, type))};
  });
}
void weft_message_free(weft_message* message) { delete message; }
