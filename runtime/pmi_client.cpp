// SPDX-License-Identifier: Apache-2.0
#include "pmi_client.hpp"

#include <weft/runtime/error.hpp>

namespace weft {
namespace {

std::string greet(pmi_connection& connection, const char* version, const char* subversion,
                  pmi_client::time_point deadline) {
  return connection.ask(std::string("init pmi_version=") + version + " pmi_subversion=" + subversion,
                        "response_to_init", deadline);
}

bool accepted(const pmi_connection& connection, std::string_view answer, std::string_view version) {
  return connection.field(answer, "pmi_version") == version && connection.field(answer, "rc").value_or("0") == "0";
}

}  // namespace

std::unique_ptr<pmi_client> connect_pmi(const pmi_environment& started, pmi_client::time_point deadline) {
  pmi_connection connection(started.descriptor);
  // Asked first, since its barrier waits everywhere; hydra's PMI-2 has a fence that does not.
  const std::string first = greet(connection, "1", "1", deadline);
  if (accepted(connection, first, "1")) return make_pmi1_client(std::move(connection), deadline);
  const std::string second = greet(connection, "2", "0", deadline);
  if (accepted(connection, second, "2")) return make_pmi2_client(std::move(connection), started, deadline);
  throw error(errc::incompatible, connection.name() + ": asked for version 1 of PMI it answers " + in_quotes(first) +
                                      ", and for version 2 " + in_quotes(second));
}

}  // namespace weft
