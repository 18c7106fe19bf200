#include "report/test_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eval/test_figures.h"
#include "io/files.h"
#include "io/scratch_folder.h"
#include "report/test_files.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TestResult tested(const std::string& answer) {
  TestResult result;
  result.recognizer = "dir/my <own>.pcm";
  result.method = "plda";
  result.mode = "inductive";
  for (const std::string& name : {"cat", "dog"}) {
    TestedImage image;
    image.image = name + "<1>.jpg";
    image.class_name = name;
    image.answer = answer;
    image.certainty = 0.8;
    image.rank = name == answer ? 1 : 2;
    image.loss = 0.5;
    result.tested.push_back(image);
  }
  take_figures({"cat", "dog"}, result);
  return result;
}

TEST(TestPage, ShowsFiguresClassesAndTheWorstAnswersWithTheirPictures) {
  const TestResult result = tested("dog");
  TestPage page;
  page.first = &result;
  page.picture = [](const std::string& image) { return image == "cat<1>.jpg" ? "AAAA" : ""; };
  const std::string html = test_page(page);
  EXPECT_THAT(html, AllOf(HasSubstr("50.0\u00a0% right"), HasSubstr("1 of 2"), HasSubstr("my &lt;own&gt;.pcm")));
  EXPECT_THAT(html, HasSubstr("<img alt=\"cat&lt;1&gt;.jpg\" src=\"data:image/jpeg;base64,AAAA\">"));
  EXPECT_THAT(html, HasSubstr("→ dog, 0.80"));
  EXPECT_THAT(html, HasSubstr("Confusion matrix of my &lt;own&gt;.pcm"));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<own>")), Not(HasSubstr("<1>")), Not(HasSubstr("<script"))));
  EXPECT_THAT(html, Not(HasSubstr("http"))) << "it needs nothing else";
}

TEST(TestPage, OfTwoShowsTheDifferenceAndWhereTheyDiffer) {
  const TestResult one = tested("dog"), other = tested("cat");
  TestPage page;
  page.first = &one;
  page.second = &other;
  page.comparison = compare_tests(one, other);
  const std::string html = test_page(page);
  EXPECT_THAT(html, HasSubstr("0.0 points better"));
  EXPECT_THAT(html, AllOf(HasSubstr("answer differently (2)"), HasSubstr("1: dog, 0.80<br>2: cat, 0.80")));
}

TEST(TestTable, HasARowAPhotoWithTheAnswersOfOneTestOrTwo) {
  const ScratchFolder folder;
  TestResult one = tested("dog"), other = tested("cat");
  other.tested[0].none = 0.75;
  write_test_csv(folder.path() / "one.csv", one, nullptr);
  EXPECT_EQ(read_file(folder.path() / "one.csv"),
            "image,class,known,answer,certainty,none,none_of_these,rank,log_loss\n"
            "cat<1>.jpg,cat,1,dog,0.800000,,,2,0.500000\ndog<1>.jpg,dog,1,dog,0.800000,,,1,0.500000\n");
  write_test_csv(folder.path() / "two.csv", one, &other);
  EXPECT_THAT(read_file(folder.path() / "two.csv"),
              HasSubstr("\ncat<1>.jpg,cat,1,dog,0.800000,,,2,0.500000,cat,0.800000,0.750000,1,1,0.500000\n"));
  other.tested.pop_back();
  const std::filesystem::path none = folder.path() / "none";
  const auto refused = HasSubstr("same images, found 2 and 1");
  EXPECT_THAT(message_of([&] { write_test_csv(none, one, &other); }), refused);
  EXPECT_THAT(message_of([&] { write_test_page(none, one, &other, 1); }), refused);
  EXPECT_FALSE(std::filesystem::exists(none));
}

}  // namespace
}  // namespace protocom::testing
