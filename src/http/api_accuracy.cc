#include <algorithm>
#include <map>

#include "base/text.h"
#include "http/detail/api.h"
#include "recognizer/class_sets.h"
#include "recognizer/twin_examples.h"

namespace protocom::http {
namespace {

using nlohmann::json;

json twins_json(const std::vector<TwinExamples>& twins) {
  json list = json::array();
  for (const TwinExamples& pair : twins)
    list.push_back({{"example", pair.example},
                    {"class", pair.class_name},
                    {"twin", pair.twin},
                    {"twin_class", pair.twin_class},
                    {"similarity", pair.similarity}});
  return list;
}

json accuracy_json(const ExpectedAccuracy& expected) {
  json mistakes = json::array();
  for (const LeftOutMistake& mistake : expected.mistakes)
    mistakes.push_back({{"example", mistake.example},
                        {"class", mistake.class_name},
                        {"taken_for", mistake.taken_for},
                        {"confirmed", mistake.confirmed}});
  return {{"classes", expected.classes},
          {"images", expected.images},
          {"moments", expected.moments},
          {"nearly_same", expected.nearly_same},
          {"asked", expected.asked},
          {"accuracy", expected.asked > 0 ? json(expected.accuracy) : json()},
          {"expected", expected.asked > 0 ? json(expected.expected) : json()},
          {"low", expected.asked > 0 ? json(expected.low) : json()},
          {"high", expected.asked > 0 ? json(expected.high) : json()},
          {"without_unlabelled", expected.without_unlabelled ? json(*expected.without_unlabelled) : json()},
          {"gain", expected.gain ? json(*expected.gain) : json()},
          {"mistakes", mistakes}};
}

/// Returns for each class the number of images classified and of correct answers.
json classes_json(Recognizer& recognizer, const ExpectedAccuracy& expected) {
  const std::vector<LeftOutPhoto> photos = recognizer.left_out_photos();
  const std::vector<std::string> names = recognizer.class_names();
  std::map<std::string, int64_t> asked, wrong;
  for (const LeftOutPhoto& photo : photos) {
    const auto own = static_cast<size_t>(photo.place.own);
    if (own < names.size()) ++asked[names[own]];  // another program may have changed the classes meanwhile
  }
  for (const LeftOutMistake& mistake : expected.mistakes) ++wrong[mistake.class_name];
  json list = json::array();
  for (const auto& [name, count] : asked)
    list.push_back({{"class", name}, {"asked", count}, {"right", std::max<int64_t>(count - wrong[name], 0)}});
  return list;
}

/// Returns a probability requested by a parameter.
std::optional<double> share_in(const Request& request, const char* name) {
  const auto found = request.parameters.find(name);
  if (found == request.parameters.end()) return std::nullopt;
  const std::optional<double> share = number_from<double>(found->second);
  if (!share || !(*share > 0 && *share < 1))
    refuse(400, "'{}': expected a number between 0 and 1, found '{}'", name, excerpt(found->second));
  return share;
}

}  // namespace

template <typename Found, typename Measure>
Found Api::measured_once(const Request& request, std::optional<std::pair<int64_t, Found>>& last,
                         const Measure& measure) {
  const int64_t revision = served_revision(request);
  {
    const std::lock_guard lock(measured_mutex_);
    if (last && last->first == revision) return last->second;
  }
  return with_own_recognizer(request, measures_, [&](Recognizer& recognizer) {
    const int64_t measured = recognizer.file().revision();
    CancellableProgress progress(*request.cancellation);
    Found found = measure(recognizer, progress);
    const std::lock_guard lock(measured_mutex_);
    if (recognizer.file().revision() == measured) last = {measured, found};
    return found;
  });
}

json Api::expected_accuracy(const Request& request) {
  return measured_once(request, expected_, [](Recognizer& recognizer, Progress& progress) {
    const ExpectedAccuracy expected = recognizer.expected_accuracy(progress);
    json shown = accuracy_json(expected);
    shown["by_class"] = classes_json(recognizer, expected);
    shown["twins"] = twins_json(find_twins(recognizer.file().snapshot()));
    return shown;
  });
}

Recognizer::Asked Api::asked_of_answers(const Request& request) {
  const std::optional<double> coverage = share_in(request, "coverage"), roll_up = share_in(request, "roll_up");
  if (!coverage) return {{}, roll_up};
  const auto measure = [](Recognizer& recognizer, Progress& progress) {
    return recognizer.left_out_probabilities(progress);
  };
  const std::vector<double> left_out = measured_once(request, left_out_, measure);
  return refusing(409, [&] { return Recognizer::Asked{least_probability_for(left_out, *coverage), roll_up}; });
}

}  // namespace protocom::http
