#include "heads/trained_methods.h"

#include "fewshot/method_list.h"

namespace protocom {

void add_trained_methods() { add_definitions(methods::trained_list()); }

}  // namespace protocom
