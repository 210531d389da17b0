// SPDX-License-Identifier: Apache-2.0
// PMI, as process managers speak it: a space of keys and values that the processes of a job share.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <weft/runtime/launch.hpp>

#include "pmi_connection.hpp"

namespace weft {

/// One process's dealings with its process manager. Keys and values are of letters, digits and -_./+=; a key
/// has at most 31 characters. Every call but `abort_at_exit` blocks until the manager has answered, and throws as
/// pmi_connection::ask does, or errc::protocol for a refusal.
class pmi_client {
 public:
  using time_point = pmi_connection::time_point;

  virtual ~pmi_client() = default;

  const std::string& name() const noexcept { return connection_.name(); }
  /// "PMI-1"
  virtual const char* version() const noexcept = 0;
  /// Characters that a value may have: at least 63.
  virtual std::size_t longest_value() const noexcept = 0;

  /// Others see it after the next barrier. A key is put once.
  virtual void put(const std::string& key, const std::string& value, time_point deadline) = 0;
  /// What was put before the latest barrier.
  virtual std::string get(const std::string& key, time_point deadline) = 0;
  /// What the launcher says of the job under `key`; nothing where it does not.
  virtual std::optional<std::string> find(const std::string& key, time_point deadline) = 0;
  /// Blocks until every process of the job is here.
  virtual void barrier(time_point deadline) = 0;
  /// Says that this process needs the manager no more: it may end, with any status, without that being a failure.
  virtual void finalize(time_point deadline) = 0;
  /// This process has failed. When it ends, the manager is asked to end the job with this process's status; not before,
  /// since that would end this one too, before it has said what went wrong.
  virtual void abort_at_exit() noexcept = 0;

 protected:
  explicit pmi_client(pmi_connection connection) : connection_(std::move(connection)) {}

  pmi_connection connection_;
};

/// Greets the manager by PMI-1, and one that refuses that by PMI-2. Throws errc::incompatible when it speaks neither,
/// or takes only values that are too short to be of use.
std::unique_ptr<pmi_client> connect_pmi(const pmi_environment& started, pmi_client::time_point deadline);

/// The two, of a manager that has accepted the version.
std::unique_ptr<pmi_client> make_pmi1_client(pmi_connection connection, pmi_client::time_point deadline);
std::unique_ptr<pmi_client> make_pmi2_client(pmi_connection connection, const pmi_environment& started,
                                             pmi_client::time_point deadline);

}  // namespace weft
