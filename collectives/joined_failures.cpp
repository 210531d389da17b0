#include "joined_failures.hpp"

#include <string>
#include <weft/runtime/error.hpp>

namespace weft::detail {
namespace {

void refuse(communicator_state& state, const std::string& why) {
  state.host.messages().break_communicator(state.id(), errc::mismatched_call,
                                           why + " (communicator " + std::to_string(state.id()) + ")");
}

}  // namespace

void refuse_difference(communicator_state& state, std::size_t one, std::size_t another) {
  meeting& here = *state.here;
  const meeting::seat &first = here.at(one), &other = here.at(another);
  const auto called = [&](std::size_t seat) {
    return "rank " + std::to_string(here.rank_at(seat)) + " called " +
           describe_fingerprint(here.at(seat).terms.fingerprint);
  };
  const char* how = "";
  if (other.terms.fingerprint == first.terms.fingerprint)
    how = other.terms == first.terms ? " after other calls" : " with other counts";
  refuse(state, called(one) + " where " + called(another) + how);
}

bool agree_on_counts(communicator_state& state) {
  meeting& here = *state.here;
  for (std::size_t from = 0; from < here.size(); ++from)
    for (std::size_t to = 0; to < here.size(); ++to) {
      const std::size_t sent = here.at(from).sent.length(here.rank_at(to));
      const std::size_t expected = here.at(to).received.length(here.rank_at(from));
      if (sent == expected) continue;
      refuse(state, "in an alltoall with counts rank " + std::to_string(here.rank_at(from)) + " sends rank " +
                        std::to_string(here.rank_at(to)) + " " + std::to_string(sent) + " bytes where that expects " +
                        std::to_string(expected));
      return false;
    }
  return true;
}

void end_calls(meeting& here, std::span<const std::size_t> seats, const std::exception_ptr& failure) noexcept {
  for (const std::size_t i : seats) here.at(i).failure = failure;
}

}  // namespace weft::detail
