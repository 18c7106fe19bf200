// The recognizer as an ONNX file, from the server.
#include <gmock/gmock.h>

#include <thread>

#include "encoders/onnx_file.h"
#include "http/page_support.h"
#include "io/json.h"
#include "recognizer/export_onnx.h"
#include "support/colour_encoder.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kColourSide = 8;

/// Makes a recognizer of mean colours, with an encoder that may be part of an ONNX file.
fs::path make_colour_recognizer(const fs::path& folder) {
  write_file(folder / "colours.onnx", colour_encoder(kColourSide, stated_side(kColourSide)));
  RecognizerParts parts;
  parts.backbone = folder / "colours.onnx";
  parts.moments = "off";
  fs::path path = folder / "my colours.pcm";
  create_recognizer(path, parts, {});
  return path;
}

class ServedOnnx : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    path_ = make_colour_recognizer(folder_.path());
    serve();
  }
  void enrol_both() const {
    enrol("dark", 10);
    enrol("bright", 240);
  }
  [[nodiscard]] std::string written(const OnnxExportOptions& options) const {
    Recognizer recognizer = Recognizer::open(path_);
    return onnx_content(recognizer, options).bytes;
  }
};

TEST_F(ServedOnnx, IsTheFileThatTheCommandWrites) {
  enrol_both();
  const Reply reply = ask("GET", "/v1/recognizer/onnx");
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.headers.at("content-type"), "application/octet-stream");
  EXPECT_EQ(reply.headers.at("content-disposition"), "attachment; filename*=UTF-8''my%20colours.onnx");
  EXPECT_EQ(ask("GET", "/v1/recognizer/file").headers.at("content-disposition"),
            "attachment; filename*=UTF-8''my%20colours.pcm");
  EXPECT_EQ(reply.body, written({}));
  write_file(folder_ / "taken.onnx", reply.body);
  EXPECT_THAT(parse_json(onnx::read_outline(folder_ / "taken.onnx").metadata.at("classes"), ""),
              ElementsAre("dark", "bright"));
}

TEST_F(ServedOnnx, HasTheInputAndTheWeightsThatAreAskedFor) {
  enrol_both();
  OnnxExportOptions bytes, head;
  bytes.uint8 = bytes.half = true;
  head.features = true;
  EXPECT_EQ(ask("GET", "/v1/recognizer/onnx?input=uint8&weights=float16").body, written(bytes));
  EXPECT_EQ(ask("GET", "/v1/recognizer/onnx?input=features").body, written(head));
  EXPECT_THAT(ask("GET", "/v1/recognizer/onnx?input=words").error(),
              HasSubstr("'input': expected image or uint8 or features, found 'words'"));
  EXPECT_EQ(ask("GET", "/v1/recognizer/onnx?weights=float8").status, 400);
  EXPECT_EQ(ask("GET", "/v1/recognizer/onnx?half=1").status, 400);
  EXPECT_EQ(ask("POST", "/v1/recognizer/onnx").status, 405);
}

TEST_F(ServedOnnx, HasItsLabelsApart) {
  EXPECT_EQ(ask("GET", "/v1/recognizer/onnx?file=labels").status, 409) << "no class";
  enrol_both();
  const Reply reply = ask("GET", "/v1/recognizer/onnx?file=labels");
  EXPECT_EQ(reply.body, "dark\nbright\n");
  EXPECT_EQ(reply.headers.at("content-disposition"), "attachment; filename*=UTF-8''my%20colours.labels.txt");
  EXPECT_EQ(ask("GET", "/v1/recognizer/onnx?file=zip").status, 400);
}

TEST_F(ServedOnnx, FollowsTheClasses) {
  const Reply none = ask("GET", "/v1/recognizer/onnx");
  EXPECT_EQ(none.status, 409);
  EXPECT_THAT(none.error(), HasSubstr("no class is enrolled"));
  enrol_both();
  const std::string two = ask("GET", "/v1/recognizer/onnx").body;
  enrol("grey", 128);
  EXPECT_NE(ask("GET", "/v1/recognizer/onnx").body, two);
}

TEST_F(ServedOnnx, LeavesTheOthersTheirAnswers) {
  enrol_both();
  std::vector<std::thread> takers;
  std::atomic<int> taken{0}, refused{0};
  for (int i = 0; i < 8; ++i) {
    takers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const Reply reply = ask("GET", "/v1/recognizer/onnx");
        taken += reply.status == 200;
        refused += reply.status == 503 && reply.headers.count("retry-after") > 0;
      }
    });
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(best(20), "dark");
  for (std::thread& taker : takers) taker.join();
  EXPECT_GE(taken, 1);
  EXPECT_EQ(taken + refused, 40) << "one is made at a time";
}

TEST_F(Served, GivesAnOnnxFileWithAnEncoderThatIsNone) {
  serve();
  enrol("dark", 10);
  enrol("bright", 240);
  const Reply reply = ask("GET", "/v1/recognizer/onnx");
  ASSERT_EQ(reply.status, 200) << reply.body;
  Recognizer recognizer = Recognizer::open(path_);
  EXPECT_EQ(reply.body, onnx_content(recognizer).bytes);
}

/// The page of such a recognizer.
class PageOfOnnx : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    path_ = make_colour_recognizer(folder_.path());
    open_page({});
    enrol("dark", 10);
    enrol("bright", 240);
    reload();
  }
};

TEST_F(PageOfOnnx, DownloadsItForOtherPrograms) {
  go("use");
  click("#take-onnx");
  EXPECT_TRUE(status_has("my colours-onnx.zip is saved")) << text("#status");
  EXPECT_EQ(
      browser_->evaluate("import('./page/api.js').then(m => m.callBlob('v1/recognizer/onnx')).then(blob => blob.size)"),
      ask("GET", "/v1/recognizer/onnx").body.size());
}

}  // namespace
}  // namespace protocom::testing
