#include "fewshot/trained/srestore_net.h"

#include "fewshot/trained/detail/define_trained.h"

namespace protocom::methods {

MethodDefinition srestore_net() {
  MethodSpec spec;
  spec.name = "srestore-net";
  spec.about = "restore-net after each prototype was averaged with the unlabelled images nearest to it";
  spec.citation = "Xue, Wang: One-Shot Image Classification by Learning to Restore Prototypes, AAAI 2020";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kFitting};
  spec.fitted_as = "restore-net";
  spec.notes =
      "Takes the file of `protocom fit --method restore-net`. The unlabelled images are those of the pool, or without "
      "a pool the queries. The prototype counts as one of the images.";
  return define_trained(std::move(spec), Parameters<SRestoreNetOptions>()
                                             .whole("neighbours", &SRestoreNetOptions::neighbours, {0},
                                                    "unlabelled images that each prototype is averaged with")
                                             .tries({"2", "8"})
                                             .real("share", &SRestoreNetOptions::share, {0, 1},
                                                   "of the restored prototype; the rest is the mean")
                                             .tries({"0.3", "0.7"}));
}

}  // namespace protocom::methods
