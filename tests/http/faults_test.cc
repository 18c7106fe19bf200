#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Served, InvalidRequestsAreAnsweredAndAffectNoOthers) {
  serve();
  constexpr const char* kBadChunk =
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
      "Transfer-Encoding: chunked\r\n\r\nzz\r\n";
  for (const std::string text :
       {"nonsense\r\n\r\n", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", kBadChunk,
        "GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /healthz?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/classes/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/classes/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/classes/%ff HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    Client client(port());
    client.send(text);
    EXPECT_EQ(client.receive().status, 400) << text;
  }
  Client long_winded(port());
  long_winded.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(long_winded.receive().status, 431);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

// curl --data-binary states application/x-www-form-urlencoded by default.
TEST_F(Served, AnImageWithoutItsTypeIsWhatItsBytesSay) {
  serve();
  for (const uint8_t grey : {0, 10}) enrol("dark", grey);
  for (const uint8_t grey : {230, 240}) enrol("bright", grey);
  const json typed = ask("POST", "/v1/classify", png(7), kPng).json().at("answers");
  const Headers curl = {{"Content-Type", "application/x-www-form-urlencoded"}};
  for (const Headers& headers : {Headers{}, curl}) {
    EXPECT_EQ(ask("POST", "/v1/classify", png(7), headers).json().at("answers"), typed);
    const Reply refused = ask("POST", "/v1/classify", "x", headers);
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, HasSubstr("not a JPEG"));
    EXPECT_EQ(ask("POST", "/v1/classes/dark/examples", png(7), headers).status, 415) << "where something changes";
  }
}

TEST_F(Served, WhatTheApiDoesNotKnowIsRefusedByItsOwnStatus) {
  serve();
  EXPECT_EQ(ask("GET", "/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/v1/classes/").status, 404);
  EXPECT_EQ(ask("GET", "/v1/classes/../../etc/passwd").status, 404);
  EXPECT_EQ(ask("GET", "/v1/examples/1x/thumbnail").status, 404);
  const Reply method = ask("PUT", "/v1/classes/cat");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.at("allow"), "GET, PATCH, DELETE");
  EXPECT_EQ(ask("POST", "/v1/classify", "x", {{"Content-Type", "text/plain"}}).status, 415);
  EXPECT_EQ(ask("POST", "/v1/classes/cat/examples", "x").status, 415);
  EXPECT_EQ(ask("GET", "/v1/classes", "x").status, 400) << "it has no body";
  EXPECT_EQ(ask("POST", "/v1/classify", png(1), {{"Content-Type", "image/png"}, {"Content-Encoding", "gzip"}}).status,
            415);
  EXPECT_EQ(ask("POST", "/v1/classify", "no image", kPng).status, 400);
  EXPECT_EQ(ask("POST", "/v1/classes/cat/examples", "no image", kPng).status, 400);
  EXPECT_EQ(ask("POST", "/v1/classes/" + std::string(201, 'x') + "/examples", png(1), kPng).status, 400);
}

TEST_F(Served, JsonIsReadStrictly) {
  serve();
  const auto classify = [&](const std::string& body) { return ask("POST", "/v1/classify", body, kJson); };
  EXPECT_THAT(classify("{").error(), HasSubstr("the body:1: not valid JSON"));
  EXPECT_THAT(classify("[]").error(), HasSubstr("expected a JSON object"));
  EXPECT_THAT(classify("{}").error(), HasSubstr("or the member 'features'"));
  EXPECT_THAT(classify(R"({"feature": [1]})").error(), HasSubstr("expected box_margin or boxes or features"));
  EXPECT_THAT(classify(R"({"features": [1, 2]})").error(), HasSubstr("a list of"));
  EXPECT_THAT(classify(R"({"features": [["a"]]})").error(), HasSubstr("a list of"));
  EXPECT_THAT(classify(R"({"features": []})").error(), HasSubstr("a list of"));
  const auto dim = static_cast<size_t>(Recognizer::open(path_).file().settings().feature_dim);
  EXPECT_THAT(classify(json{{"features", std::vector<double>(dim, 1e300)}}.dump()).error(), HasSubstr("2^63"));
  EXPECT_THAT(classify(json{{"features", std::vector<double>(dim, 9e18)}}.dump()).error(),
              HasSubstr("feature 0 of 'features' holds a number of size 9e+18, more than 1e+08"));
  const std::string row = json(std::vector<int>(dim)).dump();
  EXPECT_THAT(classify("{\"features\": " + row + ", \"features\": " + row + "}").error(),
              HasSubstr("duplicate member"));
  const std::vector<std::vector<int>> many(1001, std::vector<int>(dim));
  EXPECT_EQ(classify(json{{"features", many}}.dump()).status, 413);
  EXPECT_EQ(classify(std::string(200, '[')).status, 400);
  EXPECT_EQ(ask("PATCH", "/v1/classes/cat", R"({"name": "a", "attributes": ["tail"]})", kJson).status, 400);
  EXPECT_EQ(ask("PATCH", "/v1/classes/cat", R"({"name": 1})", kJson).status, 400);
  EXPECT_EQ(ask("POST", "/v1/undo", R"({"change": -1})", kJson).status, 400);
  EXPECT_EQ(ask("POST", "/v1/redo", R"({"change": "1"})", kJson).status, 400);
}

