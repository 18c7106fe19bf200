#include "base/printed_json.h"
#include "cli.h"
#include "dataset_options.h"
#include "enrol_report.h"
#include "label_check_printer.h"
#include "made_recognizer.h"
#include "recognizer/create_recognizer.h"
#include "recognizer/export_loss.h"
#include "recognizer/export_onnx.h"
#include "recognizer/recognizer.h"
#include "recognizer/recognizer_folder.h"
#include "recognizer/results_json.h"
#include "recognizer_renew.h"
#include "recognizer_views.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

struct CreateCommand {
  std::string file, unlabelled;
  bool no_thumbnails = false, external_backbone = false;
  RecognizerParts parts;
};

struct OnnxCommand {
  std::string recognizer, model;
  std::vector<std::string> images;  // photos that it adds
  RecognizerOptions asked;
  OnnxExportOptions options;
};

struct MoveCommand {
  std::string from, to;
};

RecognizerParts parts_of(const CreateCommand& options) {
  RecognizerParts parts = options.parts;
  parts.backbone_inside = !options.external_backbone;
  if (options.no_thumbnails) parts.thumbnail_side = 0;
  if (!options.unlabelled.empty()) parts.unlabelled = {options.unlabelled};
  return parts;
}

void run_create(const CLI::App& command, const CreateCommand& options) {
  check_writable(options.file);
  const std::optional<Enrolment> enrolled =
      create_recognizer(options.file, parts_of(options), provenance_of(command, /*seed=*/0), progress());
  if (!enrolled) return print_info(RecognizerFile(options.file, FileUse::kRead));
  print_made(options.file, options.parts, *enrolled);
  check_all_read(*enrolled);
}

struct CheckCommand {
  std::string file;
  bool as_json = false;
};

/// Returns misplaced photos and confused classes; nothing without classes, or with too few photos for the method.
std::optional<LabelCheck> checked_labels(const std::string& file) {
  try {
    Recognizer recognizer = open_to_read(file);
    if (recognizer.file().list_classes().empty()) return std::nullopt;
    return recognizer.check_labels(progress());
  } catch (const Error& error) {
    logger().warn("labels were not checked: {}", error.what());
    return std::nullopt;
  }
}

void run_check(const CheckCommand& command) {
  const std::string& file = command.file;
  const std::vector<std::string> findings = RecognizerFile(file, FileUse::kRead).check();
  for (const std::string& finding : findings) logger().error("{}", finding);
  if (!findings.empty()) fail("{} is damaged: {} faults found", file, findings.size());
  const std::optional<LabelCheck> labels = checked_labels(file);
  if (command.as_json) return fmt::print("{}\n", printed_json(label_check_json(labels.value_or(LabelCheck())), 2));
  constexpr size_t kMostFindings = 100;
  fmt::print("{}: no faults found\n", file);
  if (labels) print_label_check(*labels, kMostFindings);
}

void run_compact(const std::string& file) {
  const auto before = fs::file_size(file);
  RecognizerFile(file).compact();
  fmt::print("{}: {} bytes, before {}\n", file, fs::file_size(file), before);
}

/// Rolls back what a crash interrupted, by opening the file.
void run_recover(const std::string& file) {
  const std::vector<std::string> findings = RecognizerFile(file).check();
  if (!findings.empty()) fail("{} is damaged: {}", file, findings.front());
  fmt::print("{}: ready, with all completed changes\n", file);
}

void run_index(const std::string& file) {
  const fs::path index = open_to_read(file).write_index();
  fmt::print("{}: {} bytes\n", index.string(), fs::file_size(index));
}

/// Returns the preprocessing that programs apply before the exported file: "shorter side 256, crop 224".
std::string resizing_of(Preprocessing images) {
  images.mean = images.std = {};
  const std::string text = describe(images);
  return text.substr(0, text.rfind(", RGB"));
}

void run_export_onnx(const OnnxCommand& command) {
  RecognizerOptions asked = command.asked;
  asked.use = FileUse::kRead;
  Recognizer recognizer = Recognizer::open(command.recognizer, asked);
  const OnnxExport made = export_onnx(recognizer, command.model, command.options);
  fmt::print("{}: {} bytes\n  input: {}\n", made.model, made.bytes, made.input);
  if (!command.options.features)
    fmt::print("  preprocessing: {}\n", resizing_of(recognizer.file().settings().preprocessing));
  fmt::print("  outputs: {}\n{}: classes: {}\n", made.outputs, made.labels, made.classes);
  if (!made.data.empty()) fmt::print("{}: {} bytes of weights\n", made.data, fs::file_size(made.data));
  if (!made.page.empty()) fmt::print("{}: {} bytes, opens in a browser\n", made.page, fs::file_size(made.page));
  if (command.options.features || !(command.options.half || command.options.int8)) return;
  fmt::print("  {}\n", sentence_of(export_loss(recognizer, command.options, command.images, progress())));
}

