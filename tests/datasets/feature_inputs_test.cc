// Features as saved by other programs. The public source of a situation is named where there is one.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "datasets/feature_rows.h"
#include "datasets/feature_set.h"
#include "io/files.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/python.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Everything that NumPy and pickle save, in one run: `x` are features [4, 2], 1 to 8. A Python process for each would
/// take longer.
constexpr const char* kSaved = R"(
import numpy as np
x = np.arange(8, dtype='f4').reshape(4, 2) + 1
np.savez('texts.npz', features=x, labels=np.array(['zebra', 'cat', 'zebra', 'ant']))
np.savez('bytes.npz', features=x, labels=np.array([b'b', b'a', b'b', b'b']), names=np.array(['b', 'a', 'c']))
np.savez('misspelt.npz', features=x, labels=np.array(['horse', 'hors', 'cat', 'cat']), names=np.array(['horse', 'cat']))
np.savez('gaps.npz', features=x, labels=np.array([1007, 3, 1007, -1]))
np.savez('split-of-gaps.npz', features=x, labels=np.array([0, 3, 0, 3]), split=np.array(['base', 'val', 'val', 'novel']))
np.savez('floats.npz', features=x, labels=np.array([0., 1., 1., 0.]))
np.savez('column.npz', features=x, labels=np.array([[0], [1], [1], [0]]))
np.savez('fractions.npz', features=x, labels=np.array([0.5, 1, 1, 0]))
np.savez('one-hot.npz', features=x, labels=np.eye(4)[[0, 1, 1, 0]])
np.savez('from-one.npz', features=x, labels=np.array([1, 2, 2, 1]), names=np.array(['a', 'b']))
np.savez('maps.npz', features=np.ones((4, 2, 7, 7), 'f4'), labels=np.zeros(4, int))
np.savez('objects.npz', features=np.array([list(r) for r in x] + [None], dtype=object)[:4], labels=np.zeros(4, int))
np.savez('object-labels.npz', features=x, labels=np.array(['a', 'b', 'a', 'b'], dtype=object))
np.savez('other-names.npz', X=x, y=np.array([0, 1, 1, 0]))
np.savez('two-names.npz', features=x, y=np.zeros(4, int), target=np.zeros(4, int))
np.savez('plain.npz', features=x, labels=np.array([0, 1, 1, 0]))
np.savez('half.npz', features=x.astype('f2'), labels=np.array([0, 1, 1, 0]))
np.savez('double.npz', features=x.astype('f8'), labels=np.array([0, 1, 1, 0]))
np.savez('fortran.npz', features=np.asfortranarray(x), labels=np.array([0, 1, 1, 0]))
np.savez('big-endian.npz', features=x.astype('>f4'), labels=np.array([0, 1, 1, 0]))
np.savez('big-endian-double.npz', features=x.astype('>f8'), labels=np.array([0, 1, 1, 0]))
np.savez('whole.npz', features=x.astype('i2'), labels=np.array([0, 1, 1, 0]))
np.savez('not-squeezed.npz', features=x[:, :, None, None], labels=np.array([0, 1, 1, 0]))
np.savez('fortran-big-endian.npz', features=np.asfortranarray(x.astype('>f8')), labels=np.array([0, 1, 1, 0]))
import pickle
pickle.dump({'ant': [x[0], x[1]], 'cat': x[2:]}, open('dict-of-classes.pkl', 'wb'))
pickle.dump({3: list(x[:2]), 7: list(x[2:])}, open('dict-of-numbers.pkl', 'wb'))
pickle.dump({'features': x, 'labels': np.array([3, 3, 7, 7])}, open('features-and-labels.pkl', 'wb'))
pickle.dump({'data': x, 'labels': [0, 0, 1, 1]}, open('data-and-labels.pkl', 'wb'))
np.save('features.npy', np.ones((2, 3)) * [[1], [2]])
np.save('labels.npy', np.array(['b', 'a']))
np.savez('alone.npz', X=x)
np.save('alone.npy', x)
)";

class FeatureInputs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    if (has_numpy()) {
      EXPECT_EQ(run_python(folder_->path(), kSaved), "");
    }
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override { REQUIRE_NUMPY(); }

  static fs::path at_name(const std::string& name) { return *folder_ / name; }
  /// Reads what was saved as NAME.npz.
  static FeatureSet saved(const std::string& name, const FeatureFileOptions& options = all_base()) {
    return read_features(at_name(name + ".npz"), options);
  }
  static std::string error_of(const std::string& name) {
    return message_of([&] { saved(name); });
  }
  static FeatureFileOptions all_base() {
    FeatureFileOptions options;
    options.without_split = Split::kBase;
    return options;
  }
  static std::vector<int64_t> labels_of(const FeatureSet& set) { return set.labels; }
  static void expect_rows(const FeatureSet& set) {
    const at::Tensor features = tensor_of(set.features);
    EXPECT_TRUE(at::equal(features, at::arange(1, 9).to(at::kFloat).view({4, 2}))) << features;
  }

  static inline std::unique_ptr<TempDir> folder_;
};

