#include "fewshot/trained/am3.h"
#include "heads/detail/am3_method.h"
#include "heads/detail/trained_makers.h"

namespace protocom::methods {
namespace {

class MultiSem : public Am3Method {
 public:
  explicit MultiSem(const Am3Options& options) : Am3Method(options, {{"words", "attributes"}}) {}
};

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_multi_sem(const Am3Options& options) {
  return std::make_unique<methods::MultiSem>(options);
}