void run_import(const CLI::App& command, const MoveCommand& options) {
  check_writable(options.to);
  const Provenance provenance = provenance_of(command, /*seed=*/0);
  if (!fs::is_directory(options.from))
    fail("{} is not a folder: expected one that `protocom recognizer export` wrote", options.from);
  import_recognizer(options.from, options.to, provenance);
  print_info(RecognizerFile(options.to, FileUse::kRead));
}

/// Adds options for the files that a recognizer is made from.
void add_files(CLI::App& command, CreateCommand& options) {
  add_input_option(command, "--backbone", options.parts.backbone, kBackboneHelp);
  command.add_option("--output", options.parts.output, kOutputHelp);
  CLI::Option* model =
      add_input_option(command, "--model", options.parts.model, "Completion model (protocom complete)");
  CLI::Option* fitted =
      add_input_option(command, "--fitted", options.parts.fitted, "Method fitted on base classes (protocom fit)")
          ->excludes(model);
  add_input_option(command, "--space", options.parts.space,
                   "Method fitted on any classes with the same backbone (protocom fit): its space is adapted to yours")
      ->excludes(model)
      ->excludes(fitted);
  CLI::Option* knowledge = add_input_option(
      command, "--knowledge", options.parts.knowledge,
      "Knowledge file that --model or --fitted was made with; without these, text vectors by the "
      "backbone's own text encoder (knowledge text, knowledge embeddings): classes need no photo then");
  add_input_option(command, "--text-encoder", options.parts.text_encoder,
                   "Folder of the backbone's own text encoder (CLIP, SigLIP): uses the names of classes, and classes "
                   "can be described in words")
      ->excludes(knowledge)
      ->excludes(model)
      ->excludes(fitted);
  command.add_flag(
      "--external-backbone", options.external_backbone,
      "Do not store the backbone in the file: it is found by its hash, beside the recognizer or at its path");
  command.add_flag("--half-features", options.parts.half_features,
                   "Store features as float16: half the space, rounded");
  command.add_flag("--no-thumbnails", options.no_thumbnails, "Store no thumbnails of enrolled images");
}

void add_create(CLI::App& parent) {
  auto options = std::make_shared<CreateCommand>();
  CLI::App* command = add_command(parent, "create", "Make a recognizer: one file with all it needs",
                                  "protocom recognizer create mine.pcm --images my-photos\n"
                                  "  protocom recognizer create birds.pcm --backbone encoder.pt --fitted plda.npz \\\n"
                                  "      --knowledge knowledge.npz --images photos --attributes attributes.csv\n"
                                  "  protocom recognizer create mine.pcm --backbone clip-folder --text-encoder "
                                  "clip-folder --images my-photos");
  add_output_option(*command, "recognizer", options->file, "File to make")->required();
  add_files(*command, *options);
  command->add_option("--preprocess", options->parts.preprocessing, kPreprocessHelp);
  CLI::Option* images = add_input_option(
      *command, "--images", options->parts.images,
      "Folder with a subfolder of images for each class to enrol, or with images and a CSV image,class; or this CSV");
  add_list_choices(*command, options->parts.lists);
  add_box_options(*command, options->parts.boxes);
  add_input_option(*command, "--attributes", options->parts.attributes,
                   "Attributes of the classes: CSV class,attribute, or a filled-in knowledge template")
      ->needs(images);
  add_input_option(*command, "--unlabelled", options->unlabelled,
                   "Folder of unlabelled photos of your classes, with or without subfolders; improves accuracy");
  command->add_option(
      "--moments", options->parts.moments.by,
      "auto: photos of one moment (frames of a burst or a video, copies), found by similarity or because "
      "they were taken within two seconds of each other or are in one subfolder of a class such as visit1, "
      "count as one; off: each counts; folder: photos in one subfolder of a class; or the column that names the "
      "moments, as visits.csv:visit, or visit if --images has a table");
  add_device(*command, options->parts.device);
  command->callback([command, options] { run_create(*command, *options); });
}

void add_simple(CLI::App& parent, const char* name, const char* description, void (*run)(const std::string&)) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = add_command(parent, name, description, fmt::format("protocom recognizer {} birds.pcm", name));
  add_input_option(*command, "recognizer", *file, "Recognizer")->required();
  command->callback([file, run] { run(*file); });
}

