#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "cli/recognizers.h"
#include "knowledge/mini_wordnet.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Writes birds and dogs; "crane" is a machine or a bird, "robin" one of two birds.
std::map<std::string, std::string> write_birds(const fs::path& folder) {
  return write_mini_wordnet(folder, {{"entity", {"entity"}, {}},
                                     {"animal", {"animal"}, {{"@", "entity"}, {"%p", "head"}}},
                                     {"dog", {"dog", "Canis_familiaris"}, {{"@", "animal"}, {"%p", "tail"}}},
                                     {"bird", {"bird", "fowl"}, {{"@", "animal"}, {"%p", "wing"}, {"%p", "tail"}}},
                                     {"crane_machine", {"crane"}, {{"@", "entity"}, {"%p", "hook"}}},
                                     {"crane_bird", {"crane"}, {{"@", "bird"}}},
                                     {"robin_of_europe", {"robin", "redbreast"}, {{"@", "bird"}}},
                                     {"robin_of_america", {"robin"}, {{"@", "bird"}}},
                                     {"head", {"head"}, {}},
                                     {"tail", {"tail"}, {}},
                                     {"wing", {"wing"}, {}},
                                     {"hook", {"hook"}, {}}});
}

/// A recognizer of the run's backbone whose knowledge treats the run's classes as dogs and birds.
class Synsets : public Recognizers {
 protected:
  static void SetUpTestSuite() {
    Recognizers::SetUpTestSuite();
    database_ = std::make_unique<TempDir>();
    wnids_ = write_birds(database_->path());
    std::string synsets = "class,synset\n";
    bool is_dog = false;
    for (const auto& entry : images_by_class())
      synsets += entry.first + "," + wnids_.at((is_dog = !is_dog) ? "dog" : "bird") + "\n";
    write_text(*database_ / "synsets.csv", synsets);
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"knowledge", "wordnet", "--wordnet", ".", "--split", out("images/split.csv").string(), "--class-synsets",
              "synsets.csv", "--embedding-dim", "3", "--out", "knowledge.npz"},
             {"fit", "--features", out("features.npz").string(), "--knowledge", "knowledge.npz", "--knowledge-use",
              "always", "--out", "plda.npz"},
             {"recognizer", "create", "r.pcm", "--backbone", out("backbone.npz").string(), "--fitted", "plda.npz",
              "--knowledge", "knowledge.npz"}}) {
      const Outcome outcome = run(arguments);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }
  static void TearDownTestSuite() { database_.reset(); }

  static Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--threads", "1"});
    return protocom(database_->path(), arguments);
  }

  /// Enrols a class by the meaning of `synset`.
  static Outcome enrol(const std::string& name, const std::string& synset) {
    return run({"enrol", "r.pcm", "--class", name, "--synset", synset, "--wordnet", "."});
  }

  inline static std::unique_ptr<TempDir> database_;
  inline static std::map<std::string, std::string> wnids_;
};

TEST_F(Synsets, OfAWordTheOneThatIsLikeTheClassesIsTakenAndShownWithItsGloss) {
  const Outcome crane = enrol("crane", "crane");
  ASSERT_EQ(crane.exit_code, 0) << crane.err;
  EXPECT_THAT(crane.err, HasSubstr("'crane' resolved to " + wnids_.at("crane_bird") +
                                   " (crane: the gloss of crane_bird): of its 2 senses it shares most with the other "
                                   "classes"));
  // The bird has everything in the knowledge; a machine would have nothing of it.
  EXPECT_THAT(run({"classes", "show", "r.pcm", "crane"}).out,
              AllOf(HasSubstr("head"), HasSubstr("tail"), HasSubstr("wing")));
}

TEST_F(Synsets, OfAWordThatNothingDecidesAreListedAndNothingIsEnrolled) {
  const Outcome robin = enrol("robin", "robin");
  EXPECT_EQ(robin.exit_code, 1);
  EXPECT_THAT(robin.err,
              AllOf(HasSubstr("'robin' has 2 senses in WordNet and the other classes do not decide between them; name "
                              "one by its wnid: "),
                    HasSubstr(wnids_.at("robin_of_europe") + " (robin, redbreast: the gloss of robin_of_europe)"),
                    HasSubstr(wnids_.at("robin_of_america") + " (robin: the gloss of robin_of_america)")));
  EXPECT_THAT(run({"classes", "list", "r.pcm"}).out, Not(HasSubstr("robin")));
  const Outcome named = enrol("robin", wnids_.at("robin_of_america"));
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.err, Not(HasSubstr("senses")));
  EXPECT_THAT(run({"classes", "list", "r.pcm"}).out, HasSubstr("robin"));
}

}  // namespace
}  // namespace protocom::testing
