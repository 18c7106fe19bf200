#include "recognizer/create_recognizer.h"

#include <map>
#include <set>
#include <utility>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/feature_preprocessing.h"
#include "datasets/image_list.h"
#include "encoders/encoder.h"
#include "encoders/installed_encoders.h"
#include "encoders/text_encoder.h"
#include "images/image_files.h"
#include "io/files.h"
#include "io/json.h"
#include "io/output_lock.h"
#include "io/scratch_folder.h"
#include "io/unfinished.h"
#include "knowledge/knowledge.h"
#include "recognizer/class_words.h"
#include "recognizer/enrol_requests.h"
#include "recognizer/preprocessing_by_photos.h"
#include "recognizer/recognizer.h"
#include "recognizer/stated_moments.h"
#include "recognizer/store_model.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

const fs::path& model_file(const RecognizerParts& parts) { return parts.fitted.empty() ? parts.model : parts.fitted; }

bool has_model(const RecognizerParts& parts) { return !model_file(parts).empty(); }

void check_parts(const RecognizerParts& parts) {
  if (!parts.boxes.file.empty() && parts.images.empty()) fail_usage("boxes need images to enrol: give their folder");
  if (!parts.model.empty() + !parts.fitted.empty() + !parts.space.empty() > 1)
    fail_usage("give one of a completion model, a fitted method and a space: a recognizer has one method");
  if (has_model(parts) && !parts.unlabelled.empty())
    fail_usage(
        "unlabelled images have no effect on the fixed space of a fitted method or completion model: leave one of them "
        "out");
  if (!parts.model.empty() && parts.knowledge.empty())
    fail_usage("a completion model needs the knowledge that it was trained with: give the same file");
  if (!parts.text_encoder.empty() && !(parts.model.empty() && parts.fitted.empty() && parts.knowledge.empty()))
    fail_usage(
        "a text encoder makes the knowledge: leave out the knowledge; a fitted method or completion model needs the "
        "knowledge that it was made with, in place of a text encoder");
}

/// Fills in the path of the encoder that was named, or of the default one, and the space in its folder if no method is
/// named.
RecognizerParts with_encoder(RecognizerParts parts) {
  parts.backbone = chosen_encoder(parts.backbone);
  if (!parts.model.empty() || !parts.fitted.empty() || !parts.space.empty()) return parts;
  parts.space = space_beside(parts.backbone);
  if (!parts.space.empty()) logger().info("using {}", parts.space.string());
  return parts;
}

/// Whether classes are also distinguished by their texts, without training.
bool has_texts(const RecognizerParts& parts) { return !has_model(parts) && !parts.knowledge.empty(); }

/// Writes knowledge of the classes' names as a file in `folder` if a text encoder is given.
RecognizerParts with_names_known(RecognizerParts parts, const std::vector<EnrolRequest>& classes,
                                 const Provenance& provenance, const fs::path& folder) {
  if (parts.text_encoder.empty()) return parts;
  for (const std::string& name : names_of_requests(classes)) parts.class_names.push_back(name);
  const Knowledge known = knowledge_of_names(open_text_encoder(parts.text_encoder), parts.class_names);
  parts.knowledge = folder / "texts.npz";
  write_knowledge(parts.knowledge, known, provenance, known.details);
  return parts;
}

/// Throws UsageError if the texts cannot be from the backbone's own text encoder.
void check_texts(const RecognizerParts& parts, const RecognizerSettings& settings) {
  if (settings.embedding_dim == settings.feature_dim) return;
  if (!parts.text_encoder.empty())
    fail_usage("{} is not the backbone's own text encoder: its vectors have {} dimensions, features {}",
               parts.text_encoder.string(), settings.embedding_dim, settings.feature_dim);
  fail_usage(
      "without a fitted method or completion model, knowledge needs vectors by the backbone's own text encoder "
      "(protocom knowledge "
      "embeddings): {} has {} dimensions, features have {}",
      parts.knowledge.string(), settings.embedding_dim, settings.feature_dim);
}

