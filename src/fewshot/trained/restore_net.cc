#include "fewshot/trained/restore_net.h"

#include "fewshot/trained/detail/define_trained.h"

namespace protocom::methods {

MethodDefinition restore_net() {
  MethodSpec spec;
  spec.name = "restore-net";
  spec.about = "prototypes moved by a network that was trained to move images to their class’s centre";
  spec.citation = "Xue, Wang: One-Shot Image Classification by Learning to Restore Prototypes, AAAI 2020";
  spec.needs = {Need::kFitting};
  spec.notes =
      "Fitted on features of one scale (root mean square 1, folded into the weights) by Adam, which the paper leaves "
      "open. Nearest prototype by squared Euclidean distance.";
  return define_trained(
      std::move(spec),
      Parameters<RestoreNetOptions>()
          .real("share", &RestoreNetOptions::share, {0, 1}, "of the restored prototype; the rest is the mean")
          .tries({"0.3", "0.7"})
          .for_fitting()
          .whole("steps", &RestoreNetOptions::steps, {1}, "of fitting")
          .tries({"500"})
          .whole("batch", &RestoreNetOptions::batch, {1}, "base images per step")
          .real("learning_rate", &RestoreNetOptions::learning_rate, {1e-8, 1}, "of Adam"));
}

}  // namespace protocom::methods
