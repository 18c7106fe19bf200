#include "http/detail/json_body.h"

#include "base/error.h"
#include "base/feature_values.h"
#include "http/detail/http_error.h"
#include "http/detail/target.h"
#include "io/json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

constexpr size_t kLongestLabel = 200;
constexpr size_t kLongestDescription = 2000;

constexpr int64_t kMostValues = 100'000;  // besides the numbers of features
constexpr int64_t kStepsBetweenChecks = 4096;

void check_member(const std::string& name, const std::set<std::string>& known, const std::string& what) {
  if (known.count(name) == 0)
    refuse(400, "{} has an unknown member '{}': expected {}", what, excerpt(name), fmt::join(known, " or "));
}

/// Returns the weight of an attribute.
float weight_in(const json& attribute) {
  const json weight = attribute.value("weight", json(1.0));
  const double value = weight.is_number() ? weight.get<double>() : 0;
  if (!(value > 0 && value <= 1)) refuse(400, "'weight': expected a number above 0 and at most 1");
  return static_cast<float>(value);
}

/// Builds the values as a parser finds them: features as numbers only, the rest as JSON. nlohmann's own parser callback
/// walks over a whole array for each object in it, and silently keeps the last of two members of one name.
class BodyBuilder : public nlohmann::json_sax<json> {
 public:
  BodyBuilder(const std::string& text, const JsonShape& shape) : text_(text), shape_(shape) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(int64_t value) override { return number(value, static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) override { return number(value, static_cast<double>(value)); }
  bool number_float(double value, const std::string&) override { return number(value, value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }

  bool start_object(size_t) override {
    open(json::object());
    return true;
  }

  bool key(std::string& name) override {
    take_step();
    if (open_.size() == 1) check_member(name, shape_.members, "the body");
    reads_features_ = open_.size() == 1 && name == "features";
    if ((reads_features_ && features_) || open_.back()->contains(name))
      refuse(400, "the body has a duplicate member '{}'", excerpt(name));
    if (reads_features_) features_.emplace(*shape_.features);
    name_ = std::move(name);
    return true;
  }

  bool end_object() override { return close(); }

  bool start_array(size_t) override {
    if (!reads_features_) {
      open(json::array());
      return true;
    }
    take_step();
    features_->start_array();
    return true;
  }

  bool end_array() override {
    if (!reads_features_) return close();
    features_->end_array();
    reads_features_ = !features_->is_done();
    return true;
  }

  bool parse_error(size_t byte, const std::string&, const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const json::parse_error*>(&error) == nullptr)
      refuse(400, "the body: not valid JSON: {}", reason_of(error));
    refuse(400, "{}", syntax_error(text_, byte, "the body"));
  }

  /// Returns the body, once all of it was parsed.
  JsonBody take() {
    if (!root_.is_object()) refuse(400, "the body: expected a JSON object");
    if (!features_) return {std::move(root_), {}};
    Array features = features_->features();
    if (const auto bad = find_bad_features(features))
      refuse(400, "feature {} of 'features' holds {}", bad->row, bad->reason);
    return {std::move(root_), std::move(features)};
  }

 private:
  void take_step() {
    if (shape_.cancellation != nullptr && ++steps_ % kStepsBetweenChecks == 0) shape_.cancellation->check();
  }

  template <typename Number>
  bool number(Number value, double as_double) {
    if (!reads_features_) return put(value);
    take_step();
    features_->number(as_double);
    return true;
  }

  /// Returns the place of the next value.
  json& place() {
    take_step();
    if (reads_features_) features_->other();
    if (open_.empty()) return root_;
    if (++values_ > kMostValues) refuse(413, "the body has more than {} values", kMostValues);
    json& in = *open_.back();
    if (in.is_object()) return in[name_];
    in.push_back(nullptr);
    return in.back();
  }

  template <typename Value>
  bool put(Value&& value) {
    place() = json(std::forward<Value>(value));
    return true;
  }

  void open(json container) {
    if (open_.empty() && !container.is_object()) refuse(400, "the body: expected a JSON object");
    if (open_.size() == shape_.deepest) refuse(400, "the body is nested deeper than {} levels", shape_.deepest);
    json& at = place();
    at = std::move(container);
    open_.push_back(&at);
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& text_;
  const JsonShape& shape_;
  json root_;
  std::vector<json*> open_;  // a container grows only while it is the last one, so that the others stay in place
  std::string name_;
  std::optional<FeatureReader> features_;
  bool reads_features_ = false;
  int64_t values_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

JsonBody read_json_body(const std::string& body, const JsonShape& shape) {
  BodyBuilder builder(body, shape);
  json::sax_parse(body, &builder);
  return builder.take();
}

void check_label(const std::string& text, const std::string& what) {
  if (text.empty() || text.size() > kLongestLabel || !is_plain_text(text))
    refuse(400, "{}: expected 1 to {} bytes of UTF-8 without control characters", what, kLongestLabel);
}

std::string text_in(const json& object, const char* name) {
  const json& value = object.at(name);
  if (!value.is_string()) refuse(400, "'{}': expected a string", name);
  check_label(value.get_ref<const std::string&>(), fmt::format("'{}'", name));
  return value.get<std::string>();
}

void read_attributes_member(const json& object, const char* name, ClassRequest& to) {
  const json& list = object.at(name);
  if (!list.is_array()) refuse(400, "'{}': expected a list", name);
  for (const json& value : list) {
    const json item = value.is_object() ? value : json{{"name", value}};
    for (const auto& member : item.items())
      check_member(member.key(), {"name", "weight"}, fmt::format("one of '{}'", name));
    if (!item.contains("name")) refuse(400, "an element of '{}' has no name", name);
    to.attributes.push_back(text_in(item, "name"));
    to.weights.push_back(weight_in(item));
  }
}

std::vector<std::string> strings_of(const json& list, const char* name) {
  if (!list.is_array()) refuse(400, "'{}': expected a list of strings", name);
  std::vector<std::string> texts;
  for (const json& text : list) {
    if (!text.is_string()) refuse(400, "an element of '{}' is not a string", name);
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

bool flag_of(const json& value, const char* name) {
  if (!value.is_boolean()) refuse(400, "'{}': expected true or false", name);
  return value.get<bool>();
}

std::vector<std::string> descriptions_in(const json& object, const char* name) {
  std::vector<std::string> texts = strings_of(object.at(name), name);
  for (const std::string& text : texts) check_description(text);
  return texts;
}

void check_description(const std::string& text) {
  if (text.empty() || text.size() > kLongestDescription || !is_plain_text(text))
    refuse(400, "description: expected 1 to {} bytes of UTF-8 without control characters", kLongestDescription);
}

}  // namespace protocom::http
