#include "http/server.h"

#include <algorithm>
#include <atomic>
#include <regex>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "http/server_support.h"
#include "support/message_of.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(Served, EnrolsClassifiesCorrectsAndTakesBack) {
  serve();
  const Reply dark = enrol("dark", 10);
  EXPECT_EQ(dark.status, 201) << dark.body;
  EXPECT_EQ(dark.json()["added"], 1);
  EXPECT_EQ(enrol("bright", 240).status, 201);
  EXPECT_EQ(best(20), "dark");
  const Reply correction = enrol("bright", 30);
  EXPECT_EQ(correction.status, 200) << "the class is there";
  EXPECT_EQ(correction.json()["images"], 2);
  const json change = correction.json()["change"];
  EXPECT_EQ(ask("POST", "/v1/undo", json{{"change", change["id"]}}.dump(), kJson).status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes/bright").json()["images"], 1);
  EXPECT_EQ(ask("POST", "/v1/undo", json{{"change", change["id"]}}.dump(), kJson).status, 409)
      << "it is undone already";
}

TEST_F(Served, FindsAClassHoweverItsNameIsWritten) {
  serve();
  ASSERT_EQ(enrol("cafe%CC%81", 10).status, 201);
  EXPECT_EQ(ask("GET", "/v1/classes/cafe%CC%81").json()["class"], "caf\xc3\xa9");
  EXPECT_EQ(ask("GET", "/v1/classes/caf%C3%A9%20").json()["images"], 1);
  ASSERT_EQ(enrol("%E2%84%AA", 240).status, 201) << "KELVIN SIGN";
  const Reply merged = ask("POST", "/v1/classes/%E2%84%AA/merge", json{{"into", "cafe\xcc\x81"}}.dump(), kJson);
  EXPECT_EQ(merged.status, 200) << merged.body;
  EXPECT_EQ(merged.json()["images"], 2);
  EXPECT_EQ(ask("DELETE", "/v1/classes/cafe%CC%81").status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes").json()["classes"], json::array());
}

TEST_F(Served, RefusesABlankNameOfAClass) {
  serve();
  enrol("dark", 10);
  for (const std::string blank : {"%20", "%C2%A0", "%E3%80%80"}) {
    const Reply enrolled = enrol(blank, 240);
    EXPECT_EQ(enrolled.status, 400) << blank << ": " << enrolled.body;
    EXPECT_THAT(enrolled.error(), HasSubstr("needs a name"));
    EXPECT_EQ(ask("GET", "/v1/classes/" + blank).status, 400) << blank;
    EXPECT_EQ(ask("DELETE", "/v1/classes/" + blank).status, 400) << blank;
  }
  for (const char* blank : {" ", "\xc2\xa0", "\xe3\x80\x80"}) {
    const Reply renamed = ask("PATCH", "/v1/classes/dark", json{{"name", blank}}.dump(), kJson);
    EXPECT_EQ(renamed.status, 400) << renamed.body;
    EXPECT_EQ(ask("POST", "/v1/classes/dark/merge", json{{"into", blank}}.dump(), kJson).status, 400);
  }
  EXPECT_EQ(ask("GET", "/v1/classes/dark").json()["images"], 1);
}

TEST_F(Served, RefusesTheAnswerForNoneOfTheClassesAsAName) {
  serve();
  enrol("dark", 10);
  const Reply enrolled = enrol("None%20of%20these", 240);
  EXPECT_EQ(enrolled.status, 400) << enrolled.body;
  EXPECT_THAT(enrolled.error(), HasSubstr("no class can be called 'None of these'"));
  EXPECT_EQ(ask("PATCH", "/v1/classes/dark", json{{"name", "none of these"}}.dump(), kJson).status, 400);
}

TEST_F(Served, DoesNothingForPagesOfOtherSites) {
  serve();
  enrol("dark", 10);
  const Headers other = {{"Sec-Fetch-Site", "cross-site"}};
  for (const char* path : {"/v1/accuracy", "/v1/recognizer/file", "/v1/classes"})
    EXPECT_EQ(ask("GET", path, "", other).status, 403) << path;
  const Reply undone = ask("POST", "/v1/undo", "", other);
  EXPECT_EQ(undone.status, 403);
  EXPECT_THAT(undone.error(), HasSubstr("pages of other sites"));
  EXPECT_EQ(ask("GET", "/", "", other).status, 200) << "a link to the page";
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Sec-Fetch-Site", "same-origin"}}).json()["classes"].size(), 1U);
  EXPECT_EQ(ask("POST", "/v1/undo").status, 200) << "a program";
}

TEST_F(Served, DoesAgainWhatWasTakenBackUntilThereIsANewChange) {
  serve();
  EXPECT_EQ(ask("POST", "/v1/redo").status, 409) << "nothing was";
  enrol("dark", 10);
  const json bright = enrol("bright", 240).json()["change"];
  const auto redo = [&](const json& change) {
    return ask("POST", "/v1/redo", json{{"change", change["id"]}}.dump(), kJson);
  };
  const json first = ask("POST", "/v1/undo").json();
  EXPECT_EQ(first["redo"]["id"], bright["id"]);
  const json dark = ask("POST", "/v1/undo").json()["undone"];
  const json listed = ask("GET", "/v1/changes").json();
  EXPECT_EQ(listed["changes"], json::array());
  ASSERT_EQ(listed["undone"].size(), 2);
  EXPECT_EQ(listed["undone"][0]["what"], "enrol 1 image of 'dark'") << "in the order of redo";
  EXPECT_EQ(ask("GET", "/v1/classes").json()["redo"]["id"], dark["id"]);
  EXPECT_EQ(redo(bright).status, 409) << "the other comes first";
  const json again = ask("POST", "/v1/redo").json();
  EXPECT_EQ(again["redone"], dark);
  EXPECT_EQ(again["change"]["id"], dark["id"]);
  EXPECT_EQ(again["redo"]["id"], bright["id"]);
  EXPECT_EQ(redo(bright).status, 200);
  EXPECT_EQ(best(20), "dark");
  EXPECT_EQ(best(230), "bright");
  EXPECT_EQ(ask("POST", "/v1/undo").status, 200);
  enrol("grey", 128);
  EXPECT_TRUE(ask("GET", "/v1/classes").json()["redo"].is_null());
  EXPECT_EQ(redo(bright).status, 409);
}

TEST_F(Served, AnImageThatIsThereAlreadyIsNoChangeThatCouldBeUndone) {
  serve();
  enrol("dark", 10);
  const Reply again = enrol("dark", 10);
  EXPECT_EQ(again.json()["added"], 0);
  EXPECT_TRUE(again.json()["change"].is_null());
}

TEST_F(Served, AnswersAFormOfImagesInTheirOrderWithWhatCouldNotBeRead) {
  serve();
  enrol("dark", 10);
  enrol("bright", 240);
  const Reply reply =
      ask("POST", "/v1/classify",
          form_of({{"image", png(230), "../../etc/b.png"}, {"image", "no image", "x.png"}, {"image", png(5), "a.png"}}),
          kForm);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const json answers = reply.json()["answers"];
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0]["ranking"][0]["class"], "bright");
  EXPECT_EQ(answers[0]["image"], "b.png") << "a client's name is a label, not a path";
  EXPECT_THAT(answers[1]["error"], HasSubstr("by its first bytes"));
  EXPECT_EQ(answers[2]["ranking"][0]["class"], "dark");
  EXPECT_EQ(answers[2]["nearest"][0]["class"], "dark");
  EXPECT_TRUE(answers[0]["none_of_these"].is_null()) << "nothing is said of that without a calibration";
}

