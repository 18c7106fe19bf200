#include "fewshot/detail/method_definition.h"
#include "fewshot/paper/primitive_enhancing.h"
#include "fewshot/toolbox/cosine_classifier.h"

namespace protocom::methods {
namespace {

struct Options {
  double strength = 0.1;
  double scale = 10;
};

class Enhanced : public FeatureTransform {
 public:
  explicit Enhanced(double strength) : strength_(strength) {}

  [[nodiscard]] at::Tensor map(const at::Tensor& features) const override {
    return enhanced_primitives(features, strength_);
  }
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override {
    const auto* enhanced = dynamic_cast<const Enhanced*>(&other);
    return enhanced != nullptr && enhanced->strength_ == strength_;
  }

 private:
  double strength_;
};

std::unique_ptr<Scorer> scorer(const Options& options, const MethodContext&) {
  const auto answer = [scale = options.scale](const EpisodeBatch& batch) -> EpisodeScores {
    const at::Tensor prototypes = mean_prototypes(statistics_of(batch));  // [b, n, d], of enhanced features
    return {scale * protocom::cosine_similarity(batch.query, prototypes), at::Tensor()};
  };
  return scorer_of(answer, std::make_shared<Enhanced>(options.strength));
}

}  // namespace

MethodDefinition cpde() {
  MethodSpec spec;
  spec.name = "cpde";
  spec.about = "nearest class mean by cosine, of features whose strong channels are enlarged";
  spec.citation =
      "Zou, Zhang, Chen, Tian, Wang, Moura: Compositional Few-Shot Recognition with Primitive Discovery and Enhancing, "
      "ACM Multimedia 2020";
  spec.notes =
      "The head of a backbone trained by `protocom pretrain --method cpde`, at the strength it was trained with; it "
      "takes any features, but those of other backbones lose accuracy. The source gives the principle of the enhancing "
      "and no code: its form is ours, channels weighed by a softmax of themselves.";
  return define_scorer(std::move(spec), &scorer,
                       Parameters<Options>()
                           .real("strength", &Options::strength, {0, 100}, "of the enhancing; 0: none")
                           .tries({"0", "0.25", "0.5", "1"})
                           .real("scale", &Options::scale, {}, "factor of the cosine"));
}

}  // namespace protocom::methods
