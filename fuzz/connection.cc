#include "fuzz/connection.h"

#include <ATen/ATen.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fewshot/paper/completion_model.h"
#include "heads/protocomnet.h"
#include "http/server.h"
#include "io/files.h"
#include "knowledge/knowledge.h"
#include "networks/backbone.h"
#include "recognizer/create_recognizer.h"
#include "tensors/tensors.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 16;

fs::path make_recognizer(const fs::path& folder) {
  NetworkOptions backbone;
  backbone.architecture = "conv4";
  backbone.image_size = kSide;
  const auto made = make_backbone(backbone);
  write_backbone(folder / "backbone.npz", *made, backbone, {});
  ProtoComNetOptions sizes;
  sizes.feature_dim = made->dim();
  sizes.embedding_dim = sizes.code_dim = sizes.attention_hidden = sizes.decoder_hidden = 2;
  const Array pair = array_of(at::ones({1, 2})), feature = array_of(at::ones({1, made->dim()}));
  write_completion_model(folder / "model.npz",
                         {sizes, weights_of(ProtoComNet(sizes)), {"tail"}, pair, feature, feature, {"cat"}}, {},
                         nlohmann::json::object());
  Knowledge knowledge;
  knowledge.classes = {"cat"};
  knowledge.attributes = {"tail"};
  knowledge.association = array_of(at::ones({1, 1}));
  knowledge.class_embedding = knowledge.attribute_embedding = array_of(at::ones({1, 2}));
  write_knowledge(folder / "knowledge.npz", knowledge, {}, nlohmann::json::object());
  RecognizerParts parts;
  parts.backbone = folder / "backbone.npz";
  parts.model = folder / "model.npz";
  parts.knowledge = folder / "knowledge.npz";
  create_recognizer(folder / "served.pcm", parts, {});
  return folder / "served.pcm";
}

/// Returns a server with short timeouts and little room, so that its limits are reached. It lives as long as the
/// process.
const http::Server& server(const fs::path& folder) {
  static const http::Server* const own = [&] {
    ServerOptions options;
    options.port = 0;
    options.lanes = options.workers = 1;
    options.limits.connections = 8;
    options.limits.bodies = options.limits.requests = 4;
    options.limits.body_bytes = options.limits.json_bytes = options.limits.waiting_bytes = 100'000;
    options.limits.head = options.limits.body = options.limits.write = std::chrono::seconds(1);
    const fs::path served = folder / "served";
    fs::create_directories(served);
    return new http::Server(make_recognizer(served), options);
  }();
  return *own;
}

class Connection {
 public:
  explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) std::abort();
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view bytes) const { (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }

  /// Receives what arrives within so many milliseconds; returns false if nothing did.
  bool receive(int milliseconds) {
    pollfd awaited{socket_, POLLIN, 0};
    if (::poll(&awaited, 1, milliseconds) <= 0) return false;
    char block[1 << 12];
    const ssize_t size = ::recv(socket_, block, sizeof(block), 0);
    if (size <= 0) return false;
    received_.append(block, static_cast<size_t>(size));
    return true;
  }

  [[nodiscard]] const std::string& received() const { return received_; }

 private:
  int socket_;
  std::string received_;
};

void fail_loudly(const char* what, const std::string& found) {
  std::fprintf(stderr, "%s: %s\n", what, found.c_str());
  std::abort();
}

/// Checks that other clients are answered whatever one client does.
void check_answers(int port) {
  constexpr int kPatience = 10'000;  // milliseconds
  for (int tries = 0; tries < 20; ++tries) {
    Connection other(port);
    other.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    while (other.receive(kPatience)) {
    }
    if (other.received().rfind("HTTP/1.1 200", 0) == 0) return;
    if (!other.received().empty() && other.received().rfind("HTTP/1.1 503", 0) != 0)
      fail_loudly("another client was not answered", other.received());
  }
  fail_loudly("another client was not answered", "");
}

}  // namespace

void play_connection(const fs::path& path) {
  constexpr int kPause = 2;  // milliseconds
  const std::string script = read_file(path);
  const int port = server(path.parent_path()).port();
  Connection connection(port);
  for (size_t begin = 0; begin < script.size();) {
    const size_t end = std::min(script.find_first_of(kSteps, begin), script.size());
    connection.send(std::string_view(script).substr(begin, end - begin));
    if (end < script.size() && script[end] == kSteps[0]) connection.receive(kPause);
    if (end < script.size() && script[end] == kSteps[1]) connection.end_sending();
    begin = end + 1;
  }
  while (connection.receive(kPause)) {
  }
  if (!connection.received().empty() && connection.received().rfind("HTTP/1.1 ", 0) != 0)
    fail_loudly("what came is no response", connection.received());
  check_answers(port);
}

}  // namespace protocom::fuzz
