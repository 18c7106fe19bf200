#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/recognizers.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(Recognizers, ImagesThatCannotBeReadAreNamedAndDoNotStopTheOthers) {
  const fs::path images = folder_->path() / "out/images";
  const std::string name = first_image();
  const std::string folder = name.substr(0, name.find('/'));
  const std::string recognizer = "damaged.pcm";
  const std::string one = (images / name).string();
  ASSERT_EQ(create(recognizer).exit_code, 0);
  ASSERT_EQ(protocom(folder_->path(), {"enrol", recognizer, one, "--class", folder}).exit_code, 0);
  write_text(*folder_ / "mixed/a.jpg", read_text(one));
  write_text(*folder_ / "mixed/b.jpg", read_text(one).substr(0, 200));
  const Outcome outcome = protocom(folder_->path(), {"classify", recognizer, "mixed", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("mixed/a.jpg,1," + folder + ",1.000000"));
  EXPECT_THAT(outcome.err, HasSubstr("mixed/b.jpg"));
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 images could not be read"));
  const std::string before = read_text(*folder_ / recognizer);
  EXPECT_EQ(protocom(folder_->path(), {"enrol", recognizer, "mixed/b.jpg", "--class", folder}).exit_code, 1);
  EXPECT_EQ(read_text(*folder_ / recognizer), before) << "a failed enrolment changed the recognizer";
}

TEST_F(Recognizers, CreatingWithImagesOfWhichNoneCanBeReadLeavesNoFile) {
  write_text(folder_->path() / "broken/okapi/1.png", "no image");
  const Outcome made = create("none.pcm", {"--images", "broken"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_THAT(made.err, HasSubstr("nothing was enrolled"));
  EXPECT_FALSE(fs::exists(folder_->path() / "none.pcm"));
}

TEST_F(Recognizers, AnUnknownAttributeIsAnsweredWithItsNeighbours) {
  const std::string one = (out("images") / first_image()).string();
  const std::string attributes = read_text(out("images/attributes.csv"));
  const size_t line = attributes.find('\n') + 1;
  const std::string row = attributes.substr(line, attributes.find('\n', line) - line);
  const std::string attribute = row.substr(row.find(',') + 1);
  ASSERT_EQ(create("typo.pcm").exit_code, 0);
  const Outcome outcome =
      protocom(folder_->path(), {"enrol", "typo.pcm", one, "--class", "new", "--attributes", attribute + "x"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("'" + attribute + "x'; did you mean '"));
}

TEST_F(Recognizers, ImagesMayFollowTheAttributesAndOneMayBePipedIn) {
  const fs::path one = out("images") / first_image();
  const std::string attributes = read_text(out("images/attributes.csv"));
  const size_t comma = attributes.find(',', attributes.find('\n'));
  const std::string attribute = attributes.substr(comma + 1, attributes.find('\n', comma) - comma - 1);
  ASSERT_EQ(create("piped.pcm").exit_code, 0);
  const Outcome enrolled = protocom(
      folder_->path(), {"enrol", "piped.pcm", "--class", "new", "--attributes", " " + attribute + " ", one.string()});
  EXPECT_EQ(enrolled.exit_code, 0) << enrolled.err;
  const Outcome piped = protocom(folder_->path(), {"classify", "piped.pcm", "-", "--format", "csv"}, one);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("\n-,"));
  write_text(folder_->path() / "names.txt", one.string() + "\n");
  EXPECT_THAT(
      protocom(folder_->path(), {"classify", "piped.pcm", "-", "--format", "csv"}, folder_->path() / "names.txt").out,
      HasSubstr("\n" + one.string() + ","));
  const Outcome listed = protocom(folder_->path(), {"enrol", "piped.pcm", "-", "--class", "other"}, one);
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(protocom(folder_->path(), {"examples", "list", "piped.pcm", "--class", "other"}).out,
              HasSubstr("the standard input"));
  const Outcome refused = protocom(folder_->path(), {"sort", "piped.pcm", "-", "--out", "sorted-pipe"}, one);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected names of images"));
  write_text(folder_->path() / "print0.txt", one.string() + '\0' + one.string() + '\0');
  const Outcome print0 =
      protocom(folder_->path(), {"classify", "piped.pcm", "-", "--format", "json"}, folder_->path() / "print0.txt");
  EXPECT_EQ(print0.exit_code, 0) << print0.err;
  EXPECT_EQ(json_lines(print0.out).size(), 2u);
  write_text(folder_->path() / "empty.txt", "");
  for (const char* command : {"classify", "enrol"}) {
    const Outcome empty = protocom(folder_->path(), {command, "piped.pcm", "-"}, folder_->path() / "empty.txt");
    EXPECT_EQ(empty.exit_code, 1);
    EXPECT_THAT(empty.err, HasSubstr("the standard input is empty"));
  }
}

TEST_F(Recognizers, ReportFoldersAndOthersThatCannotBeReadAndGoOn) {
  create_with_classes("report.pcm", 4);
  const auto by_class = images_by_class();
  const auto image = [&](size_t k, size_t i) {
    return (out("images") / std::next(by_class.begin(), static_cast<int64_t>(k))->second[i]).string();
  };
  fs::create_directories(*folder_ / "nothing");
  const Outcome enrolled =
      protocom(folder_->path(), {"enrol", "report.pcm", "nothing", image(0, 1), "--class", by_class.begin()->first});
  EXPECT_EQ(enrolled.exit_code, 1);
  EXPECT_THAT(enrolled.err, HasSubstr("folders without an image that can be read: 1; images enrolled: 1"));
  EXPECT_THAT(enrolled.err, ::testing::Not(HasSubstr("of the images could not be read")));
  write_text(*folder_ / "others/cut.jpg", "\xff\xd8\xff");
  for (size_t i = 0; i < 4; ++i)
    write_text(*folder_ / "others" / (std::to_string(i) + ".jpg"), read_text(image(8 + i, 0)));
  const Outcome calibrated =
      protocom(folder_->path(), {"calibrate", "report.pcm", "--others", "others", "gone", "--false-accept", "0.3"});
  EXPECT_EQ(calibrated.exit_code, 1);
  EXPECT_THAT(calibrated.err, HasSubstr("cut.jpg"));
  EXPECT_THAT(calibrated.err, HasSubstr("2 of 6 images could not be read"));
  EXPECT_THAT(protocom(folder_->path(), {"recognizer", "info", "report.pcm"}).out, HasSubstr("4 others"));
}

}  // namespace
}  // namespace protocom::testing
