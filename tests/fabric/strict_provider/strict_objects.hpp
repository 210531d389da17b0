// SPDX-License-Identifier: Apache-2.0
// The strict provider's objects: each stands before one of a real provider, and is what the program holds.
//
//   program  ->  strict fid  ->  rules  ->  real fid of net, tcp, rxm ...
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>

namespace strict {

struct endpoint;
struct registration;

struct fabric {
  fid_fabric fid{};
  fid_fabric* real = nullptr;
  int open_domains = 0;
};

struct domain {
  fid_domain fid{};
  fid_domain* real = nullptr;
  fabric* of = nullptr;
  int open_objects = 0;
  std::set<registration*> registrations;
  std::mt19937_64 random;
  std::atomic_flag entered;  // by a thread: FI_THREAD_DOMAIN
};

/// Within a call: FI_THREAD_DOMAIN lets one thread at a time call what a domain owns.
class call {
 public:
  explicit call(domain& into);
  ~call() { of_.entered.clear(); }
  call(const call&) = delete;
  call& operator=(const call&) = delete;

 private:
  domain& of_;
};

/// What the program is handed as a descriptor is this itself.
struct registration {
  fid_mr fid{};
  fid_mr* real = nullptr;
  domain* of = nullptr;
  const std::byte* begin = nullptr;
  std::size_t size = 0;
  std::uint64_t access = 0;
  int in_use = 0;  // transfers in flight that it serves
};

/// A transfer between its posting and its completion.
struct operation {
  fi_context2 real_context;  // first: the real provider names the operation by it
  void* context;             // the program's
  fi_context2 scribble;      // what the strict provider wrote there
  endpoint* of;
  registration* memory;
  const std::byte* sent;  // its memory; null: a receive, or nothing is sent
  bool sends;
  std::size_t size;
  std::uint64_t checksum;  // of what is sent
  bool many;               // a multi-receive buffer
  bool released;           // it is given back once all that it took is reported
  int unreported;          // that it took
};

/// What is to be reported.
struct completion {
  operation* of;  // null: an injected frame's failure
  bool failed;
  fi_cq_data_entry entry;
  fi_cq_err_entry error;
  std::uint64_t number = 0;  // in which the real provider told it
};

struct queue {
  fid_cq fid{};
  fid_cq* real = nullptr;
  domain* of = nullptr;
  int endpoints = 0;
  std::uint64_t told = 0;
  std::deque<completion> held;
  std::deque<completion> failures;  // to be read by fi_cq_readerr
};

struct endpoint {
  fid_ep fid{};
  fid_ep* real = nullptr;
  domain* of = nullptr;
  queue* completions = nullptr;
  std::size_t inject = 0, longest = 0, receives = 0, sends = 0;
  std::size_t posted_receives = 0, posted_sends = 0;
  bool enabled = false;
  std::map<std::uintptr_t, std::unique_ptr<operation>> flying;  // by where the program's context is
};

/// What the program gives, as the real provider knows it, whether or not that is in disguise. Used for a call.
class plain_info {
 public:
  explicit plain_info(const fi_info& given);
  plain_info(const plain_info&) = delete;
  plain_info& operator=(const plain_info&) = delete;
  fi_info* get() const noexcept { return const_cast<fi_info*>(&info_); }

 private:
  fi_info info_;
  fi_fabric_attr fabric_;
};
fi_fabric_attr plain_fabric(const fi_fabric_attr& given);

int open_domain(fid_fabric* of, fi_info* info, fid_domain** made, void* context);
int open_registration(struct fid* of, const void* memory, std::size_t size, std::uint64_t access, std::uint64_t offset,
                      std::uint64_t key, std::uint64_t flags, fid_mr** made, void* context);
int open_queue(fid_domain* of, fi_cq_attr* attributes, fid_cq** made, void* context);
int open_endpoint(fid_domain* of, fi_info* info, fid_ep** made, void* context);

/// The transfer is over: its context is looked at, and is the program's again.
void end(operation& over);

}  // namespace strict
