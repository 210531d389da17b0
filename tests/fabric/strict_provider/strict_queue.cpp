// SPDX-License-Identifier: Apache-2.0
// What is reported, in any order: completions are announced without one (FI_ORDER_NONE). Only the release of a
// multi-receive buffer comes after all that landed there, with the last of that or alone.
#include <algorithm>
#include <cstring>

#include "strict_objects.hpp"
#include "strict_rules.hpp"

namespace strict {
namespace {

constexpr std::size_t batch = 64;

/// Of a completion that only gives a buffer back all but the context and the flag is undefined.
completion release_of(operation& buffer) {
  fi_cq_data_entry entry{};
  entry.flags = FI_MULTI_RECV;
  entry.len = 0xdead;
  entry.buf = reinterpret_cast<void*>(0xdead);
  return {.of = &buffer, .failed = false, .entry = entry, .error = {}};
}

void take(queue& its, const fi_cq_data_entry& entry) {
  auto* const of = static_cast<operation*>(entry.op_context);
  completion taken{.of = of, .failed = false, .entry = entry, .error = {}};
  if (of->many) {
    of->released |= (entry.flags & FI_MULTI_RECV) != 0;
    taken.entry.flags &= ~std::uint64_t{FI_MULTI_RECV};
    const bool empty = entry.len == 0;
    if (!empty) ++of->unreported;
    if (empty && of->unreported == 0) its.held.push_back(release_of(*of));
    if (empty) return;
  }
  taken.number = its.told++;
  its.held.push_back(taken);
}

/// All that the real provider has; false: and it is broken, as the result says.
ssize_t fill(queue& its) {
  for (;;) {
    fi_cq_data_entry entries[batch];
    const ssize_t count = fi_cq_read(its.real, entries, batch);
    if (count == -FI_EAGAIN) return 0;
    if (count == -FI_EAVAIL) {
      completion failure{};
      failure.failed = true;
      const ssize_t read = fi_cq_readerr(its.real, &failure.error, 0);
      if (read == -FI_EAGAIN) return 0;
      if (read < 0) return read;
      failure.of = static_cast<operation*>(failure.error.op_context);
      its.held.push_back(failure);
      continue;
    }
    if (count < 0) return count;
    for (ssize_t index = 0; index < count; ++index) take(its, entries[index]);
    if (its.held.size() > 16 * batch) return 0;
  }
}

/// Puts in place of a frame the first one that is held, unless frames may be shuffled.
void keep_frames_in_order(queue& its, completion& next) {
  const auto is_frame = [](const completion& each) {
    return each.of != nullptr && each.of->many && !each.failed && each.entry.flags != FI_MULTI_RECV;
  };
  if (chosen().shuffles_frames || !is_frame(next)) return;
  completion* first = &next;
  for (completion& each : its.held)
    if (is_frame(each) && each.number < first->number) first = &each;
  if (first != &next) std::swap(*first, next);
}

/// The entry as the program gets it. What has ended is forgotten.
fi_cq_data_entry reported(queue& its, const completion& each) {
  fi_cq_data_entry entry = each.entry;
  operation& of = *each.of;
  entry.op_context = of.context;
  if (!of.many || (entry.flags & FI_MULTI_RECV) != 0) {
    end(of);
  } else if (--of.unreported == 0 && of.released) {
    if (one_in(2, its.of->random)) {
      entry.flags |= FI_MULTI_RECV;
      end(of);
    } else {
      its.held.push_back(release_of(of));
    }
  }
  return entry;
}

ssize_t read(fid_cq* cq, void* into, std::size_t room) {
  queue& its = *reinterpret_cast<queue*>(cq);
  const call inside(*its.of);
  if (!its.failures.empty()) return -FI_EAVAIL;
  const ssize_t result = fill(its);
  if (result < 0) return result;
  std::shuffle(its.held.begin(), its.held.end(), its.of->random);
  auto* const entries = static_cast<fi_cq_data_entry*>(into);
  std::size_t count = 0;
  for (std::size_t left = its.held.size(); left != 0 && count < room; --left) {
    completion next = its.held.front();
    its.held.pop_front();
    keep_frames_in_order(its, next);
    if (one_in(3, its.of->random)) {  // later
      its.held.push_back(next);
    } else if (next.failed) {
      its.failures.push_back(next);
      break;
    } else {
      entries[count++] = reported(its, next);
    }
  }
  if (count != 0) return static_cast<ssize_t>(count);
  return its.failures.empty() ? -FI_EAGAIN : -FI_EAVAIL;
}

ssize_t readerr(fid_cq* cq, fi_cq_err_entry* into, std::uint64_t) {
  queue& its = *reinterpret_cast<queue*>(cq);
  const call inside(*its.of);
  if (its.failures.empty()) return -FI_EAGAIN;
  const completion failure = its.failures.front();
  its.failures.pop_front();
  *into = failure.error;
  if (failure.of == nullptr) return 1;
  into->op_context = failure.of->context;
  if (!failure.of->many) {
    end(*failure.of);
  } else if ((into->flags & FI_MULTI_RECV) != 0) {
    into->flags &= ~std::uint64_t{FI_MULTI_RECV};
    failure.of->released = true;
    if (failure.of->unreported == 0) its.held.push_back(release_of(*failure.of));
  }
  return 1;
}

const char* strerror_of(fid_cq* cq, int number, const void* data, char* into, std::size_t size) {
  return fi_cq_strerror(reinterpret_cast<queue*>(cq)->real, number, data, into, size);
}

int close_queue(struct fid* closed) {
  queue& its = *reinterpret_cast<queue*>(closed);
  if (its.endpoints != 0) broken("closing", "a completion queue is closed before its endpoints");
  const int result = fi_close(&its.real->fid);
  --its.of->open_objects;
  delete &its;
  return result;
}

fi_ops queue_calls = {.size = sizeof(fi_ops), .close = close_queue};
fi_ops_cq queue_reads = {.size = sizeof(fi_ops_cq), .read = read, .readerr = readerr, .strerror = strerror_of};

}  // namespace

int open_queue(fid_domain* in, fi_cq_attr* attributes, fid_cq** made, void* context) {
  if (attributes->format != FI_CQ_FORMAT_DATA) broken("set-up", "a format that the strict provider does not speak");
  auto opened = std::make_unique<queue>();
  opened->of = reinterpret_cast<domain*>(in);
  const int result = fi_cq_open(opened->of->real, attributes, &opened->real, context);
  if (result != 0) return result;
  opened->fid.fid = {FI_CLASS_CQ, context, &queue_calls};
  opened->fid.ops = &queue_reads;
  ++opened->of->open_objects;
  *made = &opened.release()->fid;
  return 0;
}

}  // namespace strict
