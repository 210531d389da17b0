// PMI-1, as MPICH's process managers and Slurm speak it: a space of keys and values that the processes of a job share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "pmi_connection.hpp"

namespace weft {

/// One process's dealings with its process manager. Keys and values are of letters, digits and -_./+=; a key
/// has at most 31 characters. Every call but `abort_at_exit` blocks until the manager has answered, and throws as
/// pmi_connection::ask does, or errc::protocol for a refusal.
class pmi_client {
 public:
  using time_point = pmi_connection::time_point;

  /// Greets the manager. Throws errc::incompatible when it speaks another version, or takes only values that are too
  /// short to be of use.
  pmi_client(int descriptor, time_point deadline);

  const std::string& name() const noexcept { return connection_.name(); }
  /// Characters that a value may have: at least 63.
  std::size_t longest_value() const noexcept { return longest_value_; }

  /// Others see it after the next barrier. A key is put once.
  void put(const std::string& key, const std::string& value, time_point deadline);
  /// What was put before the latest barrier.
  std::string get(const std::string& key, time_point deadline);
  /// What the launcher itself put; nothing where it did not.
  std::optional<std::string> find(const std::string& key, time_point deadline);
  /// Blocks until every process of the job is here.
  void barrier(time_point deadline);
  /// Says that this process needs the manager no more: it may end, with any status, without that being a failure.
  void finalize(time_point deadline);
  /// This process has failed. When it ends, the manager is asked to end the job with this process's status; not before,
  /// since that would end this one too, before it has said what went wrong.
  void abort_at_exit() noexcept;

 private:
  std::string ask(const std::string& request, std::string_view answer, time_point deadline);
  std::size_t limit(std::string_view maxes, std::string_view name, std::size_t least) const;
  std::string put_request(const std::string& key, const std::string& value) const;

  pmi_connection connection_;
  std::size_t longest_value_ = 0;
  std::string space_;  ///< the name of the job's key-value space
};

}  // namespace weft
