#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <thread>

#include "http/server_support.h"
#include "support/most_memory.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

const std::string kChunkedHead =
    "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Clients that send what no client should.
class HostileClients : public Served {};

TEST_F(HostileClients, EndlessChunkExtensionsAndTrailersAreRefusedAtOnce) {
  serve();
  for (const std::string& begin : {std::string("1;"), std::string("1;a=\""), std::string("0\r\nA: "), std::string("0;"),
                                   std::string(200, '0') + ";", std::string("1\r\nx\r\n0\r\nA: b\r\nB: ")}) {
    Client client(port());
    client.send(kChunkedHead + begin + std::string(1 << 20, 'a'));
    EXPECT_EQ(client.receive().status, 431) << begin;
  }
  Client zeros(port());
  zeros.send(kChunkedHead + std::string(1 << 20, '0'));
  EXPECT_EQ(zeros.receive().status, 431);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(HostileClients, ManyShortExtensionsAndTrailersCountTogether) {
  serve();
  std::string chunks;
  for (int i = 0; i < 1000; ++i) chunks += "1;" + std::string(100, 'a') + "\r\nx\r\n";
  Client extensions(port());
  extensions.send(kChunkedHead + chunks);
  EXPECT_EQ(extensions.receive().status, 431);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 1000; ++i) trailers += "A" + std::to_string(i) + ": " + std::string(100, 'a') + "\r\n";
  Client client(port());
  client.send(kChunkedHead + trailers + "\r\n");
  EXPECT_EQ(client.receive().status, 431);
}

TEST_F(HostileClients, ABodyInChunksOfAByteEachIsTakenWithAShortTrailer) {
  serve();
  enrol("dark", 10);
  std::string chunks;
  for (const char c : png(20)) chunks += std::string("1\r\n") + c + "\r\n";
  Client client(port());
  client.send(kChunkedHead + chunks + "0;a=b\r\nA: b\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.ask("GET", "/healthz").status, 200) << "the connection goes on behind the trailer";
}

/// Returns how many files the system lets this process open, after raising the limit as far as allowed.
rlim_t most_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

/// Returns what client number `number` sends before it keeps its connection open.
std::string hostile_bytes(int number) {
  const std::string json_head =
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n";
  std::string many;
  switch (number % 8) {
    case 0:
      return kChunkedHead + "0\r\nA: " + std::string(256 << 10, 'a');
    case 1:
      return kChunkedHead + "1;" + std::string(256 << 10, 'a');
    case 2:
      return "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(15'000, 'x');
    case 3:
      for (int i = 0; i < (number == 3 ? 400 : 20); ++i)
        many += "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
      return many;
    case 4:
      return json_head + "100000\r\n{\"features\":[" + std::string(1'000'000, '[');
    default:
      return kChunkedHead + "200000\r\n" + std::string(1'500'000, 'x');
  }
}

TEST_F(HostileClients, AThousandTakeNoMoreMemoryThanIsDocumented) {
  constexpr int kClients = 1000;
  if (most_files() < 2 * kClients + 200) GTEST_SKIP() << "this process may open " << most_files() << " files only";
  serve();
  const ServerLimits limits;
  const int64_t memory = most_memory_of([&] {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.push_back(std::make_unique<Client>(port()));
      clients.back()->send(hostile_bytes(i));
    }
  });
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
#ifdef PROTOCOM_SANITIZED
  EXPECT_GT(memory, 0);  // sanitizers keep freed memory
#else
  EXPECT_LT(memory, 2 * limits.waiting_bytes + limits.connections * (int64_t{128} << 10)) << "docs/robustness.md";
#endif
}

TEST_F(HostileClients, NothingBehindAHeadThatIsRefusedIsARequest) {
  serve();
  const std::string inner = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const std::string head :
       {"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /v1/classify HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /v1/classes HTTP/1.1\r\nHost: evil\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil\r\n\r\n"}) {
    Client client(port());
    client.send(head + inner);
    EXPECT_GE(client.receive().status, 400) << head;
    EXPECT_TRUE(client.is_closed()) << head;
  }
}

