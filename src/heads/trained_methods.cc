#include "heads/trained_methods.h"

#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "fewshot/torch_functions.h"
#include "heads/detail/trained_makers.h"

namespace protocom {
namespace {

using Maker = std::function<std::unique_ptr<Method>(const void* options)>;

/// `make` for options whose type only the definition knows, which hands over those of its own method.
template <typename Options>
Maker maker(std::unique_ptr<Method> (*make)(const Options&)) {
  return [make](const void* options) { return make(*static_cast<const Options*>(options)); };
}

std::unique_ptr<Method> make_trained(const std::string& name, const void* options) {
  static const std::map<std::string, Maker> kMakers = {{"am3", maker(&methods::make_am3)},
                                                       {"am3-traml", maker(&methods::make_am3_traml)},
                                                       {"cfa", maker(&methods::make_cfa)},
                                                       {"ctm", maker(&methods::make_ctm)},
                                                       {"fslkt", maker(&methods::make_fslkt)},
                                                       {"meta-baseline", maker(&methods::make_meta_baseline)},
                                                       {"multi-sem", maker(&methods::make_multi_sem)},
                                                       {"restore-net", maker(&methods::make_restore_net)},
                                                       {"sem-align", maker(&methods::make_sem_align)},
                                                       {"srestore-net", maker(&methods::make_srestore_net)},
                                                       {"tri-net", maker(&methods::make_tri_net)},
                                                       {"vfsl", maker(&methods::make_vfsl)}};
  const auto found = kMakers.find(name);
  if (found == kMakers.end()) fail("no class in src/heads/methods/ is the method '{}'", name);
  return found->second(options);
}

}  // namespace

void provide_trained_methods() { torch_make_trained.provide(&make_trained); }

}  // namespace protocom
