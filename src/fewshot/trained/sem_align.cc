#include "fewshot/trained/sem_align.h"

#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition sem_align() {
  MethodSpec spec;
  spec.name = "sem-align";
  spec.about = "class means mixed with centres that a network predicts from each image and the knowledge of its class";
  spec.citation = "Zhang, Xu, Jiang, He: Simple Semantic-Aided Few-Shot Learning, CVPR 2024 (SemAlign of SemFew)";
  spec.needs = {Need::kFitting, Need::kKnowledge};
  spec.notes =
      "The source’s semantics are CLIP’s of sentences that a language model writes; here they are protocom’s "
      "knowledge. Features at unit length, fewer hidden units and steps than the source’s 4096 and 50 epochs, the step "
      "chosen on held-out classes. The share is chosen there too, for 1 and for 5 images; between them it is "
      "interpolated. A class without knowledge keeps its mean.";
  return define_trained(
      std::move(spec),
      Parameters<SemAlignOptions>()
          .for_fitting()
          .choice("space", &SemAlignOptions::space, unit_spaces(), kUnitSpacesText)
          .choice("semantics", &SemAlignOptions::semantics, semantics_kinds(), kSemanticsText)
          .tries({"attributes", "words"})
          .whole("hidden", &SemAlignOptions::hidden, {1}, "units of the hidden layer")
          .tries({"256", "4096"})
          .whole("steps", &SemAlignOptions::steps, {1}, "of Adam, at most: the best on held-out classes counts")
          .whole("batch", &SemAlignOptions::batch, {1}, "base images per step")
          .real("learning_rate", &SemAlignOptions::learning_rate, {1e-8, 1}, "of Adam")
          .for_answers()
          .real("share", &SemAlignOptions::share, {-1, 1}, "of the mean, the rest is the network’s; below 0: as fitted")
          .tries({"0.3", "0.7"})
          .real("scale", &SemAlignOptions::scale, {}, "factor of the cosine in the softmax"));
}

}  // namespace protocom::methods