/// The method of the new recognizer.
StoreModel model_of(const RecognizerParts& parts) {
  if (has_model(parts)) return read_store_model(model_file(parts));
  StoreModel model;
  if (parts.space.empty()) {
    model.fitted.emplace();
    model.fitted->method = make_method("plda");
  } else {
    model.fitted = read_space(parts.space);
    model.preprocessing = read_preprocessing(parts.space);
  }
  if (has_texts(parts)) {
    const std::shared_ptr<Method> method = make_method("plda:prior=text");
    method->load(model.fitted->method->state());
    model.fitted->method = method;
  }
  return model;
}

EncoderFileOptions encoder_options(const RecognizerParts& parts, const StoreModel& model) {
  EncoderFileOptions asked;
  asked.preprocessing = model.preprocessing;
  if (!parts.preprocessing.empty()) asked.preprocessing = parse_preprocessing(parts.preprocessing);
  asked.output = parts.output;
  return asked;
}

/// Takes the backbone's sizes and preprocessing, which must suit the model.
void take_backbone(const RecognizerParts& parts, const StoreModel& model, RecognizerSettings& settings) {
  const auto backbone = open_encoder(parts.backbone, encoder_options(parts, model));
  const bool fits_any = !has_model(parts) && parts.space.empty();
  if (!fits_any && model.feature_dim() != backbone->dim())
    fail("{}: features of {} dimensions, {} expects {}: it was made with another backbone", parts.backbone.string(),
         backbone->dim(), (has_model(parts) ? model_file(parts) : parts.space).string(), model.feature_dim());
  if (const auto& trained = model.preprocessing; trained && !(*trained == backbone->preprocessing()))
    logger().warn("images are preprocessed by '{}', the model's features were made with '{}'",
                  describe(backbone->preprocessing()), describe(*trained));
  settings.preprocessing = backbone->preprocessing();
  settings.feature_dim = backbone->dim();
}

/// Does the same if the photos may decide the preprocessing: neither the file nor the user states it, or the user may
/// be wrong.
void take_backbone_by_photos(RecognizerParts& parts, const StoreModel& model, const std::vector<EnrolRequest>& classes,
                             RecognizerSettings& settings, Progress& progress) {
  if (!parts.preprocessing.empty() && !model.preprocessing) compare_preprocessing(parts, classes, progress);
  try {
    take_backbone(parts, model, settings);
  } catch (const UnstatedPreprocessing&) {
    parts.preprocessing = preprocessing_by_photos(parts, classes, progress);
    if (parts.preprocessing.empty()) throw;
    take_backbone(parts, model, settings);
  }
}

/// Prepares a class without a description, as enrolment will: throws the method's error for descriptions of other sizes
/// than it was fitted on.
void prepare_a_class(const Method& method, const RecognizerSettings& settings) {
  const auto attributes = static_cast<int64_t>(settings.attributes.size());
  KnowledgeTable table;
  table.classes = {"a class"};
  table.attributes = settings.attributes;
  table.association = Array::zeros({1, attributes});
  table.class_embedding = Array::zeros({1, settings.embedding_dim});
  table.attribute_embedding = Array::zeros({attributes, settings.embedding_dim});
  MethodContext context;
  context.knowledge = &table;
  context.class_names = &table.classes;
  check_needs(method, context);
  static_cast<void>(method.prepare(context));
}

/// Throws Error if descriptions by the knowledge do not have the sizes that the model takes.
void check_descriptions(const RecognizerParts& parts, const StoreModel& model, const RecognizerSettings& settings) {
  if (model.fitted) {
    try {
      return prepare_a_class(*model.fitted->method, settings);
    } catch (const Error& error) {
      fail("{} does not fit {}: {}", parts.knowledge.string(), parts.fitted.string(), error.what());
    }
  }
  const int64_t taken = model.completion->sizes.embedding_dim;
  if (taken != settings.embedding_dim)
    fail("{}: embeddings of {} dimensions, {} expects {}: it was trained with another knowledge file",
         parts.knowledge.string(), settings.embedding_dim, parts.model.string(), taken);
}

/// `hash`: hash_file of the knowledge given.
void warn_of_other_knowledge(const RecognizerParts& parts, const StoreModel& model, const std::string& hash) {
  if (model.knowledge_hash.empty() || model.knowledge_hash == hash) return;
  const char* made = model.fitted ? "fitted" : "trained";
  logger().warn(
      "{} was {} with another knowledge than {} (hash {} there, {} here): descriptions of classes may not match; {} "
      "again, or give the file that it was {} with",
      model_file(parts).string(), made, parts.knowledge.string(), model.knowledge_hash, hash,
      model.fitted ? "fit" : "train", made);
}

