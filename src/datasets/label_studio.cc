#include "datasets/detail/label_studio.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/detail/list_words.h"

namespace protocom::label_studio {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::string_view kMajority = "majority";
constexpr size_t kShown = 5;

/// An annotator's choice for an image.
struct Vote {
  std::string image, choice;
  std::vector<std::string> annotator;  ///< number and address, if known
  std::string where;
};

/// All answers of annotators, and what was left out.
struct Votes {
  std::vector<Vote> votes = {};
  std::set<std::string> questions = {};
  int64_t skipped = 0, without = 0;
};

bool is_by(const Vote& vote, const std::string& annotator) {
  return std::find(vote.annotator.begin(), vote.annotator.end(), annotator) != vote.annotator.end();
}

/// Throws Error unless the question is unambiguous.
void check_question(const std::set<std::string>& questions, const std::string& asked, const fs::path& path) {
  if (asked.empty() && questions.size() > 1)
    throw UndecidedList(fmt::format(
        "{} has answers to several questions ({}): choose the one that gives the classes, as in --question {}",
        path.string(), fmt::join(questions, ", "), *questions.begin()));
  if (!asked.empty() && questions.count(asked) == 0)
    throw UndecidedList(
        fmt::format("{} has no question '{}', it has {}", path.string(), asked, fmt::join(questions, ", ")));
}

void check_annotator(const std::vector<Vote>& votes, const std::string& asked, const fs::path& path) {
  if (asked.empty() || asked == kMajority) return;
  if (std::any_of(votes.begin(), votes.end(), [&](const Vote& vote) { return is_by(vote, asked); })) return;
  std::set<std::string> known;
  for (const Vote& vote : votes) known.insert(fmt::format("{}", fmt::join(vote.annotator, " ")));
  throw UndecidedList(fmt::format("{} has no annotator '{}', it has {}", path.string(), asked, fmt::join(known, ", ")));
}

/// Returns the choice with the most votes; empty if there is a tie.
std::string most_chosen(const std::map<std::string, int64_t>& counts) {
  int64_t most = 0;
  std::string name;
  for (const auto& [choice, count] : counts) {
    if (count == most) name.clear();
    if (count > most) name = choice;
    most = std::max(most, count);
  }
  return name;
}

/// Returns the class of an image by its votes; empty if they disagree. Nothing without votes of the annotator
/// requested.
std::optional<std::string> decided(const std::vector<const Vote*>& votes, const std::string& annotator) {
  std::map<std::string, int64_t> counts;
  for (const Vote* vote : votes) {
    if (annotator.empty() || annotator == kMajority || is_by(*vote, annotator)) ++counts[vote->choice];
  }
  if (counts.empty()) return std::nullopt;
  if (counts.size() == 1) return counts.begin()->first;
  return annotator == kMajority ? most_chosen(counts) : "";
}

/// Returns one class per image, in the order of their first mention.
std::vector<ListedImage> resolved(const Votes& said, const fs::path& path, const std::string& annotator) {
  check_annotator(said.votes, annotator, path);
  std::vector<std::vector<const Vote*>> images;
  std::unordered_map<std::string, size_t> number;
  for (const Vote& vote : said.votes) {
    const auto [found, is_new] = number.emplace(vote.image, images.size());
    if (is_new) images.emplace_back();
    images[found->second].push_back(&vote);
  }
  std::vector<ListedImage> list;
  std::vector<std::string> disputed;
  size_t others = 0;
  for (const std::vector<const Vote*>& votes : images) {
    const std::optional<std::string> name = decided(votes, annotator);
    if (!name)
      ++others;
    else if (name->empty())
      disputed.push_back(votes.front()->image);
    else
      list.push_back({votes.front()->image, *name, votes.front()->where});
  }
  if (!disputed.empty()) {
    const std::string what = fmt::format(
        "{}: annotators disagree on {} of {} images, which are ignored: {}; --annotator ID or --annotator majority "
        "decides",
        path.string(), disputed.size(), images.size(), first_of(disputed, kShown));
    if (list.empty()) throw UndecidedList(what);
    logger().warn("{}", what);
  }
  if (others > 0) logger().warn("{}: ignoring images without an answer by {}: {}", path.string(), annotator, others);
  if (said.skipped > 0) logger().warn("{}: ignoring skipped tasks: {}", path.string(), said.skipped);
  if (said.without > 0 && !list.empty())
    logger().warn("{}: ignoring entries without an image and one choice: {}", path.string(), said.without);
  return list;
}

/// Returns an annotator, given as a number or as an object of number and address.
std::vector<std::string> annotator_names(const json& annotation) {
  const auto by = annotation.find("completed_by");
  if (by == annotation.end() || by->is_null()) return {};
  if (!by->is_object()) return {list_words::text_of(*by)};
  std::vector<std::string> names;
  for (const char* key : {"id", "email"}) {
    if (by->contains(key)) names.push_back(list_words::text_of(by->at(key)));
  }
  return names;
}

/// Returns the choices of an annotation by question; if several are chosen at once, none is the class.
std::map<std::string, std::string> choices_of(const json& annotation) {
  std::map<std::string, std::string> choices;
  for (const json& result : annotation.value("result", json::array())) {
    const json value = result.value("value", json::object());
    if (!value.contains("choices")) continue;
    const json& chosen = value.at("choices");
    choices[result.value("from_name", "")] = chosen.size() == 1 ? chosen.front().get<std::string>() : "";
  }
  return choices;
}

/// Whether a task is of the JSON, as opposed to a row of JSON-MIN.
bool is_full(const json& task) { return task.is_object() && task.contains("data") && task["data"].is_object(); }

/// Returns the questions of all tasks.
std::set<std::string> find_questions(const json& tasks) {
  std::set<std::string> questions;
  for (const json& task : tasks) {
    if (!is_full(task)) continue;
    for (const json& annotation : task.value("annotations", json::array())) {
      for (const auto& choice : choices_of(annotation)) questions.insert(choice.first);
    }
  }
  return questions;
}

/// Takes the votes of one task.
void take_task(const json& task, const std::string& question, const fs::path& path, Votes& said) {
  const json* image = list_words::image_member(task.at("data"));
  const json annotations = task.value("annotations", json::array());
  const auto is_skipped = [](const json& one) { return one.value("was_cancelled", false); };
  if (!annotations.empty() && std::all_of(annotations.begin(), annotations.end(), is_skipped)) {
    ++said.skipped;
    return;
  }
  const size_t before = said.votes.size();
  for (const json& annotation : annotations) {
    if (is_skipped(annotation) || image == nullptr) continue;
    for (const auto& [from, choice] : choices_of(annotation)) {
      if (choice.empty() || (!question.empty() && from != question)) continue;
      said.votes.push_back(
          {list_words::text_of(*image), clean_name(choice), annotator_names(annotation), path.string()});
    }
  }
  if (said.votes.size() == before) ++said.without;
}

/// Whether a member is metadata that Label Studio writes beside the answers of an annotation.
bool is_beside(const std::string& key) {
  const std::string word = list_words::plain_word(key);
  constexpr std::string_view kBeside[] = {"annotator", "annotationid", "createdat",
                                          "updatedat", "leadtime",     "agreement"};
  return std::find(std::begin(kBeside), std::end(kBeside), word) != std::end(kBeside);
}

/// Returns the members of an annotation that may be answers: all texts except the image's.
std::set<std::string> answers_in(const json& row, const json* image) {
  std::set<std::string> answers;
  for (const auto& [key, value] : row.items()) {
    if (value.is_string() && &value != image && !is_beside(key)) answers.insert(key);
  }
  return answers;
}

/// Takes a row of JSON-MIN, one per annotation. Other programs that write this form have no annotations.
void take_row(const json& row, const std::string& question, const fs::path& path, Votes& said) {
  const json* image = row.is_object() ? list_words::image_member(row) : nullptr;
  const json* name = nullptr;
  if (row.is_object() && !question.empty() && row.contains(question))
    name = &row.at(question);
  else if (row.is_object() && question.empty())
    name = list_words::class_member(row);
  if (image == nullptr || name == nullptr || name == image || !(name->is_string() || name->is_number())) {
    ++said.without;
    return;
  }
  Vote vote{list_words::text_of(*image), clean_name(list_words::text_of(*name)), {}, path.string()};
  if (row.contains("annotator")) vote.annotator = {list_words::text_of(row.at("annotator"))};
  said.votes.push_back(std::move(vote));
}

std::string question_of_rows(const json& rows, const fs::path& path, const std::string& asked) {
  std::set<std::string> questions;
  for (const json& row : rows) {
    if (row.is_object() && row.contains("annotation_id"))
      questions.merge(answers_in(row, list_words::image_member(row)));
  }
  if (questions.empty()) return asked;
  check_question(questions, asked, path);
  return *(asked.empty() ? questions.begin() : questions.find(asked));
}

}  // namespace

