// Clients that wait for the next change.
#include <future>

#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Followed : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    serve();
    enrol("dark", 10);
  }

  [[nodiscard]] int64_t revision() const { return ask("GET", "/v1/classes").json().at("revision"); }

  /// Starts waiting; the server receives the request some moments later.
  [[nodiscard]] std::future<Reply> wait_for_change(const std::string& query = "", const Headers& headers = {}) const {
    auto reply = std::async(std::launch::async, [=] { return ask("GET", "/v1/events" + query, "", headers); });
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return reply;
  }

  static json event_of(const Reply& reply) {
    const size_t begin = reply.body.find("data: ");
    if (begin == std::string::npos) return nullptr;
    return json::parse(reply.body.substr(begin + 6, reply.body.find('\n', begin) - begin - 6));
  }
};

TEST_F(Followed, TellsOfTheNextChangeWhoeverMakesIt) {
  const int64_t before = revision();
  auto waiting = wait_for_change("?after=" + std::to_string(before));
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout) << "nothing has changed";
  RecognizerFile(path_).rename_class("dark", "night");  // another program
  const Reply told = waiting.get();
  ASSERT_EQ(told.status, 200) << told.body;
  EXPECT_EQ(told.headers.at("content-type"), "text/event-stream");
  EXPECT_THAT(told.body, HasSubstr("retry: 500\nid: " + std::to_string(revision()) + "\ndata: "));
  EXPECT_EQ(event_of(told).at("revision"), revision());
  EXPECT_EQ(event_of(told).at("change").at("what"), "rename class 'dark' to 'night'");
  EXPECT_EQ(event_of(told).at("redo"), nullptr);
  ask("POST", "/v1/undo");
  const json undone = event_of(ask("GET", "/v1/events?after=" + event_of(told).at("revision").dump()));
  EXPECT_EQ(undone.at("redo").at("what"), "rename class 'dark' to 'night'") << "at once: it has changed already";
  EXPECT_EQ(undone.at("revision"), before);
}

TEST_F(Followed, KnowsWhatEventSourceSaysAndTheRevisionOfNow) {
  const std::string now = std::to_string(revision());
  auto by_header = wait_for_change("?after=99", {{"Last-Event-ID", now}});
  auto by_nothing = wait_for_change();
  EXPECT_EQ(by_header.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(by_nothing.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  enrol("bright", 240);
  EXPECT_EQ(event_of(by_header.get()).at("revision"), revision());
  EXPECT_EQ(event_of(by_nothing.get()).at("revision"), revision());
}

TEST_F(Followed, MayKnowARevisionBelowZero) {
  RecognizerFile(path_).compact();
  const int64_t before = revision();
  ASSERT_LT(before, 0) << "no change can be undone";
  auto waiting = wait_for_change("?after=" + std::to_string(before));
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  enrol("bright", 240);
  EXPECT_EQ(event_of(waiting.get()).at("revision"), revision());
}

TEST_F(Followed, AreToldWhenTheServerStopsAndWhenThereAreTooMany) {
  std::vector<std::future<Reply>> many;
  for (int i = 0; i < 66; ++i) many.push_back(std::async(std::launch::async, [=] { return ask("GET", "/v1/events"); }));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const auto told = std::count_if(many.begin(), many.end(), [](std::future<Reply>& one) {
    return one.wait_for(std::chrono::milliseconds(0)) == std::future_status::ready;
  });
  EXPECT_EQ(told, 2) << "64 may wait";
  const auto begun = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  for (std::future<Reply>& one : many) EXPECT_THAT(one.get().body, HasSubstr(": nothing has changed"));
}

TEST_F(Followed, RefuseWhatIsNoRevision) {
  for (const char* wrong : {"x", "--1", "", "1.5", "99999999999999999999"})
    EXPECT_EQ(ask("GET", std::string("/v1/events?after=") + wrong).status, 400) << wrong;
  EXPECT_EQ(ask("GET", "/v1/events?since=1").status, 400);
  EXPECT_EQ(ask("POST", "/v1/events").status, 405);
}

}  // namespace
}  // namespace protocom::testing
