#include "protocom/http/server.h"

#include "front/boundary.h"
#include "front/parts.h"
#include "protocom/core/error.h"
#include "protocom/server.h"

namespace protocom::v0 {

struct Server::Impl {
  Impl(const std::string& recognizer, const http::ServerOptions& options) : server(recognizer, options) {}

  http::Server server;
};

namespace {

http::ServerOptions served_by(const ServerOptions& given) {
  constexpr int kPorts = 65535, kThreads = 1024;
  if (given.port < 0 || given.port > kPorts) fail_usage("a port is 0 to {}, found {}", kPorts, given.port);
  if (given.workers < 0 || given.workers > kThreads || given.lanes < 0 || given.lanes > kThreads)
    fail_usage("workers and lanes are 0 to {}, found {} and {}", kThreads, given.workers, given.lanes);
  http::ServerOptions options;
  options.address = given.address;
  options.port = given.port;
  options.keys = given.keys;
  options.certificate = given.certificate;
  options.private_key = given.private_key;
  options.origins = given.origins;
  options.workers = given.workers;
  options.lanes = given.lanes;
  options.recognizing = own_options(given.recognizing);
  return options;
}

}  // namespace

Server::Server(const std::string& recognizer, const ServerOptions& options)
    : impl_(guarded([&] { return std::make_unique<Impl>(recognizer, served_by(options)); })) {}

Server::~Server() = default;

int Server::port() const { return impl_->server.port(); }

void Server::stop() {
  guarded([&] { impl_->server.stop(); });
}

}  // namespace protocom::v0
