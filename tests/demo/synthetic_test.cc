#include "demo/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "base/error.h"
#include "io/csv.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

SyntheticOptions small_world() {
  SyntheticOptions options;
  options.image_size = 32;
  options.images_per_class = 3;
  options.base_classes = 12;
  options.val_classes = 2;
  options.novel_classes = 4;
  return options;
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(static_cast<int>(a.rgb[i]) - static_cast<int>(b.rgb[i]));
  return sum / static_cast<double>(a.rgb.size());
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Synthetic, TheSameSeedGivesTheSameImagesInAnyOrder) {
  const SyntheticWorld first(small_world());
  const SyntheticWorld second(small_world());
  const SyntheticImage early = first.draw(3, 1);
  for (int64_t c = 0; c < 5; ++c) static_cast<void>(second.draw(c, 0));
  const SyntheticImage late = second.draw(3, 1);
  EXPECT_EQ(early.image.rgb, late.image.rgb);
  EXPECT_EQ(early.shown, late.shown);
}

TEST(Synthetic, AnotherSeedGivesOtherClassesAndImages) {
  SyntheticOptions other = small_world();
  other.seed = 2;
  const SyntheticWorld a(small_world());
  const SyntheticWorld b(other);
  EXPECT_NE(a.classes()[0].attributes, b.classes()[0].attributes);
  EXPECT_GT(mean_difference(a.draw(0, 0).image, b.draw(0, 0).image), 10.0);
}

TEST(Synthetic, ClassesDoNotDependOnHowImagesAreDrawn) {
  SyntheticOptions other = small_world();
  other.image_size = 48;
  other.images_per_class = 7;
  other.part_visibility = 0.4;
  const SyntheticWorld a(small_world());
  const SyntheticWorld b(other);
  ASSERT_EQ(a.classes().size(), b.classes().size());
  for (size_t i = 0; i < a.classes().size(); ++i) {
    EXPECT_EQ(a.classes()[i].name, b.classes()[i].name);
    EXPECT_EQ(a.classes()[i].attributes, b.classes()[i].attributes);
  }
}

TEST(Synthetic, ClassesHaveSixToNinePartsDistinctNamesAndDistinctSetsOfParts) {
  const SyntheticWorld world({});
  const SyntheticOptions& sizes = world.options();
  const auto count = static_cast<size_t>(sizes.base_classes + sizes.val_classes + sizes.novel_classes);
  ASSERT_EQ(world.classes().size(), count);
  std::set<std::string> names;
  std::set<std::vector<std::string>> part_sets;
  for (const SyntheticClass& one : world.classes()) {
    EXPECT_GE(one.attributes.size(), 6U) << one.name;
    EXPECT_LE(one.attributes.size(), 9U) << one.name;
    EXPECT_EQ(std::count_if(one.attributes.begin(), one.attributes.end(), &SyntheticWorld::is_always_shown), 1)
        << one.name;
    names.insert(one.name);
    part_sets.insert(one.attributes);
  }
  EXPECT_EQ(names.size(), count);
  EXPECT_EQ(part_sets.size(), count);
}

TEST(Synthetic, ValAndNovelClassesRecombineThePartsOfBaseClasses) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SyntheticOptions options = small_world();
    options.seed = seed;
    const SyntheticWorld world(options);
    std::set<std::string> of_base;
    for (const SyntheticClass& one : world.classes()) {
      if (one.split == Split::kBase) of_base.insert(one.attributes.begin(), one.attributes.end());
    }
    for (const SyntheticClass& one : world.classes()) {
      for (const std::string& attribute : one.attributes)
        EXPECT_EQ(of_base.count(attribute), 1U) << one.name << " " << attribute;
    }
  }
}

TEST(Synthetic, EveryAttributeOccursInSeveralBaseClassesOfTheDefaultWorld) {
  const SyntheticWorld world({});
  std::map<std::string, int> classes_with;
  for (const SyntheticClass& one : world.classes()) {
    if (one.split != Split::kBase) continue;
    for (const std::string& attribute : one.attributes) ++classes_with[attribute];
  }
  EXPECT_GE(SyntheticWorld::attribute_names().size(), 30U);
  for (const std::string& attribute : SyntheticWorld::attribute_names())
    EXPECT_GE(classes_with[attribute], 3) << attribute;
}

