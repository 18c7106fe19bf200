#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace protocom::testing {

/// Returns a port of this machine at which nothing listens now.
inline int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  ::close(descriptor);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

}  // namespace protocom::testing
