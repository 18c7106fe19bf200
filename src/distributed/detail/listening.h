#pragma once
#include <string>
#include <vector>

namespace protocom {

/// Makes this process's listening TCP socket of that port ignore packets sent to any address but these (IPv4 or IPv6,
/// numeric): c10d listens at every address of a machine and has no option for fewer. Returns false if there is no such
/// socket, or the system does not allow a filter.
bool listen_only_at(int port, const std::vector<std::string>& addresses);

}  // namespace protocom
