// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <cstdio>
#include <weft/runtime/roll_line.hpp>

namespace weft {

std::string roll_job_name(std::uint64_t job) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(job));
  return digits.data();
}

std::string roll_socket_name(std::string_view job, std::string_view who) {
  return ("weft-" + std::to_string(::getuid()) + "-").append(job).append("-").append(who) + "-" +
         std::to_string(::getpid());
}

void add_to_roll_line(std::string& line, std::string_view key, std::string_view value) {
  (line += ' ').append(key) += '=';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte != '%' && byte != 0x7f) {
      line += c;
    } else {
      std::array<char, 4> code{};
      std::snprintf(code.data(), code.size(), "%%%02x", static_cast<unsigned>(byte));
      line += code.data();
    }
  }
}

}  // namespace weft
