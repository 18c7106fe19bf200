#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/npz.h"
#include "knowledge/mini_wordnet.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Three base classes and a novel one; the cat and the dog have the same attributes, the elk none, the owl some that no
/// other has.
class KnowledgeViews : public ::testing::Test {
 protected:
  void SetUp() override {
    write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,base\nelk,base\nowl,novel\n");
    write_text(folder_ / "attributes.csv", "class,attribute\ncat,tail\ndog,tail\nowl,wing\ncat,fur\ndog,fur\n");
    const Outcome made = make("table", "attributes.csv", "k.npz");
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "knowledge");
    return protocom(folder_.path(), arguments);
  }

  Outcome make(const std::string& command, const std::string& csv, const std::string& out) {
    return run({command, "--csv", csv, "--split", "split.csv", "--out", out});
  }

  TempDir folder_;
};

TEST_F(KnowledgeViews, ShowListsAttributesClassesAndWhatIsUseless) {
  const Outcome shown = run({"show", "k.npz"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("equal rows, which cannot be told apart: cat, dog"),
                               HasSubstr("classes without attributes (2): elk, owl"),
                               HasSubstr("attributes of no base class, not used (1): wing"), HasSubstr("tail, fur")));
  EXPECT_THAT(run({"show", "k.npz", "--most", "1"}).out,
              AllOf(HasSubstr("... and 1 more (--most)"), HasSubstr("... and 3 more (--most)")));
}

