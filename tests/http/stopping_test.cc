#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "http/server_support.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// A server that is told to stop.
class Stopping : public Served {
 protected:
  void serve_briefly() {
    ServerOptions options;
    options.limits.stop = seconds(1);
    serve(options);
  }

  /// Returns how long stopping takes.
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

bool can_connect(int port) {
  try {
    const Client client(port);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

TEST_F(Stopping, AnswersAClientThatSendsAMomentLater) {
  serve();
  Client client(port());
  const int open = port();
  std::thread stops([&] { server_->stop(); });
  while (can_connect(open)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(client.ask("GET", "/healthz").status, 200);
  EXPECT_TRUE(client.is_closed());
  stops.join();
}

TEST_F(Stopping, EndsWhileOthersGoOnConnecting) {
  serve();
  const int open = port();
  std::atomic<bool> ended = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      while (!ended) can_connect(open);
    });
  }
  EXPECT_LT(stop(), seconds(10));
  ended = true;
  for (std::thread& other : others) other.join();
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
  for (const Client* one : {&body, &head}) one->wait_until_taken();
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

/// A recognizer that takes seconds to calibrate: every held-out image is an episode of its own.
class LongCalibration : public Stopping {
 protected:
  void SetUp() override {
    Served::SetUp();
    Recognizer recognizer = Recognizer::open(path_);
    const int64_t dim = recognizer.file().settings().feature_dim;
    std::vector<ClassEnrolment> enrolments;
    for (int i = 0; i < 60; ++i) {
      enrolments.push_back(recognizer.describe({"c" + std::to_string(i)}));
      enrolments.back().examples.features = array_of(at::randn({4, dim}));
      for (int j = 0; j < 4; ++j) enrolments.back().examples.hashes.push_back(fmt::format("{} {}", i, j));
    }
    recognizer.file().enrol(enrolments);
    ServerOptions options;
    options.recognizing.method = "baseline-pp";
    options.limits.stop = seconds(0);
    serve(options);
  }

  [[nodiscard]] bool is_calibrated() const { return RecognizerFile(path_).calibration().has_value(); }
};

TEST_F(LongCalibration, IsGivenUpWhenItsClientHasGone) {
  {
    Client client(port());
    client.send(client.text_of("POST", "/v1/calibrate", "{}", kJson));
    client.wait_until_taken();
  }
  std::string counts;
  do counts = ask("GET", "/metrics").body;
  while (counts.find(R"(route="/v1/calibrate")") == std::string::npos);
  EXPECT_THAT(counts, HasSubstr(R"(route="/v1/calibrate",status="503")"));
  EXPECT_FALSE(is_calibrated());
}

TEST_F(LongCalibration, IsGivenUpWhenTheServerStops) {
  Client client(port());
  client.send(client.text_of("POST", "/v1/calibrate", "{}", kJson));
  client.wait_until_taken();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("GET", "/v1/classes/c1").status, 200);  // a worker has begun it meanwhile
  stop();
  EXPECT_EQ(client.receive().status, 503);
  EXPECT_FALSE(is_calibrated());
}

TEST_F(Stopping, GivesUpImagesThatAreDecoded) {
  ServerOptions options;
  options.limits.stop = seconds(0);
  serve(options);
  constexpr int64_t kLarge = 2000;
  const std::string large = encode_png({kLarge, kLarge, std::vector<uint8_t>(kLarge * kLarge * 3, 20)});
  Client client(port());
  const std::vector<FormPart> parts(60, {"image", large, "x.png"});
  client.send(client.text_of("POST", "/v1/classify", form_of(parts), kForm));
  client.wait_until_taken();
  stop();
  const Reply reply = client.receive();
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.error(), HasSubstr("cancelled"));
}

}  // namespace
}  // namespace protocom::testing
