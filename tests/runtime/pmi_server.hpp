// SPDX-License-Identifier: Apache-2.0
// A process manager that speaks PMI-1 or PMI-2, in a thread, over socket pairs; it answers as hydra does, or as a test
// wants.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/launch.hpp>
#include <weft/runtime/socket.hpp>

namespace weft_test {

/// The version of PMI that a manager speaks; it refuses the other.
enum class pmi_version { one, two };

/// What is said in place of `answer`, as it goes over: nothing for silence.
using pmi_twist = std::function<std::string(int process, const std::string& request, const std::string& answer)>;

class pmi_server {
 public:
  /// Answers `processes` clients. Longer values than `value_limit` less one are cut without a word, as hydra does. The
  /// connection to a process ends, as that of a manager that dies, once it has asked for `close_on`.
  explicit pmi_server(int processes, pmi_twist twist = {}, std::size_t value_limit = 1024, std::string close_on = "",
                      pmi_version version = pmi_version::one);
  ~pmi_server();

  /// What process `process` finds in its environment. Its end of the connection closes with the server.
  weft::pmi_environment started(int process) const;

  /// The most that one process asked for, and how many have said that they are done.
  int most_requests() const { return most_requests_; }
  int finalized() const { return finalized_; }
  /// The longest line that came.
  std::size_t longest_line() const { return longest_line_; }

 private:
  struct client {
    weft::file_descriptor theirs, mine;
    std::string input;
    int requests = 0;
    bool in_version_2 = false;
  };

  void serve();
  void read(client& from, int process);
  void say(client& to, int process, const std::string& request, const std::string& answer);
  std::string answer(const std::string& request);
  std::string answer_2(client& to, int process, const std::string& request);
  void come_to_barrier(const std::string& request);

  pmi_twist twist_;
  std::size_t value_limit_;
  std::string close_on_;
  pmi_version version_;
  std::vector<client> clients_;
  std::map<std::string, std::string> values_, put_;  ///< seen by all; since the last barrier
  int in_barrier_ = 0;
  std::atomic<int> most_requests_{0}, finalized_{0};
  std::atomic<std::size_t> longest_line_{0};
  weft::file_descriptor stop_read_, stop_write_;
  std::thread thread_;
};

}  // namespace weft_test
