#include <algorithm>
#include <map>
#include <set>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/evenly.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "encoders/embed.h"
#include "images/capture_time.h"
#include "images/image_region.h"
#include "io/files.h"
#include "io/memory_file.h"
#include "recognizer/class_words.h"
#include "recognizer/enrol_requests.h"
#include "recognizer/recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr int kThumbnailQuality = 80;

std::vector<fs::path> spread_evenly(const std::vector<fs::path>& paths, int64_t most) {
  std::vector<fs::path> some;
  for (const int64_t i : evenly(static_cast<int64_t>(paths.size()), most))
    some.push_back(paths[static_cast<size_t>(i)]);
  return some;
}

NewExamples example_of(const fs::path& path, const EmbeddedImage& embedded) {
  NewExamples example{embedded.feature, {embedded.hash}, {shown(path)}, {embedded.thumbnail}};
  example.taken = {capture_time_of(region_of(path).file)};
  return example;
}

/// The first of several equal images: its class and its index there.
struct FirstCopy {
  const ClassEnrolment* owner;
  size_t example;
};

std::string name_of(const FirstCopy& first) {
  const std::vector<std::string>& sources = first.owner->examples.sources;
  const std::string source = sources.empty() ? "" : sources[first.example];
  return source.empty() ? fmt::format("one of '{}'", excerpt(first.owner->name))
                        : fmt::format("{} ('{}')", excerpt(source), excerpt(first.owner->name));
}

/// Warns of a photo in two classes, which contradicts itself, and of copies in one class, which count as several
/// photos. Compares features, so file names do not matter.
void warn_of_copies(const std::vector<ClassEnrolment>& enrolments) {
  std::map<std::string, FirstCopy> first;
  int64_t within = 0, across = 0;
  std::string example;
  for (const ClassEnrolment& enrolment : enrolments) {
    for (size_t i = 0; i < enrolment.examples.hashes.size(); ++i) {
      const std::string hash = hash_of_feature(enrolment.examples.features.row(static_cast<int64_t>(i)));
      const auto [found, is_new] = first.emplace(hash, FirstCopy{&enrolment, i});
      if (is_new) continue;
      const bool same_class = found->second.owner == &enrolment;
      if (across == 0 && (!same_class || within == 0))
        example = fmt::format("{} and {}", name_of(found->second), name_of({&enrolment, i}));
      ++(same_class ? within : across);
    }
  }
  if (within + across == 0) return;
  logger().warn(
      "duplicate features: {} images equal one of another class and {} one of their own, such as {}: check for copies",
      across, within, example);
}

/// Checks all classes together: images of one class may well be similar.
void warn_of_alike_examples(const std::vector<ClassEnrolment>& enrolments) {
  std::vector<Array> features;
  for (const ClassEnrolment& enrolment : enrolments) {
    if (enrolment.examples.features.defined()) features.push_back(enrolment.examples.features);
  }
  if (features.size() > 1) warn_of_alike(Array::joined(features));
}

constexpr size_t kMostNamed = 20;

/// Warns in one line for all classes: likely typing errors first, with suggestions.
void warn_of_left_out(const std::set<std::string>& left_out, const Knowledge& knowledge) {
  std::vector<std::string> known;
  for (const std::string& attribute : knowledge.attributes) {
    const auto title = knowledge.titles.find(attribute);
    known.push_back(title == knowledge.titles.end() ? attribute : title->second);
  }
  std::vector<std::string> typing_errors, others;
  constexpr size_t kMostCompared = 1000;
  for (const std::string& text : left_out) {
    const bool compares = typing_errors.size() + others.size() < kMostCompared;
    const std::string meant = compares ? did_you_mean(text, known) : "";
    (meant.empty() ? others : typing_errors).push_back(fmt::format("'{}'{}", text, meant));
  }
  for (const std::string& error : typing_errors) logger().warn("ignoring unknown attribute {}", error);
  if (others.empty()) return;
  logger().warn("ignoring unknown attributes ({}): {}", others.size(), first_of(others, kMostNamed));
}

}  // namespace

const Knowledge* Recognizer::knowledge() {
  if (knowledge_ == nullptr && file_.artefact("knowledge") != nullptr)
    file_.read_artefact("knowledge",
                        [&](const fs::path& path) { knowledge_ = std::make_unique<Knowledge>(read_knowledge(path)); });
  return knowledge_.get();
}

std::string Recognizer::thumbnail_of(const Image& image) const {
  const int64_t side = file_.settings().thumbnail_side;
  if (side < 1) return {};
  if (std::max(image.height, image.width) <= side) return encode_jpeg(image, kThumbnailQuality);
  return encode_jpeg(resize(image, side, side), kThumbnailQuality);
}

ClassEnrolment Recognizer::describe(const ClassToDescribe& request) {
  std::set<std::string> left_out;
  ClassEnrolment made = describe(request, left_out);
  if (!left_out.empty()) warn_of_left_out(left_out, *knowledge());
  return made;
}

ClassEnrolment Recognizer::describe(const ClassToDescribe& asked, std::set<std::string>& left_out) {
  ClassToDescribe request = asked;
  const std::optional<ClassInfo> held = file_.find_class(asked.name);
  request.name = held ? held->name : checked_new_class_name(asked.name);
  ClassEnrolment made;
  made.name = request.name;
  if (!request.descriptions.empty() && !request.text_vector.defined())
    fail_usage("class '{}': descriptions need the text encoder that made the recognizer's knowledge: give it",
               request.name);
  if (request.is_described()) made.describe = Describe::kAnyClass;
  if (!request.is_described() && held) return made;
  made.description = knowledge() == nullptr ? describe_without_knowledge(request)
                                            : describe_class(*knowledge(), *model_, request, &left_out);
  return made;
}

