// The page that an export writes, opened as a file in a browser.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <memory>

#include "http/browser.h"
#include "io/json.h"
#include "recognizer/export_onnx.h"
#include "recognizer/recognizer_support.h"
#include "support/colour_encoder.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSquare = 8;

/// Replaces ONNX Runtime Web: two classes by the mean of its input, which it keeps.
constexpr const char* kRuntime = R"(
export const env = {wasm: {}};
export class Tensor { constructor(type, data, dims) { Object.assign(this, {type, data, dims}); } }
const share = ({data, type}) => data.reduce((sum, one) => sum + one, 0) / data.length / (type === 'uint8' ? 255 : 1);
export const InferenceSession = {create: async model => ({run: async ({image}) => {
  const bright = share(image);
  globalThis.asked = {dims: image.dims, type: image.type, data: [...image.data], model: model.length,
                      wasm: new TextDecoder().decode(env.wasm.wasmBinary)};
  return {label: {data: [BigInt(bright > 0.5)]}, probabilities: {data: [1 - bright, bright]}, none_of_these: {data: [0.25]}};
}})};
)";

class PageOfExport : public SmallRecognizer {
 protected:
  void SetUp() override {
    if (std::getenv("PROTOCOM_NO_BROWSER") != nullptr) GTEST_SKIP() << "PROTOCOM_NO_BROWSER: the page is NOT TRIED";
    ASSERT_FALSE(Chromium::command().empty())
        << "there is no Chromium (scripts/packages-test.txt); PROTOCOM_NO_BROWSER=1 leaves the page out";
    SmallRecognizer::SetUp();
    fs::create_directory(folder_ / "dist");
    write_file(folder_ / "dist/ort.wasm.bundle.min.mjs", kRuntime);
    write_file(folder_ / "dist/ort-wasm-simd-threaded.wasm", "compiled");
    options_.page = (folder_ / "page.html").string();
    options_.runtime = (folder_ / "dist").string();
  }

  /// Makes a recognizer of mean colours; `stated`: what the encoder's file says of its images besides their side.
  void make(const json& stated = json::object()) {
    json said = {{"image_size", kSquare}, {"resize", 10}};
    said.update(stated);
    write_file(folder_ / "colours.onnx", colour_encoder(kSquare, said.dump()));
    RecognizerParts parts;
    parts.backbone = folder_ / "colours.onnx";
    parts.moments = "off";
    path_ = folder_ / "colours.pcm";
    for (const char* last : {"colours.pcm", "colours.exported.onnx", "colours.exported.labels.txt"})
      fs::remove(folder_ / last);
    create_recognizer(path_, parts, {});
    Recognizer recognizer = Recognizer::open(path_);
    recognizer.enrol({request("</script>dark", {coloured("1.png", {10, 20, 90})}),
                      request("002.Bright_Bird", {coloured("2.png", {240, 200, 120})})});
    fs::remove(folder_ / "colours.onnx");
  }

  std::string coloured(const std::string& name, const std::array<uint8_t, 3>& colour) const {
    std::vector<uint8_t> rgb;
    for (int64_t i = 0; i < kSide * kSide * 3; ++i) rgb.push_back(colour[static_cast<size_t>(i % 3)]);
    write_file(folder_ / name, encode_png({kSide, kSide, rgb}));
    return (folder_ / name).string();
  }

  OnnxExport exported() const {
    Recognizer recognizer = Recognizer::open(path_);
    return export_onnx(recognizer, folder_ / "colours.exported.onnx", options_);
  }

  void open() {
    browser_ = std::make_unique<Browser>();
    browser_->open("file://" + options_.page);
    ASSERT_TRUE(browser_->wait_for("globalThis.classify"))
        << browser_->evaluate("document.getElementById('status').textContent");
  }

  /// Returns a striped image of other sides than the encoder takes.
  fs::path striped(int64_t height, int64_t width) const {
    std::vector<uint8_t> rgb;
    for (int64_t i = 0; i < height * width * 3; ++i) rgb.push_back(static_cast<uint8_t>(128 + 120 * std::sin(i * i)));
    fs::path path = folder_ / "striped.png";
    write_file(path, encode_png({height, width, rgb}));
    return path;
  }

