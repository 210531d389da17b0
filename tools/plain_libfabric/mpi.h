// SPDX-License-Identifier: Apache-2.0
// What tools/mpi_messages.cpp uses of MPI, by nothing but libfabric's tagged messages: a program of the same pattern
// that shows what the provider itself takes. Two ranks.
//
// PLAIN_PROVIDER names the provider, PLAIN_ADDRESSES both ranks' IP addresses, with a comma between; the rank is Open
// MPI's, which starts it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

struct plain_request {
  fi_context2 context{};  // first: its address is the request's
  bool done = true;
};
using MPI_Request = plain_request*;

enum MPI_Comm { MPI_COMM_WORLD };
enum MPI_Datatype { MPI_CHAR = 1, MPI_INT = sizeof(int), MPI_DOUBLE = sizeof(double) };
enum MPI_Op { MPI_MAX, MPI_SUM };
inline constexpr std::nullptr_t MPI_STATUS_IGNORE = nullptr, MPI_STATUSES_IGNORE = nullptr;
inline void* const MPI_IN_PLACE = nullptr;

namespace plain {

constexpr std::uint64_t exchange_tag = 1 << 20, barrier_tag = exchange_tag + 1;

struct endpoint {
  int rank = 0;
  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* addresses = nullptr;
  fid_cq* completions = nullptr;
  fid_ep* own = nullptr;
  fi_addr_t other = FI_ADDR_UNSPEC;
};
inline endpoint here;

[[noreturn]] inline void give_up(const char* call, long result) {
  std::fprintf(stderr, "plain libfabric: %s: %s\n", call, fi_strerror(static_cast<int>(-result)));
  std::exit(1);
}

inline void check(const char* call, long result) {
  if (result != 0) give_up(call, result);
}

inline const char* needed(const char* name) {
  if (const char* const value = std::getenv(name)) return value;
  std::fprintf(stderr, "plain libfabric: %s is not set\n", name);
  std::exit(2);
}

/// Takes what has ended.
inline void poll() {
  fi_cq_tagged_entry ended[16];
  const ssize_t count = fi_cq_read(here.completions, ended, 16);
  if (count == -FI_EAGAIN) return;
  if (count < 0) give_up("fi_cq_read", count);
  for (ssize_t i = 0; i < count; ++i) static_cast<plain_request*>(ended[i].op_context)->done = true;
}

/// Until the provider takes it.
template <class Call>
void insist(const char* name, Call call) {
  for (;;) {
    const ssize_t result = call();
    if (result == 0) return;
    if (result != -FI_EAGAIN) give_up(name, result);
    poll();
  }
}

inline void begin_send(const void* data, std::size_t bytes, std::uint64_t tag, plain_request& request) {
  if (bytes <= here.info->tx_attr->inject_size)
    return insist("fi_tinject", [&] { return fi_tinject(here.own, data, bytes, here.other, tag); });
  request.done = false;
  insist("fi_tsend", [&] { return fi_tsend(here.own, data, bytes, nullptr, here.other, tag, &request); });
}

inline void begin_receive(void* data, std::size_t bytes, std::uint64_t tag, plain_request& request) {
  request.done = false;
  insist("fi_trecv", [&] { return fi_trecv(here.own, data, bytes, nullptr, here.other, tag, 0, &request); });
}

inline void wait(const plain_request& request) {
  while (!request.done) poll();
}

inline void send(const void* data, std::size_t bytes, std::uint64_t tag) {
  plain_request sent;
  begin_send(data, bytes, tag, sent);
  wait(sent);
}

inline void receive(void* data, std::size_t bytes, std::uint64_t tag) {
  plain_request received;
  begin_receive(data, bytes, tag, received);
  wait(received);
}

inline sockaddr_in address_of(int rank) {
  const std::string both = needed("PLAIN_ADDRESSES");
  const std::string text = rank == 0 ? both.substr(0, both.find(',')) : both.substr(both.find(',') + 1);
  sockaddr_in found{};
  found.sin_family = AF_INET;
  found.sin_port = htons(static_cast<std::uint16_t>(27'500 + rank));
  if (inet_pton(AF_INET, text.c_str(), &found.sin_addr) != 1) give_up(text.c_str(), -FI_EINVAL);
  return found;
}

inline void open() {
  here.rank = std::atoi(needed("OMPI_COMM_WORLD_RANK"));
  sockaddr_in own = address_of(here.rank), other = address_of(1 - here.rank);
  fi_info* const hints = fi_allocinfo();
  hints->caps = FI_TAGGED;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup(needed("PLAIN_PROVIDER"));
  hints->addr_format = FI_SOCKADDR_IN;
  hints->src_addr = new sockaddr_in(own);
  hints->src_addrlen = sizeof own;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &here.info));
  check("fi_fabric", fi_fabric(here.info->fabric_attr, &here.fabric, nullptr));
  check("fi_domain", fi_domain(here.fabric, here.info, &here.domain, nullptr));
  fi_av_attr av{};
  check("fi_av_open", fi_av_open(here.domain, &av, &here.addresses, nullptr));
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_TAGGED;
  check("fi_cq_open", fi_cq_open(here.domain, &cq, &here.completions, nullptr));
  check("fi_endpoint", fi_endpoint(here.domain, here.info, &here.own, nullptr));
  check("fi_ep_bind", fi_ep_bind(here.own, &here.addresses->fid, 0));
  check("fi_ep_bind", fi_ep_bind(here.own, &here.completions->fid, FI_TRANSMIT | FI_RECV));
  check("fi_enable", fi_enable(here.own));
  if (const int count = fi_av_insert(here.addresses, &other, 1, &here.other, 0, nullptr); count != 1)
    give_up("fi_av_insert", count);
}

template <class T>
void combine(T* mine, int count, MPI_Op by) {
  T* const theirs = new T[static_cast<std::size_t>(count)];
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  plain_request received;
  begin_receive(theirs, bytes, exchange_tag, received);
  send(mine, bytes, exchange_tag);
  wait(received);
  for (int i = 0; i < count; ++i) mine[i] = by == MPI_MAX ? std::max(mine[i], theirs[i]) : mine[i] + theirs[i];
  delete[] theirs;
}

}  // namespace plain

