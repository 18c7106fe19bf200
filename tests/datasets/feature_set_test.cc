#include "datasets/feature_set.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "io/files.h"
#include "io/npz.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FeatureSetTest : public ::testing::Test {
 protected:
  /// Four images of three classes with two numbers each.
  struct Members {
    at::Tensor features = at::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F, 7.F, 8.F}).view({4, 2});
    at::Tensor labels = at::tensor({int64_t{2}, int64_t{0}, int64_t{2}, int64_t{1}});
    std::vector<std::string> names = {"zebra", "horse", "snake"};
    std::vector<std::string> split = {"base", "val", "novel"};
    std::vector<std::string> paths = {"s1.jpg", "z1.jpg", "s2.jpg", "h1.jpg"};
    std::string left_out;
  };

  fs::path put(const Members& members) const {
    NpzWriter writer(folder_ / "f.npz");
    const auto add = [&](const char* name, const auto& value) {
      if (members.left_out != name) writer.add(name, value);
    };
    add("features", array_of(members.features));
    add("labels", array_of(members.labels));
    add("names", members.names);
    add("split", members.split);
    add("paths", members.paths);
    writer.close();
    return folder_ / "f.npz";
  }
  FeatureSet read_changed(const std::function<void(Members&)>& change, const FeatureFileOptions& options = {}) const {
    Members members;
    change(members);
    return read_features(put(members), options);
  }
  std::string error_of(const std::function<void(Members&)>& change, const FeatureFileOptions& options = {}) const {
    return testing::message_of([&] { read_changed(change, options); });
  }
  fs::path put_npy(const std::string& name, const at::Tensor& tensor) const {
    NpzWriter writer(folder_ / "one.npz");
    writer.add("x", array_of(tensor));
    writer.close();
    write_file(folder_ / name, NpzReader(folder_ / "one.npz").bytes("x"));
    return folder_ / name;
  }
  fs::path put_text(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
    return folder_ / name;
  }

  testing::TempDir folder_;
};

TEST_F(FeatureSetTest, ReadsTheMembersOfAnNpz) {
  const FeatureSet set = read_changed([](Members&) {});
  EXPECT_EQ(set.size(), 4);
  EXPECT_EQ(set.dim(), 2);
  EXPECT_TRUE(at::equal(tensor_of(set.features), Members().features));
  EXPECT_EQ(set.labels, numbers_of(Members().labels));
  EXPECT_THAT(set.class_names, ElementsAre("zebra", "horse", "snake"));
  EXPECT_THAT(set.class_split, ElementsAre(Split::kBase, Split::kVal, Split::kNovel));
  EXPECT_THAT(set.image_ids, ElementsAre("s1.jpg", "z1.jpg", "s2.jpg", "h1.jpg"));
  EXPECT_EQ(set.content_hash, hash_file(folder_ / "f.npz"));
  EXPECT_EQ(set.backbone_hash, "");
}

TEST_F(FeatureSetTest, FindsTheClassesOfASplitAndTheRowsOfAClass) {
  const FeatureSet set = read_changed([](Members& m) {
    m.names.emplace_back("unicorn");  // a class without images
    m.split = {"novel", "base", "novel", "novel"};
  });
  EXPECT_THAT(set.classes_of(Split::kNovel), ElementsAre(0, 2, 3));
  EXPECT_THAT(set.classes_of(Split::kBase), ElementsAre(1));
  EXPECT_THAT(set.classes_of(Split::kVal), IsEmpty());
  EXPECT_THAT(set.rows_by_class(), ElementsAre(ElementsAre(1), ElementsAre(3), ElementsAre(0, 2), IsEmpty()));
}

TEST_F(FeatureSetTest, TakesFeaturesAndLabelsOfOtherTypes) {
  for (const auto type : {at::kHalf, at::kDouble}) {
    const FeatureSet set = read_changed([&](Members& m) { m.features = m.features.to(type); });
    EXPECT_EQ(set.features.type(), NumberType::kFloat32);
    EXPECT_TRUE(at::equal(tensor_of(set.features), Members().features));
  }
  for (const auto type : {at::kByte, at::kShort, at::kInt}) {
    const FeatureSet set = read_changed([&](Members& m) { m.labels = m.labels.to(type); });
    EXPECT_EQ(set.labels, numbers_of(Members().labels));
  }
}

