#include "fewshot/trained/am3.h"

#include "heads/detail/am3_method.h"
#include "heads/detail/trained_makers.h"

namespace protocom::methods {
namespace {

class Am3 : public Am3Method {
 public:
  explicit Am3(const Am3SemanticsOptions& options) : Am3Method(options, {{options.semantics}}) {}
};

}  // namespace

std::unique_ptr<Method> make_am3(const Am3SemanticsOptions& options) { return std::make_unique<Am3>(options); }

}  // namespace protocom::methods
