#include <fcntl.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "http/server_support.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// Clients that only announce a body.
class SlowClients : public Served {
 protected:
  /// Returns a client whose head the server has accepted.
  std::unique_ptr<Client> announce(const std::string& length) {
    auto client = std::make_unique<Client>(port());
    client->send(
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nExpect: 100-continue\r\n" +
        length + "\r\n\r\n");
    EXPECT_TRUE(client->is_told_to_go_on());
    return client;
  }

  static std::string length(int64_t bytes) { return "Content-Length: " + std::to_string(bytes); }

  std::vector<std::unique_ptr<Client>> slow_;
};

TEST_F(SlowClients, WhoOnlyAnnouncesABodyTakesNoRoomForIt) {
  ServerOptions options;
  options.limits.body_bytes = options.limits.json_bytes = options.limits.waiting_bytes = 1 << 20;
  serve(options);
  ASSERT_EQ(enrol("dark", 10).status, 201);
  for (int i = 0; i < 4; ++i) slow_.push_back(announce(length(1 << 20)));
  for (int i = 0; i < 4; ++i) slow_.push_back(announce("Transfer-Encoding: chunked"));
  EXPECT_EQ(best(20), "dark");
}

TEST_F(SlowClients, WhoSendsNoBodyTakesNoRequestsPlace) {
  ServerOptions options;
  options.limits.requests = 2;
  serve(options);
  ASSERT_EQ(enrol("dark", 10).status, 201);
  for (int i = 0; i < 4; ++i) slow_.push_back(announce(length(10)));
  EXPECT_EQ(ask("GET", "/v1/classes").status, 200);
  EXPECT_EQ(best(20), "dark");
}

TEST_F(SlowClients, TheBodyThatRestedLongestMakesRoomForAnother) {
  ServerOptions options;
  options.limits.bodies = 2;
  serve(options);
  ASSERT_EQ(enrol("dark", 10).status, 201);
  const std::string body = png(20);
  for (int i = 0; i < 2; ++i) slow_.push_back(announce(length(static_cast<int64_t>(body.size()))));
  slow_.push_back(announce(length(10)));
  const Reply first = slow_[0]->receive();
  EXPECT_EQ(first.status, 503);
  EXPECT_EQ(first.headers.at("retry-after"), "1");
  slow_[1]->send(body);
  EXPECT_EQ(slow_[1]->receive().status, 200);
}