TEST_F(FeatureSetTest, NumbersClassesAndImagesThatHaveNoNames) {
  EXPECT_THAT(read_changed([](Members& m) { m.left_out = "names"; }).class_names, ElementsAre("0", "1", "2"));
  EXPECT_THAT(read_changed([](Members& m) { m.left_out = "paths"; }).image_ids, ElementsAre("0", "1", "2", "3"));
}

TEST_F(FeatureSetTest, PrefersTheSplitItIsGiven) {
  FeatureFileOptions options;
  options.split = put_text("s.csv", "class,split\nhorse,base\nsnake,base\nzebra,novel\nunicorn,val\n");
  const auto expected = ElementsAre(Split::kNovel, Split::kBase, Split::kBase);
  EXPECT_THAT(read_changed([](Members&) {}, options).class_split, expected);
  EXPECT_THAT(read_changed([](Members& m) { m.left_out = "split"; }, options).class_split, expected);
}

TEST_F(FeatureSetTest, LeavesOutTheClassesThatASplitDoesNotName) {
  FeatureFileOptions options;
  options.split = put_text("s.csv", "class,split\nhorse,base\nsnake,novel\n");
  const testing::Logged logged;
  const FeatureSet set = read_changed([](Members&) {}, options);
  EXPECT_THAT(set.class_names, ElementsAre("horse", "snake"));
  EXPECT_THAT(set.class_split, ElementsAre(Split::kBase, Split::kNovel));
  EXPECT_THAT(logged.text(), HasSubstr("s.csv, 1 of 3: zebra"));
  const Members whole;
  const at::Tensor of_zebra = whole.labels.eq(0);
  EXPECT_EQ(set.size(), whole.labels.size(0) - of_zebra.sum().item<int64_t>());
  EXPECT_TRUE(at::equal(tensor_of(set.features), whole.features.index({of_zebra.logical_not()})));
  EXPECT_EQ(*std::min_element(set.labels.begin(), set.labels.end()), 0);
  options.split = put_text("s.csv", "class,split\nHorse,base\n");
  EXPECT_THAT(error_of([](Members&) {}, options),
              AllOf(HasSubstr("s.csv names none of the 3 classes"), HasSubstr("zebra")));
}

TEST_F(FeatureSetTest, ReadsArraysWithTheirLabelsAndSplitBesideThem) {
  FeatureFileOptions options;
  options.labels = put_npy("labels.npy", Members().labels);
  options.split = put_text("s.csv", "class,split\n0,base\n1,val\n2,novel\n");
  const fs::path features = put_npy("features.npy", Members().features);
  const FeatureSet set = read_features(features, options);
  EXPECT_TRUE(at::equal(tensor_of(set.features), Members().features));
  EXPECT_EQ(set.labels, numbers_of(Members().labels));
  EXPECT_THAT(set.class_names, ElementsAre("0", "1", "2"));
  EXPECT_THAT(set.class_split, ElementsAre(Split::kBase, Split::kVal, Split::kNovel));
  EXPECT_THAT(set.image_ids, ElementsAre("0", "1", "2", "3"));

  EXPECT_EQ(read_features(features, {std::nullopt, options.split}).labels, numbers_of(Members().labels))
      << "labels.npy lies beside features.npy";
  put_npy("set-labels.npy", Members().labels);
  EXPECT_EQ(read_features(put_npy("set.npy", Members().features), {std::nullopt, options.split}).labels, set.labels);
  EXPECT_THAT(testing::message_of([&] {
                read_features(put_npy("novel-features.npy", Members().features), {std::nullopt, options.split});
              }),
              AllOf(HasSubstr("novel-features.npy"), HasSubstr("expected their labels beside it in novel-labels.npy")));
  EXPECT_THAT(testing::usage_message_of([&] {
                read_features(features, {options.labels, std::nullopt});
              }),
              HasSubstr("split"));
  options.labels = put_npy("labels.npy", at::tensor({int64_t{0}, int64_t{1}}));
  EXPECT_THAT(testing::message_of([&] { read_features(features, options); }),
              AllOf(HasSubstr("labels.npy"), HasSubstr("expected 4 labels"), HasSubstr("[2]")));
  options.labels = put_npy("labels.npy", at::tensor({int64_t{0}, int64_t{1}, int64_t{2}, int64_t{1} << 50}));
  const testing::Logged logged;
  EXPECT_EQ(read_features(features, options).size(), 3);
  EXPECT_THAT(logged.text(), AllOf(HasSubstr("s.csv"), HasSubstr("1 of 4: 1125899906842624")));
}

