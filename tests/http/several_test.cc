#include "http/page_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Two copies of the small recognizer in a folder, "birds" and "my pets".
class Several : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    together_ = path_.parent_path() / "together";
    std::filesystem::create_directories(together_);
    for (const char* name : {"birds.pcm", "my pets.pcm"}) std::filesystem::copy_file(path_, together_ / name);
  }
  void serve_folder() {
    ServerOptions options;
    options.port = 0;
    server_ = std::make_unique<http::Server>(together_, options);
  }

  std::filesystem::path together_;
};

TEST_F(Several, AreServedEachBelowItsNameTheFirstOneAtTheRootToo) {
  serve_folder();
  ASSERT_EQ(ask("POST", "/my%20pets/v1/classes/okapi/examples", png(10), kPng).status, 201);
  const auto classes = [&](const std::string& front) { return ask("GET", front + "/v1/classes").body; };
  EXPECT_THAT(classes("/my%20pets"), HasSubstr("okapi"));
  EXPECT_THAT(classes("/birds"), ::testing::Not(HasSubstr("okapi")));
  EXPECT_EQ(classes(""), classes("/birds"));
}

TEST_F(Several, SayWhichOfThemAnswersAndWhereTheOthersAre) {
  serve_folder();
  const json expected = {{{"name", "birds"}, {"path", "/birds/"}}, {{"name", "my pets"}, {"path", "/my%20pets/"}}};
  for (const auto& [front, name] :
       {std::pair("", "birds"), std::pair("/birds", "birds"), std::pair("/my%20pets", "my pets")}) {
    const json told = ask("GET", std::string(front) + "/v1/recognizer").json();
    EXPECT_EQ(told.at("name"), name);
    EXPECT_EQ(told.at("recognizers"), expected);
  }
  serve();
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("recognizers"), json::array());
}

TEST_F(Several, AreModelsOfTheInferenceProtocol) {
  serve_folder();
  for (const char* name : {"birds", "my pets"}) {
    const std::string path = name == std::string("birds") ? "/v2/models/birds" : "/v2/models/my%20pets";
    EXPECT_EQ(ask("GET", path).json().at("name"), name);
    EXPECT_EQ(ask("GET", path + "/ready").json().at("name"), name);
  }
  EXPECT_THAT(ask("GET", "/v2/models/cats").body, HasSubstr("unknown model 'cats': expected birds or my pets"));
  EXPECT_EQ(ask("GET", "/v2/models/").status, 404);
  EXPECT_EQ(ask("GET", "/v2/models/%zz").status, 400);
}

TEST_F(Several, HaveAPageEachBehindASlashAlone) {
  serve_folder();
  EXPECT_EQ(ask("GET", "/birds/").status, 200);
  EXPECT_EQ(ask("GET", "/birds/page/main.js").status, 200);
  EXPECT_EQ(ask("GET", "/birds").status, 404) << "its scripts would be those of the first";
  EXPECT_EQ(ask("GET", "/cats/").status, 404);
  EXPECT_EQ(ask("GET", "/birds/birds/v1/classes").status, 404);
  EXPECT_EQ(ask("GET", "/%zz/v1/classes").status, 400);
}

TEST_F(Several, AFolderWithoutARecognizerOrWithOneOfThatPathIsRefused) {
  std::filesystem::rename(together_ / "birds.pcm", together_ / "v1.pcm");
  EXPECT_THAT(message_of([&] { serve_folder(); }), HasSubstr("'v1' is a path of the server"));
  for (const char* name : {"v1.pcm", "my pets.pcm"}) std::filesystem::remove(together_ / name);
  EXPECT_THAT(message_of([&] { serve_folder(); }), HasSubstr("no recognizer (*.pcm) in this folder"));
}

TEST_F(Page, HasAChoiceAtTheTopWhereSeveralRecognizersAreServed) {
  EXPECT_EQ(browser_->evaluate("document.getElementById('which').hidden"), true) << "of one there is nothing to choose";
  const auto together = path_.parent_path() / "together";
  std::filesystem::create_directories(together);
  for (const char* name : {"birds.pcm", "my pets.pcm"}) std::filesystem::copy_file(path_, together / name);
  ServerOptions options;
  options.port = 0;
  server_ = std::make_unique<http::Server>(together, options);
  browser_->open("http://localhost:" + std::to_string(port()) + "/");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('which').value === '/birds/'"));
  browser_->evaluate(R"((which => {
    which.value = '/my%20pets/';
    which.dispatchEvent(new Event('change'));
  })(document.getElementById('which')))");
  ASSERT_TRUE(
      browser_->wait_for("location.pathname === '/my%20pets/' && document.getElementById('which').value === "
                         "'/my%20pets/'"));
  enrol_in_page("okapi", {photo("1.png", 5)});
  EXPECT_THAT(ask("GET", "/my%20pets/v1/classes").body, HasSubstr("okapi"));
  EXPECT_THAT(ask("GET", "/birds/v1/classes").body, ::testing::Not(HasSubstr("okapi")));
}

}  // namespace
}  // namespace protocom::testing
