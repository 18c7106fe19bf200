#include "http/detail/api.h"
#include "http/detail/exclusive_job.h"
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
    mistakes.push_back({{"example", mistake.example}, {"class", mistake.class_name}, {"taken_for", mistake.taken_for}});
  return {{"classes", expected.classes},
          {"images", expected.images},
          {"moments", expected.moments},
          {"asked", expected.asked},
          {"accuracy", expected.asked > 0 ? json(expected.accuracy) : json()},
          {"expected", expected.asked > 0 ? json(expected.expected) : json()},
          {"low", expected.asked > 0 ? json(expected.low) : json()},
          {"high", expected.asked > 0 ? json(expected.high) : json()},
          {"without_unlabelled", expected.without_unlabelled ? json(*expected.without_unlabelled) : json()},
          {"gain", expected.gain ? json(*expected.gain) : json()},
          {"mistakes", mistakes}};
}

}  // namespace

json Api::expected_accuracy(const Request& request) {
  const int64_t revision =
      with_editor(request, [](const Recognizer& editor) { return editor.file().revision(); });  // it is the one served
  {
    const std::lock_guard lock(expected_mutex_);
    if (expected_ && expected_->first == revision) return expected_->second;
  }
  const ExclusiveJob job(calibrates_);
  // A separate recognizer: the others keep answering.
  Recognizer recognizer = Recognizer::open(path_, options_.recognizing);
  const int64_t measured = recognizer.file().revision();
  CancellableProgress progress(*request.cancellation);
  json shown = refusing(409, [&] { return accuracy_json(recognizer.expected_accuracy(progress)); });
  shown["twins"] = twins_json(find_twins(recognizer.file().snapshot()));
  const std::lock_guard lock(expected_mutex_);
  if (recognizer.file().revision() == measured) expected_ = {measured, shown};
  return shown;
}

}  // namespace protocom::http
