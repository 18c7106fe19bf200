#include "cli.h"
#include "enrol_report.h"
#include "image_arguments.h"
#include "protocom/serve/enrol_requests.h"

namespace protocom::cli {
namespace {

struct EnrolArguments {
  std::string recognizer, folder, csv, table, vectors, wordnet = kWordNetFolder;
  EnrolRequest request;
  ExtractOptions extract;
};

/// One class, or those of a folder or a CSV.
std::vector<EnrolRequest> requests_of(const EnrolArguments& options) {
  const bool one_class = !options.request.description.name.empty();
  if (one_class + !options.folder.empty() + !options.csv.empty() != 1)
    fail_usage("give a class by --class, or classes by --folder or --csv");
  if (!one_class && !options.request.images.empty()) fail_usage("images are of one class: name it with --class");
  std::vector<EnrolRequest> requests;
  if (one_class)
    requests = {options.request};
  else
    requests = options.csv.empty() ? requests_of_folder(options.folder) : requests_of_csv(options.csv);
  if (!options.table.empty()) take_attributes(options.table, requests);
  for (EnrolRequest& one : requests) {
    one.images = with_listed(one.images);
    one.description.vectors = options.vectors;
    one.description.wordnet = options.wordnet;
  }
  return requests;
}

void run_enrol(const EnrolArguments& options) {
  Recognizer recognizer = Recognizer::open(options.recognizer, {{}, Together::kNo, options.extract});
  print_enrolment(recognizer.enrol(requests_of(options), progress()));
}

void add_enrol_command(CLI::App& app) {
  auto options = std::make_shared<EnrolArguments>();
  CLI::App* command = add_command(app, "enrol", "Add classes, or images of them, to a recognizer",
                                  "protocom enrol pets.pcm okapi1.jpg okapi2.jpg --class okapi --attributes hoof,tail\n"
                                  "  protocom enrol pets.pcm --folder photos --table attributes.csv");
  command->add_option("recognizer", options->recognizer, "Recognizer, see protocom recognizer create")->required();
  command->add_option("images", options->request.images,
                      "Images of the class, or folders of them; none: a class known by what is said of it; -: their "
                      "names are read from the standard input");
  command->add_option("--class", options->request.description.name, "Name of the class");
  CLI::Option* attributes = command
                                ->add_option("--attributes", options->request.description.attributes,
                                             "What the class has, by the knowledge's names")
                                ->delimiter(',')
                                ->allow_extra_args(false)  // a,b,c in one argument: what follows is an image
                                ->take_all();
  command
      ->add_option("--synset", options->request.description.synset,
                   "Its WordNet synset (n02391049, zebra.n.01), instead of attributes")
      ->excludes(attributes);
  command->add_option("--folder", options->folder, "Folder with a subfolder of images for each class");
  command->add_option("--csv", options->csv, "Classes and images: CSV class,image");
  command
      ->add_option("--table", options->table,
                   "Attributes of the classes: CSV class,attribute, or a filled-in knowledge template")
      ->excludes(attributes);
  command->add_option("--vectors", options->vectors,
                      "Word vectors the knowledge was made with, to embed the class's name");
  command->add_option("--wordnet", options->wordnet, "Folder of the WordNet database, for --synset");
  command->add_option("--device", options->extract.device, "cpu, cuda, cuda:1 or auto");
  command->callback([options] { run_enrol(*options); });
}

const Command kEnrol{Order::kEnrol, &add_enrol_command};

}  // namespace
}  // namespace protocom::cli