// Even a benchmark has dozens of duplicate images, and some in both of its splits (zalandoresearch/fashion-mnist issue
// 44).
TEST_F(FeatureSetTest, CountsImagesWithExactlyTheFeaturesOfAnotherOneAndWarnsOfThem) {
  const testing::Logged logged;
  const FeatureSet within = read_changed([](Members& m) { m.features[2].copy_(m.features[0]); });
  ASSERT_THAT(within.copies, ::testing::SizeIs(1));
  EXPECT_EQ(within.copies.front().kind, DuplicateKind::kWithinClass);
  EXPECT_THAT(within.copies.front().ids, ElementsAre("s1.jpg", "s2.jpg"));
  EXPECT_THAT(logged.text(), HasSubstr("duplicate features: 1 within a class (such as s1.jpg, s2.jpg)"));
  const FeatureSet across = read_changed([](Members& m) { m.features[1].copy_(m.features[0]); });
  EXPECT_EQ(across.copies.front().kind, DuplicateKind::kAcrossSplits);
  EXPECT_THAT(read_changed([](Members&) {}).copies, IsEmpty());
}

TEST_F(FeatureSetTest, ComposesTheNamesOfClassesThatMacOsWritesDecomposed) {
  EXPECT_EQ(read_changed([](Members& m) { m.names[0] = "cafe\xcc\x81"; }).class_names[0], "caf\xc3\xa9");
}

TEST_F(FeatureSetTest, WhatIsMadeInMemoryIsHeldAgainstItselfAsAFileIs) {
  const Members members;
  FeatureSet made;
  made.features = array_of(members.features.to(at::kDouble));
  made.labels = numbers_of(members.labels);
  made.class_names = members.names;
  made.class_split = {Split::kBase, Split::kVal, Split::kNovel};
  const FeatureSet whole = checked_feature_set(made, "features");
  EXPECT_EQ(whole.features.type(), NumberType::kFloat32);
  EXPECT_THAT(whole.image_ids, ElementsAre("0", "1", "2", "3"));
  made.class_split.pop_back();
  EXPECT_THAT(testing::message_of([&] { checked_feature_set(made, "features"); }),
              HasSubstr("features: 2 splits for 3 class names"));
  made.labels.pop_back();
  EXPECT_THAT(testing::message_of([&] { checked_feature_set(made, "features"); }),
              HasSubstr("features: expected 4 labels"));
}

TEST_F(FeatureSetTest, RefusesFeaturesThatOverflowWhenSquared) {
  EXPECT_THAT(error_of([](Members& m) { m.features = m.features * 1e25; }),
              AllOf(HasSubstr("f.npz: features hold a number of size"), HasSubstr("more than 1e+08")));
  EXPECT_THAT(error_of([](Members& m) { m.features = m.features * 1e-25; }), HasSubstr("no number of at least 1e-08"));
}

