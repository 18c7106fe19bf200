#include "recognizer/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "recognizer/recognizer_support.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns EXIF data of a date, in the little-endian form (EXIF 2.32, tags 0x8769 and 0x9003).
std::string exif_of(const std::string& time) {
  const std::string main("II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x1A\0\0\0\0\0\0\0", 26);
  const std::string own("\x01\0\x03\x90\x02\0\x14\0\0\0\x2C\0\0\0\0\0\0\0", 18);
  return std::string("Exif\0\0", 6) + main + own + time + '\0';
}

class PhotosInSeries : public ::testing::Test {
 protected:
  fs::path photo(const std::string& name, const std::string& time) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << "photo" << (time.empty() ? "" : exif_of("2024:05:17 " + time));
    return folder_ / name;
  }

  TempDir folder_;
};

TEST_F(PhotosInSeries, EndWhereNoPhotoFollowsInTime) {
  const fs::path second = photo("a/1.jpg", "06:00:30"), first = photo("a/2.jpg", "06:00:00"),
                 third = photo("a/3.jpg", "06:01:29"), later = photo("a/4.jpg", "06:02:30"),
                 other = photo("b/1.jpg", "06:00:00"), timeless = photo("a/5.jpg", "");
  const Series series = group_photos({second, first, third, later, other, timeless}, {SeriesBy::kTime});
  EXPECT_THAT(series.groups, ElementsAre(ElementsAre(first, second, third), ElementsAre(later), ElementsAre(other),
                                         ElementsAre(timeless)));
  EXPECT_EQ(series.alone, 1);
  EXPECT_EQ(group_photos({second, first, third, later}, {SeriesBy::kTime}, 61).groups.size(), 1U);
  EXPECT_EQ(group_photos({second, first, third, later}, {SeriesBy::kTime}, 29).groups.size(), 4U);
}

TEST_F(PhotosInSeries, HoldTheBoxesOfTheirPhotos) {
  const std::string first = photo("a/1.jpg", "06:00:30").string(), later = photo("a/2.jpg", "06:00:50").string();
  const fs::path left = first + "#xywh=1,1,5,5", right = first + "#xywh=9,1,5,5", next = later + "#xywh=1,1,5,5";
  EXPECT_THAT(group_photos({left, right, next}, {SeriesBy::kTime}).groups, ElementsAre(ElementsAre(left, right, next)));
  EXPECT_THAT(group_photos({left, right, next}, {SeriesBy::kTime}, 10).groups,
              ElementsAre(ElementsAre(left, right), ElementsAre(next)));
}

TEST_F(PhotosInSeries, AreThoseOfAFolder) {
  const fs::path one = photo("a/1.jpg", ""), two = photo("b/1.jpg", ""), three = photo("a/2.jpg", "");
  EXPECT_THAT(group_photos({one, two, three, folder_ / "gone/1.jpg"}, {SeriesBy::kFolder}).groups,
              ElementsAre(ElementsAre(one, three), ElementsAre(two), ElementsAre(folder_ / "gone/1.jpg")));
}

TEST_F(PhotosInSeries, AreThoseOfATextInATablesColumn) {
  const fs::path one = photo("a/1.jpg", ""), two = photo("b/2.jpg", ""), three = photo("a/3.jpg", ""),
                 unnamed = photo("b/4.jpg", ""), empty = photo("b/5.jpg", "");
  const std::vector<fs::path> photos = {empty, two, one, three, unnamed};
  const fs::path table = folder_ / "visits.csv";
  write_file(table, "file_name,visit\nC:\\camera\\a\\1.jpg,7\n./b/2.jpg, x:1 \n3.jpg,7\ngone.jpg,7\nb/5.jpg,\n");
  const Series series = group_photos(photos, parse_series(table.string() + ":visit"));
  EXPECT_THAT(series.groups,
              ElementsAre(ElementsAre(empty), ElementsAre(two), ElementsAre(one, three), ElementsAre(unnamed)));
  EXPECT_EQ(series.alone, 2);
  write_file(table, "file_name,visit\na/1.jpg,7\nc/1.jpg,8\n");
  const Series one_folder = group_photos({one, three}, parse_series(table.string() + ":visit"));
  EXPECT_EQ(one_folder.alone, 1) << "c/1.jpg is another photo than a/1.jpg";
}

