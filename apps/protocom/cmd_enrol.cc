#include "cli.h"
#include "dataset_options.h"
#include "enrol_report.h"
#include "image_arguments.h"
#include "job.h"
#include "knowledge/wordnet.h"
#include "label_check_printer.h"
#include "recognizer/enrol_sources.h"
#include "recognizer_views.h"
#include "shared_work.h"

namespace protocom::cli {
namespace {

struct EnrolArguments {
  std::string recognizer, unlabelled;
  EnrolSources sources;
  RecognizerOptions recognizing;
  ResumeLines resume = ResumeLines::kNo;
};

/// Returns the sources with images from the standard input as files, which `images` keeps.
EnrolSources with_files(EnrolSources sources, const ImageArguments& images) {
  sources.images = images.paths();
  return sources;
}

/// Prints misplaced photos and confused classes among the classes that got images; nothing if the recognizer cannot
/// answer yet.
void print_findings(Recognizer& recognizer, const Enrolment& done) {
  constexpr size_t kMostFindings = 10;
  int64_t images = 0;
  for (const ClassInfo& entry : recognizer.file().list_classes()) images += entry.images;
  std::set<std::string> changed;
  for (const EnrolledClass& enrolled : done.classes) {
    if (enrolled.added > 0) changed.insert(enrolled.now.name);
  }
  if (changed.empty() || images > kMostCheckedUnasked) return;
  try {
    print_label_check(about_classes(recognizer.check_labels(progress()), changed), kMostFindings);
  } catch (const Error& error) {
    logger().debug("labels were not checked: {}", error.what());
  }
}

/// Enrols unlabelled photos, instead of classes.
void enrol_unlabelled(const EnrolArguments& options, Recognizer& recognizer) {
  const EnrolSources& sources = options.sources;
  if (!sources.one_class.name.empty() || !sources.images.empty() || !sources.folder.empty() || !sources.list.empty() ||
      !sources.features.empty() || !sources.described.empty())
    fail_usage("--unlabelled cannot be combined with classes: enrol them in another call");
  if (!sources.boxes.file.empty()) fail_usage("--boxes needs images of classes: leave out --unlabelled");
  const FoundImages found = find_images({options.unlabelled});
  const LearnedUnlabelled learned = recognizer.add_unlabelled(found.paths, progress());
  for (const UnreadableFile& file : learned.unreadable) logger().warn("{}", file.reason);
  print_table({{"unlabelled photos added", std::to_string(learned.added)},
               {"there already", std::to_string(learned.held)},
               {"now", std::to_string(learned.images)}});
}

/// Computes features in all processes, each for its share of the images; process 0 enrols all of them as one change.
void enrol_shared(const CLI::App& command, const EnrolArguments& options, Recognizer& recognizer) {
  const ProcessGroup& group = job();
  const auto lines_of = [&](const std::vector<std::filesystem::path>& images) {
    LinesJob work = lines_job(command, recognizer, options.recognizer, options.resume);
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
  const ImageArguments images(options.sources.images);
  const Enrolment done =
      recognizer.enrol(requests_of_sources(with_files(options.sources, images), recognizer), embed_all);
  if (lines == nullptr) {  // the others wait for a list, and for one another
    lines = lines_of({});
    lines->join();
  }
  lines->remove();
  print_enrolment(done);
  check_all_read(done);
}

void run_enrol(const CLI::App& command, const EnrolArguments& options) {
  const bool shared = !job().is_single() || options.resume == ResumeLines::kYes;
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  if (shared && !options.unlabelled.empty())
    fail_usage("--unlabelled needs a single process: leave out torchrun and --resume");
  if (!options.unlabelled.empty()) return enrol_unlabelled(options, recognizer);
  if (shared) return enrol_shared(command, options, recognizer);
  const ImageArguments images(options.sources.images);
  const std::vector<EnrolRequest> requests = requests_of_sources(with_files(options.sources, images), recognizer);
  const std::vector<ClassInfo> before = recognizer.file().list_classes();
  const Enrolment done = recognizer.enrol(requests, progress());
  warn_of_near_names(done, before);
  print_findings(recognizer, done);
  print_enrolment(done);
  check_all_read(done);
}

/// Adds options for descriptions in words.
void add_words(CLI::App& command, EnrolArguments& options) {
  CLI::Option* describe = command
                              .add_option("--describe", options.sources.one_class.descriptions,
                                          "The class in words, with or without images; repeated: the mean of all")
                              ->allow_extra_args(false)
                              ->take_all();
  add_input_option(command, "--descriptions", options.sources.described, "Classes in words: CSV class,description")
      ->excludes(describe);
  add_input_option(command, "--text-encoder", options.sources.text_encoder,
                   "Folder of the text encoder that made the recognizer's knowledge (knowledge text)");
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
  add_input_option(*command, "images", options->sources.images,
                   "Images of the class, or folders of them; none: the class has only a description; -: read an image "
                   "or names of images from the standard input");
  command->add_option("--class", options->sources.one_class.name, "Name of the class");
  CLI::Option* attributes = add_list_option(*command, "--attributes", options->sources.one_class.attributes,
                                            "Attributes of the class, by their names in the knowledge")
                                ->allow_extra_args(false)  // a,b,c in one argument: the next one is an image
                                ->take_all();
  command
      ->add_option("--synset", options->sources.one_class.synset,
                   "Its WordNet synset (n02391049, zebra.n.01), instead of attributes")
      ->excludes(attributes);
  add_input_option(*command, "--folder", options->sources.folder,
                   "Folder with a subfolder of images for each class, or with images and a CSV image,class");
  add_input_option(*command, "--csv", options->sources.list,
                   "Classes and images: CSV class,image, JSON Lines, or the JSON of COCO or Label Studio");
  add_list_choices(*command, options->sources.lists);
  add_box_options(*command, options->sources.boxes);
  add_input_option(*command, "--features", options->sources.features,
                   "Features extracted with the recognizer's backbone (protocom extract), in place of images: for "
                   "the classes that the file names, or all for --class");
  add_input_option(*command, "--unlabelled", options->unlabelled,
                   "Folder of unlabelled photos of your classes; improves accuracy");
  add_input_option(*command, "--table", options->sources.table,
                   "Attributes of the classes: CSV class,attribute, or a filled-in knowledge template")
      ->excludes(attributes);
  add_input_option(*command, "--vectors", options->sources.vectors,
                   "Word vectors that the knowledge was made with, for the class's name");
  add_words(*command, *options);
  add_input_option(*command, "--wordnet", options->sources.wordnet, "Folder of the WordNet database, for --synset")
      ->default_str(kWordNetFolder);
  add_device(*command, options->recognizing.device);
  add_resume(*command, options->resume, "the recognizer");
  command->callback([command, options] { run_enrol(*command, *options); });
}

const Command kEnrol{Group::kOwnPhotos, 20, &add_enrol_command};

}  // namespace
}  // namespace protocom::cli
