#include "fewshot/trained/am3_traml.h"

#include "heads/detail/am3_method.h"
#include "heads/detail/trained_makers.h"

namespace protocom::methods {
namespace {

class Am3Traml : public Am3Method {
 public:
  explicit Am3Traml(const Am3TramlOptions& options)
      : Am3Method(options, {{options.semantics}, {options.alpha, options.beta}}) {}
};

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_am3_traml(const Am3TramlOptions& options) {
  return std::make_unique<methods::Am3Traml>(options);
}
