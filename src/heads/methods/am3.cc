#include "heads/detail/am3_method.h"

namespace protocom::methods {
namespace {

struct Options : Am3Options {
  std::string semantics = "both";
};

class Am3 : public Am3Method {
 public:
  explicit Am3(const Options& options) : Am3Method(options, {{options.semantics}}) {}
};

}  // namespace

MethodDefinition am3() {
  MethodSpec spec;
  spec.name = "am3";
  spec.about = "class means mixed with prototypes made from knowledge, by a learned share for each class";
  spec.citation =
      "Xing, Rostamzadeh, Oreshkin, Pinheiro: Adaptive Cross-Modal Few-shot Learning, NeurIPS 2019 (AM3-ProtoNet)";
  spec.needs = {Need::kFitting, Need::kKnowledge};
  spec.notes =
      "A head on frozen features; the source trains the backbone with it. Features at unit length, a learned scale of "
      "the squared distance, Adam, and the step chosen on held-out classes are ours. A class of which nothing is known "
      "keeps its mean. The source trains one model for each number of shots: set `shots`.";
  return define<Am3>(std::move(spec), with_am3_parameters(Parameters<Options>()
                                                              .for_fitting()
                                                              .choice("semantics", &Options::semantics,
                                                                      semantics_kinds(), kSemanticsText)
                                                              .tries({"attributes", "words"})));
}

}  // namespace protocom::methods