TEST_F(Served, AnErrorTellsNothingOfTheMachine) {
  serve();
  const std::string folder = folder_.path().string();
  for (const Reply& reply :
       {ask("GET", "/v1/classes/none"), ask("POST", "/v1/classify", "BMxx", kPng), ask("POST", "/v1/calibrate"),
        ask("PATCH", "/v1/classes/x", R"({"attributes": ["tial"]})", kJson),
        ask("POST", "/v1/classify", png(1), kPng)}) {
    EXPECT_GE(reply.status, 400);
    EXPECT_THAT(reply.body, AllOf(HasSubstr("\"error\""), Not(HasSubstr(folder)))) << reply.body;
  }
}

TEST_F(Served, AFileThatIsDamagedMeanwhileIsSaidWithoutDetails) {
  serve();
  enrol("dark", 10);
  write_file(path_, std::string(100'000, 'x'));
  const Reply reply = ask("GET", "/v1/classes");
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.body, Not(HasSubstr(folder_.path().string())));
}

TEST_F(Served, ABodyThatIsTooLongIsRefusedBeforeItIsSent) {
  serve();
  Client client(port());
  client.send(
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 104857600\r\n\r\n");
  const Reply reply = client.receive();
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.headers.at("connection"), "close");
  Client patient(port());
  patient.send(
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nExpect: "
      "100-continue\r\nContent-Length: "
      "104857600\r\n\r\n");
  EXPECT_EQ(patient.receive().status, 413) << "nobody is told to go on";
}

TEST_F(Served, ABodyWithoutALengthIsCutAtTheLimit) {
  ServerOptions options;
  options.limits.body_bytes = 1000;
  serve(options);
  Client client(port());
  client.send(
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "200\r\n" + std::string(0x200, 'x') + "\r\n";
  client.send(chunk + chunk);
  EXPECT_EQ(client.receive().status, 413);
}

TEST_F(Served, AChunkedBodyIsTakenWhole) {
  serve();
  enrol("dark", 10);
  const std::string body = png(20);
  Client client(port());
  client.send(
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nExpect: 100-continue\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  client.send(fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", body.size(), body));
  EXPECT_EQ(client.receive().status, 200);
}

TEST_F(Served, AnImageThatWouldFillTheMemoryIsRefusedByItsHeader) {
  serve();
  std::string bomb = png(1);
  for (const size_t at : {16U, 20U}) bomb.replace(at, 4, std::string("\x7f\xff\xff\xff"));  // width and height of a PNG
  EXPECT_EQ(ask("POST", "/v1/classify", bomb, kPng).status, 400);
  ServerOptions options;
  options.limits.pixels = kSide * kSide - 1;
  serve(options);
  EXPECT_THAT(ask("POST", "/v1/classify", png(1), kPng).error(), HasSubstr("pixels"));
}

TEST_F(Served, AFormHasNoMorePartsThanMayBe) {
  serve();
  const std::vector<FormPart> parts(65, {"image", "x", "x.png"});
  EXPECT_EQ(ask("POST", "/v1/classify", form_of(parts), kForm).status, 413);
  EXPECT_EQ(ask("POST", "/v1/classify", "--edge\r\nnonsense", kForm).status, 400);
  EXPECT_EQ(ask("POST", "/v1/classify", form_of({{"other", "x"}}), kForm).status, 400);
  EXPECT_EQ(ask("POST", "/v1/classify", form_of({}), kForm).status, 400);
}

TEST_F(Served, PagesOfOtherSitesCannotUseAVisitorsBrowser) {
  serve();
  const std::string own = "http://localhost:" + std::to_string(port());
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Origin", own}}).status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Origin", "null"}}).status, 403);
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Host", "evil.example"}}).status, 403) << "a name that leads here";
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Host", "127.0.0.1.evil.example"}}).status, 403);
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Host", "127.0.0.1"}}).status, 200);
}