std::vector<ListedImage> list_of_tasks(const json& tasks, const fs::path& path, const ListChoices& choices) {
  Votes said;
  if (std::any_of(tasks.begin(), tasks.end(), is_full)) {
    const std::set<std::string> questions = find_questions(tasks);
    if (!questions.empty()) check_question(questions, choices.question, path);
    for (const json& task : tasks) {
      if (is_full(task))
        take_task(task, choices.question, path, said);
      else
        ++said.without;
    }
  } else {
    const std::string question = question_of_rows(tasks, path, choices.question);
    for (const json& row : tasks) take_row(row, question, path, said);
  }
  return resolved(said, path, choices.annotator);
}

bool is_export(const CsvTable& table) {
  return std::any_of(table.header.begin(), table.header.end(),
                     [](const std::string& text) { return list_words::plain_word(text) == "annotationid"; });
}

std::vector<ListedImage> list_of_rows(const CsvTable& table, const ListChoices& choices) {
  const std::optional<size_t> image = list_words::image_column(table.header);
  if (!image)
    fail("{}:1: no column of images (image, file_name, path, id); the columns are {}", table.path.string(),
         excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  std::set<std::string> questions;
  std::optional<size_t> annotator;
  for (size_t c = 0; c < table.header.size(); ++c) {
    const std::string word = list_words::plain_word(table.header[c]);
    if (word == "annotator") annotator = c;
    if (c != *image && word != "id" && !is_beside(table.header[c])) questions.insert(table.header[c]);
  }
  if (questions.empty())
    fail("{}:1: no column of answers; the columns are {}", table.path.string(),
         excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  check_question(questions, choices.question, table.path);
  const size_t name = table.column(choices.question.empty() ? *questions.begin() : choices.question);
  Votes said;
  for (const CsvRow& row : table.rows) {
    const std::string choice = clean_name(row.cells[name]);
    if (choice.empty()) {
      ++said.without;
      continue;
    }
    Vote vote{std::string(trimmed(row.cells[*image])), choice, {}, table.where(row)};
    if (annotator) vote.annotator = {std::string(trimmed(row.cells[*annotator]))};
    said.votes.push_back(std::move(vote));
  }
  return resolved(said, table.path, choices.annotator);
}

}  // namespace protocom::label_studio
