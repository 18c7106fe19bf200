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

/// Wraps `make` for options whose type only the definition knows, which passes those of its own method.
template <typename Options>
Maker maker(std::unique_ptr<Method> (*make)(const Options&)) {
  return [make](const void* options) { return make(*static_cast<const Options*>(options)); };
}

std::unique_ptr<Method> make_trained(const std::string& name, const void* options) {
  static const std::map<std::string, Maker> kMakers = {{"am3", maker(&heads::make_am3)},
                                                       {"am3-traml", maker(&heads::make_am3_traml)},
                                                       {"cfa", maker(&heads::make_cfa)},
                                                       {"ctm", maker(&heads::make_ctm)},
                                                       {"fslkt", maker(&heads::make_fslkt)},
                                                       {"meta-baseline", maker(&heads::make_meta_baseline)},
                                                       {"multi-sem", maker(&heads::make_multi_sem)},
                                                       {"restore-net", maker(&heads::make_restore_net)},
                                                       {"sem-align", maker(&heads::make_sem_align)},
                                                       {"srestore-net", maker(&heads::make_srestore_net)},
                                                       {"tri-net", maker(&heads::make_tri_net)},
                                                       {"vfsl", maker(&heads::make_vfsl)}};
  const auto found = kMakers.find(name);
  if (found == kMakers.end()) fail("src/heads/methods/ has no class for the method '{}'", name);
  return found->second(options);
}

}  // namespace

void provide_trained_methods() { torch_make_trained.provide(&make_trained); }

}  // namespace protocom
