#include <chrono>
#include <memory>
#include <thread>

#include "http/server_support.h"
#include "networks/backbone.h"
#include "support/logged.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Clock = std::chrono::steady_clock;

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Replaces the served file by another one.
class ReplacedFile : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    make_other();
    ServerOptions options;
    options.limits.file = seconds(1);
    serve(options);
    ASSERT_EQ(enrol("dark", 10).status, 201);
    ASSERT_EQ(enrol("bright", 240).status, 201);
  }

  /// Makes a recognizer whose features are four times as long.
  void make_other() {
    NetworkOptions options;
    options.architecture = "conv4";
    options.image_size = 2 * kSide;
    const auto backbone = make_backbone(options);
    write_backbone(folder_ / "other.npz", *backbone, options, {});
    write_completion_model(folder_ / "other-model.npz",
                           constant_model(std::vector<float>(static_cast<size_t>(backbone->dim()))), {}, {});
    RecognizerParts made = parts();
    made.backbone = folder_ / "other.npz";
    made.model = folder_ / "other-model.npz";
    create_recognizer(other_, made, {});
  }

  static void write_over(const fs::path& from, const fs::path& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  }

  [[nodiscard]] Reply enrol_feature(float value) const {
    const auto dim = static_cast<size_t>(feature_dim_);
    return ask("POST", "/v1/classes/new/examples", nlohmann::json{{"features", std::vector<float>(dim, value)}}.dump(),
               kJson);
  }

  void expect_refused(const char* when) const {
    EXPECT_EQ(ask("GET", "/readyz").status, 503) << when;
    for (const Reply& reply : {enrol_feature(0.5F), enrol("new", 7), ask("DELETE", "/v1/classes/dark"),
                               ask("GET", "/v1/classes"), ask("POST", "/v1/classify", png(20), kPng),
                               ask("POST", "/v1/calibrate"), ask("POST", "/v1/undo"), ask("POST", "/v1/redo")}) {
      EXPECT_EQ(reply.status, 503) << when << reply.body;
      EXPECT_THAT(reply.error(), HasSubstr("was removed or replaced")) << when;
    }
  }

  void expect_served(const char* when) const {
    EXPECT_EQ(ask("GET", "/readyz").status, 200) << when;
    EXPECT_EQ(best(20), "dark") << when;
    EXPECT_EQ(enrol_feature(1).status, 201) << when;
    EXPECT_EQ(ask("DELETE", "/v1/classes/new").status, 200) << when;
    EXPECT_THAT(RecognizerFile(path_).check(), IsEmpty()) << when;
  }

  fs::path other_ = folder_ / "other.pcm", kept_ = folder_ / "kept.pcm";
  int64_t feature_dim_ = 0;
};

TEST_F(ReplacedFile, AnotherRecognizerOverItsBytesTakesNoEnrolment) {
  feature_dim_ = RecognizerFile(path_).settings().feature_dim;
  ASSERT_NE(RecognizerFile(other_).settings().feature_dim, feature_dim_);
  write_over(path_, kept_);
  write_over(other_, path_);
  expect_refused("written over");
  EXPECT_THAT(RecognizerFile(path_).list_classes(), IsEmpty());
  EXPECT_THAT(RecognizerFile(path_).check(), IsEmpty());
  write_over(kept_, path_);
  expect_served("written back");
}

TEST_F(ReplacedFile, OneThatIsMovedAwayIsMissedUntilItOrACopyIsBack) {
  feature_dim_ = RecognizerFile(path_).settings().feature_dim;
  const Logged logged;
  fs::rename(path_, kept_);
  expect_refused("moved away");
  EXPECT_EQ(times(logged.text(), "expected the recognizer that was opened"), 1) << logged.text();
  EXPECT_THAT(RecognizerFile(kept_).list_classes(), ::testing::SizeIs(2)) << "nothing was written to it either";
  fs::rename(kept_, path_);
  expect_served("moved back");
  fs::rename(path_, kept_);
  fs::rename(other_, path_);
  expect_refused("another one in its place");
  fs::rename(path_, other_);
  write_over(kept_, path_);
  expect_served("a copy in its place");
  EXPECT_THAT(logged.text(), HasSubstr("expected the recognizer that was opened"));
}

TEST_F(ReplacedFile, AnOlderCopyIsAnsweredFromAsItIs) {
  feature_dim_ = RecognizerFile(path_).settings().feature_dim;
  EXPECT_EQ(best(235), "bright");
  write_over(path_, kept_);
  ASSERT_EQ(enrol("white", 235).status, 201);
  ASSERT_EQ(ask("DELETE", "/v1/classes/bright").status, 200);
  EXPECT_EQ(best(235), "white");
  write_over(kept_, path_);
  EXPECT_EQ(best(235), "bright");
  expect_served("an older copy");
}

TEST_F(ReplacedFile, OneThatAnotherProgramKeepsIsWaitedForOnceHoweverManyAsk) {
  const SqliteFile other(path_);
  other.run("BEGIN EXCLUSIVE");
  std::vector<std::unique_ptr<Client>> clients;
  const auto begin = Clock::now();
  for (int i = 0; i < 60; ++i) {
    clients.push_back(std::make_unique<Client>(port()));
    const auto& client = clients.back();
    client->send(i % 3 == 0   ? client->text_of("GET", "/v1/classes", "", {})
                 : i % 3 == 1 ? client->text_of("POST", "/v1/classify", png(20), kPng)
                              : client->text_of("GET", "/readyz", "", {}));
  }
  for (const auto& client : clients) EXPECT_EQ(client->receive().status, 503);
  EXPECT_LT(Clock::now() - begin, seconds(15)) << "one after the other they wait for 20 s";
}

}  // namespace
}  // namespace protocom::testing