TEST_F(HostileClients, ARefusedClientThatStaysBlocksNoOthers) {
  ServerOptions options;
  options.limits.connections = 4;
  serve(options);
  std::vector<std::unique_ptr<Client>> refused;
  for (int i = 0; i < 12; ++i) {
    refused.push_back(std::make_unique<Client>(port()));
    refused.back()->send(
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 99999999\r\n\r\n");
    EXPECT_EQ(refused.back()->receive().status, 413);
    EXPECT_EQ(ask("GET", "/healthz").status, 200);
  }
}

TEST_F(HostileClients, UnreadResponsesMakeRoomForOthers) {
  ServerOptions options;
  constexpr int64_t kRoom = 150'000;
  options.limits.body_bytes = options.limits.json_bytes = options.limits.waiting_bytes = kRoom;
  serve(options);
  const std::string one = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const size_t size = ask("GET", "/openapi.json").body.size();
  ASSERT_LT(size, kRoom);
  ASSERT_GT(4 * size, kRoom) << "not all four fit";
  constexpr int kEach = 1000;  // more than the kernel buffers for them
  std::string many;
  for (int i = 0; i < kEach; ++i) many += one;
  std::vector<std::unique_ptr<Client>> lazy;
  for (int i = 0; i < 3; ++i) {
    lazy.push_back(std::make_unique<Client>(port()));
    lazy.back()->send(many);
  }
  // Once all wait for their readers, one more response closes the first of them.
  for (int i = 0; i < 100'000 && !lazy.front()->is_hung_up(); ++i) EXPECT_EQ(ask("GET", "/openapi.json").status, 200);
  int received = 0;
  while (lazy.front()->receive().status == 200) ++received;
  EXPECT_LT(received, kEach) << "it waited longest";
}

TEST_F(HostileClients, WhoReadsNothingTakesAQuarterOfTheConnections) {
  ServerOptions options;
  options.limits.connections = 4;
  options.limits.write = seconds(3600);
  serve(options);
  std::string many;  // more than the kernel buffers for them
  for (int i = 0; i < 1000; ++i) many += "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::vector<std::unique_ptr<Client>> lazy;
  for (int i = 0; i < 4; ++i) {
    lazy.push_back(std::make_unique<Client>(port()));
    lazy.back()->send(many);
  }
  std::this_thread::sleep_for(seconds(2));  // until all are blocked: between two responses they would be idle
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

// Such as `nc -N`.
TEST_F(HostileClients, WhoOnlyClosedItsSendingSideGetsItsAnswer) {
  ServerOptions options;
  options.limits.file = seconds(60);
  serve(options);
  const SqliteFile other(path_);
  other.run("BEGIN IMMEDIATE");
  Client client(port());
  client.send(client.text_of("POST", "/v1/classes/a/examples", R"({"attributes": ["tail"]})", kJson));
  client.close_sending();
  std::this_thread::sleep_for(seconds(1));  // the server looks four times a second
  other.run("ROLLBACK");
  EXPECT_EQ(client.receive().status, 201);
  EXPECT_EQ(ask("GET", "/v1/classes/a").status, 200);
}

TEST_F(HostileClients, WhatIsAskedByAClientThatHasGoneIsNotDone) {
  ServerOptions options;
  options.limits.file = seconds(60);
  serve(options);
  const SqliteFile other(path_);
  other.run("BEGIN IMMEDIATE");
  std::vector<std::unique_ptr<Client>> waiting;
  const auto send_enrolment = [&](const std::string& name) {
    waiting.push_back(std::make_unique<Client>(port()));
    waiting.back()->send(
        waiting.back()->text_of("POST", "/v1/classes/" + name + "/examples", R"({"attributes": ["tail"]})", kJson));
  };
  for (const char* name : {"a", "b", "c"}) send_enrolment(name);
  waiting.back()->wait_until_taken();  // the others came before it: one worker each
  waiting.pop_back();
  std::this_thread::sleep_for(seconds(1));  // the server looks four times a second
  other.run("ROLLBACK");
  for (const auto& client : waiting) EXPECT_EQ(client->receive().status, 201);
  EXPECT_EQ(ask("GET", "/v1/classes/c").status, 404);
}

TEST_F(HostileClients, LargeImagesThatAreDecodedLeaveTheRestAnswered) {
  ServerOptions options;
  options.workers = 2;
  serve(options);
  enrol("dark", 10);
  constexpr int64_t kLarge = 3000;
  const std::string large = encode_png({kLarge, kLarge, std::vector<uint8_t>(kLarge * kLarge * 3, 20)});
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Client>(port()));
    clients.back()->send(clients.back()->text_of("POST", "/v1/classify", large, kPng));
  }
  for (const auto& client : clients) client->wait_until_taken();
  const auto begin = Clock::now();
  EXPECT_EQ(ask("GET", "/v1/classes").status, 200);
  const auto listed = Clock::now() - begin;
  for (const auto& client : clients) EXPECT_EQ(client->receive().status, 200);
  EXPECT_LT(2 * listed, Clock::now() - begin) << "it did not wait for them";
}

}  // namespace
}  // namespace protocom::testing
