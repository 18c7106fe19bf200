#pragma once
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "http/api_keys.h"
#include "http/client.h"
#include "http/server.h"
#include "recognizer/recognizer_support.h"

namespace protocom::testing {

/// A small recognizer that is served at a free port.
class Served : public SmallRecognizer {
 protected:
  void serve(ServerOptions options = {}) {
    server_.reset();
    options.port = 0;
    server_ = std::make_unique<http::Server>(path_, options);
  }

  [[nodiscard]] int port() const { return server_->port(); }

  Reply ask(const std::string& method, const std::string& target, const std::string& body = "",
            const Headers& headers = {}) const {
    return Client(port()).ask(method, target, body, headers);
  }

  /// Returns a grey picture.
  static std::string png(uint8_t grey) {
    return encode_png({kSide, kSide, std::vector<uint8_t>(kSide * kSide * 3, grey)});
  }

  Reply enrol(const std::string& name, uint8_t grey) const {
    return ask("POST", "/v1/classes/" + name + "/examples", png(grey), kPng);
  }

  /// Returns the best class for a picture.
  std::string best(uint8_t grey) const {
    const Reply reply = ask("POST", "/v1/classify", png(grey), kPng);
    if (reply.status != 200) return reply.body;
    return reply.json().at("answers").at(0).at("ranking").at(0).at("class").get<std::string>();
  }

  std::unique_ptr<http::Server> server_;
};

}  // namespace protocom::testing