/// Maps each attribute to its first word, with its name added if another attribute has the same word; omits attributes
/// whose word is their name.
std::map<std::string, std::string> words_for(const Knowledge& knowledge, const std::vector<std::string>& attributes) {
  std::map<std::string, int64_t> times;
  for (const std::string& name : attributes) ++times[short_title(knowledge, name)];
  std::map<std::string, std::string> words;
  for (const std::string& name : attributes) {
    const std::string word = short_title(knowledge, name);
    if (word != name) words[name] = times[word] == 1 ? word : fmt::format("{} ({})", word, name);
  }
  return words;
}

/// Takes the attributes and the embedding size of class descriptions.
void take_vocabulary(const RecognizerParts& parts, const StoreModel& model, RecognizerSettings& settings) {
  settings.attributes = model.attributes();
  if (parts.knowledge.empty()) {
    if (!settings.attributes.empty())
      fail_usage("the method was fitted with knowledge of the classes: give the same file");
    return;
  }
  const Knowledge knowledge = read_knowledge(parts.knowledge);
  settings.embedding_dim = knowledge.embedding_dim();
  settings.words = words_for(knowledge, settings.attributes);
  check_descriptions(parts, model, settings);
  warn_of_other_knowledge(parts, model, knowledge.content_hash);
}

/// The images given for a new recognizer, found before any work is done.
struct FirstImages {
  std::vector<EnrolRequest> classes;
  std::vector<fs::path> unlabelled;
  std::vector<fs::path> others;            ///< of none of the classes
  std::map<std::string, int64_t> moments;  ///< from a table or folders
};

/// Moves such folders from the classes to `others`, and logs it.
void take_others(FirstImages& found) {
  std::vector<EnrolRequest> classes;
  for (EnrolRequest& request : found.classes) {
    const std::string name = request.name;
    if (!is_none_of_the_classes(name)) {
      classes.push_back(std::move(request));
      continue;
    }
    const RequestFiles files = find_files({request});
    for (const UnreadableFile& file : files.unreadable) logger().warn("{}", file.reason);
    const std::vector<fs::path>& photos = files.paths;
    if (photos.empty()) continue;
    logger().info("the folder '{}' is not a class: its {} photos set the threshold of 'none of these'", name,
                  photos.size());
    found.others.insert(found.others.end(), photos.begin(), photos.end());
  }
  found.classes = std::move(classes);
}

FirstImages find_first_images(const RecognizerParts& parts) {
  FirstImages found;
  if (!parts.unlabelled.empty()) found.unlabelled = find_images(parts.unlabelled).paths;
  if (!parts.images.empty()) found.classes = requests_of_boxed_folder(parts.images, parts.boxes, parts.lists);
  take_others(found);
  if (!parts.attributes.empty()) add_attributes_of_table(parts.attributes, found.classes);
  found.moments = find_stated_moments(parts, found.classes);
  return found;
}

/// Enrols the images in the new recognizer.
std::optional<Enrolment> take_images(const fs::path& path, const RecognizerParts& parts, const FirstImages& images,
                                     Progress& progress) {
  std::optional<Enrolment> done;
  if (images.unlabelled.empty() && images.classes.empty()) return done;
  RecognizerOptions options;
  options.device = parts.device;
  Recognizer recognizer = Recognizer::open(path, options);
  if (!images.unlabelled.empty()) {
    const LearnedUnlabelled learned = recognizer.add_unlabelled(images.unlabelled, progress);
    for (const UnreadableFile& file : learned.unreadable) logger().warn("{}", file.reason);
  }
  if (!images.classes.empty()) {
    done = recognizer.enrol(images.classes, progress);
    recognizer.take_first_threshold(images.others, Recognizer::FirstThreshold::kOfLastChange, progress);
  }
  return done;
}