TEST_F(FeatureSetTest, NamesTheFirstRowThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(error_of([&](Members& m) {
                  m.features[2][1] = bad;
                  m.features[3][0] = -bad;
                }),
                AllOf(HasSubstr("f.npz"), HasSubstr("NaN or infinity in 2 rows"), HasSubstr("first in row 2")));
  }
  EXPECT_THAT(error_of([](Members& m) {
                m.features[1][0] = std::numeric_limits<float>::infinity();  // they cancel out in a sum
                m.features[1][1] = -std::numeric_limits<float>::infinity();
              }),
              HasSubstr("first in row 1"));
  EXPECT_THAT(error_of([](Members& m) {
                m.features = m.features.to(at::kDouble);
                m.features[0][0] = 1e300;  // infinite as float32
              }),
              HasSubstr("first in row 0"));
}

TEST_F(FeatureSetTest, NamesTheMemberThatIsMissing) {
  for (const std::string name : {"features", "labels"}) {
    EXPECT_THAT(error_of([&](Members& m) { m.left_out = name; }),
                AllOf(HasSubstr("f.npz has no member '" + name + "'"), HasSubstr("paths")));
  }
  EXPECT_THAT(error_of([](Members& m) { m.left_out = "split"; }),
              AllOf(HasSubstr("f.npz has no split"), HasSubstr("a text member 'split'")));
}

TEST_F(FeatureSetTest, RefusesSizesThatDiffer) {
  EXPECT_THAT(error_of([](Members& m) { m.labels = m.labels.slice(0, 0, 3); }),
              AllOf(HasSubstr("f.npz: expected 4 labels"), HasSubstr("found [3]")));
  EXPECT_THAT(error_of([](Members& m) { m.labels = m.labels.view({2, 2}); }), HasSubstr("found [2, 2]"));
  EXPECT_THAT(error_of([](Members& m) { m.paths.pop_back(); }), HasSubstr("f.npz: 3 image ids for 4 feature rows"));
  EXPECT_THAT(error_of([](Members& m) { m.split.pop_back(); }),
              AllOf(HasSubstr("f.npz: 'split' names 2"), HasSubstr("'names' 3")));
}

TEST_F(FeatureSetTest, RefusesFeaturesThatAreNoMatrix) {
  EXPECT_THAT(error_of([](Members& m) {
                m.features = m.features.view({2, 2, 2});
              }),
              AllOf(HasSubstr("[n, d]"), HasSubstr("[2, 2, 2]")));
  EXPECT_THAT(error_of([](Members& m) { m.features = at::empty({0, 2}); }), HasSubstr("[0, 2]"));
}

TEST_F(FeatureSetTest, RefusesLabelsThatNameNoClass) {
  EXPECT_THAT(error_of([](Members& m) { m.labels[1] = 3; }),
              HasSubstr("f.npz: labels run from 1 to 3, there are 3 classes"));
  EXPECT_THAT(error_of([](Members& m) { m.labels[1] = -1; }), HasSubstr("labels run from -1 to 2"));
  EXPECT_THAT(error_of([](Members& m) { m.labels = m.labels.to(at::kFloat) + 0.5; }),
              HasSubstr("labels: expected integers"));
  EXPECT_THAT(error_of([](Members& m) {
                m.left_out = "names";
                m.labels[0] = int64_t{1} << 50;  // one class for each number up to it would take all memory
                m.split.pop_back();
              }),
              AllOf(HasSubstr("f.npz"), HasSubstr("'split' names 2 classes")));
}

TEST_F(FeatureSetTest, RefusesNamesThatAppearTwice) {
  EXPECT_THAT(error_of([](Members& m) { m.paths[3] = "s1.jpg"; }), HasSubstr("f.npz: duplicate image id 's1.jpg'"));
  EXPECT_THAT(error_of([](Members& m) { m.names[2] = "zebra"; }), HasSubstr("f.npz: duplicate class name 'zebra'"));
}

TEST_F(FeatureSetTest, NamesFileAndMemberOfAnUnknownSplit) {
  EXPECT_THAT(error_of([](Members& m) { m.split[1] = "unseen"; }),
              AllOf(HasSubstr("f.npz: member 'split'"), HasSubstr("'unseen'")));
  EXPECT_EQ(testing::usage_message_of([&] { read_changed([](Members& m) { m.split[1] = "unseen"; }); }),
            "(no UsageError)");
}