TEST_F(PhotosInSeries, AreNotThoseOfAnotherFolderInATable) {
  const fs::path one = photo("north/1.jpg", ""), two = photo("south/2.jpg", ""), three = photo("south/3.jpg", "");
  const fs::path table = folder_ / "visits.csv";
  write_file(table, "image,visit\nnorth/1.jpg,n1\nnorth/2.jpg,n2\nnorth/3.jpg,n2\n");
  const Series series = group_photos({one, two, three}, parse_series(table.string() + ":visit"));
  EXPECT_THAT(series.groups, ElementsAre(ElementsAre(one), ElementsAre(two), ElementsAre(three)));
  EXPECT_EQ(series.alone, 2) << "another camera's photos of these names";
}

TEST_F(PhotosInSeries, NeedATableThatSaysOneThingOfEachPhoto) {
  const std::vector<fs::path> photos = {photo("a/1.jpg", ""), photo("b/1.jpg", ""), photo("a/2.jpg", "")};
  const fs::path table = folder_ / "visits.csv";
  const auto refused = [&](const std::string& text, const std::string& column) {
    write_file(table, text);
    return message_of([&] { group_photos(photos, parse_series(table.string() + ":" + column)); });
  };
  EXPECT_THAT(refused("image,visit\na/2.jpg,1\na/2.jpg,2\n", "visit"),
              AllOf(HasSubstr("visits.csv:3"), HasSubstr("'2' here and '1' at"), HasSubstr("visits.csv:2")));
  EXPECT_THAT(refused("image,visit\na/2.jpg,1\n", "day"), HasSubstr("day"));
  EXPECT_THAT(refused("visit,when\n1,2\n", "visit"), HasSubstr("no column of images (image, "));
  EXPECT_EQ(refused("image,visit\n1.jpg,1\n1.jpg,2\n", "visit"), "(no Error)") << "of two photos: of neither";
  EXPECT_THAT(message_of([&] { group_photos(photos, parse_series("gone.csv:visit")); }), HasSubstr("gone.csv"));
}

TEST_F(PhotosInSeries, NeedAWordAndAGap) {
  EXPECT_THAT(message_of([] { parse_series("day"); }), HasSubstr("time, folder or TABLE.csv:COLUMN"));
  EXPECT_THAT(message_of([] { group_photos({}, {SeriesBy::kTime}, 0); }), HasSubstr("expected a number above 0"));
}

/// Answers of a recognizer of dark and light photos.
class SeriesToClassify : public SmallRecognizer {
 protected:
  void SetUp() override {
    SmallRecognizer::SetUp();
    recognizer().enrol({request("cat", {photo("cat.png", 40)})});
  }
  Recognizer recognizer() const { return Recognizer::open(path_); }

  using Answered = std::vector<std::pair<std::vector<fs::path>, double>>;
  Answered answers(const std::vector<std::vector<fs::path>>& groups,
                   std::vector<UnreadableFile>* unreadable = nullptr) {
    Answered answered;
    const auto take = [&](const std::vector<fs::path>& photos, const Answer& answer) {
      answered.emplace_back(photos, answer.familiarity);
    };
    const auto left = recognizer().classify_series(groups, take);
    if (unreadable != nullptr) *unreadable = left;
    return answered;
  }
};

TEST_F(SeriesToClassify, CopiesAreAnsweredAsOnePhoto) {
  const fs::path one = photo("one.png", 90), copy = photo("copy.png", 90), other = photo("other.png", 200);
  const Answered answered = answers({{one, copy, copy}, {other}, {one}});
  ASSERT_EQ(answered.size(), 3U);
  EXPECT_NEAR(answered[0].second, answered[2].second, 1e-5);
  EXPECT_THAT(answered[0].first, ElementsAre(one, copy, copy));
  EXPECT_NEAR(answered[1].second, recognizer().classify(other).familiarity, 1e-5);
}

TEST_F(SeriesToClassify, UnreadablePhotosAreLeftOutOfTheirSeries) {
  write_file(folder_ / "broken.png", "no picture");
  const fs::path one = photo("one.png", 90), other = photo("other.png", 200), broken = folder_ / "broken.png";
  std::vector<UnreadableFile> unreadable;
  const Answered answered = answers({{broken, one, broken}, {broken}, {other}}, &unreadable);
  ASSERT_EQ(answered.size(), 2U);
  EXPECT_THAT(answered[0].first, ElementsAre(one));
  EXPECT_THAT(answered[1].first, ElementsAre(other));
  EXPECT_EQ(unreadable.size(), 3U);
}

}  // namespace
}  // namespace protocom::testing
