#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocom/report/bar_chart.h"
#include "protocom/report/svg.h"

namespace protocom {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

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
  Svg svg(10.0, 20.0, "fig", "A < B", "say \"hi\" & go");
  svg.text({1.0, 2.5}, "x<y", Anchor::kEnd, "label");
  const std::string text = svg.str();
  EXPECT_THAT(text, HasSubstr("<title id=\"fig-title\">A &lt; B</title>"));
  EXPECT_THAT(text, HasSubstr("<desc id=\"fig-desc\">say &quot;hi&quot; &amp; go</desc>"));
  EXPECT_THAT(text, HasSubstr("aria-labelledby=\"fig-title fig-desc\""));
  EXPECT_THAT(text, HasSubstr("<text x=\"1\" y=\"2.5\" text-anchor=\"end\" class=\"label\">x&lt;y</text>"));
}

// Axis from x = 116 (0) to x = 294 (100): 178 pixels for 100.
TEST(BarChart, DrawsBarsAndErrorBarsToScale) {
  BarChart chart;
  chart.id = "c";
  chart.high = 100.0;
  chart.unit = "%";
  chart.bars = {{"mean", "inductive", 50.0, 10.0, "inductive"}};
  chart.reference = {20.0, "chance"};
  const std::string text = draw_bar_chart(chart);
  EXPECT_THAT(text,
              HasSubstr("<rect x=\"116\" y=\"33\" width=\"89\" height=\"20\" rx=\"2\" class=\"bar inductive\"/>"));
  EXPECT_THAT(text, HasSubstr("<line x1=\"187.2\" y1=\"43\" x2=\"222.8\" y2=\"43\" class=\"error\"/>"));  // 40 and 60
  EXPECT_THAT(text, HasSubstr("<line x1=\"151.6\" y1=\"18\" x2=\"151.6\" y2=\"64\" class=\"reference\"/>"));
  EXPECT_THAT(text, HasSubstr(">50.0</text>"));
  EXPECT_THAT(text, HasSubstr(">±10.0</text>"));
  EXPECT_THAT(text, HasSubstr(">100%</text>"));
}

}  // namespace
}  // namespace protocom
