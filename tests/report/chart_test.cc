#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "base/error.h"
#include "images/image.h"
#include "io/base64.h"
#include "report/detail/figure_style.h"
#include "report/detail/likeness.h"
#include "report/detail/photo_sheet.h"
#include "report/section.h"
#include "report/svg.h"

namespace protocom {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(LinearScale, MapsItsEndsAndWhatIsBetween) {
  const LinearScale scale{0.0, 80.0, 116.0, 296.0};
  EXPECT_DOUBLE_EQ(scale(0.0), 116.0);
  EXPECT_DOUBLE_EQ(scale(80.0), 296.0);
  EXPECT_DOUBLE_EQ(scale(20.0), 161.0);
}

TEST(LinearScale, HasRoundTicksWithinItsRange) {
  EXPECT_THAT((LinearScale{0.0, 80.0, 0.0, 1.0}.ticks(4)), ElementsAre(0.0, 20.0, 40.0, 60.0, 80.0));
  EXPECT_THAT((LinearScale{0.0, 1.0, 0.0, 1.0}.ticks(4)), Pointwise(DoubleNear(1e-12), {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}));
  EXPECT_THAT((LinearScale{-1.0, 1.0, 0.0, 1.0}.ticks(4)), Pointwise(DoubleNear(1e-12), {-1.0, -0.5, 0.0, 0.5, 1.0}));
  EXPECT_FALSE(std::signbit((LinearScale{0.0, 80.0, 0.0, 1.0}.ticks(4))[0]));
}

TEST(RoundUp, GivesTheNextRoundNumber) {
  EXPECT_DOUBLE_EQ(round_up(73.0), 100.0);
  EXPECT_DOUBLE_EQ(round_up(50.0), 50.0);
  EXPECT_DOUBLE_EQ(round_up(0.021), 0.025);
  EXPECT_DOUBLE_EQ(round_up(1.2), 2.0);
}

TEST(Svg, SaysItsTitleAndDescriptionAndEscapesText) {
  Svg svg(10.0, 20.0, {"fig", "A < B", "say \"hi\" & go"});
  svg.text({1.0, 2.5}, "x<y", Anchor::kEnd, "label");
  const std::string text = svg.str();
  EXPECT_THAT(text, HasSubstr("<title id=\"fig-title\">A &lt; B</title>"));
  EXPECT_THAT(text, HasSubstr("<desc id=\"fig-desc\">say &quot;hi&quot; &amp; go</desc>"));
  EXPECT_THAT(text, HasSubstr("aria-labelledby=\"fig-title fig-desc\""));
  EXPECT_THAT(text, HasSubstr("<text x=\"1\" y=\"2.5\" text-anchor=\"end\" class=\"label\">x&lt;y</text>"));
}

// The label column is as wide as "inductive" at 11 pixels: 0.58 * 11 * 9 + 12, rounded up to 70. The axis extends from
// there (0) to x = 294 (100): 224 pixels for 100.
TEST(BarChart, DrawsBarsAndErrorBarsToScale) {
  BarChart chart;
  chart.id = "c";
  chart.high = 100.0;
  chart.unit = "%";
  chart.bars = {{"mean", "inductive", 50.0, 10.0, "m-mean"}};
  chart.references = {{20.0, "chance"}};
  const std::string text = draw(chart).str();
  EXPECT_THAT(text, HasSubstr("<rect x=\"70\" y=\"33\" width=\"112\" height=\"20\" rx=\"2\" class=\"bar m-mean\"/>"));
  EXPECT_THAT(text, HasSubstr("<line x1=\"159.6\" y1=\"43\" x2=\"204.4\" y2=\"43\" class=\"error\"/>"));  // 40 and 60
  EXPECT_THAT(text, HasSubstr("<line x1=\"114.8\" y1=\"18\" x2=\"114.8\" y2=\"64\" class=\"reference\"/>"));
  EXPECT_THAT(text, HasSubstr(">50.0</text>"));
  EXPECT_THAT(text, HasSubstr(">±10.0</text>"));
  EXPECT_THAT(text, HasSubstr(">100%</text>"));
}

TEST(BarChart, DrawsNegativeValuesToTheLeftOfZeroAndWithAMinus) {
  BarChart chart;
  chart.low = -1.0;
  chart.decimals = 2;
  chart.bars = {{"a", "", -0.5, 0.0, "m-mean"}, {"b", "", 0.5, 0.0, "m-mean"}};
  const std::string text = draw(chart).str();
  // 60 (-1) to 294 (1): zero at 177, 117 pixels for 1.
  EXPECT_THAT(text, HasSubstr("<rect x=\"118.5\" y=\"28\" width=\"58.5\""));
  EXPECT_THAT(text, HasSubstr("<rect x=\"177\" y=\"54\" width=\"58.5\""));
  EXPECT_THAT(text, HasSubstr(">−0.50</text>"));
}

TEST(BarChart, ShortensLabelsThatDoNotFitAndKeepsThemWholeUnderThePointer) {
  BarChart chart;
  chart.bars = {{"a label that is much longer than its column", "", 0.5, 0.0, "m-mean"}};
  const std::string text = draw(chart).str();
  EXPECT_THAT(text, HasSubstr("…</text>"));
  EXPECT_THAT(text, HasSubstr("<title>a label that is much longer than its column: 0.5 </title>"));
}

LineChart two_curves() {
  LineChart chart;
  chart.id = "l";
  chart.title = "Accuracy";
  chart.x_label = "K";
  chart.y_label = "accuracy, %";
  chart.series = {{"mean", "m-mean", {1.0, 2.0, 3.0}, {50.0, 60.0, 70.0}, {1.0, 1.0, 1.0}},
                  {"completed", "m-completed", {1.0, 2.0, 3.0}, {55.0, 58.0, 61.0}, {}}};
  return chart;
}

TEST(LineChart, DrawsEveryPointMarkAndBand) {
  const std::string text = draw(two_curves()).str();
  EXPECT_THAT(text, HasSubstr("class=\"band m-mean\""));
  EXPECT_THAT(text, Not(HasSubstr("class=\"band m-completed\"")));  // it has no intervals
  EXPECT_THAT(text, HasSubstr("class=\"curve m-completed\""));
  EXPECT_THAT(text, HasSubstr("accuracy, %"));
}

TEST(LineChart, ShowsTheIntervalOfEachPointUnderThePointer) {
  const std::string text = draw(two_curves()).str();
  EXPECT_EQ(count_of(text, "class=\"spot\""), 6U);
  EXPECT_EQ(count_of(text, "class=\"peek\""), 6U);
  EXPECT_THAT(text, HasSubstr(">2: 60.0 ± 1.0  (59.0 to 61.0)</text>"));
  EXPECT_THAT(text, HasSubstr(">3: 61.0</text>"));
  EXPECT_THAT(figure_css(), HasSubstr(".peek { display: none"));
  EXPECT_THAT(figure_css(), HasSubstr(".spot:hover > .peek { display: inline"));
}

TEST(LineChart, BreaksCurvesSoThatTheyAreToldApartWithoutColour) {
  LineChart chart = two_curves();
  chart.series[1].css_class = "extra-36";
  EXPECT_THAT(draw(chart).str(), HasSubstr("class=\"curve extra-36 dash-4\""));
  EXPECT_THAT(figure_css(), HasSubstr("svg .dash-4 { stroke-dasharray: 14 3; }"));
}

TEST(LineChart, SaysItsCurvesInWords) {
  EXPECT_EQ(describe(two_curves()),
            "Curves of accuracy, % against K. mean: 50.0 at 1, 70.0 at 3, between 50.0 and 70.0. completed: 55.0 at 1, "
            "61.0 at 3, between 55.0 and 61.0.");
}

TEST(LineChart, OfOnePointOrEqualValuesHasFinitePlaces) {
  LineChart chart = two_curves();
  chart.series = {{"flat", "m-mean", {1.0}, {50.0}, {}}};
  EXPECT_THAT(draw(chart).str(), Not(HasSubstr("nan")));
  chart.series = {{"none", "m-mean", {}, {}, {}}};
  EXPECT_THAT(draw(chart).str(), Not(HasSubstr("nan")));
  EXPECT_THAT(draw(chart).str(), Not(HasSubstr("inf")));
}

TEST(HeatMap, NamesTheWorstConfusion) {
  HeatMap map;
  map.labels = {"cat", "dog"};
  map.percent = {{90.0, 10.0}, {30.0, 70.0}};
  map.row_title = "true class";
  map.column_title = "predicted class";
  EXPECT_THAT(describe(map), HasSubstr("between 70 and 90 percent. Most confused: dog taken for cat, 30 percent."));
  EXPECT_THAT(draw(map).str(), HasSubstr("<title>predicted class, cat: 30.0 % of the queries of dog</title>"));
}

TEST(HeatMap, HasFullNamesOnBothSidesAndScalesWithNumbers) {
  HeatMap map;
  map.labels = {"Ruby-throated Hummingbird", "dog"};
  map.percent = {{90.0, 10.0}, {32.0, 68.0}};
  const std::string text = draw(map).str();
  EXPECT_EQ(count_of(text, ">Ruby-throated Hummingbird</text>"), 2U);
  EXPECT_THAT(text, HasSubstr("rotate(-90 "));
  for (const char* tick : {">50</text>", ">100%</text>", ">20</text>", ">40%</text>"})
    EXPECT_THAT(text, HasSubstr(tick));
}

TEST(HeatMap, IsAsWideAsItsCellsNeedAndNotMadeSmaller) {
  HeatMap map;
  map.labels = std::vector<std::string>(60, "a class");
  map.percent = std::vector<std::vector<double>>(60, std::vector<double>(60, 1.0));
  EXPECT_GE(draw(map).width(), 60 * 17.0);
}

// 0 and 3 are most similar, then 1 and 2; 2 is more similar to 3 than any other across the two pairs.
TEST(Likeness, PutsBesideOneAnotherWhatIsAlike) {
  const std::vector<std::vector<double>> likeness = {{90, 1, 0, 30}, {0, 90, 20, -1}, {0, 10, 90, 9}, {20, 0, 0, 90}};
  EXPECT_THAT(order_by_likeness(likeness), AnyOf(ElementsAre(0, 3, 2, 1), ElementsAre(1, 2, 3, 0)));
  EXPECT_THAT(order_by_likeness({}), ElementsAre());
  EXPECT_THAT(order_by_likeness({{1}}), ElementsAre(0));
}

TEST(PictureChart, EmbedsItsPicturesAndSaysWhatTheyAre) {
  PictureChart chart;
  chart.title = "goose";
  chart.rows = {{"nearest", {{"/9j/4AA=", "0.93", "a.jpg, cosine 0.93"}, {"", "0.5", "gone.jpg"}}}};
  const std::string text = draw(chart).str();
  EXPECT_THAT(text, HasSubstr("href=\"data:image/jpeg;base64,/9j/4AA=\""));
  EXPECT_THAT(text, HasSubstr("<title>a.jpg, cosine 0.93</title>"));
  EXPECT_THAT(text, HasSubstr("class=\"empty\""));
  EXPECT_EQ(describe(chart), "Pictures. nearest: a.jpg, cosine 0.93; gone.jpg.");
}

TEST(ScatterChart, DrawsOneMarkForEachPoint) {
  ScatterChart chart;
  chart.groups = {{"a", {0.0, 1.0, 0.5}, {0.0, 1.0, 0.5}}};
  const std::string text = draw(chart).str();
  size_t marks = 0;
  for (size_t at = text.find("class=\"dot "); at != std::string::npos; at = text.find("class=\"dot ", at + 1)) ++marks;
  EXPECT_EQ(marks, 3U);
}

TEST(ScatterChart, ShowsClassAndPhotoOfAPointUnderThePointer) {
  ScatterChart chart;
  chart.id = "map";
  chart.groups = {{"goose", {0.0, 1.0, 0.5}, {0.0, 1.0, 0.5}}};
  EXPECT_EQ(count_of(draw(chart).str(), "class=\"spot\""), 3U);
  EXPECT_THAT(draw(chart).str(), Not(HasSubstr("<image")));
  chart.groups[0].sheet = "/9j/4AA=";
  chart.groups[0].columns = 2;
  const std::string text = draw(chart).str();
  EXPECT_EQ(count_of(text, "<image id=\"map-sheet-0\""), 1U) << "one picture for all of a class";
  for (const char* box : {"viewBox=\"0 0 180 180\"", "viewBox=\"180 0 180 180\"", "viewBox=\"0 180 180 180\""})
    EXPECT_THAT(text, HasSubstr(box));
}

TEST(ScatterChart, GivesAGroupTheLookOfItsPlace) {
  ScatterChart chart;
  chart.groups = {{"a", {0.5}, {0.5}}};
  const std::string own = draw(chart).str();
  EXPECT_THAT(own, HasSubstr("class=\"dot hue-1\""));
  chart.groups[0].place = 2;
  EXPECT_THAT(draw(chart).str(), AllOf(HasSubstr("<polygon class=\"dot hue-3\""), Not(HasSubstr("hue-1"))));
}

TEST(PhotoSheet, HoldsAPhotoForEachPointOnOnePicture) {
  Image red{8, 8, std::vector<uint8_t>(192, 0)};
  for (size_t i = 0; i < red.rgb.size(); i += 3) red.rgb[i] = 255;
  const PhotoSheet sheet = photo_sheet({"", base64(encode_jpeg(red, 95)), "/9j/4AA="});
  EXPECT_EQ(sheet.columns, 2);
  const Image image = decode_image(from_base64(sheet.jpeg));
  EXPECT_EQ(image.width, 96);
  const auto* photo = &image.rgb[static_cast<size_t>(3 * (24 * 96 + 72))];
  EXPECT_GT(photo[0], 220);
  EXPECT_LT(photo[1], 40);
  EXPECT_NEAR(image.rgb[static_cast<size_t>(3 * (72 * 96 + 24))], 128, 10) << "what cannot be read stays grey";
  EXPECT_EQ(photo_sheet({"", ""}).jpeg, "");
}

TEST(Numbers, HaveATrueMinusAndNoNegativeZero) {
  EXPECT_EQ(format_number(-1.26, 1), "−1.3");
  EXPECT_EQ(format_number(-0.04, 1), "0.0");
  EXPECT_EQ(format_number(0.04, 1), "0.0");
  EXPECT_EQ(format_number(-0.04, 2), "−0.04");
}

TEST(Numbers, GetAsManyDecimalsAsTheyNeed) {
  EXPECT_EQ(decimals_for({0.0, 20.0}), 0);
  EXPECT_EQ(decimals_for({0.2, 0.4}), 1);
  EXPECT_EQ(decimals_for({0.25, 0.5}), 2);
  EXPECT_EQ(decimals_for({1.0 / 3.0}), 4);
}

TEST(FitText, CutsWholeCharactersOnly) {
  EXPECT_EQ(fit_text_to("mean", 100.0, 10.0), "mean");
  EXPECT_EQ(fit_text_to("éééééé", 0.58 * 10.0 * 4.0, 10.0), "ééé…");  // room for four characters
}

TEST(Svg, AsAFileStandsAlone) {
  const std::string text = draw(two_curves()).file();
  EXPECT_EQ(text.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0U);
  EXPECT_THAT(text, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(text, HasSubstr("class=\"label\">Accuracy</text>"));  // the title, which a page shows as the caption
  EXPECT_THAT(text, HasSubstr(".m-mean { --series: var(--m-mean); }"));
}

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = at; i < at + 4; ++i) value = value << 8U | static_cast<uint8_t>(bytes[i]);
  return value;
}