TEST_F(Served, FeaturesAreAnsweredAsTheRecognizerDoes) {
  serve();
  enrol("dark", 10);
  enrol("bright", 240);
  Recognizer recognizer = Recognizer::open(path_);
  const at::Tensor features = at::randn({3, recognizer.file().settings().feature_dim});
  json rows = json::array();
  for (int64_t i = 0; i < 3; ++i) {
    const at::Tensor row = features[i].contiguous();
    rows.push_back(std::vector<float>(row.data_ptr<float>(), row.data_ptr<float>() + row.numel()));
  }
  const std::vector<Answer> expected = recognizer.classify_features(array_of(features));
  const json answers = ask("POST", "/v1/classify", json{{"features", rows}}.dump(), kJson).json()["answers"];
  ASSERT_THAT(answers, SizeIs(3));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(answers[i]["ranking"][0]["class"], expected[i].ranking[0].name);
    EXPECT_NEAR(answers[i]["ranking"][0]["probability"].get<double>(), expected[i].ranking[0].probability, 1e-6);
    EXPECT_EQ(answers[i]["nearest"][0]["example"], expected[i].nearest[0].id);
  }
}

TEST_F(Served, ManyAtOnceAreEachAnsweredForTheirOwnImageHoweverManyLanesThereAre) {
  constexpr int kClients = 16;
  constexpr int kRounds = 4;
  serve();
  enrol("dark", 10);
  enrol("bright", 240);
  for (const int lanes : {1, 3}) {
    ServerOptions options;
    options.lanes = lanes;
    serve(options);
    std::atomic<int> right{0};
    std::vector<std::thread> clients;
    for (int c = 0; c < kClients; ++c)
      clients.emplace_back([&, is_dark = c % 3 == 0] {
        for (int i = 0; i < kRounds; ++i) right += best(is_dark ? 20 : 230) == (is_dark ? "dark" : "bright") ? 1 : 0;
      });
    for (std::thread& one : clients) one.join();
    EXPECT_EQ(right, kClients * kRounds) << "lanes: " << lanes;
  }
}

