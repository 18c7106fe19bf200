#pragma once

#include <string>

#include "fewshot/vector_form.h"

namespace protocom::testing {

/// Puts back the vector form in use at its creation, whatever a test has chosen since: the other tests of a process run
/// in the form that PROTOCOM_VECTOR_FORM names.
class VectorFormKept {
 public:
  VectorFormKept() : before_(vector_form_name()) {}
  VectorFormKept(const VectorFormKept&) = delete;
  VectorFormKept& operator=(const VectorFormKept&) = delete;
  ~VectorFormKept() { use_vector_form(before_); }

 private:
  std::string before_;
};

}  // namespace protocom::testing
