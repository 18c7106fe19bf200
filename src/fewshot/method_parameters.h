#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fewshot/method_spec.h"

namespace protocom {

/// Parameters as typed: name -> value.
using ParameterTexts = std::map<std::string, std::string>;

/// Parses the value of a parameter. Throws UsageError that names `method`, the parameter and the values it accepts.
ParameterValue parse_parameter(const std::string& method, const ParameterSpec& spec, const std::string& text);

/// Throws UsageError for a name that no parameter has.
void check_parameter_names(const std::string& method, const std::vector<ParameterSpec>& specs,
                           const ParameterTexts& texts);

/// The values that a parameter accepts.
struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
};

/// The parameters of a method, each a field of `Options`, whose initialiser is the default.
template <typename Options>
class Parameters {
 public:
  Parameters& real(const char* name, double Options::*field, Range range, const char* text) {
    return add({name, Options().*field, range.low, range.high, {}, text}, field);
  }
  Parameters& whole(const char* name, int64_t Options::*field, Range range, const char* text) {
    return add({name, Options().*field, range.low, range.high, {}, text}, field);
  }
  Parameters& choice(const char* name, std::string Options::*field, std::vector<std::string> choices,
                     const char* text) {
    return add({name, Options().*field, 0, 0, std::move(choices), text}, field);
  }

  /// The parameters added from here on take effect in fitting.
  Parameters& for_fitting() {
    when_fitted_ = true;
    return *this;
  }
  /// The parameters added from here on take effect in answers, as those added first do.
  Parameters& for_answers() {
    when_fitted_ = false;
    return *this;
  }

  /// Sets the values worth trying for the parameter added last, as typed.
  Parameters& tries(const std::vector<std::string>& texts) {
    const ParameterSpec& last = specs_.back();
    for (const std::string& text : texts) tries_[last.name].push_back(parse_parameter("tries", last, text));
    return *this;
  }

  [[nodiscard]] const std::vector<ParameterSpec>& specs() const { return specs_; }
  [[nodiscard]] const ParameterTries& tries() const { return tries_; }

  [[nodiscard]] Options parse(const std::string& method, const ParameterTexts& texts) const {
    check_parameter_names(method, specs_, texts);
    Options options;
    for (size_t i = 0; i < specs_.size(); ++i) {
      const auto found = texts.find(specs_[i].name);
      if (found != texts.end()) set_[i](options, parse_parameter(method, specs_[i], found->second));
    }
    return options;
  }

 private:
  template <typename T>
  Parameters& add(ParameterSpec spec, T Options::*field) {
    specs_.push_back(std::move(spec));
    specs_.back().when_fitted = when_fitted_;
    set_.push_back([field](Options& options, const ParameterValue& value) { options.*field = std::get<T>(value); });
    return *this;
  }

  bool when_fitted_ = false;
  std::vector<ParameterSpec> specs_;
  ParameterTries tries_;
  std::vector<std::function<void(Options&, const ParameterValue&)>> set_;
};

}  // namespace protocom
