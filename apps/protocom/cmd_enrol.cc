#include "cli.h"
#include "enrol_report.h"
#include "image_arguments.h"
#include "job.h"
#include "recognizer/class_words.h"
#include "recognizer/enrol_requests.h"
#include "recognizer_views.h"
#include "shared_work.h"

namespace protocom::cli {
namespace {

struct EnrolArguments {
  std::string recognizer, folder, csv, features, unlabelled, table, vectors, wordnet = kWordNetFolder;
  std::string descriptions, text_encoder;
  std::vector<std::string> describe;
  EnrolRequest request;
  RecognizerOptions recognizing;
  EarlierLines earlier = EarlierLines::kDelete;
};

/// Features of another backbone say nothing of the recognizer's images.
void warn_of_other_backbone(const FeatureSet& features, const RecognizerFile& file, const std::string& path) {
  const RecognizerArtefact* backbone = file.artefact("backbone");
  if (features.backbone_hash.empty() || backbone == nullptr || features.backbone_hash == backbone->hash) return;
  logger().warn("{} was extracted with another backbone's file than the recognizer has", path);
}

std::vector<EnrolRequest> requests_of_file(const EnrolArguments& options, const RecognizerFile& file) {
  FeatureFileOptions read;
  read.without_split = Split::kBase;  // a split says nothing here
  const FeatureSet features = read_features(options.features, read);
  warn_of_other_backbone(features, file, options.features);
  std::vector<EnrolRequest> requests = requests_of_features(features, options.request.description.name);
  if (options.request.description.name.empty()) return requests;
  requests.front().description = options.request.description;
  return requests;
}

bool gives_a_name_alone(const EnrolRequest& request) {
  const ClassRequest& stated = request.description;
  return request.images.empty() && !request.features.defined() && stated.attributes.empty() && stated.synset.empty() &&
         stated.vectors.empty() && !stated.text_vector.defined();
}

/// A new class of which nothing is known would get its share of the answers all the same.
void check_something_is_known(const std::vector<EnrolRequest>& requests, const RecognizerFile& file) {
  std::vector<std::string> names;
  for (const EnrolRequest& request : requests) {
    if (gives_a_name_alone(request) && !file.has_class(request.description.name))
      names.push_back(request.description.name);
  }
  if (names.empty()) return;
  const std::optional<Knowledge> knowledge = knowledge_of(file);
  for (const std::string& name : names) {
    if (!knowledge || knowledge->class_index(name) < 0)
      fail_usage(
          "nothing is known of a class '{}': give images of it, its attributes (--attributes, --table), or "
          "words (--describe, --descriptions)",
          name);
  }
}

/// What is said of the requests' classes in words; without requests, a class for each description.
void take_texts(const EnrolArguments& options, std::vector<EnrolRequest>& requests) {
  if (options.describe.empty() && options.descriptions.empty()) return;
  if (!options.describe.empty())
    return describe_in_words(open_text_encoder(options.text_encoder), options.describe, requests.front().description);
  const ClassTexts texts = read_class_texts(options.descriptions);
  const at::Tensor vectors = encode_classes(open_text_encoder(options.text_encoder), texts);
  if (requests.empty()) {
    for (const std::string& name : texts.classes) requests.emplace_back().description.name = name;
  }
  take_text_vectors(texts, vectors, requests);
}

/// Texts need their encoder, and --describe the class that it speaks of.
void check_text_options(const EnrolArguments& options) {
  const bool texts = !options.describe.empty() || !options.descriptions.empty();
  if (texts && options.text_encoder.empty())
    fail_usage("words take the text encoder by which the recognizer's knowledge was made: give --text-encoder");
  if (!texts && !options.text_encoder.empty()) fail_usage("--text-encoder goes with --describe or --descriptions");
  if (!options.describe.empty() && options.request.description.name.empty())
    fail_usage("--describe speaks of one class: name it with --class");
}

/// One class, or those of a folder, a CSV, a features file or of descriptions.
std::vector<EnrolRequest> requests_of(const EnrolArguments& options, const ImageArguments& images,
                                      const RecognizerFile& file) {
  const bool one_class = !options.request.description.name.empty();
  const bool features = !options.features.empty();
  const int sources = (one_class || features) + !options.folder.empty() + !options.csv.empty();
  if (sources > 1 || (sources == 0 && options.descriptions.empty()))
    fail_usage("give a class by --class, or classes by --folder, --csv, --features or --descriptions");
  check_text_options(options);
  if (!images.paths().empty() && (!one_class || features))
    fail_usage("images are of one class: name it with --class{}", features ? ", without --features" : "");
  std::vector<EnrolRequest> requests;
  if (features) {
    requests = requests_of_file(options, file);
  } else if (one_class) {
    requests = {options.request};
    requests.front().images = images.paths();
  } else if (sources > 0) {
    requests = options.csv.empty() ? requests_of_folder(options.folder, "--folder") : requests_of_csv(options.csv);
  }
  take_texts(options, requests);
  if (!options.table.empty()) take_attributes(options.table, requests);
  for (EnrolRequest& request : requests) {
    request.description.vectors = options.vectors;
    request.description.wordnet = options.wordnet;
  }
  check_something_is_known(requests, file);
  return requests;
}

/// Photos that nobody has sorted, in place of classes.
void enrol_unlabelled(const EnrolArguments& options, Recognizer& recognizer) {
  const ClassRequest& stated = options.request.description;
  if (!stated.name.empty() || !options.request.images.empty() || !options.folder.empty() || !options.csv.empty() ||
      !options.features.empty() || !options.descriptions.empty())
    fail_usage("--unlabelled takes photos of no class that is named: enrol classes in another call");
  const FoundImages found = find_images({options.unlabelled});
  const LearnedUnlabelled learned = recognizer.add_unlabelled(found.paths, progress());
  for (const UnreadableFile& file : learned.unreadable) logger().warn("{}", file.reason);
  print_table({{"unlabelled photos added", std::to_string(learned.added)},
               {"there already", std::to_string(learned.held)},
               {"now", std::to_string(learned.images)}});
}

/// Each process makes features of its share of the images; process 0 enrols all of them as one change.
void enrol_shared(const CLI::App& command, const EnrolArguments& options, Recognizer& recognizer) {
  const ProcessGroup& group = job();
  const auto lines_of = [&](const std::vector<std::filesystem::path>& images) {
    LinesJob work = lines_job(command, recognizer, options.recognizer, options.earlier);
    work.what.erase("revision");  // features do not depend on the classes
    return std::make_unique<SharedLines>(group, std::move(work), images);
  };
  if (!group.is_main()) return embed_shared(recognizer, *lines_of({}), {});
  std::unique_ptr<SharedLines> lines;
  const auto embed_all = [&](const std::vector<std::filesystem::path>& images, const Recognizer::TakeEmbedded& take) {
    lines = lines_of(images);
    embed_shared(recognizer, *lines, take);
    return lines->unreadable();
  };
  const ImageArguments images(options.request.images);
  const Enrolment done = recognizer.enrol(requests_of(options, images, recognizer.file()), embed_all);
  if (lines == nullptr) {  // the others wait for a list, and for one another
    lines = lines_of({});
    lines->join();
  }
  lines->remove();
  print_enrolment(done);
}

void run_enrol(const CLI::App& command, const EnrolArguments& options) {
  const bool shared = !job().is_single() || options.earlier == EarlierLines::kTakeUp;
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  if (shared && !options.unlabelled.empty())
    fail_usage("--unlabelled is for one process: give it to one that is not part of a job, without --resume");
  if (!options.unlabelled.empty()) return enrol_unlabelled(options, recognizer);
  if (shared) return enrol_shared(command, options, recognizer);
  const ImageArguments images(options.request.images);
  print_enrolment(recognizer.enrol(requests_of(options, images, recognizer.file()), progress()));
}

/// The class in words.
void add_words(CLI::App& command, EnrolArguments& options) {
  CLI::Option* describe = command
                              .add_option("--describe", options.describe,
                                          "The class in words, with or without images; repeated: the mean of all")
                              ->allow_extra_args(false)
                              ->take_all();
  add_input_option(command, "--descriptions", options.descriptions, "Classes in words: CSV class,description")
      ->excludes(describe);
  add_input_option(command, "--text-encoder", options.text_encoder,
                   "Folder of the text encoder by which the recognizer's knowledge was made (knowledge text)");
}

void add_enrol_command(CLI::App& app) {
  auto options = std::make_shared<EnrolArguments>();
  CLI::App* command = add_command(app, "enrol", "Add classes, or images of them, to a recognizer",
                                  "protocom enrol pets.pcm okapi1.jpg okapi2.jpg --class okapi --attributes hoof,tail\n"
                                  "protocom enrol pets.pcm --folder photos --table attributes.csv\n"
                                  "torchrun --nproc-per-node 8 --no-python protocom enrol pets.pcm --folder archive "
                                  "--resume\n"
                                  "protocom enrol birds.pcm --class robin --describe 'a small brown bird with a red "
                                  "breast' --text-encoder clip-folder");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer, see protocom recognizer create")
      ->required();
  add_input_option(*command, "images", options->request.images,
                   "Images of the class, or folders of them; none: a class known by what is said of it; -: the "
                   "standard input, an image or names of images");
  command->add_option("--class", options->request.description.name, "Name of the class");
  CLI::Option* attributes = add_list_option(*command, "--attributes", options->request.description.attributes,
                                            "Attributes of the class, by their names in the knowledge")
                                ->allow_extra_args(false)  // a,b,c in one argument: what follows is an image
                                ->take_all();
  command
      ->add_option("--synset", options->request.description.synset,
                   "Its WordNet synset (n02391049, zebra.n.01), instead of attributes")
      ->excludes(attributes);
  add_input_option(*command, "--folder", options->folder,
                   "Folder with a subfolder of images for each class, or with images and a CSV image,class");
  add_input_option(*command, "--csv", options->csv,
                   "Classes and images: CSV class,image, JSON Lines, or the JSON of COCO or Label Studio");
  add_input_option(*command, "--features", options->features,
                   "Features of images, extracted with the recognizer's backbone (protocom extract), instead of "
                   "images: of the classes that the file names, or all of the one of --class");
  add_input_option(
      *command, "--unlabelled", options->unlabelled,
      "Folder of photos like those you will ask about that nobody has sorted: recognising learns from them");
  add_input_option(*command, "--table", options->table,
                   "Attributes of the classes: CSV class,attribute, or a filled-in knowledge template")
      ->excludes(attributes);
  add_input_option(*command, "--vectors", options->vectors,
                   "Word vectors the knowledge was made with, to embed the class's name");
  add_words(*command, *options);
  add_input_option(*command, "--wordnet", options->wordnet, "Folder of the WordNet database, for --synset");
  command->add_option("--device", options->recognizing.device, "cpu, cuda, cuda:1 or auto");
  add_resume(*command, options->earlier, "the recognizer");
  command->callback([command, options] { run_enrol(*command, *options); });
}

const Command kEnrol{Group::kOwnPhotos, 20, &add_enrol_command};

}  // namespace
}  // namespace protocom::cli
