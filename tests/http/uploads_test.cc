// Forms in which clients send images.
#include "http/server_support.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Headers kJson = {{"Content-Type", "application/json"}};

/// Encodes by hand: three bytes are four letters of six bits.
std::string base64(const std::string& bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    for (int shift = 18; shift >= 0; shift -= 6) text += kLetters[bits >> shift & 63];
  }
  const size_t missing = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - missing, missing, missing, '=');
}

std::string form_with(const std::string& field, const std::string& content) {
  return "--b\r\nContent-Disposition: form-data; name=\"" + field + "\"; filename=\"a.png\"\r\n\r\n" + content +
         "\r\n--b--\r\n";
}

class Uploads : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    serve();
    enrol("dark", 10);
    enrol("light", 240);
  }

  std::string first_class(const Reply& reply, size_t image = 0) const {
    if (reply.status != 200) return reply.body;
    return reply.json().at("answers").at(image).at("ranking").at(0).at("class").get<std::string>();
  }
  Reply classify(const nlohmann::json& body) const { return ask("POST", "/v1/classify", body.dump(), kJson); }
};

// Mobile and JavaScript clients send JSON (exadel-inc/CompreFace reads base64 from a member "file").
TEST_F(Uploads, ImagesMayBeBase64InJson) {
  const std::string dark = base64(png(12)), light = base64(png(238));
  EXPECT_EQ(first_class(classify({{"image", dark}})), "dark");
  EXPECT_EQ(first_class(classify({{"image", "data:image/png;base64," + light}})), "light");
  const Reply both = classify({{"images", {dark, light}}});
  EXPECT_EQ(first_class(both, 0), "dark");
  EXPECT_EQ(first_class(both, 1), "light");
}

TEST_F(Uploads, Base64MayHaveLineEndsNoPaddingAndTheLettersOfUrls) {
  std::string text = base64(png(12));
  text.insert(40, "\r\n");
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  text.erase(text.find_last_not_of('=') + 1);
  EXPECT_EQ(first_class(classify({{"image", text}})), "dark");
}

TEST_F(Uploads, WhatIsNoBase64IsRefusedWithItsNumber) {
  EXPECT_THAT(classify({{"images", {base64(png(1)), "!!"}}}).error(), HasSubstr("image 1 is not base64"));
  EXPECT_THAT(classify({{"image", "data:image/png,abc"}}).error(), HasSubstr("without base64"));
  EXPECT_THAT(classify({{"image", 3}}).error(), HasSubstr("expected a string"));
  EXPECT_THAT(classify({{"image", "aGVsbG8="}}).error(), HasSubstr("by its first bytes"));
  EXPECT_THAT(classify(nlohmann::json::object()).error(), AllOf(HasSubstr("'features'"), HasSubstr("'image'")));
}

TEST_F(Uploads, AClassIsEnrolledByBase64) {
  const nlohmann::json body = {{"images", {base64(png(100)), base64(png(104))}}};
  const Reply reply = ask("POST", "/v1/classes/grey/examples", body.dump(), kJson);
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(reply.json().at("images"), 2);
  EXPECT_EQ(best(102), "grey");
}

// FastAPI's and Flask's examples call the field "file", HTML's multiple inputs "files[]".
TEST_F(Uploads, AFormsImagesMayBeCalledFile) {
  const Headers form = {{"Content-Type", "multipart/form-data; boundary=b"}};
  for (const char* field : {"image", "images", "file", "files", "file[]", "images[]"})
    EXPECT_EQ(first_class(ask("POST", "/v1/classify", form_with(field, png(12)), form)), "dark") << field;
  EXPECT_THAT(ask("POST", "/v1/classify", form_with("upload", png(12)), form).error(),
              AllOf(HasSubstr("unknown field 'upload'"), HasSubstr("expected 'image'")));
}

class Origins : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    http::ApiKeys keys;
    key_ = keys.add({"reader", http::Role::kRead, "", 6000});
    keys.write(folder_ / "keys.json");
    ServerOptions options;
    options.keys = folder_ / "keys.json";
    options.origins = {"https://shop.example"};
    serve(options);
  }

  std::string key_;
};

// Reported in public: ggml-org/llama.cpp issue 6544, syncthing/syncthing pull request 2780.
TEST_F(Origins, ThatAreNamedGetTheirPreflightAndMayReadTheAnswer) {
  const Reply preflight = ask("OPTIONS", "/v1/classify", "",
                              {{"Origin", "https://shop.example"},
                               {"Access-Control-Request-Method", "POST"},
                               {"Access-Control-Request-Headers", "authorization"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.headers.at("access-control-allow-origin"), "https://shop.example");
  EXPECT_EQ(preflight.headers.at("access-control-allow-methods"), "POST");
  EXPECT_THAT(preflight.headers.at("access-control-allow-headers"), HasSubstr("Authorization"));
  const Reply reply =
      ask("GET", "/v1/classes", "", {{"Origin", "https://shop.example"}, {"Authorization", "Bearer " + key_}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("access-control-allow-origin"), "https://shop.example");
  EXPECT_EQ(reply.headers.at("vary"), "Origin");
  EXPECT_EQ(ask("GET", "/v1/classes", "", {{"Origin", "https://shop.example"}}).status, 401) << "a key is still needed";
}

TEST_F(Origins, ThatAreNotNamedGetNothing) {
  const Headers other = {{"Origin", "https://evil.example"},
                         {"Access-Control-Request-Method", "POST"},
                         {"Authorization", "Bearer " + key_}};
  EXPECT_EQ(ask("OPTIONS", "/v1/classify", "", other).status, 405);
  const Reply reply = ask("GET", "/v1/classes", "", other);
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.headers.count("access-control-allow-origin"), 0U);
}

}  // namespace
}  // namespace protocom::testing