TEST_F(Served, WhatAnotherProgramEnrolsCountsForTheNextRequest) {
  serve();
  enrol("bright", 240);
  EXPECT_EQ(best(20), "bright") << "there is no other class";
  Recognizer::open(path_).enrol({request("dark", {photo("1.png", 10)})});
  EXPECT_EQ(best(20), "dark");
  const json shown = ask("GET", "/v1/classes/dark").json();
  EXPECT_EQ(shown["examples"][0]["source"], "1.png") << "where the file lay is nobody's business";
}

TEST_F(Served, GivesTheRecognizerAsAFileThatOpensElsewhere) {
  serve();
  enrol("dark", 10);
  const Reply file = ask("GET", "/v1/recognizer/file");
  ASSERT_EQ(file.status, 200) << file.body;
  write_file(folder_ / "home.pcm", file.body);
  path_ = folder_ / "home.pcm";
  serve();
  EXPECT_EQ(ask("GET", "/v1/classes/dark").json()["images"], 1);
}

TEST_F(Served, RenamesDescribesAndRemovesClassesAndExamples) {
  serve();
  enrol("dark", 10);
  enrol("bright", 240);
  EXPECT_EQ(ask("PATCH", "/v1/classes/dark", R"({"name": "night \u2614/1"})", kJson).status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes/dark").status, 404);
  const Reply renamed = ask("GET", "/v1/classes/night%20%E2%98%94%2F1");
  ASSERT_EQ(renamed.status, 200) << renamed.body;
  EXPECT_EQ(ask("PATCH", "/v1/classes/bright", R"({"name": "night \u2614/1"})", kJson).status, 409);
  EXPECT_EQ(ask("PATCH", "/v1/classes/bright", R"({"attributes": ["tail"]})", kJson).json()["attributes"],
            R"([{"name": "tail", "weight": 1}])"_json);
  EXPECT_THAT(ask("PATCH", "/v1/classes/bright", R"({"attributes": ["tial"]})", kJson).error(),
              HasSubstr("did you mean 'tail'"));
  const std::string example = std::to_string(renamed.json()["examples"][0]["example"].get<int64_t>());
  Headers thumbnail = ask("GET", "/v1/examples/" + example + "/thumbnail").headers;
  EXPECT_EQ(thumbnail["content-type"], "image/jpeg");
  EXPECT_EQ(thumbnail["cross-origin-resource-policy"], "same-origin") << "no other site shows it";
  EXPECT_EQ(ask("DELETE", "/v1/examples/" + example).status, 200);
  EXPECT_EQ(ask("DELETE", "/v1/examples/" + example).status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/classes/bright").status, 200);
  EXPECT_EQ(ask("DELETE", "/v1/classes/bright").status, 404);
  EXPECT_EQ(ask("GET", "/v1/classes").json()["classes"].size(), 1);
  EXPECT_EQ(ask("POST", "/v1/undo").status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes").json()["classes"].size(), 2);
}

TEST_F(Served, MovesAnExampleToAnotherClass) {
  serve();
  enrol("dark", 10);
  enrol("bright", 240);
  enrol("bright", 20);
  const auto first_of = [&](const char* name) {
    return ask("GET", std::string("/v1/classes/") + name).json()["examples"][0]["example"].dump();
  };
  const std::string wrong = ask("GET", "/v1/classes/bright").json()["examples"][1]["example"].dump();
  const Reply moved = ask("PATCH", "/v1/examples/" + wrong, R"({"class": "dark"})", kJson);
  ASSERT_EQ(moved.status, 200) << moved.body;
  EXPECT_EQ(moved.json()["change"]["what"], "move 1 image to 'dark'");
  EXPECT_EQ(ask("GET", "/v1/classes/dark").json()["examples"].size(), 2);
  EXPECT_EQ(ask("GET", "/v1/classes/bright").json()["examples"].size(), 1);
  EXPECT_EQ(ask("PATCH", "/v1/examples/" + wrong, R"({"class": "dark"})", kJson).status, 404)
      << "it has another number";
  EXPECT_EQ(ask("PATCH", "/v1/examples/" + first_of("dark"), R"({"class": "dark"})", kJson).status, 409);
  EXPECT_EQ(ask("PATCH", "/v1/examples/" + first_of("dark"), R"({"class": "grey"})", kJson).status, 404);
  EXPECT_EQ(ask("PATCH", "/v1/examples/" + first_of("dark"), "{}", kJson).status, 400);
}

TEST_F(Served, MergesAClassIntoAnotherAsOneChange) {
  serve();
  for (const auto& [name, grey] : {std::pair("dark", 10), std::pair("night", 20), std::pair("night", 10)})
    enrol(name, static_cast<uint8_t>(grey));
  const auto merge = [&](const json& into) {
    return ask("POST", "/v1/classes/night/merge", json{{"into", into}}.dump(), kJson);
  };
  EXPECT_EQ(merge("bright").status, 404);
  EXPECT_EQ(merge("night").status, 409);
  EXPECT_EQ(merge(1).status, 400);
  EXPECT_EQ(ask("POST", "/v1/classes/night/merge", "{}", kJson).status, 400);
  const Reply merged = merge("dark");
  ASSERT_EQ(merged.status, 200) << merged.body;
  EXPECT_EQ(merged.json()["class"], "dark");
  EXPECT_EQ(merged.json()["images"], 2);
  EXPECT_EQ(merged.json()["added"], 1) << "one was there already";
  std::set<int64_t> there;
  const json dark = ask("GET", "/v1/classes/dark").json(), change = merged.json();
  for (const json& example : dark.at("examples")) there.insert(example.at("example").get<int64_t>());
  ASSERT_EQ(change.at("examples").size(), 2U);
  for (const json& one : change.at("examples"))
    EXPECT_EQ(there.erase(one.at("to").get<int64_t>()), 1U) << "one of its own each";
  EXPECT_EQ(merge("dark").status, 404) << "it is gone";
  EXPECT_EQ(ask("POST", "/v1/undo", json{{"change", merged.json()["change"]["id"]}}.dump(), kJson).status, 200);
  EXPECT_EQ(ask("GET", "/v1/classes/night").json()["images"], 2);
}

TEST_F(Served, WhatAClassHasKeepsItsWeights) {
  serve();
  const auto patch = [&](const json& attributes) {
    return ask("PATCH", "/v1/classes/mouse", json{{"attributes", attributes}}.dump(), kJson);
  };
  const std::string body = R"({"attributes": [{"name": "tail", "weight": 0.3}]})";
  ASSERT_EQ(ask("POST", "/v1/classes/mouse/examples", body, kJson).status, 201);
  const json shown = ask("GET", "/v1/classes/mouse").json()["attributes"];
  EXPECT_NEAR(shown.at(0).at("weight").get<double>(), 0.3, 1e-6);
  EXPECT_EQ(patch(shown).json()["attributes"], shown) << "what was read can be written";
  EXPECT_EQ(patch({"tail"}).json()["attributes"][0]["weight"], 1);
  for (const char* wrong : {R"([{"name": "tail", "weight": 0}])", R"([{"name": "tail", "weight": 1.1}])",
                            R"([{"name": "tail", "weight": "1"}])", R"([{"weight": 1}])", R"([{"name": 1}])",
                            R"([{"name": "tail", "wait": 1}])", R"(["tail", 1])"})
    EXPECT_EQ(patch(json::parse(wrong)).status, 400) << wrong;
}

TEST_F(Served, APatchThatChangesNothingIsNoChangeThatCouldBeUndone) {
  serve();
  enrol("dark", 10);
  const Reply same = ask("PATCH", "/v1/classes/dark", R"({"name": "dark"})", kJson);
  EXPECT_EQ(same.status, 200);
  EXPECT_TRUE(same.json()["change"].is_null()) << same.body;
}

TEST_F(Served, WhatIsRefusedIsCountedWhereItWasAskedFor) {
  serve();
  ask("POST", "/v1/classify", "x", {{"Content-Type", "text/plain"}});
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr(R"(method="POST",route="/v1/classify",status="415")"));
}

TEST_F(Served, AClassMayBeEnrolledByAttributesOrByFeatures) {
  serve();
  EXPECT_EQ(ask("POST", "/v1/classes/mouse/examples", R"({"attributes": ["tail"]})", kJson).status, 201);
  const Reply missing = ask("POST", "/v1/classify", png(1), kPng);
  EXPECT_EQ(missing.status, 409);
  EXPECT_THAT(missing.error(), HasSubstr("class 'mouse' has no image"));
  const std::vector<float> feature(static_cast<size_t>(Recognizer::open(path_).file().settings().feature_dim), 0.5F);
  const std::string body = json{{"features", feature}}.dump();
  EXPECT_EQ(ask("POST", "/v1/classes/mouse/examples", body, kJson).json()["added"], 1);
  EXPECT_EQ(ask("POST", "/v1/classes/mouse/examples", body, kJson).json()["added"], 0) << "it is there already";
  EXPECT_EQ(best(1), "mouse");
  const Reply form =
      ask("POST", "/v1/classes/cat/examples", form_of({{"image", png(9), "a.png"}, {"attributes", "tail"}}), kForm);
  EXPECT_EQ(form.status, 201) << form.body;
}

TEST_F(Served, CalibratesSoThatAnswersSayNoneOfThese) {
  serve();
  for (const uint8_t grey : {0, 10, 20}) enrol("dark", grey);
  for (const uint8_t grey : {230, 240, 250}) enrol("bright", grey);
  const Reply refused = ask("POST", "/v1/calibrate", R"({"false_accept": 0.01})", kJson);
  EXPECT_EQ(refused.status, 409) << "six unknown images are too few for that";
  EXPECT_THAT(refused.error(), AllOf(HasSubstr("needs at least"), HasSubstr("parts 'image' of a form")));
  const Reply made = ask("POST", "/v1/calibrate", R"({"false_accept": 0.5})", kJson);
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.json()["unknown"], 6);
  const json answer = ask("POST", "/v1/classify", png(100), kPng).json()["answers"][0];
  EXPECT_TRUE(answer["none_of_these"].is_boolean());
  double sum = answer["none"];
  for (const json& one : answer["ranking"]) sum += one["probability"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  const Reply own = ask("POST", "/v1/calibrate");
  EXPECT_FALSE(own.json()["similar"].get<bool>()) << own.body;
  EXPECT_EQ(ask("POST", "/v1/calibrate", R"({"similar": 1})", kJson).status, 400);
  const Reply balanced = ask("POST", "/v1/calibrate", R"({"similar": true})", kJson);
  EXPECT_TRUE(balanced.json()["balanced"].get<bool>()) << balanced.body;
  const Reply by_others =
      ask("POST", "/v1/calibrate",
          form_of({{"image", png(128), "a.png"}, {"image", png(130), "b.png"}, {"false_accept", "0.5"}}), kForm);
  EXPECT_EQ(by_others.json()["unknown"], 2) << by_others.body;
}

TEST_F(Served, SaysWhatIsMissingBeforeAnyClassIsThere) {
  serve();
  const Reply reply = ask("POST", "/v1/classify", png(1), kPng);
  EXPECT_EQ(reply.status, 409);
  EXPECT_THAT(reply.error(), HasSubstr("no class is enrolled"));
  EXPECT_EQ(ask("POST", "/v1/undo").status, 409);
  EXPECT_EQ(ask("GET", "/v1/classes").json()["classes"], json::array());
}

TEST_F(Served, ShowsItsHealthItsMetricsAndItsDescription) {
  serve();
  enrol("dark", 10);
  enrol("bright", 20);
  best(1);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("GET", "/readyz").status, 200);
  ask("GET", "/no/such/place");
  const Reply metrics = ask("GET", "/metrics");
  EXPECT_THAT(metrics.headers.at("content-type"), HasSubstr("text/plain"));
  EXPECT_THAT(metrics.body,
              AllOf(HasSubstr("protocom_images_total 3"), HasSubstr("# TYPE protocom_request_seconds histogram"),
                    HasSubstr(R"(route="/v1/classify")"), HasSubstr(R"(route="none")"), Not(HasSubstr("no/such"))));
  EXPECT_EQ(ask("GET", "/v1/recognizer").json()["attributes"], json({"tail"}));
}

TEST_F(Served, ThePageNeedsNothingFromElsewhere) {
  serve();
  const Reply page = ask("GET", "/");
  ASSERT_EQ(page.status, 200);
  EXPECT_THAT(page.headers.at("content-security-policy"),
              AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("unsafe"))));
  std::vector<std::string> parts = {"/", "/page.css", "/page/main.js"};
  size_t bytes = ask("GET", "/favicon.svg").body.size(), script = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Reply reply = ask("GET", parts[i]);
    EXPECT_EQ(reply.status, 200) << parts[i];
    EXPECT_THAT(reply.body, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")), Not(HasSubstr("innerHTML"))))
        << parts[i];
    bytes += reply.body.size();
    if (parts[i].find(".js") != std::string::npos) {
      script += reply.body.size();
      EXPECT_FALSE(std::regex_search(reply.body, std::regex(R"(\n( |//|/\*\*|\n))")))
          << parts[i] << " as it is written";
    }
    const std::regex import(R"(from '\./(\w+\.js)')");
    for (std::sregex_iterator at(reply.body.begin(), reply.body.end(), import), end; at != end; ++at) {
      const std::string module = "/page/" + (*at)[1].str();
      if (std::find(parts.begin(), parts.end(), module) == parts.end()) parts.push_back(module);
    }
  }
  EXPECT_GT(parts.size(), 10U) << "the modules that main.js asks for";
  EXPECT_LE(script, 120U << 10U);
  EXPECT_LT(bytes, 180'000U);
  for (const char* other : {"/page/none.js", "/page/index", "/page/style.css", "/page/openapi.js"})
    EXPECT_EQ(ask("GET", other).status, 404) << other;
  EXPECT_THAT(page.body, AllOf(Not(HasSubstr("style=")), Not(HasSubstr("onclick="))));
}