TEST(Synthetic, APartIsShownAsOftenAsStatedAndTheBodyAlways) {
  SyntheticOptions options = small_world();
  options.image_size = 16;
  options.part_visibility = 0.6;
  const SyntheticWorld world(options);
  int64_t possible = 0;
  int64_t seen = 0;
  for (int64_t c = 0; c < 6; ++c) {
    const std::vector<std::string>& all = world.classes()[static_cast<size_t>(c)].attributes;
    for (int64_t i = 0; i < 60; ++i) {
      const std::vector<std::string> shown = world.draw(c, i).shown;
      for (const std::string& part : shown) EXPECT_EQ(std::count(all.begin(), all.end(), part), 1) << part;
      EXPECT_EQ(std::count_if(shown.begin(), shown.end(), &SyntheticWorld::is_always_shown), 1);
      possible += static_cast<int64_t>(all.size()) - 1;
      seen += static_cast<int64_t>(shown.size()) - 1;
    }
  }
  // Five standard errors of a binomial fraction.
  const double tolerance = 5.0 * std::sqrt(0.6 * 0.4 / static_cast<double>(possible));
  EXPECT_NEAR(static_cast<double>(seen) / static_cast<double>(possible), 0.6, tolerance);
}

TEST(Synthetic, WithFullVisibilityEveryPartIsShown) {
  SyntheticOptions options = small_world();
  options.part_visibility = 1.0;
  const SyntheticWorld world(options);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(world.draw(1, i).shown, world.classes()[1].attributes);
}

TEST(Synthetic, ImagesDifferAndHaveTheSizeAskedFor) {
  const SyntheticWorld world(small_world());
  std::vector<Image> images;
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t i = 0; i < 3; ++i) images.push_back(world.draw(c, i).image);
  }
  for (size_t a = 0; a < images.size(); ++a) {
    EXPECT_EQ(images[a].height, 32);
    EXPECT_EQ(images[a].width, 32);
    ASSERT_EQ(images[a].rgb.size(), 32U * 32U * 3U);
    for (size_t b = 0; b < a; ++b) EXPECT_GT(mean_difference(images[a], images[b]), 5.0) << a << " " << b;
  }
}

TEST(Synthetic, PlatesOfDifferentClassesDiffer) {
  const SyntheticWorld world(small_world());
  for (int64_t c = 1; c < 18; ++c) EXPECT_GT(mean_difference(world.plate(c, 48), world.plate(c - 1, 48)), 3.0) << c;
}

// The same image of two worlds that differ only in visibility shows the same creature, with more parts where more are
// visible.
TEST(Synthetic, EveryPartChangesThePicture) {
  SyntheticOptions options;
  options.image_size = 24;
  std::vector<SyntheticWorld> worlds;
  for (int level = 1; level <= 12; ++level) {
    options.part_visibility = level / 12.0;
    worlds.emplace_back(options);
  }
  std::set<std::string> tried;
  for (int64_t c = 0; c < 48; ++c) {
    SyntheticImage fewer = worlds[0].draw(c, 0);
    for (size_t level = 1; level < worlds.size(); ++level) {
      SyntheticImage more = worlds[level].draw(c, 0);
      std::set<std::string> added(more.shown.begin(), more.shown.end());
      for (const std::string& part : fewer.shown) EXPECT_EQ(added.erase(part), 1U) << part;
      if (added.empty()) {
        EXPECT_EQ(fewer.image.rgb, more.image.rgb);
      } else if (added.size() == 1) {
        tried.insert(*added.begin());
        EXPECT_NE(fewer.image.rgb, more.image.rgb) << *added.begin();
      }
      fewer = std::move(more);
    }
  }
  std::vector<std::string> untried;
  for (const std::string& name : SyntheticWorld::attribute_names()) {
    if (!SyntheticWorld::is_always_shown(name) && tried.count(name) == 0) untried.push_back(name);
  }
  EXPECT_THAT(untried, ::testing::IsEmpty());
}