inline void MPI_Init(int*, char***) { plain::open(); }
inline void MPI_Finalize() {
  fi_close(&plain::here.own->fid);
  fi_close(&plain::here.completions->fid);
  fi_close(&plain::here.addresses->fid);
  fi_close(&plain::here.domain->fid);
  fi_close(&plain::here.fabric->fid);
}
[[noreturn]] inline void MPI_Abort(MPI_Comm, int status) { std::exit(status); }
inline void MPI_Comm_rank(MPI_Comm, int* rank) { *rank = plain::here.rank; }
inline void MPI_Comm_size(MPI_Comm, int* size) { *size = 2; }
inline double MPI_Wtime() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline void MPI_Send(const void* data, int count, MPI_Datatype type, int, int tag, MPI_Comm) {
  plain::send(data, static_cast<std::size_t>(count) * type, static_cast<std::uint64_t>(tag));
}
inline void MPI_Recv(void* data, int count, MPI_Datatype type, int, int tag, MPI_Comm, std::nullptr_t) {
  plain::receive(data, static_cast<std::size_t>(count) * type, static_cast<std::uint64_t>(tag));
}
inline void MPI_Isend(const void* data, int count, MPI_Datatype type, int, int tag, MPI_Comm, MPI_Request* begun) {
  *begun = new plain_request;
  plain::begin_send(data, static_cast<std::size_t>(count) * type, static_cast<std::uint64_t>(tag), **begun);
}
inline void MPI_Irecv(void* data, int count, MPI_Datatype type, int, int tag, MPI_Comm, MPI_Request* begun) {
  *begun = new plain_request;
  plain::begin_receive(data, static_cast<std::size_t>(count) * type, static_cast<std::uint64_t>(tag), **begun);
}
inline void MPI_Waitall(int count, MPI_Request* begun, std::nullptr_t) {
  for (int i = 0; i < count; ++i) {
    plain::wait(*begun[i]);
    delete begun[i];
  }
}
inline void MPI_Barrier(MPI_Comm) {
  char nothing = 0;
  plain_request received;
  plain::begin_receive(&nothing, 1, plain::barrier_tag, received);
  const char mine = 0;
  plain::send(&mine, 1, plain::barrier_tag);
  plain::wait(received);
}
template <class T>
void MPI_Allreduce(void*, T* mine, int count, MPI_Datatype, MPI_Op by, MPI_Comm) {
  plain::combine(mine, count, by);
}