TEST_F(Served, ASlowOrGoneClientBlocksNoOthers) {
  ServerOptions options;
  options.limits.head = std::chrono::seconds(2);
  options.limits.body = std::chrono::seconds(2);
  serve(options);
  enrol("dark", 10);
  Client silent(port()), in_head(port()), in_body(port());
  in_head.send("GET /healthz HT");
  in_body.send(
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n\r\nabc");
  for (int i = 0; i < 20; ++i) {
    Client gone(port());
    gone.send(gone.text_of("POST", "/v1/classify", png(1), kPng));
  }
  EXPECT_EQ(best(1), "dark");
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(in_head.is_closed());
  EXPECT_TRUE(in_body.is_closed());
}

TEST_F(Served, AnswersTwoHundredConnectionsAtOnce) {
  serve();
  enrol("dark", 10);
  enrol("bright", 240);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<Client>(port()));
  for (size_t i = 0; i < clients.size(); ++i)
    clients[i]->send(clients[i]->text_of("POST", "/v1/classify", png(i % 2 == 0 ? 5 : 235), kPng));
  for (size_t i = 0; i < clients.size(); ++i) {
    const Reply reply = clients[i]->receive();
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.json()["answers"][0]["ranking"][0]["class"], i % 2 == 0 ? "dark" : "bright");
  }
}

TEST_F(Served, NothingIsLostWhileOthersEnrolAndClassify) {
  serve();
  enrol("dark", 0);
  enrol("bright", 255);
  constexpr int kEach = 12;
  std::atomic<int> enrolled{0}, answered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Client client(port());
      for (int i = 0; i < kEach; ++i) {
        const auto grey = static_cast<uint8_t>(1 + t * kEach + i);
        const Reply reply = client.ask("POST", "/v1/classes/dark/examples", png(grey), kPng);
        if (reply.status == 200 && reply.json()["added"] == 1) ++enrolled;
      }
    });
    threads.emplace_back([&] {
      Client client(port());
      for (int i = 0; i < kEach; ++i) {
        if (client.ask("POST", "/v1/classify", png(static_cast<uint8_t>(i)), kPng).status == 200) ++answered;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(enrolled, 3 * kEach);
  EXPECT_EQ(answered, 3 * kEach);
  EXPECT_EQ(ask("GET", "/v1/classes/dark").json()["images"], 3 * kEach + 1);
}

TEST_F(Served, StoppingAnswersWhatWasAcceptedAndClosesTheRest) {
  serve();
  enrol("dark", 10);
  Client idle(port());
  EXPECT_EQ(idle.ask("GET", "/healthz").status, 200);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Client>(port()));
    ASSERT_TRUE(clients.back()->send(
        clients.back()->text_of("POST", "/v1/classes/dark/examples", png(static_cast<uint8_t>(20 + i)),
                                {{"Content-Type", "image/png"}, {"Expect", "100-continue"}})));
    ASSERT_TRUE(clients.back()->is_told_to_go_on()) << "it is accepted";
  }
  server_->stop();
  for (const auto& client : clients) EXPECT_EQ(client->receive().status, 200);
  EXPECT_TRUE(idle.is_closed());
  EXPECT_EQ(RecognizerFile(path_).find_class("dark")->images, 21);
}

