// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/message_operations.hpp>
#include <weft/matched_message.hpp>
#include <weft/runtime/error.hpp>

namespace weft {

matched_message::matched_message() noexcept = default;
matched_message::matched_message(std::shared_ptr<detail::communicator_state> at, std::uint64_t number,
                                 const status& what) noexcept
    : at_(std::move(at)), number_(number), what_(what) {}
matched_message::matched_message(matched_message&&) noexcept = default;
matched_message& matched_message::operator=(matched_message&& other) noexcept {
  if (this == &other) return *this;
  const matched_message old(std::move(*this));
  at_ = std::move(other.at_);
  number_ = other.number_;
  what_ = other.what_;
  return *this;
}
matched_message::~matched_message() {
  if (at_ != nullptr) discard();
}

void matched_message::discard() noexcept {
  at_->host.messages().discard(at_->member, number_);
  if (at_->host.moved_by().threaded()) at_->host.moved_by().notify();
}

void matched_message::check(std::span<std::byte> data, const char* name) const {
  if (at_ == nullptr)
    throw error(errc::invalid_argument, std::string(name) +
                                            " of a matched message that holds none: it was received "
                                            "already, moved away, or never found");
  detail::check_memory(*at_, name, data.data(), data.size());
}

status matched_message::receive_bytes(std::span<std::byte> data) {
  check(data, "recv");
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    const auto at = at_;
    std::vector<handle> begun;
    begun.push_back(start_receive(data, "recv"));
    return detail::finish_until(*limit, *at, "recv", std::move(begun), {what_.source});
  }
  const auto at = at_;
  const detail::traced_call traced(*at, "recv", data.size(), what_.source, what_.tag);
  at_.reset();
  detail::awaited<fabric::receive_operation> receive;
  detail::prepare_message(receive, *at, data, what_.source, what_.tag);
  receive.aside = number_;
  detail::post(*at, receive);
  detail::finish(*at, "recv", receive);
  return detail::status_of(receive);
}

handle matched_message::start_receive(std::span<std::byte> data, const char* name) {
  check(data, name);
  auto begun = std::make_unique<detail::pending_receive>(at_, name);
  detail::prepare_message(begun->operation, *at_, data, what_.source, what_.tag);
  begun->operation.aside = number_;
  detail::note_start(*begun, "irecv", what_.tag);
  detail::post(*at_, begun->operation);
  at_.reset();
  return handle(std::move(begun));
}

}  // namespace weft
