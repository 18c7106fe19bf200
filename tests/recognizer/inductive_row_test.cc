#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "recognizer/recognizer_support.h"

namespace protocom::testing {
namespace {

/// A recognizer of two classes whose completion model names the row that classifies best, and completes every prototype
/// to the same feature: completed prototypes alone do not distinguish the classes.
class RecognizerOfARow : public SmallRecognizer {
 protected:
  /// Makes one with a row named by its model's header and without options.
  Recognizer of_row(const std::string& row) const {
    CompletionModel model =
        constant_model(std::vector<float>(static_cast<size_t>(RecognizerFile(path_).settings().feature_dim), 1.0F));
    model.inductive_method = row;
    RecognizerParts made = parts();
    made.model = folder_ / (row + ".npz");
    write_completion_model(made.model, model, {}, {});
    create_recognizer(folder_ / (row + ".pcm"), made, {});
    Recognizer pets = Recognizer::open(folder_ / (row + ".pcm"));
    pets.enrol({request("dark", {photo("1.png", 10)}), request("bright", {photo("2.png", 240)})});
    return pets;
  }

  /// Returns its answer for a bright image.
  double probability_of(Recognizer& pets, const std::string& name) const {
    for (const RankedClass& one : pets.classify(photo("3.png", 200)).ranking) {
      if (one.name == name) return one.probability;
    }
    throw std::runtime_error("there is no class " + name);
  }
};

TEST_F(RecognizerOfARow, ClassifiesByTheRowThatValPreferred) {
  std::set<double> answers;
  for (const char* row : {"mean", "completed", "mean-fusion"}) {
    Recognizer chosen = of_row(row);
    EXPECT_EQ(chosen.method().label(), row);
    Recognizer asked = Recognizer::open(folder_ / (std::string(row) + ".pcm"), {row});
    const double bright = probability_of(chosen, "bright");
    EXPECT_EQ(bright, probability_of(asked, "bright")) << row;
    answers.insert(bright);
  }
  EXPECT_EQ(answers.size(), 3U) << "each row answers in its own way";
}

TEST_F(RecognizerOfARow, ByCompletedPrototypesAloneTellsTheseClassesNotApart) {
  Recognizer completed = of_row("completed");
  EXPECT_NEAR(probability_of(completed, "bright"), 0.5, 1e-6);
  Recognizer mean = of_row("mean");
  EXPECT_GT(probability_of(mean, "bright"), 0.5 + 1e-6);
}

TEST_F(RecognizerOfARow, BatchesUseTheTransductiveRow) {
  of_row("mean");
  RecognizerOptions options;
  options.together = true;
  EXPECT_EQ(Recognizer::open(folder_ / "mean.pcm", options).method().label(), "gauss-fusion");
}

}  // namespace
}  // namespace protocom::testing
