#include "fewshot/trained/meta_baseline.h"

#include "fewshot/trained/detail/define_trained.h"

namespace protocom::methods {

MethodDefinition meta_baseline() {
  MethodSpec spec;
  spec.name = "meta-baseline";
  spec.about = "nearest class mean by cosine, with a learned factor";
  spec.citation =
      "Chen, Liu, Xu, Darrell, Wang: Meta-Baseline: Exploring Simple Meta-Learning for Few-Shot Learning, ICCV 2021";
  spec.needs = {Need::kFitting};
  spec.notes =
      "On frozen features only the factor is learned, which changes probabilities and no answer: accuracies are those "
      "of `mean`. The source trains the backbone with it: that is `protocom metatrain --head mean`. Learned on val "
      "classes if there are any, since the backbone was trained on the base classes.";
  return define_trained(std::move(spec),
                        Parameters<MetaBaselineOptions>()
                            .for_fitting()
                            .whole("shots", &MetaBaselineOptions::shots, {1}, "labelled images per class of the tasks")
                            .whole("steps", &MetaBaselineOptions::steps, {1}, "of Adam, from a factor of 10")
                            .real("learning_rate", &MetaBaselineOptions::learning_rate, {1e-8, 1}, "of Adam"));
}

}  // namespace protocom::methods