  std::string answers() {
    return browser_->evaluate("document.getElementById('answers').innerText").get<std::string>();
  }
  void show(const fs::path& file, int count) {
    browser_->choose("#files", {file.string()});
    ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#answers ol').length === " + std::to_string(count) +
                                   " && document.querySelector('#answers ol li')"));
  }

  OnnxExportOptions options_;
  std::unique_ptr<Browser> browser_;
};

TEST_F(PageOfExport, AnswersAboutPhotosAndTheCamerasPicture) {
  make();
  const OnnxExport made = exported();
  EXPECT_EQ(made.page, options_.page);
  open();
  show(photo("3.png", 20), 1);
  EXPECT_THAT(answers(),
              AllOf(HasSubstr("script dark\n92 %"), HasSubstr("Bright Bird"), HasSubstr("None of these\n25 %")));
  const json asked = browser_->evaluate("asked");
  EXPECT_EQ(asked.at("dims"), json({1, 3, kSquare, kSquare}));
  EXPECT_EQ(asked.at("model"), made.bytes);
  EXPECT_EQ(asked.at("wasm"), "compiled");
  write_file(folder_ / "no.png", "no picture");
  show(folder_ / "no.png", 2);
  EXPECT_TRUE(browser_->wait_for("document.getElementById('answers').innerText.includes('no.png cannot be read')"));
  browser_->evaluate("document.getElementById('camera').click()");
  EXPECT_TRUE(
      browser_->wait_for("document.querySelector('#live-answer li') && !document.getElementById('live').hidden"));
  browser_->evaluate("document.getElementById('camera').click()");
  EXPECT_TRUE(browser_->wait_for("document.getElementById('live').hidden"));
  EXPECT_THAT(browser_->complaints(), IsEmpty()) << "its policy lets nothing else in";
}

TEST_F(PageOfExport, AnswersAsTheRecognizerInOnnxRuntimeWeb) {
  const char* modules = std::getenv("PROTOCOM_NODE_MODULES");
  if (modules == nullptr)
    GTEST_SKIP()
        << "PROTOCOM_NODE_MODULES (npm install --ignore-scripts onnxruntime-web): ONNX Runtime Web is NOT TRIED";
  options_.runtime = std::string(modules) + "/onnxruntime-web/dist";
  make();
  exported();
  open();
  Recognizer recognizer = Recognizer::open(path_);
  const fs::path file = striped(10, 10);  // nothing is resized
  browser_->evaluate(
      "document.getElementById('files').addEventListener('change', event => { "
      "globalThis.answer = classify(event.target.files[0]); }, true)");
  browser_->choose("#files", {file.string()});
  const json answer = browser_->evaluate("answer");
  const Answer own = recognizer.classify(file);
  EXPECT_EQ(answer.at("class"), own.ranking.front().name);
  for (const RankedClass& one : own.ranking) {
    const size_t k = one.name == "002.Bright_Bird" ? 1 : 0;
    EXPECT_NEAR(answer.at("probabilities").at(k).get<double>(), one.probability, 1e-4);
  }
}

TEST_F(PageOfExport, IsRefusedWhereItCannotBe) {
  make({{"resampling", "nearest"}});
  EXPECT_THAT(usage_message_of([&] { exported(); }), HasSubstr("nearest"));
  make();
  write_file(options_.page, "mine");
  EXPECT_THAT(message_of([&] { exported(); }), HasSubstr("page.html"));
  EXPECT_EQ(read_file(options_.page), "mine");
  fs::remove(options_.page);
  exported();
  exported();  // over an earlier one
  fs::remove(folder_ / "dist/ort-wasm-simd-threaded.wasm");
  EXPECT_THAT(message_of([&] { exported(); }), AllOf(HasSubstr("ort-wasm-simd-threaded.wasm"), HasSubstr("npm")));
  options_.runtime = "";
  EXPECT_THAT(usage_message_of([&] { exported(); }), HasSubstr("onnxruntime-web"));
  options_.features = true;
  EXPECT_THAT(usage_message_of([&] { exported(); }), HasSubstr("leave out features"));
}

}  // namespace
}  // namespace protocom::testing
