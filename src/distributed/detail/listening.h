#pragma once
#include <string>
#include <vector>

namespace protocom {

/// Makes this process's listening TCP socket of that port deaf to what is sent to any other address than these
/// (IPv4 or IPv6, in digits): c10d listens at every address of a machine and has no option for fewer. Returns false
/// when there is no such socket, or the system does not let it have a filter.
bool listen_only_at(int port, const std::vector<std::string>& addresses);

}  // namespace protocom