std::vector<UnreadableFile> Recognizer::embed(const std::vector<fs::path>& images, const TakeEmbedded& take,
                                              Progress& progress) {
  std::vector<UnreadableFile> unreadable;
  const auto take_batch = [&](EmbeddedBatch&& batch) {
    unreadable.insert(unreadable.end(), batch.unreadable.begin(), batch.unreadable.end());
    for (size_t i = 0; i < batch.numbers.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      take(batch.numbers[i], {batch.hashes[i], batch.features.rows(row, row + 1), thumbnail_of(batch.images[i])});
    }
  };
  embed_batches(backbone(), images, extract_options(), take_batch, progress);
  return unreadable;
}

bool Recognizer::takes_words(int64_t numbers) {
  const Knowledge* known = knowledge();
  try {
    check_takes_words(known, "", numbers);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Recognizer::check_learns_from_unlabelled() const {
  if (model_->learns_from_unlabelled()) return;
  fail_usage("unlabelled images have no effect: {} has the fixed space of a method fitted on base classes",
             file_.path().string());
}

LearnedUnlabelled Recognizer::add_unlabelled(const std::vector<fs::path>& images, Progress& progress) {
  check_learns_from_unlabelled();
  const int64_t room = kMostUnlabelled - file_.count_unlabelled();
  if (room < 1)
    fail("{} already has {} unlabelled images, the most that it may have: remove some first", file_.path().string(),
         kMostUnlabelled);
  if (static_cast<int64_t>(images.size()) > room)
    logger().info("{} unlabelled photos: using {}, sampled evenly; a recognizer holds at most {}", images.size(), room,
                  kMostUnlabelled);
  ExamplesInParts collected;
  LearnedUnlabelled done;
  const std::vector<fs::path> some = spread_evenly(images, room);
  const auto take = [&](size_t i, const EmbeddedImage& embedded) { collected.add(example_of(some[i], embedded)); };
  done.unreadable = embed(some, take, progress);
  const NewExamples examples = std::move(collected).joined();
  if (examples.hashes.empty()) fail("none of the unlabelled images can be read");
  done.added = file_.add_unlabelled(examples);
  done.held = static_cast<int64_t>(examples.hashes.size()) - done.added;
  done.images = file_.count_unlabelled();
  return done;
}

Enrolment Recognizer::enrol(const std::vector<EnrolRequest>& requests, Progress& progress) {
  return enrol(requests, [&](const std::vector<fs::path>& images, const TakeEmbedded& take) {
    return embed(images, take, progress);
  });
}

Enrolment Recognizer::enrol(const std::vector<EnrolRequest>& requests, const EmbedAll& embed_all) {
  std::vector<ClassEnrolment> enrolments;
  std::set<std::string> left_out;
  for (const EnrolRequest& request : requests) enrolments.push_back(describe(request, left_out));
  if (!left_out.empty()) warn_of_left_out(left_out, *knowledge());
  Enrolment done;
  RequestFiles files = find_files(requests);
  done.skipped = files.skipped;
  std::vector<ExamplesInParts> collected(requests.size());
  if (!files.paths.empty()) {
    const auto take = [&](size_t i, const EmbeddedImage& embedded) {
      collected[files.owner[i]].add(example_of(files.paths[i], embedded));
      ++done.given;
    };
    files.add_unreadable(embed_all(files.paths, take), requests);
  }
  done.unreadable = std::move(files.unreadable);
  std::vector<ClassEnrolment> left;
  for (size_t i = 0; i < requests.size(); ++i) {
    done.given += static_cast<int64_t>(requests[i].examples.hashes.size());
    collected[i].add(requests[i].examples);
    enrolments[i].examples = std::move(collected[i]).joined();
    if (!requests[i].images.empty() && enrolments[i].examples.hashes.empty()) continue;  // none could be read
    left.push_back(std::move(enrolments[i]));
  }
  if (left.empty())
    fail("{}; nothing was enrolled", done.unreadable.empty() ? "no class is given" : done.unreadable.front().reason);
  warn_of_copies(left);
  warn_of_alike_examples(left);
  done.classes = file_.enrol(left);
  return done;
}

EnrolledClass Recognizer::enrol_class(const ClassToDescribe& request, NewExamples examples) {
  ClassEnrolment enrolment = describe(request);
  enrolment.examples = std::move(examples);
  return file_.enrol({enrolment}).front();
}

std::vector<std::string> Recognizer::images_elsewhere(const std::string& class_name,
                                                      const std::vector<std::string>& hashes) const {
  const std::set<std::string> given(hashes.begin(), hashes.end());
  std::map<std::string, int64_t> shared;
  if (!given.empty()) {
    for (const ExampleInfo& example : file_.list_examples("")) {
      if (example.class_name != class_name && given.count(example.hash) > 0) ++shared[example.class_name];
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [other, count] : shared)
    sentences.push_back(fmt::format("{} of {} {} in '{}' too", count == 1 ? "1 image" : fmt::format("{} images", count),
                                    excerpt(class_name), count == 1 ? "is" : "are", excerpt(other)));
  return sentences;
}

}  // namespace protocom
