#include "networks/onnx/detail/einsum.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace protocom::onnx {
namespace {

const std::string kEllipsis = "...";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Splits "ab,bc->ac" without blanks into {"ab", "bc"}.
std::vector<std::string> split_terms(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

/// Throws Error unless a term is letters, with one "..." at most.
void check_term(const std::string& term) {
  std::string letters = term;
  if (const size_t at = term.find(kEllipsis); at != std::string::npos) letters.erase(at, kEllipsis.size());
  if (!std::all_of(letters.begin(), letters.end(), &is_letter))
    fail("term '{}' of the equation: expected letters", excerpt(term));
}

/// Returns letters that an equation does not use, for the axes of "...".
std::string unused_letters(const std::string& text) {
  std::string unused;
  for (const char first : {'A', 'a'}) {
    for (int i = 0; i < 26; ++i) {
      const auto letter = static_cast<char>(first + i);
      if (text.find(letter) == std::string::npos) unused += letter;
    }
  }
  return unused;
}

/// Returns `term` with the last `count` of `letters` for "...".
std::string written_out(const std::string& term, const std::string& letters, size_t count) {
  const size_t at = term.find(kEllipsis);
  if (at == std::string::npos) return term;
  return term.substr(0, at) + letters.substr(letters.size() - count) + term.substr(at + kEllipsis.size());
}

/// Returns how many axes "..." represents in a term of an input.
size_t hidden_axes(const std::string& term, size_t dims) {
  const bool open = term.find(kEllipsis) != std::string::npos;
  const size_t named = term.size() - (open ? kEllipsis.size() : 0);
  if (open ? named > dims : named != dims)
    fail("the term '{}' of the equation does not fit an input of {} axes", excerpt(term), dims);
  return dims - named;
}

/// Returns the result without "->": the axes of "..." and then the letters that occur once, in order.
std::string usual_result(const std::vector<std::string>& terms, const std::string& hidden) {
  std::map<char, int> counts;
  for (const std::string& term : terms) {
    for (const char letter : term) ++counts[letter];
  }
  std::string result = hidden;
  for (const auto& [letter, count] : counts) {
    if (count == 1 && hidden.find(letter) == std::string::npos) result += letter;
  }
  return result;
}

void take_sizes(const std::string& term, const Sizes& input, std::map<char, int64_t>& sizes) {
  for (size_t i = 0; i < term.size(); ++i) {
    int64_t& size = sizes.emplace(term[i], 1).first->second;
    if (size != 1 && input[i] != 1 && size != input[i])
      fail("the axis '{}' of the equation has size {} in one input and {} in another", term[i], size, input[i]);
    size = size == 1 ? input[i] : size;
  }
}

void check_result(const Equation& equation) {
  const std::set<char> different(equation.result.begin(), equation.result.end());
  const bool known =
      std::all_of(different.begin(), different.end(), [&](char letter) { return equation.sizes.count(letter) > 0; });
  if (!known || different.size() != equation.result.size())
    fail("the result '{}' of the equation has a repeated axis, or one that no input has", excerpt(equation.result));
}

/// Throws Error if an intermediate product is too large: inputs are multiplied from the left, and axes that neither the
/// result nor a later input has are summed over.
void check_products(const Equation& equation) {
  std::set<char> seen;
  for (size_t i = 0; i < equation.terms.size(); ++i) {
    seen.insert(equation.terms[i].begin(), equation.terms[i].end());
    std::string needed = equation.result;
    for (size_t j = i + 1; j < equation.terms.size(); ++j) needed += equation.terms[j];
    Sizes sizes;
    for (const char letter : seen) {
      if (needed.find(letter) != std::string::npos) sizes.push_back(equation.sizes.at(letter));
    }
    check_elements(sizes);
  }
}

}  // namespace

std::string Equation::text() const { return fmt::format("{}->{}", fmt::join(terms, ","), result); }

Equation equation_of(const Binding& binding) {
  std::string text = binding.text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  Equation equation;
  equation.terms = split_terms(text.substr(0, arrow));
  if (equation.terms.size() != binding.inputs())
    fail("the equation '{}' has {} inputs, the operator has {}", excerpt(text), equation.terms.size(),
         binding.inputs());
  std::vector<size_t> hidden;
  for (size_t i = 0; i < equation.terms.size(); ++i) {
    check_term(equation.terms[i]);
    hidden.push_back(hidden_axes(equation.terms[i], binding.sizes(i).size()));
  }
  const size_t most = *std::max_element(hidden.begin(), hidden.end());
  const std::string unused = unused_letters(text);
  if (most > unused.size()) fail("the equation '{}' has too many axes", excerpt(text));
  const std::string letters = unused.substr(0, most);
  for (size_t i = 0; i < equation.terms.size(); ++i) {
    equation.terms[i] = written_out(equation.terms[i], letters, hidden[i]);
    take_sizes(equation.terms[i], binding.sizes(i), equation.sizes);
  }
  if (arrow == std::string::npos) {
    equation.result = usual_result(equation.terms, letters);
  } else {
    check_term(text.substr(arrow + 2));
    equation.result = written_out(text.substr(arrow + 2), letters, most);
  }
  check_result(equation);
  return equation;
}

double einsum_work(const Binding& binding) {
  const Equation equation = equation_of(binding);
  double work = std::max<double>(1, static_cast<double>(equation.terms.size()) - 1);
  for (const auto& [letter, size] : equation.sizes) work *= static_cast<double>(size);
  return work;
}

Operation make_einsum(const Binding& binding) {
  const Equation equation = equation_of(binding);
  check_products(equation);
  return one_output([text = equation.text()](Tensors& in) { return at::einsum(text, in); });
}

}  // namespace protocom::onnx
