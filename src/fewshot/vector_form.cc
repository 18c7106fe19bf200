#include "fewshot/vector_form.h"

#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "base/error.h"

namespace protocom {
namespace {

constexpr std::array<const char*, 3> kFormNames = {"baseline", "avx2", "avx512"};

bool runs_here([[maybe_unused]] int form) {
#if defined(__x86_64__)
  if (form == 2) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  }
  if (form == 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return form == 0;
}

/// Returns the forms that this processor can run, best first.
std::vector<int> runnable_forms() {
  std::vector<int> forms;
  for (int form = static_cast<int>(kFormNames.size()); form-- > 0;) {
    if (runs_here(form)) forms.push_back(form);
  }
  return forms;
}

/// Throws UsageError for a form that this processor does not run.
int form_named(const std::string& name) {
  std::vector<std::string> known;
  for (const int form : runnable_forms()) {
    known.emplace_back(kFormNames.at(static_cast<size_t>(form)));
    if (name == known.back()) return form;
  }
  fail_usage("unknown PROTOCOM_VECTOR_FORM '{}': expected one that this processor supports, {}", name,
             fmt::join(known, ", "));
}

/// Returns the best form, unless the environment variable names another.
int first_form() {
  const char* wished = std::getenv("PROTOCOM_VECTOR_FORM");
  return wished != nullptr ? form_named(wished) : runnable_forms().front();
}

std::atomic<int>& chosen_form() {
  static std::atomic<int> form{first_form()};
  return form;
}

}  // namespace

int vector_form() { return chosen_form().load(std::memory_order_relaxed); }

std::string vector_form_name() { return kFormNames.at(static_cast<size_t>(vector_form())); }

std::vector<std::string> vector_form_names() {
  std::vector<std::string> names;
  for (const int form : runnable_forms()) names.emplace_back(kFormNames.at(static_cast<size_t>(form)));
  return names;
}

void use_vector_form(const std::string& name) { chosen_form().store(form_named(name)); }

}  // namespace protocom
