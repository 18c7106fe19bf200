#pragma once

#include <string>

#include "fewshot/vector_form.h"

namespace protocom::testing {

/// Restores the vector form that was in use at its creation: the other tests of a process run in the form that
/// PROTOCOM_VECTOR_FORM names.
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
