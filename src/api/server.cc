#include "http/server.h"

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "protocom/server.h"

namespace protocom::v0 {

struct Server::Impl {
  Impl(const std::string& recognizer, const ServerOptions& options) : server(recognizer, options) {}

  http::Server server;
};

namespace {

const ServerOptions& checked(const ServerOptions& given) {
  constexpr int kThreads = 1024;
  if (given.workers < 0 || given.workers > kThreads || given.lanes < 0 || given.lanes > kThreads)
    fail_usage("workers and lanes: expected 0 to {} of each, found {} and {}", kThreads, given.workers, given.lanes);
  check_options(given.recognizing);
  return given;
}

}  // namespace

Server::Server(const std::string& recognizer, const ServerOptions& options)
    : impl_(guarded([&] { return std::make_unique<Impl>(recognizer, checked(options)); })) {}

Server::~Server() = default;

int Server::port() const { return impl_->server.port(); }

void Server::stop() {
  guarded([&] { impl_->server.stop(); });
}

}  // namespace protocom::v0
