// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <ranges>
#include <weft/wait.hpp>

#include "handles.hpp"

using namespace weft::c;

namespace {

/// Frees what is over.
void free_if_over(weft_request** request) noexcept {
  if (request != nullptr && *request != nullptr && !(*request)->it.valid()) delete std::exchange(*request, nullptr);
}

/// The handles of those that are not null; in their places of the others there is one that holds nothing.
auto handles_of(size_t count, weft_request** requests) {
  if (count != 0) (void)at(requests, "requests");
  return std::views::transform(std::span(requests, count), [](weft_request* one) -> weft::handle& {
    static thread_local weft::handle none;
    return one != nullptr ? one->it : none;
  });
}

}  // namespace

int weft_wait(weft_request** request, weft_status* status) {
  const int result = guarded([&] {
    weft_request* const one = at(request, "request");
    tell(status, one != nullptr ? one->it.wait() : weft::status());
  });
  free_if_over(request);
  return result;
}

int weft_test(weft_request** request, int* done, weft_status* status) {
  return weft_wait_for(request, 0, done, status);
}

int weft_wait_for(weft_request** request, double seconds, int* done, weft_status* status) {
  const int result = guarded([&] {
    int& is_over = at(done, "done");
    const std::chrono::nanoseconds longest = duration_of(seconds);
    if (at(request, "request") == nullptr) {
      is_over = 1;
      return tell(status, {});
    }
    weft::handle& of = (*request)->it;
    is_over = longest.count() > 0 ? of.wait_for(longest) : of.test();
    if (is_over != 0) tell(status, of.wait());
  });
  free_if_over(request);
  return result;
}

int weft_cancel(weft_request** request, int* cancelled) {
  return guarded([&] {
    int& is_back = at(cancelled, "cancelled");
    is_back = at(at(request, "request"), "request").it.cancel();
    if (is_back != 0) delete std::exchange(*request, nullptr);
  });
}

void weft_request_free(weft_request* request) { delete request; }

int weft_wait_all(size_t count, weft_request** requests) {
  const int result = guarded([&] { weft::wait_all(handles_of(count, requests)); });
  if (requests != nullptr)
    for (weft_request*& each : std::span(requests, count)) free_if_over(&each);
  return result;
}

int weft_wait_any(size_t count, weft_request** requests, size_t* index) {
  return guarded([&] { at(index, "index") = weft::wait_any(handles_of(count, requests)); });
}

int weft_test_any(size_t count, weft_request** requests, int* found, size_t* index) {
  return guarded([&] {
    int& is_there = at(found, "found");
    size_t& place = at(index, "index");
    const auto which = weft::test_any(handles_of(count, requests));
    is_there = which.has_value();
    if (which) place = *which;
  });
}

int weft_wait_some(size_t count, weft_request** requests, size_t* done, size_t* indices) {
  return guarded([&] {
    size_t& how_many = at(done, "done");
    const std::vector<std::size_t> all = weft::wait_some(handles_of(count, requests));
    if (!all.empty()) std::copy(all.begin(), all.end(), &at(indices, "indices"));
    how_many = all.size();
  });
}

int weft_plan_start(weft_plan* plan) {
  return guarded([&] { at(plan, "plan").it.start(); });
}
int weft_plan_wait(weft_plan* plan, weft_status* status) {
  return guarded([&] { tell(status, at(plan, "plan").it.wait()); });
}
int weft_plan_test(weft_plan* plan, int* done) {
  return guarded([&] { at(done, "done") = at(plan, "plan").it.test(); });
}
int weft_plan_wait_for(weft_plan* plan, double seconds, int* done) {
  return guarded([&] { at(done, "done") = at(plan, "plan").it.wait_for(duration_of(seconds)); });
}
void weft_plan_free(weft_plan* plan) { delete plan; }
