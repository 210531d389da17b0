#include <cstring>
#include <weft/processes/ending.hpp>

namespace weft::tools {

std::string describe(const ending& end) {
  if (!end.by_signal) return "exited with status " + std::to_string(end.number);
  const char* const abbreviation = ::sigabbrev_np(end.number);
  return "was killed by signal " + std::to_string(end.number) +
         (abbreviation == nullptr ? "" : std::string(", SIG") + abbreviation) + " (" + ::strsignal(end.number) + ")" +
         (end.dumped_core ? ", core dumped" : "");
}

}  // namespace weft::tools