// A rectangle over the whole drawing in the colour of `completed`, #0068a8; around it a margin of 14 pixels and a line
// of 30 for the title: 10 + 28 and 20 + 58 pixels, times three.
TEST(Svg, AsAPngHasItsSizeAndColours) {
  Svg svg(10.0, 20.0, {"p", "t", "d"});
  svg.rect({{0.0, 0.0}, 10.0, 20.0}, "bar m-completed");
  const std::string bytes = svg.png(3.0);
  EXPECT_EQ(bytes.substr(1, 3), "PNG");
  EXPECT_EQ(big_endian(bytes, 16), 114U);
  EXPECT_EQ(big_endian(bytes, 20), 234U);
  const Image image = decode_image(bytes);
  const auto pixel = [&](int64_t y, int64_t x) {
    const auto at = static_cast<size_t>(3 * (y * image.width + x));
    return std::array<int, 3>{image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
  };
  EXPECT_THAT(pixel(3 * 54, 3 * 19), ElementsAre(0x00, 0x68, 0xa8));
  EXPECT_THAT(pixel(0, 0), ElementsAre(255, 255, 255));
}

TEST(Svg, AsAPngHasNothingUnderThePointer) {
  Svg svg(20.0, 20.0, {"p", "t", "d"});
  svg.begin_spot({10.0, 10.0}, 5.0);
  svg.rect({{0.0, 0.0}, 20.0, 20.0}, "bar m-completed");
  svg.end_spot();
  svg.rect({{0.0, 0.0}, 2.0, 2.0}, "bar m-completed");
  const Image image = decode_image(svg.png(1.0));
  const auto red = [&](int64_t y, int64_t x) { return image.rgb[static_cast<size_t>(3 * (y * image.width + x))]; };
  EXPECT_EQ(red(44 + 10, 14 + 10), 255);
  EXPECT_EQ(red(44 + 1, 14 + 1), 0);
}

TEST(Svg, AsAPngHoldsThePicturesThatAreInIt) {
  const std::string red = encode_png({2, 2, {255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0}});
  Svg svg(8.0, 8.0, {"p", "t", "d"});
  svg.image({0.0, 0.0}, 8.0, base64(red));
  const Image image = decode_image(svg.png(1.0));
  const auto middle = static_cast<size_t>(3 * ((44 + 4) * image.width + 14 + 4));
  EXPECT_EQ(image.rgb[middle], 255);
  EXPECT_EQ(image.rgb[middle + 1], 0);
}

// RFC 4648, section 10.
TEST(Base64, HasTheValuesOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  for (const char* text : {"", "f", "fo", "foo", "foob", "\xff\xfe"}) EXPECT_EQ(from_base64(base64(text)), text);
  EXPECT_THROW(from_base64("Zg="), Error);
  EXPECT_THROW(from_base64("Z*=="), Error);
}

double luminance(const std::string& hex) {
  double sum = 0.0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (size_t i = 0; i < 3; ++i) {
    const double value = static_cast<double>(std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16)) / 255.0;
    sum += weights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const std::string& a, const std::string& b) {
  const double x = luminance(a);
  const double y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// WCAG 2.1: 3:1 for graphics, 4.5:1 for text.
TEST(Palette, HasEnoughContrastInLightAndDark) {
  std::map<std::string, PaletteColour> colours;
  for (const PaletteColour& colour : palette()) colours[colour.name] = colour;
  for (const auto& [name, colour] : colours) {
    const bool text = name == "ink" || name == "soft" || name == "good" || name == "bad";
    if (!text && !is_series_class(name)) continue;
    for (const char* ground : {"card", "page"}) {
      EXPECT_GE(contrast(colour.light, colours[ground].light), text ? 4.5 : 3.0) << name << " on light " << ground;
      EXPECT_GE(contrast(colour.dark, colours[ground].dark), text ? 4.5 : 3.0) << name << " on dark " << ground;
    }
  }
}

TEST(EscapeHtml, LeavesNothingThatTurnsTheTextBesideIt) {
  EXPECT_EQ(escape_html("<b>\xe2\x80\xaegpj\xc2\x9b\n\xc3\xb6"), "&lt;b&gt; gpj \n\xc3\xb6");
}

}  // namespace
}  // namespace protocom
