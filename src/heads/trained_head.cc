#include "heads/detail/trained_head.h"

#include <ATen/ATen.h>

#include "heads/detail/class_semantics.h"
#include "heads/detail/step_training.h"

namespace protocom {

void AnyTrainedHead::fit(const FitInputs& inputs) {
  at::manual_seed(inputs.seed);
  Rng rng(inputs.seed);
  if (spec().has(Need::kKnowledge)) attributes_ = knowledge_of(inputs, spec().name).attributes;
  const HeadTraining training = begin(inputs, rng);
  has_model_ = true;
  const StepTraining steps{spec().name, steps_.steps, steps_.learning_rate};
  findings_ = train_steps(training.parameters, steps, training.loss, training.held_out, *inputs.progress)
                  .sentences(steps_.steps);
  if (!training.then) return;
  for (std::string& sentence : training.then()) findings_.push_back(std::move(sentence));
}

MethodState AnyTrainedHead::state() const {
  MethodState state;
  if (!has_model_) return state;
  write(StateFields::writing_to(state));
  state.attributes = attributes_;
  return state;
}

void AnyTrainedHead::load(const MethodState& state) {
  read(StateFields::reading_from(state));
  attributes_ = state.attributes;
  has_model_ = true;
}

}  // namespace protocom