void add_check(CLI::App& parent) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command =
      add_command(parent, "check", "Check a recognizer for damage, and list photos that look mislabelled",
                  "protocom recognizer check birds.pcm");
  add_input_option(*command, "recognizer", options->file, "Recognizer")->required();
  command->add_flag("--json", options->as_json, "Mislabelled photos and confused classes as JSON");
  command->callback([options] { run_check(*options); });
}

void add_export(CLI::App& parent) {
  auto options = std::make_shared<MoveCommand>();
  CLI::App* command = add_command(parent, "export", "Write a recognizer as a folder of JSON, npz and JPEG files",
                                  "protocom recognizer export birds.pcm --out birds");
  add_input_option(*command, "recognizer", options->from, "Recognizer")->required();
  add_output_option(*command, "--out", options->to, "Folder to make")->required();
  command->callback([options] { export_recognizer(RecognizerFile(options->from, FileUse::kRead), options->to); });
}

void add_export_onnx(CLI::App& parent) {
  auto options = std::make_shared<OnnxCommand>();
  CLI::App* command = add_command(parent, "export-onnx",
                                  "Write a recognizer as an ONNX file, which other programs, browsers and phones run",
                                  "protocom recognizer export-onnx mine.pcm mine.onnx");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  add_output_option(*command, "model", options->model,
                    "ONNX file to write; the classes go into NAME.labels.txt. Overwrites an export of the same "
                    "recognizer or its copies")
      ->required();
  CLI::Option* features = command->add_flag("--features", options->options.features,
                                            "Without the encoder: the input is its feature, float32 [n, d]");
  command
      ->add_flag("--uint8", options->options.uint8,
                 "The input is uint8 [n, h, w, 3] in place of float32 [n, 3, h, w] from 0 to 1")
      ->excludes(features);
  command->add_flag("--with-feature", options->options.with_feature, "The encoder's feature is an output too")
      ->excludes(features);
  CLI::Option* half =
      command->add_flag("--half", options->options.half,
                        "Store weights as float16: half the size; the effect is measured on the recognizer's photos");
  command
      ->add_flag("--int8", options->options.int8,
                 "Store the encoder's weights as int8, other large ones as float16: a third of the size; measured "
                 "as with --half")
      ->excludes(features)
      ->excludes(half);
  CLI::Option* apart = command->add_flag(
      "--external-data", options->options.external_data,
      "Weights go into MODEL.HASH.data beside the file (ONNX's external data), as they do for more than 2 GB in any "
      "case");
  CLI::Option* runtime = add_input_option(*command, "--runtime", options->options.runtime,
                                          "Folder 'dist' of the npm package onnxruntime-web, which goes into the page");
  add_output_option(*command, "--html", options->options.page,
                    "Page to write too, which classifies photos and the camera's picture in any browser, offline")
      ->needs(runtime)
      ->excludes(features)
      ->excludes(apart);
  command->add_option(
      "--images", options->images,
      "Folder of the recognizer's photos, to measure --half and --int8; default: where they were enrolled from");
  command->add_option("--method", options->asked.method, "In place of the recognizer's own (protocom methods)");
  command->callback([options] { run_export_onnx(*options); });
}

void add_import(CLI::App& parent) {
  auto options = std::make_shared<MoveCommand>();
  CLI::App* command = add_command(parent, "import", "Make a recognizer from an exported folder",
                                  "protocom recognizer import birds --out birds.pcm");
  add_input_option(*command, "from", options->from, "Exported folder")->required();
  add_output_option(*command, "--out", options->to, "Recognizer to make")->required();
  command->callback([command, options] { run_import(*command, *options); });
}

void add_recognizer_command(CLI::App& app) {
  CLI::App* command = add_command(app, "recognizer", "Make, check, renew and export recognizers",
                                  "protocom recognizer create birds.pcm --backbone encoder.pt --fitted plda.npz");
  command->require_subcommand(1);
  add_create(*command);
  add_simple(*command, "info", "Show the parts and content of a recognizer",
             [](const std::string& file) { print_info(RecognizerFile(file, FileUse::kRead)); });
  add_check(*command);
  add_simple(*command, "recover", "Roll back a change that a crash interrupted", &run_recover);
  add_simple(*command, "compact", "Erase removed content and the undo history; shrink the file", &run_compact);
  add_simple(*command, "index", "Write an index beside a recognizer of very many classes, which then opens quickly",
             &run_index);
  add_renew(*command);
  add_export(*command);
  add_export_onnx(*command);
  add_import(*command);
}

const Command kRecognizer{Group::kOwnPhotos, 10, &add_recognizer_command};

}  // namespace
}  // namespace protocom::cli
