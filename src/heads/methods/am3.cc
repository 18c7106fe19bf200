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
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_am3(const Am3SemanticsOptions& options) {
  return std::make_unique<methods::Am3>(options);
}
