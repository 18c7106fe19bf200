#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fewshot/fitted_method.h"
#include "support/labelled.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kAnimals = {"bear", "cat", "dog", "eel", "fox"};

/// Returns two images each of a fox, a bear and a dog.
FitInputs three_animals() {
  FitInputs inputs;
  inputs.base =
      testing::labelled(at::arange(24, at::kFloat).view({6, 4}).sin(), at::tensor({4, 0, 2, 4, 0, 2}, at::kLong));
  inputs.class_names = &kAnimals;
  return inputs;
}

std::string refusal(const std::string& method, const FitInputs& inputs) {
  try {
    fit_method(method, inputs);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(FitMethod, TakesTensorsAndSaysWhichClassesItWasFittedOn) {
  const FittedMethod fitted = fit_method("restore-net:steps=2:batch=3", three_animals());
  EXPECT_THAT(fitted.trained_on, ElementsAre("bear", "dog", "fox"));
  EXPECT_EQ(fitted.feature_dim, 4);
  EXPECT_EQ(fitted.method->state().at("hidden.weight").shape(), (Shape{2, 4}));
}

TEST(FitMethod, RefusesMethodsThatCannotBeFittedOnTheseInputs) {
  EXPECT_THAT(refusal("mean", three_animals()), HasSubstr("'mean' needs no fitting"));
  EXPECT_THAT(refusal("srestore-net", three_animals()), HasSubstr("uses the fitted file of 'restore-net'"));
  EXPECT_THAT(refusal("sem-align", three_animals()), HasSubstr("'sem-align' needs knowledge"));
  EXPECT_THAT(refusal("ctm", three_animals()), HasSubstr("'ctm' needs feature maps"));
  EXPECT_THROW(fit_method("restore-net", FitInputs{}), Error);
}

}  // namespace
}  // namespace protocom