TEST(Synthetic, RefusesSizesThatCannotBe) {
  SyntheticOptions options = small_world();
  options.base_classes = 3;
  EXPECT_THROW(SyntheticWorld{options}, UsageError);
  options = small_world();
  options.part_visibility = 0.0;
  EXPECT_THROW(SyntheticWorld{options}, UsageError);
  options = small_world();
  options.image_size = 8;
  EXPECT_THROW(SyntheticWorld{options}, UsageError);
  const SyntheticWorld world(small_world());
  EXPECT_THROW((void)world.draw(18, 0), Error);
  EXPECT_THROW((void)world.draw(-1, 0), Error);
}

TEST(SyntheticFolder, HasImagesASplitAndTheAttributeTable) {
  const testing::TempDir temp;
  const SyntheticWorld world(small_world());
  write_synthetic(temp / "world", world, Progress::none());
  const CsvTable split = read_csv(temp / "world/split.csv");
  ASSERT_EQ(split.rows.size(), 18U);
  std::set<std::pair<std::string, std::string>> expected;
  for (size_t i = 0; i < 18; ++i) {
    const SyntheticClass& one = world.classes()[i];
    EXPECT_EQ(split.rows[i].cells[split.column("class")], one.name);
    EXPECT_EQ(split.rows[i].cells[split.column("split")], i < 12 ? "base" : i < 14 ? "val" : "novel");
    for (const std::string& attribute : one.attributes) expected.emplace(one.name, attribute);
    for (const char* file : {"0000.jpg", "0001.jpg", "0002.jpg"}) {
      const Image image = read_image(temp / "world" / one.name / file);
      EXPECT_EQ(image.height, 32);
    }
  }
  const CsvTable attributes = read_csv(temp / "world/attributes.csv");
  std::set<std::pair<std::string, std::string>> found;
  for (const CsvRow& row : attributes.rows) {
    found.emplace(row.cells[attributes.column("class")], row.cells[attributes.column("attribute")]);
  }
  EXPECT_EQ(found, expected);
}

TEST(SyntheticFolder, IsTheSameByteForByteASecondTime) {
  const testing::TempDir temp;
  write_synthetic(temp / "a", SyntheticWorld(small_world()), Progress::none());
  write_synthetic(temp / "b", SyntheticWorld(small_world()), Progress::none());
  int64_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temp / "a")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_EQ(content(entry.path()), content(temp / "b" / fs::relative(entry.path(), temp / "a"))) << entry.path();
  }
  EXPECT_EQ(files, 18 * 3 + 2);
}

TEST(SyntheticFolder, LeavesAFolderThatHoldsSomethingAlone) {
  const testing::TempDir temp;
  fs::create_directory(temp / "full");
  std::ofstream(temp / "full/notes.txt") << "mine";
  try {
    write_synthetic(temp / "full", SyntheticWorld(small_world()), Progress::none());
    FAIL() << "it wrote into a folder that was not empty";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("full exists and is not an empty folder"));
  }
  EXPECT_EQ(content(temp / "full/notes.txt"), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator()), 1);
}

// A progress listener that aborts the job halfway, like a full disk or an interrupt.
class Interrupt : public Progress {
 public:
  void start(std::string_view, int64_t) override {}
  void advance(int64_t done, std::string_view) override {
    if (done > 9) throw Error("stopped");
  }
  void finish() override {}
};

TEST(SyntheticFolder, LeavesNothingBehindWhenItFailsHalfWay) {
  const testing::TempDir temp;
  Interrupt interrupt;
  EXPECT_THROW(write_synthetic(temp / "world", SyntheticWorld(small_world()), interrupt), Error);
  EXPECT_TRUE(fs::is_empty(temp.path()));
}

TEST(SyntheticSheet, HasARowForEachClassOfTheSplit) {
  SyntheticSheetOptions options;
  options.images_per_class = 2;
  options.cell_size = 32;
  const SyntheticWorld world(small_world());
  options.max_classes = 2;
  const Image two = synthetic_sheet(world, options);
  options.max_classes = 100;
  const Image four = synthetic_sheet(world, options);
  EXPECT_EQ(two.width, four.width);
  EXPECT_GT(two.width, 3 * 32);
  EXPECT_GT(four.height - two.height, 2 * 32);
  EXPECT_EQ(four.rgb.size(), static_cast<size_t>(four.height * four.width * 3));
  options.max_classes = 0;
  EXPECT_THROW(synthetic_sheet(world, options), UsageError);
}

}  // namespace
}  // namespace protocom