TEST_F(FeatureSetTest, RefusesAProtocomFileOfAnotherKind) {
  NpzWriter writer(folder_ / "k.npz");
  writer.add("features", array_of(at::ones({2, 2})));
  add_header(writer, make_header("knowledge", 1, {}));
  writer.close();
  EXPECT_THAT(testing::message_of([&] { read_features(folder_ / "k.npz"); }),
              HasSubstr("k.npz is a 'knowledge' file, expected 'features'"));
}

TEST_F(FeatureSetTest, ReadsBackWhatItWrote) {
  FeatureSet set = read_changed([](Members& m) {
    m.names[0] =
        "z\xc3\xa8"
        "bre";
  });
  set.backbone_hash = "99aa06d3014798d86001c324468d497f";
  Provenance provenance;
  provenance.command = "extract";
  provenance.seed = 7;
  write_features(folder_ / "out/written.npz", set, provenance);
  const FeatureSet back = read_features(folder_ / "out/written.npz");
  EXPECT_TRUE(at::equal(tensor_of(back.features), tensor_of(set.features)));
  EXPECT_EQ(back.labels, set.labels);
  EXPECT_EQ(back.class_names, set.class_names);
  EXPECT_EQ(back.class_split, set.class_split);
  EXPECT_EQ(back.image_ids, set.image_ids);
  EXPECT_EQ(back.backbone_hash, set.backbone_hash);
  EXPECT_NE(back.content_hash, set.content_hash);  // it is another file
  const ArtefactHeader header = read_any_header(folder_ / "out/written.npz");
  EXPECT_EQ(header.kind, "features");
  EXPECT_EQ(header.provenance.command, "extract");
  EXPECT_EQ(header.provenance.seed, 7u);
  EXPECT_EQ(header.details.at("images"), 4);
  EXPECT_EQ(header.details.at("dim"), 2);
  EXPECT_EQ(header.details.at("classes"), 3);
}

struct RealFile {
  const char* name;
  int64_t images;
  std::vector<size_t> classes;  ///< of base, val and novel
  const char* first_class;
};

class RealFeatures : public ::testing::TestWithParam<RealFile> {};

// The numbers come from the data's own description.
TEST_P(RealFeatures, HaveTheSizesThatTheirDescriptionStates) {
  REQUIRE_REAL_DATA();
  const RealFile& file = GetParam();
  const FeatureSet set = read_features(*testing::real_data() / file.name);
  EXPECT_EQ(set.size(), file.images);
  EXPECT_EQ(set.dim(), 512);
  EXPECT_EQ(set.class_names.size(), 100u);
  EXPECT_EQ(set.class_names.front(), file.first_class);
  for (const Split split : kAllSplits)
    EXPECT_EQ(set.classes_of(split).size(), file.classes[static_cast<size_t>(split)]);
  EXPECT_EQ(std::set<std::string>(set.image_ids.begin(), set.image_ids.end()).size(), static_cast<size_t>(file.images));
  int64_t rows = 0;
  for (const auto& of_class : set.rows_by_class()) {
    EXPECT_FALSE(of_class.empty());
    rows += static_cast<int64_t>(of_class.size());
  }
  EXPECT_EQ(rows, file.images);
}

INSTANTIATE_TEST_SUITE_P(
    TinyImageNetAndCub, RealFeatures,
    ::testing::Values(RealFile{"tiny-imagenet-100-resnet12.npz", 41000, {64, 16, 20}, "n01629819"},
                      RealFile{"cub-100-resnet12.npz", 5902, {44, 28, 28}, "001.Black_footed_Albatross"}));

TEST(RealFeaturesOfTinyImageNet, Have500ImagesABaseClassAnd250AnotherClass) {
  REQUIRE_REAL_DATA();
  const FeatureSet set = read_features(*testing::real_data() / "tiny-imagenet-100-resnet12.npz");
  const auto rows = set.rows_by_class();
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i].size(), set.class_split[i] == Split::kBase ? 500u : 250u) << set.class_names[i];
}

}  // namespace
}  // namespace protocom