class Keyed : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    http::ApiKeys keys;
    reading_ = keys.add({"reader", http::Role::kRead, "", 6000});
    writing_ = keys.add({"writer", http::Role::kWrite, "", 6000});
    hasty_ = keys.add({"hasty", http::Role::kRead, "", 20});
    keys.write(folder_ / "keys.json");
    ServerOptions options;
    options.keys = folder_ / "keys.json";
    serve(options);
  }

  int status(const std::string& key, const std::string& method, const std::string& target,
             const std::string& body = "") const {
    Headers headers = kPng;
    if (!key.empty()) headers["Authorization"] = "Bearer " + key;
    return ask(method, target, body, headers).status;
  }

  std::string reading_, writing_, hasty_;
};

TEST_F(Keyed, AKeyIsAskedForAndAllowsWhatItsRoleDoes) {
  for (const char* target : {"/v1/classes", "/metrics", "/v1/recognizer"}) {
    EXPECT_EQ(status("", "GET", target), 401) << target;
    EXPECT_EQ(status("pcm_wrong", "GET", target), 401) << target;
    EXPECT_EQ(status(reading_, "GET", target), 200) << target;
  }
  for (const char* target : {"/", "/healthz", "/openapi.json"}) EXPECT_EQ(status("", "GET", target), 200) << target;
  EXPECT_EQ(status(reading_, "POST", "/v1/classes/dark/examples", png(1)), 403);
  EXPECT_EQ(status(writing_, "POST", "/v1/classes/dark/examples", png(1)), 201);
  EXPECT_EQ(status(reading_, "POST", "/v1/classify", png(1)), 200);
  for (const char* target : {"/v1/undo", "/v1/redo", "/v1/calibrate"})
    EXPECT_EQ(status(reading_, "POST", target), 403) << target;
  EXPECT_EQ(status(reading_, "GET", "/v1/recognizer/file"), 403);
  EXPECT_EQ(status(reading_, "GET", "/v1/recognizer/onnx"), 403);
  EXPECT_EQ(status(reading_, "GET", "/v1/share"), 403);
  EXPECT_EQ(status(reading_, "DELETE", "/v1/classes/dark"), 403);
  EXPECT_EQ(status(reading_, "DELETE", "/v1/examples/1"), 403);
  EXPECT_THAT(ask("GET", "/v1/classes").headers.at("www-authenticate"), "Bearer");
}

TEST_F(Keyed, AKeyThatIsUsedTooOftenHasToWait) {
  int answered = 0;
  Reply reply;
  for (int i = 0; i < 100 && reply.status != 429; ++i) {
    reply = ask("GET", "/v1/classes", "", {{"Authorization", "Bearer " + hasty_}});
    answered += reply.status == 200;
  }
  EXPECT_EQ(reply.status, 429);
  EXPECT_GE(answered, 2) << "a tenth of a minute's requests at once";
  EXPECT_GT(std::stoi(reply.headers.at("retry-after")), 0);
  EXPECT_EQ(status(reading_, "GET", "/v1/classes"), 200) << "the others need not";
}

TEST_F(Keyed, AKeyThatIsRemovedCountsNoMoreWithoutARestart) {
  EXPECT_EQ(status(reading_, "GET", "/v1/classes"), 200);
  http::ApiKeys keys = http::ApiKeys::read(folder_ / "keys.json");
  keys.remove("reader");
  const auto before = fs::last_write_time(folder_ / "keys.json");
  keys.write(folder_ / "keys.json");
  fs::last_write_time(folder_ / "keys.json", before + std::chrono::seconds(1));
  EXPECT_EQ(status(reading_, "GET", "/v1/classes"), 401);
  EXPECT_EQ(status(writing_, "GET", "/v1/classes"), 200);
}

TEST_F(Keyed, AFileThatWasRefusedCountsOnceItsRightsAreMended) {
  const auto path = folder_ / "keys.json";
  http::ApiKeys keys = http::ApiKeys::read(path);
  keys.remove("reader");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  keys.write(path);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  EXPECT_EQ(status(reading_, "GET", "/v1/classes"), 200) << "others could have read it";
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(status(reading_, "GET", "/v1/classes"), 401) << "it was written as it is";
  EXPECT_EQ(status(writing_, "GET", "/v1/classes"), 200);
}

}  // namespace
}  // namespace protocom::testing
