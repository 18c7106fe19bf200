#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/recognizers.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A recognizer of three photos of each of three classes, and further photos of these and of a fourth one.
class TestedRecognizers : public Recognizers {
 protected:
  static void SetUpTestSuite() {
    Recognizers::SetUpTestSuite();
    if (fs::exists(at("known.pcm"))) return;
    size_t number = 0;
    for (const auto& [name, images] : images_by_class()) {
      if (++number > 4) break;
      for (size_t i = 0; i < 9; ++i) {
        if (i < 3 && number < 4) put(images[i], at("known") / name);
        if (i >= 2) put(images[i], at("labelled") / name);  // one photo is in both
      }
      put(images[9], at("unknown") / ("not " + name));
    }
    const Outcome made = protocom(folder_->path(), {"recognizer", "create", "known.pcm", "--images", "known",
                                                    "--backbone", out("backbone.npz").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static fs::path at(const std::string& name) { return folder_->path() / name; }
  static void put(const std::string& image, const fs::path& folder) {
    fs::create_directories(folder);
    fs::copy_file(out("images") / image, folder / fs::path(image).filename());
  }
  static Outcome test(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "test");
    return protocom(folder_->path(), arguments);
  }
};

TEST_F(TestedRecognizers, SayHowGoodTheyAreOnPhotosThatTheyHaveNotSeen) {
  const Outcome shown = test({"known.pcm", "labelled"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("of 18 photos"), HasSubstr("95 %: "), HasSubstr("log loss")));
  EXPECT_THAT(shown.out, HasSubstr("already enrolled: 3."));
  EXPECT_THAT(shown.out, HasSubstr("7 photos of 1 classes, none refused: not calibrated"));
  EXPECT_THAT(shown.err, HasSubstr("count as unknown images"));
  const Outcome printed = test({"known.pcm", "labelled", "--json", "--csv", "photos.csv", "--html", "test.html"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const json found = json::parse(printed.out);
  EXPECT_EQ(found.at("images"), 18);
  EXPECT_EQ(found.at("unknown"), 7);
  EXPECT_EQ(found.at("classes").size(), 3u);
  EXPECT_EQ(found.at("tested").size(), 25u);
  const std::string csv = read_text(at("photos.csv")), html = read_text(at("test.html"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 26);
  EXPECT_THAT(csv, HasSubstr("image,class,known,answer,certainty,none,none_of_these,rank,log_loss\n"));
  EXPECT_THAT(html, AllOf(HasSubstr("Test of known.pcm"), HasSubstr("Confusion matrix"), Not(HasSubstr("http"))));
  const bool any_wrong = found.at("right") != found.at("images");
  if (any_wrong) EXPECT_THAT(html, HasSubstr("data:image/jpeg;base64,"));
  // The first answers are the same as those of classify.
  const json& first = found.at("tested")[0];
  const Outcome asked = protocom(folder_->path(), {"classify", "known.pcm", first.at("image"), "--format", "json"});
  EXPECT_EQ(json_lines(asked.out).at(0).at("ranking")[0].at("class"), first.at("answer"));
}

TEST_F(TestedRecognizers, SayWhatTheyRefuseWhenTheyAreCalibrated) {
  fs::copy_file(at("known.pcm"), at("calibrated.pcm"), fs::copy_options::overwrite_existing);
  ASSERT_EQ(protocom(folder_->path(), {"calibrate", "calibrated.pcm"}).exit_code, 0);
  const Outcome shown = test({"calibrated.pcm", "labelled"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("own photos refused"), HasSubstr("of 7 (")));
  const Outcome compared =
      test({"known.pcm", "calibrated.pcm", "labelled", "--csv", "both.csv", "--html", "both.html"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("The second is 0.0 points better (95 %: "))
      << "the most probable class is the same";
  EXPECT_THAT(read_text(at("both.csv")), HasSubstr(",answer_2,certainty_2,"));
  EXPECT_THAT(read_text(at("both.html")), HasSubstr("Test of known.pcm and calibrated.pcm"));
  const Outcome printed = test({"known.pcm", "calibrated.pcm", "labelled", "--json"});
  EXPECT_EQ(json::parse(printed.out).at("comparison").at("difference"), 0);
}

TEST_F(TestedRecognizers, TakeFeaturesWithTheirClasses) {
  const Outcome made = test({"known.pcm", out("features.npz").string(), "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json found = json::parse(made.out);
  EXPECT_EQ(found.at("images").get<int>() + found.at("already_enrolled").get<int>(), 60);
  EXPECT_GE(found.at("already_enrolled"), 0);
}

TEST_F(TestedRecognizers, CountWhatCannotBeReadAndRefuseWhatIsNoTest) {
  fs::copy(at("labelled"), at("damaged"), fs::copy_options::recursive);
  write_text(at("damaged") / images_by_class().begin()->first / "cut.jpg", "\xff\xd8\xff");
  const Outcome shown = test({"known.pcm", "damaged"});
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.err,
              AllOf(HasSubstr("cut.jpg"), HasSubstr("1 of the images could not be read; images tested: 25")));
  EXPECT_THAT(shown.out, HasSubstr("of 18 photos")) << "the rest is tested";
  const Outcome foreign = test({"known.pcm", "unknown"});
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_THAT(foreign.err, HasSubstr("none of the 4 classes to test is in known.pcm"));
  EXPECT_THAT(test({"known.pcm", "nowhere"}).err, HasSubstr("nowhere: no such folder or file"));
  const Outcome alone = test({"known.pcm"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("expected one or two recognizers, then labelled photos"));
}

}  // namespace
}  // namespace protocom::testing
