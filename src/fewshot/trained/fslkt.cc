#include "fewshot/trained/fslkt.h"

#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition fslkt() {
  MethodSpec spec;
  spec.name = "fslkt";
  spec.about = "class means plus weights that a graph convolution over classes and attributes predicts";
  spec.citation = "Peng, Li, Zhang, Li, Qi, Tang: Few-Shot Image Recognition With Knowledge Transfer, ICCV 2019 (KTN)";
  spec.needs = {Need::kFitting, Need::kKnowledge, Need::kOtherClasses};
  spec.notes =
      "The graph joins classes and the attributes they have; the source’s joins classes of a knowledge graph. It is "
      "trained to give the base classes’ mean directions, where the source trains backbone, weights and graph "
      "together. `knowledge` / K is the factor of the prediction with K images per class: 1 is the source’s 5 / "
      "(images of a 5-way episode). Its graph has every class and attribute of the knowledge, so an answer depends on "
      "knowledge of classes outside the task; recognizers, which have only enrolled classes, do not support it.";
  return define_trained(
      std::move(spec),
      Parameters<FslktOptions>()
          .for_fitting()
          .choice("space", &FslktOptions::space, unit_spaces(), kUnitSpacesText)
          .whole("hidden", &FslktOptions::hidden, {1}, "units of the hidden layer")
          .real("dropout", &FslktOptions::dropout, {0, 0.99},
                "share of the hidden units left out in a step of training")
          .tries({"0.2"})
          .whole("steps", &FslktOptions::steps, {1}, "of Adam, at most: the best on held-out classes counts")
          .real("learning_rate", &FslktOptions::learning_rate, {1e-8, 1}, "of Adam")
          .for_answers()
          .real("knowledge", &FslktOptions::knowledge, {}, "factor of the prediction with one image per class")
          .tries({"0.3", "3"})
          .real("scale", &FslktOptions::scale, {}, "factor of the cosine in the softmax"));
}

}  // namespace protocom::methods
