#include <chrono>
#include <memory>
#include <thread>

#include "http/server_support.h"
#include "serve/database.h"

namespace protocom::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

/// A server that is told to stop.
class Stopping : public Served {
 protected:
  void serve_briefly() {
    ServerOptions options;
    options.limits.stop = seconds(1);
    serve(options);
  }

  /// How long it takes.
  Clock::duration stop() {
    const auto begin = Clock::now();
    server_->stop();
    return Clock::now() - begin;
  }
};

TEST_F(Stopping, AnswersEveryClientThatHasConnected) {
  for (int round = 0; round < 3; ++round) {
    serve();
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 64; ++i) clients.push_back(std::make_unique<Client>(port()));
    for (const auto& client : clients) client->send(client->text_of("GET", "/healthz", "", {}));
    stop();
    int answered = 0;
    for (const auto& client : clients) answered += client->receive().status == 200;
    EXPECT_EQ(answered, 64);
  }
}

TEST_F(Stopping, AnswersAClientThatSendsAMomentLater) {
  serve();
  Client client(port());
  std::thread stops([&] { server_->stop(); });
  std::this_thread::sleep_for(milliseconds(150));
  EXPECT_EQ(client.ask("GET", "/healthz").status, 200);
  EXPECT_TRUE(client.is_closed());
  stops.join();
}

TEST_F(Stopping, WaitsForNoClientThatSaysNothing) {
  serve();
  const Client silent(port());
  Client idle(port());
  EXPECT_EQ(idle.ask("GET", "/healthz").status, 200);
  EXPECT_LT(stop(), seconds(10)) << "a head may take 30 s";
}

TEST_F(Stopping, GivesUpBodiesAndHeadsThatAreHalfSent) {
  serve_briefly();
  Client body(port()), head(port());
  body.send(
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n\r\nhalf");
  head.send("GET /healthz HTTP/1.1\r\nHo");
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LT(stop(), seconds(10)) << "a body may take 60 s";
  EXPECT_EQ(body.receive().status, 503);
  EXPECT_TRUE(head.is_closed());
}

TEST_F(Stopping, GivesUpResponsesThatNobodyReads) {
  serve_briefly();
  Client lazy(port());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  lazy.send(many);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LT(stop(), seconds(10)) << "a response may take 30 s";
}

}  // namespace
}  // namespace protocom::testing
