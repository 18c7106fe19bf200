#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace protocom::testing {

using namespace nlohmann::literals;

/// A server's response; status 0 if the connection ended before a complete one.
struct Reply {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  [[nodiscard]] std::string error() const {
    const nlohmann::json stated = json();
    return stated.is_object() ? stated.value("/error/message"_json_pointer, std::string()) : body;
  }
};

using Headers = std::map<std::string, std::string>;

/// A client that sends what it is told to, valid or not, over one connection to this machine. It waits two minutes at
/// most, so that a test fails instead of hanging.
class Client {
 public:
  explicit Client(int port) : port_(port), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{120, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      ::close(socket_);
      throw std::runtime_error("cannot connect");
    }
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Returns whether all of it was sent.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  /// Returns the next response; `method` is the request's, as a response to HEAD has no body.
  Reply receive(std::string_view method = "GET") {
    Reply reply;
    if (!read_until([&] { return buffer_.find("\r\n\r\n") != std::string::npos; })) return reply;
    const size_t end = buffer_.find("\r\n\r\n");
    read_head(buffer_.substr(0, end), reply);
    buffer_.erase(0, end + 4);
    if (reply.status == 100) return receive(method);
    const auto length = reply.headers.find("content-length");
    const size_t size = length == reply.headers.end() || method == "HEAD" ? 0 : std::stoul(length->second);
    if (!read_until([&] { return buffer_.size() >= size; })) return {};
    reply.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return reply;
  }

  /// Returns a complete request.
  [[nodiscard]] std::string text_of(const std::string& method, const std::string& target, const std::string& body,
                                    const Headers& headers) const {
    std::string text = method + " " + target + " HTTP/1.1\r\n";
    if (headers.count("Host") == 0) text += "Host: localhost:" + std::to_string(port_) + "\r\n";
    for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
  }

  Reply ask(const std::string& method, const std::string& target, const std::string& body = "",
            const Headers& headers = {}) {
    if (!send(text_of(method, target, body, headers))) return {};
    return receive(method);
  }

  /// Sends nothing more, and still receives.
  void close_sending() const { ::shutdown(socket_, SHUT_WR); }

  /// Waits until the server has received everything sent, two minutes at most, instead of guessing how long that takes.
  void wait_until_taken() const {
    const std::string own = end_of(socket_, &::getsockname), other = end_of(socket_, &::getpeername);
    for (int i = 0; i < 120'000 && (queues_of(own, other).first || queues_of(other, own).second); ++i) ::usleep(1000);
  }

  /// Returns whether the server has closed the connection, though there may be more to receive.
  [[nodiscard]] bool is_hung_up() const {
    pollfd asked{socket_, POLLRDHUP, 0};
    return ::poll(&asked, 1, 0) > 0;
  }

  /// Returns whether the server has accepted the request and waits for its body (Expect: 100-continue).
  bool is_told_to_go_on() {
    if (!read_until([&] { return buffer_.find("\r\n\r\n") != std::string::npos; })) return false;
    return buffer_.rfind("HTTP/1.1 100", 0) == 0;
  }

  /// Returns whether the server ends the connection without another byte.
  bool is_closed() {
    char byte = 0;
    return buffer_.empty() && ::recv(socket_, &byte, 1, 0) <= 0;
  }

 private:
  template <typename Done>
  bool read_until(const Done& done) {
    char block[1 << 14];
    while (!done()) {
      const ssize_t size = ::recv(socket_, block, sizeof(block), 0);
      if (size <= 0) return false;
      buffer_.append(block, static_cast<size_t>(size));
    }
    return true;
  }

  static void read_head(const std::string& head, Reply& reply) {
    reply.status = std::stoi(head.substr(head.find(' ') + 1));
    for (size_t begin = head.find("\r\n"); begin != std::string::npos; begin = head.find("\r\n", begin + 2)) {
      const std::string line = head.substr(begin + 2, head.find("\r\n", begin + 2) - begin - 2);
      const size_t colon = line.find(": ");
      if (colon == std::string::npos) continue;
      std::string name = line.substr(0, colon);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      reply.headers[name] = line.substr(colon + 2);
    }
  }

  /// Returns "0100007F:1F90", the form in which /proc/net/tcp has the address of an end of a connection.
  template <typename AddressOf>
  static std::string end_of(int socket, AddressOf address_of) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    address_of(socket, reinterpret_cast<sockaddr*>(&address), &size);
    char text[32];
    std::snprintf(text, sizeof(text), "%08X:%04X", address.sin_addr.s_addr, ntohs(address.sin_port));
    return text;
  }

  /// Returns whether the kernel has unacknowledged bytes sent by this end, and unread bytes received by it.
  static std::pair<bool, bool> queues_of(const std::string& end, const std::string& other) {
    constexpr const char* kEmpty = "00000000";
    std::ifstream connections("/proc/net/tcp");
    std::string number, from, to, state, queues;
    for (std::string line; std::getline(connections, line);) {
      std::istringstream words(line);
      if (words >> number >> from >> to >> state >> queues && from == end && to == other)
        return {queues.substr(0, 8) != kEmpty, queues.substr(9) != kEmpty};
    }
    return {false, false};
  }

  int port_;
  int socket_;
  std::string buffer_;
};

/// Part of a multipart/form-data body; fields without a file name are text.
struct FormPart {
  std::string name, content, file_name = {};
};
inline const Headers kForm = {{"Content-Type", "multipart/form-data; boundary=edge"}};
inline std::string form_of(const std::vector<FormPart>& parts) {
  std::string body;
  for (const FormPart& one : parts) {
    body += "--edge\r\nContent-Disposition: form-data; name=\"" + one.name + "\"";
    if (!one.file_name.empty()) body += "; filename=\"" + one.file_name + "\"\r\nContent-Type: image/png";
    body += "\r\n\r\n" + one.content + "\r\n";
  }
  return body + "--edge--\r\n";
}
inline const Headers kPng = {{"Content-Type", "image/png"}};
inline const Headers kJson = {{"Content-Type", "application/json"}};

}  // namespace protocom::testing