TEST_F(Served, HeadIsAnsweredAsGetWithoutABody) {
  serve();
  Client client(port());
  const Reply head = client.ask("HEAD", "/v1/classes");
  EXPECT_EQ(head.status, 200);
  EXPECT_GT(std::stoi(head.headers.at("content-length")), 0);
  EXPECT_EQ(client.ask("GET", "/healthz").status, 200) << "the connection is still in step";
}

TEST_F(Served, OneConnectionTakesRequestsOneAfterTheOther) {
  serve();
  Client client(port());
  const std::string two = client.text_of("GET", "/healthz", "", {}) + client.text_of("GET", "/readyz", "", {});
  ASSERT_TRUE(client.send(two));
  EXPECT_EQ(client.receive().json()["status"], "ok");
  EXPECT_EQ(client.receive().json()["status"], "ready");
}

TEST_F(Served, StartsOnlyWhereItIsSafe) {
  const auto stated = [&](ServerOptions options) {
    options.port = 0;
    return usage_message_of([&] { http::Server(path_, options); });
  };
  ServerOptions open;
  open.address = "0.0.0.0";
  EXPECT_THAT(stated(open), HasSubstr("API keys"));
  ServerOptions half;
  half.certificate = "c.pem";
  EXPECT_THAT(stated(half), HasSubstr("private key"));
  ServerOptions nowhere;
  nowhere.address = "example.org";
  EXPECT_THAT(stated(nowhere), HasSubstr("expected an address"));
  EXPECT_THAT(message_of([&] { http::Server(folder_ / "none.pcm", {}); }), HasSubstr("no such file"));
  serve();
  ServerOptions taken;
  taken.port = port();
  EXPECT_THAT(message_of([&] { http::Server(path_, taken); }), HasSubstr("cannot listen"));
}

}  // namespace
}  // namespace protocom::testing