TEST_F(KnowledgeViews, ShowNamesAClassOnceWhereItIsCalledWhatPeopleCallIt) {
  const auto wnids = write_mini_wordnet(folder_.path(), {{"bird", {"bird", "fowl"}, {{"%p", "wing"}}},
                                                         {"jay", {"jay", "noisy_bird"}, {{"@", "bird"}}},
                                                         {"owl", {"owl"}, {{"@", "bird"}}},
                                                         {"wing", {"wing"}, {}}});
  write_text(folder_ / "birds.csv", "class,split\njay,base\n" + wnids.at("owl") + ",base\nfowl,novel\n");
  const Outcome made = run({"wordnet", "--wordnet", ".", "--split", "birds.csv", "--out", "birds.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome shown = run({"show", "birds.npz"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("\njay "), Not(HasSubstr("(jay")),
                               HasSubstr("\n" + wnids.at("owl") + " (owl) "), HasSubstr("\nfowl (bird) ")));
  // All have a wing, so the list of equal rows names them too.
  EXPECT_THAT(shown.out, HasSubstr("fowl (bird), jay, " + wnids.at("owl") + " (owl)\n"));
}

// A fact of WordNet 3.0, looked up where Debian's wordnet-base installs it.
TEST_F(KnowledgeViews, ShowNamesAJayOfTheInstalledWordNetOnce) {
  if (!std::filesystem::exists("/usr/share/wordnet/data.noun")) GTEST_SKIP() << "needs WordNet (wordnet-base)";
  write_text(folder_ / "birds.csv", "class,split\njay,base\nmagpie,base\nn02084071,base\n");
  const Outcome made = run({"wordnet", "--split", "birds.csv", "--out", "birds.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("'jay' resolved to n01580077 (jay: crested largely blue bird)"));
  EXPECT_THAT(run({"show", "birds.npz"}).out,
              AllOf(HasSubstr("\njay "), Not(HasSubstr("(jay")), HasSubstr("\nn02084071 (dog) ")));
}

TEST_F(KnowledgeViews, TemplateHasARowForEachClassAndAColumnForEachAttribute) {
  ASSERT_EQ(run({"template", "--split", "split.csv", "--attributes", "wing, long tail", "--out", "t.csv"}).exit_code,
            0);
  EXPECT_EQ(read_text(folder_ / "t.csv"), "class,wing,long tail\ncat,,\ndog,,\nelk,,\nowl,,\n");
  ASSERT_EQ(run({"template", "--split", "split.csv", "--knowledge", "k.npz", "--out", "known.csv"}).exit_code, 0);
  EXPECT_EQ(read_text(folder_ / "known.csv"), "class,tail,fur\ncat,1,1\ndog,1,1\nelk,0,0\nowl,0,0\n");
  const Outcome again = run({"template", "--split", "split.csv", "--knowledge", "k.npz", "--out", "t.csv"});
  EXPECT_EQ(again.exit_code, 1) << "it may be filled in by now";
  EXPECT_THAT(again.err, HasSubstr("t.csv is already there"));
  const Outcome empty = run({"template", "--split", "split.csv", "--out", "empty.csv"});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("name the attributes"));
}

TEST_F(KnowledgeViews, AFilledInTemplateIsReadAsSpreadsheetsSaveIt) {
  write_text(folder_ / "t.csv", "class;wing;tail;\ncat;;x;\ndog;yes;0,5;\nelk;;;\nowl;1;no;\n;;;\n");
  for (const char* command : {"table", "matrix"}) {
    const Outcome made = make(command, "t.csv", "k2.npz");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(run({"show", "k2.npz"}).out, HasSubstr("wing, tail 0.5"));
  }
}

TEST_F(KnowledgeViews, EmbeddingsNameClassesAndVectorsThatDoNotMeetInOneSentence) {
  write_text(folder_ / "v.csv", "name,x,y\ncat,1,0\ndog,0,1\nelk,1,1\nyak,1,2\n");
  const Outcome made = run({"embeddings", "--vectors", "v.csv", "--split", "split.csv", "--out", "v.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err,
              HasSubstr("1 of 4 classes have no vector: owl; and 1 vectors of other classes are ignored: yak"));
  EXPECT_THAT(made.out, HasSubstr("class-vectors, 2 dimensions"));
  EXPECT_THAT(run({"show", "v.npz"}).out, HasSubstr("cat"));
  const Outcome both =
      run({"embeddings", "--vectors", "v.csv", "--csv", "attributes.csv", "--split", "split.csv", "--out", "w.npz"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(run({"show", "w.npz"}).out, HasSubstr("tail, fur"));
}

TEST_F(KnowledgeViews, EmbeddingsOfSeveralSourcesAreWeighedAgainstOneAnother) {
  constexpr int64_t kClasses = 30, kImages = 12, kDim = 10;
  auto generator = at::detail::createCPUGenerator(4);
  const at::Tensor truth = at::randn({kClasses, 4}, generator), noise = at::randn({kClasses, 6}, generator);
  const at::Tensor means = at::mm(truth, at::randn({4, kDim}, generator));
  std::vector<std::string> names, splits(kClasses, "base");
  std::string texts = "name,a,b,c,d\n";
  for (int64_t i = 0; i < kClasses; ++i) {
    names.push_back("class" + std::to_string(i));
    texts += names.back();
    for (int64_t j = 0; j < 4; ++j) texts += "," + std::to_string(truth[i][j].item<float>());
    texts += "\n";
  }
  write_text(folder_ / "texts.csv", texts);
  NpzWriter words(folder_ / "words.npz");
  words.add("vectors", array_of(7 * noise));
  words.add("names", names);
  words.close();
  std::fill(splits.end() - 6, splits.end(), "novel");
  NpzWriter features(folder_ / "f.npz");
  features.add("features", array_of((means.repeat_interleave(kImages, 0) + 3 +
                                     0.5 * at::randn({kClasses * kImages, kDim}, generator))));
  features.add("labels", array_of(at::arange(kClasses, at::kLong).repeat_interleave(kImages)));
  features.add("names", names);
  features.add("split", splits);
  features.close();
  const Outcome made = run({"embeddings", "--vectors", "texts.csv", "--vectors", "words.npz", "--out", "both.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("class-vectors, 10 dimensions of 2 sources"));
  const Outcome fitted = protocom(folder_.path(), {"fit", "--features", "f.npz", "--knowledge", "both.npz",
                                                   "--knowledge-use", "always", "--out", "plda.npz"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const at::Tensor sources = tensor_of(NpzReader(folder_ / "plda.npz").array("state.embedding_sources"));
  EXPECT_EQ(sources[0][0].item<double>(), 4);
  EXPECT_EQ(sources[1][0].item<double>(), 6);
  EXPECT_GT(sources[0][1].item<double>(), 0.75) << "the other one is noise";
  const Outcome found = protocom(
      folder_.path(), {"evaluate", "--features", "f.npz", "--fitted", "plda.npz", "--knowledge", "both.npz",
                       "--methods", "plda", "--k-shot", "1", "--n-way", "5", "--n-query", "5", "--episodes", "20"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
}

TEST_F(KnowledgeViews, EmbeddingsDoNotReplaceTheNamesOfTheirRows) {
  write_text(folder_ / "names.txt", "cat\n");
  const Outcome refused = run({"embeddings", "--vectors", "v.npy", "--names", "names.txt", "--out", "names.txt"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--names"));
  EXPECT_EQ(read_text(folder_ / "names.txt"), "cat\n");
}

TEST_F(KnowledgeViews, EmbeddingsAnswerWithoutAPhoto) {
  write_text(folder_ / "t.csv", "name,x,y\ncat,1,0\nowl,0,1\n");
  ASSERT_EQ(run({"embeddings", "--vectors", "t.csv", "--out", "t.npz"}).exit_code, 0);
  NpzWriter features(folder_ / "f.npz");
  features.add("features", array_of(at::tensor({1.0F, 0.2F, 0.9F, 0.1F, 0.1F, 1.0F, 0.3F, 0.8F}).view({4, 2})));
  features.add("labels", array_of(at::tensor({0, 0, 1, 1}, at::kLong)));
  features.add("names", std::vector<std::string>{"cat", "owl"});
  features.add("split", std::vector<std::string>{"novel", "novel"});
  features.close();
  const Outcome found =
      protocom(folder_.path(), {"evaluate", "--features", "f.npz", "--knowledge", "t.npz", "--methods", "zero-shot",
                                "--k-shot", "0", "--n-way", "2", "--n-query", "1", "--episodes", "5"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("100.0"));
}

}  // namespace
}  // namespace protocom::testing