std::vector<RecognizerArtefact> artefacts_of(const RecognizerParts& parts) {
  std::vector<RecognizerArtefact> artefacts = {{"backbone", parts.backbone}};
  artefacts.front().embedded = parts.backbone_inside;
  for (const auto& [name, path] :
       {std::pair{"model", parts.model}, {"fitted", parts.fitted}, {"knowledge", parts.knowledge}}) {
    if (!path.empty()) artefacts.push_back({name, path});
  }
  return artefacts;
}

/// Mentions, for a folder with both towers of CLIP, that its texts could be used too.
void mention_text_encoder(const RecognizerParts& parts) {
  const fs::path config = parts.backbone / "config.json";
  if (has_model(parts) || !parts.knowledge.empty() || !fs::is_regular_file(config)) return;
  if (parse_json(read_file(config), config.string()).contains("text_config"))
    logger().info("{} has a text encoder too: give --text-encoder to use the names of classes as well",
                  parts.backbone.string());
}

/// Stores an encoder of several files that stays outside the recognizer as one file beside it. `folder`: where that
/// file is now. Returns an empty path if there is none.
fs::path take_encoder_outside(const fs::path& recognizer, const fs::path& folder, NewRecognizer& made) {
  RecognizerArtefact& backbone = made.artefacts.front();
  if (backbone.embedded || backbone.path.parent_path() != folder) return {};
  fs::path beside = recognizer;
  beside += ".backbone" + backbone.path.extension().string();
  check_absent(beside);
  write_file_with(beside, [&](const fs::path& temporary) {
    fs::copy_file(backbone.path, temporary, fs::copy_options::overwrite_existing);
  });
  fs::remove(backbone.path);
  backbone.path = beside;
  logger().info("the encoder's files are joined in one: keep {} beside {}", beside.string(), recognizer.string());
  return beside;
}

}  // namespace

NewRecognizer prepare_recognizer(const RecognizerParts& given, const std::vector<EnrolRequest>& classes,
                                 const Provenance& provenance, const fs::path& folder, Progress& progress) {
  check_parts(given);
  NewRecognizer made;
  made.parts = with_names_known(with_encoder(given), classes, provenance, folder);
  RecognizerParts& parts = made.parts;
  RecognizerSettings& settings = made.settings;
  settings.feature_type = parts.half_features ? FeatureType::kFloat16 : FeatureType::kFloat32;
  settings.thumbnail_side = parts.thumbnail_side;
  settings.moments = parts.moments.by != "off";
  StoreModel model = model_of(parts);
  if (model.fitted) check_is_for_recognizers(*model.fitted->method);
  take_vocabulary(parts, model, settings);
  take_backbone_by_photos(parts, model, classes, settings, progress);
  mention_text_encoder(parts);
  if (has_texts(parts)) check_texts(parts, settings);
  RecognizerParts files = parts;
  files.backbone = as_one_file(parts.backbone, encoder_options(parts, model), folder);
  if (!has_model(parts)) {
    model.fitted->feature_dim = settings.feature_dim;
    files.fitted = folder / "space.npz";
    write_fitted_method(files.fitted, *model.fitted, provenance, {});
  }
  made.artefacts = artefacts_of(files);
  return made;
}

std::optional<Enrolment> create_recognizer(const fs::path& path, const RecognizerParts& given,
                                           const Provenance& provenance, Progress& progress) {
  const OutputLock lock(path);  // otherwise the later of two would replace the other's
  check_absent(path);           // fails before the photos are encoded
  const FirstImages images = find_first_images(given);
  const ScratchFolder scratch;
  NewRecognizer made = prepare_recognizer(given, images.classes, provenance, scratch.path(), progress);
  made.settings.stated_moments = images.moments;
  std::optional<UnfinishedPath> outside;  // until the recognizer is made
  if (const fs::path encoder = take_encoder_outside(path, scratch.path(), made); !encoder.empty())
    outside.emplace(encoder);
  std::optional<Enrolment> enrolled;
  // At its place when it is complete: a killed process leaves no recognizer without its photos.
  write_file_with(path, [&](const fs::path& temporary) {
    RecognizerFile::create(temporary, made.settings, made.artefacts, provenance);
    enrolled = take_images(temporary, made.parts, images, progress);
    check_absent(path);
  });
  if (outside) outside->release();
  return enrolled;
}

}  // namespace protocom
