// SPDX-License-Identifier: Apache-2.0
#include "agent_start.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <weft/agents/remote_command.hpp>
#include <weft/processes/launcher_process.hpp>
#include <weft/processes/program.hpp>
#include <weft/processes/this_host.hpp>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

/// A pipe for a child to read from. Returns the end to write to.
file_descriptor open_input(file_descriptor& to_read) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(errno, "pipe2", "starting an agent");
  to_read.reset(ends[0]);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  return file_descriptor(ends[1]);
}

std::vector<std::string> own_environment() {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) lines.emplace_back(*line);
  return lines;
}

}  // namespace

/// Reads what comes before and after the agent's greeting, which a shell's start-up files may say.
class agent_start::greeting_sink final : public sink {
 public:
  explicit greeting_sink(agent_start& owner) : owner_(owner) {}
  void put(std::string_view lines) override {
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      owner_.heard(lines.substr(0, end));
      lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    }
  }
  bool full() const noexcept override { return false; }
  bool empty() const noexcept override { return true; }
  bool broken() const noexcept override { return false; }

 private:
  agent_start& owner_;
};

agent_start::agent_start(event_loop& loop, reaper& of_job, sink& errors, const invitation& invited,
                         std::function<void(const failure&)> failed)
    : loop_(loop),
      errors_(errors),
      invited_(invited),
      host_(invited.hosts[static_cast<std::size_t>(invited.host)]),
      failed_(std::move(failed)) {
  if (is_this_host(host_)) {
    command_ = {invited.command, "agent"};
  } else {
    command_ = invited.rsh;
    command_.insert(command_.end(), {host_, remote_command(invited.command, {"agent"})});
  }
  launch(of_job);
}

void agent_start::launch(reaper& of_job) {
  file_descriptor input;
  input_ = open_input(input);
  child_settings settings;
  settings.path = find_program(command_.front());
  settings.arguments = command_;
  settings.environment = own_environment();
  settings.standard_input = input.get();
  settings.descriptors = allow_many_descriptors();
  shell_ = start(settings);
  of_job.watch_over(shell_.pid);
  to_agent_ = std::make_unique<descriptor_sink>(loop_, input_.get());
  greetings_ = std::make_unique<greeting_sink>(*this);
  output_ = std::make_unique<line_forwarder>(loop_, std::move(shell_.output), *greetings_, "", true);
  complaints_ = std::make_unique<line_forwarder>(loop_, std::move(shell_.error), errors_, host_ + ": ", true);
  loop_.watch(shell_.handle.get(), EPOLLIN, [this] { handle_end(); });
}

agent_start::~agent_start() {
  kill();
  if (running()) loop_.forget(shell_.handle.get());
  if (shell_.pid > 0) reap(shell_);
}

void agent_start::kill() noexcept {
  if (shell_.pid > 0) ::kill(-shell_.pid, SIGKILL);
}

void agent_start::heard(std::string_view line) {
  if (greeted_ || !is_greeting(line)) return errors_.put(host_ + ": " + std::string(line) + "\n");
  if (line != agent_greeting())
    return fail({1, "host " + host_ + " has another version of weft: \"" + std::string(line) + "\" there, \"" +
                        agent_greeting() + "\" here; " + invited_.command +
                        " has to be the same program on every host"});
  greeted_ = true;
  const std::string body = to_body(invited_);
  to_agent_->put(length_prefix(body.size()) + body);
}

/// It is reaped later: until then nobody else gets its number, which the reaper knows.
void agent_start::handle_end() {
  const ending how = ending_of(shell_);
  loop_.forget(shell_.handle.get());
  shell_.handle.reset();
  output_->finish();  // an agent that says which version it is and ends is one of that version
  complaints_->finish();
  if (!dismissed_) fail({1, explain(how)});
}

std::string agent_start::explain(const ending& how) const {
  const std::string shell = command_.front() + (command_.front() == invited_.command ? "" : " " + host_);
  const std::string what = "`" + shell + "` " + describe(how);
  if (greeted_) return "host " + host_ + ": the agent there is gone: " + what;
  if (how.exit_status() == 127)
    return "host " + host_ + ": there is no " + invited_.command + " there, where weft is expected as it is here (" +
           what + ")";
  if (how.exit_status() == 126)
    return "host " + host_ + ": " + invited_.command + " cannot be executed there (" + what + ")";
  return "host " + host_ + " cannot be reached: " + what + " before an agent of weft answered";
}

void agent_start::fail(const failure& what) {
  if (std::exchange(failed_already_, true)) return;
  failed_(what);
}

}  // namespace weft::tools
