#include "distributed/detail/listening.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace protocom {
namespace {

/// A socket that listens at every address, of both versions of IP if the machine has both, like c10d's.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET6, SOCK_STREAM, 0)) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    socklen_t length = sizeof(address);
    const int no = 0;
    works_ = socket_ >= 0 && ::setsockopt(socket_, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) == 0 &&
             ::bind(socket_, reinterpret_cast<sockaddr*>(&address), length) == 0 && ::listen(socket_, 8) == 0 &&
             ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) == 0;
    port_ = ntohs(address.sin6_port);
  }
  ~Listener() { ::close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] bool works() const { return works_; }
  [[nodiscard]] int port() const { return port_; }

 private:
  int socket_;
  bool works_ = false;
  int port_ = 0;
};

/// Returns whether a connection to 127.0.0.x succeeds at once.
bool answers(const char* host, int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  ::inet_pton(AF_INET, host, &address.sin_addr);
  int error = EINPROGRESS;
  socklen_t length = sizeof(error);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) error = 0;
  pollfd waiting{socket, POLLOUT, 0};
  if (error != 0 && ::poll(&waiting, 1, 300) == 1) ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
  ::close(socket);
  return error == 0;
}

TEST(Listening, IsDeafToOtherAddressesThanTheOneAskedFor) {
  const Listener listener;
  if (!listener.works()) GTEST_SKIP() << "no IPv6";
  ASSERT_TRUE(answers("127.0.0.1", listener.port()));
  ASSERT_TRUE(answers("127.0.0.2", listener.port())) << "without a filter, every address is heard";
  ASSERT_TRUE(listen_only_at(listener.port(), {"127.0.0.1"}));
  EXPECT_TRUE(answers("127.0.0.1", listener.port()));
  EXPECT_FALSE(answers("127.0.0.2", listener.port()));
  ASSERT_TRUE(listen_only_at(listener.port(), {"::1"}));
  EXPECT_FALSE(answers("127.0.0.1", listener.port()));
  ASSERT_TRUE(listen_only_at(listener.port(), {"::1", "127.0.0.2"}));
  EXPECT_FALSE(answers("127.0.0.1", listener.port()));
  EXPECT_TRUE(answers("127.0.0.2", listener.port()));
}

TEST(Listening, SaysWhenThereIsNoSuchSocketOrAddress) {
  const Listener listener;
  EXPECT_FALSE(listen_only_at(1, {"127.0.0.1"}));
  EXPECT_FALSE(listen_only_at(listener.port(), {"node0"}));
}

}  // namespace
}  // namespace protocom
