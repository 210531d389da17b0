// SPDX-License-Identifier: Apache-2.0
#include "saved_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "sparse_rows.hpp"

namespace cg {
namespace {

constexpr std::string_view beginning = "resilient_cg 1\n";
constexpr std::string_view unfinished = ".new";

/// What a file says of itself, behind `beginning`; then the problem's letters and the values.
struct heading {
  summary shared;
  std::int64_t unknowns = 0;
  std::int64_t rank = 0;
  std::uint64_t problem_length = 0;
};

[[noreturn]] void complain(const std::filesystem::path& path, const std::string& what) {
  throw std::runtime_error(path.string() + ": " + what);
}

[[noreturn]] void complain_of_system(const std::filesystem::path& path, const char* call) {
  complain(path, std::string(call) + ": " + std::strerror(errno));
}

/// A descriptor of what is written.
class written_file {
 public:
  explicit written_file(std::filesystem::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666)) {
    if (file_ < 0) complain_of_system(path_, "open");
  }
  ~written_file() {
    if (file_ >= 0) ::close(file_);
  }
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;

  void write(const void* data, std::size_t bytes) {
    for (auto at = static_cast<const char*>(data); bytes != 0;) {
      const ssize_t written = ::write(file_, at, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) complain_of_system(path_, "write");
      at += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }
  /// Behind this `to` is this file, and on the disk.
  void become(const std::filesystem::path& to) {
    if (::fsync(file_) != 0) complain_of_system(path_, "fsync");
    if (::close(std::exchange(file_, -1)) != 0) complain_of_system(path_, "close");
    if (::rename(path_.c_str(), to.c_str()) != 0) complain_of_system(to, "rename");
  }

 private:
  std::filesystem::path path_;
  int file_;
};

/// Whose a file is.
struct owner {
  saved_files::name state;
  int rank = 0;
  bool is_whole = false;
};

/// "state-12-3-of-8": of state 12 that of rank 3 of 8; with `unfinished` behind it while it is written. Empty for other
/// names.
std::optional<owner> owner_of(const std::string& file) {
  owner its;
  const char* at = file.data();
  const char* const end = at + file.size();
  const auto skip = [&](std::string_view text) {
    const bool is_there = std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(text);
    if (is_there) at += text.size();
    return is_there;
  };
  const auto take = [&](auto& number) {
    const auto [behind, failure] = std::from_chars(at, end, number);
    at = behind;
    return failure == std::errc() && number >= 0;
  };
  const bool is_one = skip("state-") && take(its.state.number) && skip("-") && take(its.rank) && skip("-of-") &&
                      take(its.state.ranks) && its.rank < its.state.ranks;
  its.is_whole = at == end;
  return is_one && (its.is_whole || (skip(unfinished) && at == end)) ? std::optional(its) : std::nullopt;
}

void for_each_file(const std::filesystem::path& directory,
                   const std::function<void(const std::filesystem::path&, const owner&)>& use) {
  std::error_code failure;
  for (std::filesystem::directory_iterator next(directory, failure); !failure && next != end(next);
       next.increment(failure))
    if (const auto its = owner_of(next->path().filename().string())) use(next->path(), *its);
  if (failure) complain(directory, failure.message());
}

void unlink_file(const std::filesystem::path& file) {
  if (::unlink(file.c_str()) != 0) complain_of_system(file, "unlink");
}

}  // namespace

std::filesystem::path saved_files::path_of(name of, int rank) const {
  return directory_ /
         ("state-" + std::to_string(of.number) + "-" + std::to_string(rank) + "-of-" + std::to_string(of.ranks));
}

void saved_files::write(const summary& shared, std::int64_t unknowns, const block& rows) const {
  const auto path = path_of({shared.number, shared.ranks}, rows.rank);
  written_file file(path.string().append(unfinished));
  const heading mine{shared, unknowns, rows.rank, problem_.size()};
  file.write(beginning.data(), beginning.size());
  file.write(&mine, sizeof mine);
  file.write(problem_.data(), problem_.size());
  file.write(rows.values.data(), std::span(rows.values).size_bytes());
  file.become(path);
}

saved_files::name saved_files::latest() const {
  std::map<std::pair<std::int64_t, int>, int> files;  // of each state
  for_each_file(directory_, [&](const auto&, const owner& its) {
    files[{its.state.number, its.state.ranks}] += its.is_whole ? 1 : 0;
  });
  name found;
  for (const auto& [state, count] : files)
    if (count == state.second) found = {state.first, state.second};
  return found;
}

summary saved_files::read(name of, std::int64_t unknowns, block& rows) const {
  const auto path = path_of(of, rows.rank);
  std::ifstream file(path, std::ios::binary);
  if (!file) complain_of_system(path, "open");
  std::string start(beginning.size(), '\0'), problem;
  heading its;
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  file.read(reinterpret_cast<char*>(&its), sizeof its);
  if (!file || start != beginning || its.shared.number != of.number || its.shared.ranks != of.ranks ||
      its.rank != rows.rank)
    complain(path, "this is no state that this version of resilient_cg has written");
  problem.resize(std::min<std::uint64_t>(its.problem_length, 4096));
  file.read(problem.data(), static_cast<std::streamsize>(problem.size()));
  if (problem != problem_ || its.unknowns != unknowns)
    complain(path, "this is a state of " + problem + " of " + std::to_string(its.unknowns) + " unknowns, not of " +
                       problem_ + " of " + std::to_string(unknowns));
  rows.values.resize(vectors * balanced_blocks(unknowns, of.ranks).block(rows.rank).size());
  file.read(reinterpret_cast<char*>(rows.values.data()),
            static_cast<std::streamsize>(std::span(rows.values).size_bytes()));
  if (!file || file.peek() != std::ifstream::traits_type::eof())
    complain(path, "this file has another length than its rows");
  return its.shared;
}

void saved_files::remove_before_latest() const {
  const name last = latest();
  for_each_file(directory_, [&](const auto& file, const owner& its) {
    if (its.state.number < last.number) unlink_file(file);
  });
}

void saved_files::remove_behind(std::int64_t number) const {
  for_each_file(directory_, [&](const auto& file, const owner& its) {
    if (its.state.number > number) unlink_file(file);
  });
}

}  // namespace cg
