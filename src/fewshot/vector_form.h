#pragma once
#include <string>
#include <vector>

/// Width of the vectors that the inner loops compute with. The processor's widest are chosen at the first call.
namespace protocom {

/// Returns "avx512", "avx2" or "baseline": the form in use. At first it is the one that the variable
/// PROTOCOM_VECTOR_FORM names, else the best that the processor runs. Throws UsageError if the variable names one that
/// it does not run.
std::string vector_form_name();
/// Returns the forms that this processor runs, best first.
std::vector<std::string> vector_form_names();
/// Uses another form, for tests and to repeat another machine's figures to the last bit. Throws UsageError for a form
/// that this processor does not run. Must not be called while other threads compute.
void use_vector_form(const std::string& name);

/// Returns the form in use as an index among those that PROTOCOM_FORMS compiles (processor_vectors.h).
int vector_form();

}  // namespace protocom