TEST_F(SlowClients, BytesThatCameAndRestMakeRoomForOthers) {
  ServerOptions options;
  options.limits.body_bytes = options.limits.json_bytes = options.limits.waiting_bytes = 1'000'000;
  serve(options);
  for (int i = 0; i < 2; ++i) {
    slow_.push_back(announce(length(900'000)));
    slow_.back()->send(std::string(700'000, 'x'));
    slow_.back()->wait_until_taken();
  }
  EXPECT_EQ(slow_[0]->receive().status, 503);
  slow_[1]->send(std::string(200'000, 'x'));
  EXPECT_EQ(slow_[1]->receive().status, 400) << "it was taken whole, and is not an image";
}

TEST_F(SlowClients, WhoSendsNoHeadMakesRoomForWhoDoes) {
  ServerOptions options;
  options.limits.connections = 3;
  serve(options);
  Client first(port()), second(port()), third(port());
  for (Client* client : {&first, &second, &third}) EXPECT_EQ(client->ask("GET", "/healthz").status, 200);
  EXPECT_EQ(second.ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_TRUE(first.is_closed()) << "it waited longest";
  EXPECT_EQ(second.ask("GET", "/healthz").status, 200);
}

TEST_F(SlowClients, ANewClientIsTurnedAwayWhereAllOthersAreBusy) {
  ServerOptions options;
  options.limits.connections = 1;
  serve(options);
  slow_.push_back(announce(length(10)));
  EXPECT_EQ(ask("GET", "/healthz").status, 503);
}

TEST_F(SlowClients, WhoAnnouncesBodiesTakesHalfOfTheConnections) {
  ServerOptions options;
  options.limits.connections = 4;
  serve(options);
  for (int i = 0; i < 8; ++i) slow_.push_back(announce(length(10)));
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(SlowClients, ABodyThatCouldNeverBeTakenIsNoOption) {
  ServerOptions options;
  options.port = 0;
  options.limits.body_bytes = options.limits.waiting_bytes + 1;
  EXPECT_THAT(usage_message_of([&] { http::Server(path_, options); }), HasSubstr("exceeds that of all together"));
}

/// A server whose workers all wait for another program that changes the file.
class BusyServer : public Served {
 protected:
  /// Keeps them busy at most that long.
  void keep_busy(seconds patience) {
    ServerOptions options;
    options.workers = 2;
    options.limits.requests = 2;
    options.limits.file = patience;
    serve(options);
    other_ = std::make_unique<SqliteFile>(path_);
    other_->run("BEGIN IMMEDIATE");
    for (auto& client : clients_) {
      client = std::make_unique<Client>(port());
      client->send(client->text_of("POST", "/v1/classes/cat/examples", R"({"attributes": ["tail"]})", kJson));
      client->wait_until_taken();
    }
  }

  std::unique_ptr<SqliteFile> other_;
  std::array<std::unique_ptr<Client>, 2> clients_;
};

TEST_F(BusyServer, SaysHowItIsAndShowsItsPageAtOnce) {
  keep_busy(seconds(60));
  const auto begin = Clock::now();
  for (const char* target : {"/healthz", "/readyz", "/metrics", "/", "/page/main.js", "/openapi.json"})
    EXPECT_EQ(ask("GET", target).status, 200) << target;
  EXPECT_LT(Clock::now() - begin, seconds(30)) << "the others wait for 60 s";
}

TEST_F(BusyServer, TooManyRequestsAreAnsweredWithRetryAfter) {
  keep_busy(seconds(60));
  const Reply third = ask("GET", "/v1/classes");
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.headers.at("retry-after"), "1");
}

TEST_F(BusyServer, ALockedFileIsAnsweredWithRetryAfter) {
  keep_busy(seconds(1));
  for (const auto& client : clients_) {
    const Reply reply = client->receive();
    EXPECT_EQ(reply.status, 503);
    EXPECT_GT(std::stoi(reply.headers.at("retry-after")), 0);
    EXPECT_THAT(reply.error(), HasSubstr("another program"));
  }
  other_->run("ROLLBACK");
  EXPECT_EQ(ask("POST", "/v1/classes/cat/examples", R"({"attributes": ["tail"]})", kJson).status, 201);
}

/// Lets this process open no further files.
class NoMoreFiles {
 public:
  explicit NoMoreFiles(int highest) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{static_cast<rlim_t>(highest) + 1, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

TEST_F(Served, AConnectionForWhichThereIsNoFileIsTakenLaterAndSaidOnce) {
  const Logged logged;
  serve();
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest free one
  ::close(next);
  std::unique_ptr<Client> client;
  {
    const NoMoreFiles limit(next);
    client = std::make_unique<Client>(port());  // takes it
    for (int i = 0; i < 60'000 && logged.text().find("cannot be accepted") == std::string::npos; ++i)
      std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(250));  // two more attempts
  }
  EXPECT_EQ(client->ask("GET", "/healthz").status, 200);
  const std::string stated = logged.text();
  const size_t first = stated.find("cannot be accepted");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(stated.find("cannot be accepted", first + 1), std::string::npos) << stated.size() << " bytes of log";
}

TEST_F(Served, SilentConnectionsMakeRoomBeforeTheProcessHasNoFileLeft) {
  const Logged logged;
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest free one
  ::close(next);
  {
    const NoMoreFiles limit(next + 48);
    serve();
  }
  EXPECT_THAT(logged.text(), HasSubstr("connections at once instead of 512"));
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 49; ++i) silent.push_back(std::make_unique<Client>(port()));
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_TRUE(silent.front()->is_closed()) << "it waited longest";
}

TEST_F(Served, ImagesOfARequestHaveABudgetOfPixelsTogether) {
  ServerOptions options;
  options.limits.request_pixels = 2 * kSide * kSide;
  serve(options);
  enrol("dark", 10);
  std::vector<FormPart> parts(2, {"image", png(20), "x.png"});
  EXPECT_EQ(ask("POST", "/v1/classify", form_of(parts), kForm).status, 200);
  parts.push_back(parts.front());
  const Reply refused = ask("POST", "/v1/classify", form_of(parts), kForm);
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(refused.error(), HasSubstr("send fewer"));
}

}  // namespace
}  // namespace protocom::testing