TEST_F(FeatureInputs, LabelsMayBeTheNamesOfTheClasses) {
  const FeatureSet set = saved("texts");
  EXPECT_THAT(set.class_names, ElementsAre("ant", "cat", "zebra"));
  EXPECT_THAT(labels_of(set), ElementsAre(2, 1, 2, 0));
}

TEST_F(FeatureInputs, LabelsThatAreNamesAreFoundAmongTheNames) {
  EXPECT_THAT(labels_of(saved("bytes")), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(error_of("misspelt"), AllOf(HasSubstr("'hors' in row 1"), HasSubstr("did you mean 'horse'")));
}

// scikit-learn's LabelEncoder exists since labels have gaps: ids of a database, classes that a filter left.
// 575 classes whose largest number is 769 (KaiyangZhou/deep-person-reid issue 190).
TEST_F(FeatureInputs, NumbersWithGapsAreClassesCalledByTheirNumbers) {
  const Logged log;
  const FeatureSet set = saved("gaps");
  EXPECT_THAT(set.class_names, ElementsAre("-1", "3", "1007"));
  EXPECT_THAT(labels_of(set), ElementsAre(2, 1, 2, 0));
  EXPECT_THAT(log.text(), HasSubstr("3 numbers from -1 to 1007"));
}

TEST_F(FeatureInputs, NumbersThatASplitIsThereForMayHaveGaps) {
  const FeatureSet set = saved("split-of-gaps");
  EXPECT_THAT(set.class_names, ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(set.class_split[3], Split::kNovel);
}

TEST_F(FeatureInputs, WholeNumbersMayBeFloatsOrAColumn) {
  EXPECT_THAT(labels_of(saved("floats")), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(labels_of(saved("column")), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(error_of("fractions"), HasSubstr("labels: expected integers, or the names"));
}

TEST_F(FeatureInputs, OneHotLabelsAreRefusedWithWhatMendsThem) {
  EXPECT_THAT(error_of("one-hot"), HasSubstr("labels.argmax(1)"));
}

// A failed assertion on the GPU is the only message that users get for labels from 1 on (amdegroot/ssd.pytorch issue
// 231).
TEST_F(FeatureInputs, LabelsThatCountFromOneAreToldSo) {
  EXPECT_THAT(error_of("from-one"), HasSubstr("they count from 1, subtract 1"));
}

TEST_F(FeatureInputs, FeaturesMayBeHalvesDoublesInFortranOrderOrBigEndian) {
  for (const char* how : {"half", "double", "fortran", "big-endian", "big-endian-double", "whole", "not-squeezed",
                          "fortran-big-endian"}) {
    SCOPED_TRACE(how);
    expect_rows(saved(how));
  }
}

TEST_F(FeatureInputs, MapsThatAreNotPooledAreRefusedWithWhatPoolsThem) {
  EXPECT_THAT(error_of("maps"), HasSubstr("x.mean((2, 3))"));
}

// numpy/numpy issue 13353 and thousands of questions: "Object arrays cannot be loaded when allow_pickle=False".
// Reported in public: TUW-GEO/ismn issue 10.
TEST_F(FeatureInputs, ObjectArraysAreRefusedByNameWithWhatMendsThem) {
  EXPECT_THAT(error_of("objects"),
              AllOf(HasSubstr("member 'features'"), HasSubstr("object array"), HasSubstr("numpy.stack")));
  EXPECT_THAT(error_of("object-labels"), AllOf(HasSubstr("member 'labels'"), HasSubstr("dtype=str")));
}

TEST_F(FeatureInputs, OtherUsualNamesOfTheMembersAreKnownAndSaid) {
  const Logged log;
  expect_rows(saved("other-names"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("'X' is read as its features"), HasSubstr("'y' is read as its labels")));
  EXPECT_THAT(error_of("two-names"), HasSubstr("'y' or 'target' may be its labels"));
}

TEST_F(FeatureInputs, WithoutASplitAllClassesAreWhatTheCommandTakesThemFor) {
  FeatureFileOptions options;
  options.without_split = Split::kNovel;
  EXPECT_THAT(saved("plain", options).class_split, ElementsAre(Split::kNovel, Split::kNovel));
}

TEST_F(FeatureInputs, AnNpyMayHaveNamesForLabels) {
  EXPECT_THAT(read_features(at_name("features.npy"), all_base()).class_names, ElementsAre("a", "b"));
}

TEST_F(FeatureInputs, WithoutLabelsAreReadWhereNobodyAsksForThem) {
  for (const char* name : {"alone.npz", "alone.npy", "plain.npz"}) {
    const at::Tensor rows = tensor_of(read_feature_rows(at_name(name)));
    EXPECT_TRUE(at::equal(rows, at::arange(1, 9, at::kFloat).view({4, 2}))) << name;
  }
  EXPECT_THAT(message_of([&] { read_feature_rows(at_name("maps.npz")); }), HasSubstr("maps.npz"));
  write_file(at_name("f.parquet"), "PAR1");
  for (const std::string& message : {message_of([&] { read_features(at_name("f.parquet"), all_base()); }),
                                     message_of([&] { read_feature_rows(at_name("f.parquet")); })})
    EXPECT_THAT(message,
                AllOf(HasSubstr("f.parquet is Parquet"), HasSubstr("pd.read_parquet("), HasSubstr("np.savez(")));
}

/// Returns the text between the quotes after `python3 -c`.
std::string recipe_in(const std::string& message) {
  const size_t begin = message.find("-c \"") + 4;
  return message.substr(begin, message.rfind('"') - begin);
}

// Few-shot repositories pickle {class: rows} (S2M2_fewshot, PT-MAP) or features and labels (easyfsl's embeddings).
// Reported in public: gidariss/FewShotWithoutForgetting issue 13.
TEST_F(FeatureInputs, APickleIsRefusedWithTheLineThatSavesItAsNpz) {
  std::string recipes;
  for (const char* name : {"dict-of-classes", "dict-of-numbers", "features-and-labels", "data-and-labels"}) {
    const std::string message = message_of([&] { read_features(at_name(std::string(name) + ".pkl"), all_base()); });
    EXPECT_THAT(message, HasSubstr("is a Python pickle")) << name;
    recipes += recipe_in(message) + "\n";
  }
  ASSERT_EQ(run_python(folder_->path(), recipes), "");
  for (const char* name : {"dict-of-classes", "dict-of-numbers", "features-and-labels", "data-and-labels"}) {
    SCOPED_TRACE(name);
    const FeatureSet set = saved(name);
    expect_rows(set);
    EXPECT_THAT(labels_of(set), ElementsAre(0, 0, 1, 1));
  }
}

// Reported in public: Cuberick-Orion/CIRPLANT issue 10.
TEST_F(FeatureInputs, WhatTorchSavedIsRefusedWithTheLineToo) {
  write_file(at_name("f.pt"), "PK");
  const std::string message = message_of([&] { read_features(at_name("f.pt"), all_base()); });
  EXPECT_THAT(message, AllOf(HasSubstr("import torch"), HasSubstr("torch.load('"), HasSubstr("f.npz'")));
}

// Text pasted into a shell and into Python must not execute a file's name.
TEST_F(FeatureInputs, AFileOfAnOddNameIsNotPastedIntoTheLine) {
  for (const char* name : {"it's.pkl", "a\"b.pkl", "$(touch x).pkl", "back\\slash.pkl", "`ls`.pkl", "a\nb.pkl"}) {
    write_file(at_name(name), "pickled");
    const std::string message = message_of([&] { read_features(at_name(name), all_base()); });
    EXPECT_THAT(message, AllOf(HasSubstr("open('FILE.pkl', 'rb')"), HasSubstr("np.savez('FILE.npz'"))) << name;
  }
  write_file(at_name("it's.pt"), "pickled");
  EXPECT_THAT(message_of([&] { read_features(at_name("it's.pt"), all_base()); }), HasSubstr("torch.load('FILE.pt',"));
}

/// Written by SciPy 1.x in the form of the benchmarks of Xian et al.: six images, four classes.
fs::path mat(const std::string& name) { return fs::path(PROTOCOM_GOLDEN).parent_path() / "mat" / name; }

TEST(MatFeatures, OfTheAttributeBenchmarksHaveTheirNamesAndProposedSplit) {
  const FeatureSet set = read_features(mat("res101.mat"));
  EXPECT_EQ(set.size(), 6);
  EXPECT_EQ(set.dim(), 3);
  EXPECT_THAT(set.class_names, ElementsAre("antelope", "grizzly+bear", "killer+whale", "caf\xc3\xa9"));
  EXPECT_EQ(set.labels[3], 2);
  EXPECT_FLOAT_EQ(set.features.row(1).data<float>()[2], 13.5F);  // the third row, the second column
  // train_loc holds an image of class 1, val_loc two of class 2, test_unseen_loc those of 3 and 4
  EXPECT_THAT(set.class_split, ElementsAre(Split::kBase, Split::kVal, Split::kNovel, Split::kNovel));
}

TEST(MatFeatures, AloneAreClassesCalledByTheirNumbers) {
  const TempDir folder;
  fs::copy_file(mat("res101.mat"), folder / "res101.mat");
  FeatureFileOptions options;
  options.without_split = Split::kNovel;
  EXPECT_THAT(read_features(folder / "res101.mat", options).class_names, ElementsAre("1", "2", "3", "4"));
}

TEST(MatFeatures, OfADamagedFileAreAnError) {
  const TempDir folder;
  const std::string whole = read_file(mat("res101.mat"));
  for (size_t size = 0; size < whole.size(); size += 37) {
    write_file(folder / "cut.mat", whole.substr(0, size));
    EXPECT_NE(message_of([&] { read_features(folder / "cut.mat"); }), "(no Error)") << size;
  }
  for (size_t i = 128; i < whole.size(); i += 11) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xff);
    write_file(folder / "changed.mat", changed);
    EXPECT_FALSE(message_of([&] { read_features(folder / "changed.mat"); }).empty());
  }
}

}  // namespace
}  // namespace protocom::testing
