#pragma once
#include <string>
#include <vector>

/// The width of the vectors that the inner loops compute with. The processor's widest are chosen at the first call.
namespace protocom {

/// "avx512", "avx2" or "baseline": the form in use, at first the one that the variable PROTOCOM_VECTOR_FORM names, else
/// the best that the processor runs. Throws UsageError if the variable names one that it does not.
std::string vector_form_name();
/// The forms that this processor runs, the best first.
std::vector<std::string> vector_form_names();
/// Uses another of them, for tests and to repeat another machine's figures to the last bit. Throws UsageError for one
/// that this processor does not run. Not while other threads compute.
void use_vector_form(const std::string& name);

/// The form in use as a position among those that PROTOCOM_FORMS compiles (processor_vectors.h).
int vector_form();

}  // namespace protocom
