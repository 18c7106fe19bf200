#include <memory>

#include "knowledge_options.h"
#include "recognizer/class_words.h"

namespace protocom::cli {
namespace {

struct TextCommand {
  KnowledgeOptions common;
  std::string encoder, csv, names;
  std::vector<std::string> templates = {kTextTemplate};
};

/// Returns the classes of the texts, without attributes.
AttributeTable table_of_texts(const ClassTexts& texts, const TextCommand& options) {
  AttributeTable table;
  table.classes = texts.classes;
  table.association = Array::zeros({static_cast<int64_t>(texts.classes.size()), 0});
  table.source = {{"kind", "texts"}, {"encoder", options.encoder}, {"texts", texts.texts.size()}};
  if (options.csv.empty())
    table.source["templates"] = options.templates;
  else
    table.source["file"] = options.csv;
  return table;
}

void run_text(const CLI::App& command, TextCommand& options) {
  if (options.csv.empty() == options.names.empty())
    fail_usage("give descriptions of classes (--csv) or their names alone (--names)");
  prepare(options.common);
  const ClassTexts texts = options.csv.empty() ? texts_of_names(read_class_names(options.names), options.templates)
                                               : read_class_texts(options.csv);
  const TextEncoder encoder = open_text_encoder(options.encoder);
  options.common.build.class_vectors = {texts.classes, encode_classes(encoder, texts)};
  options.common.build.class_vectors_file = options.csv.empty() ? options.names : options.csv;
  Provenance provenance = make_provenance(command, options.common);
  add_input(provenance, "encoder", std::filesystem::path(options.encoder) / "model.safetensors");
  add_input(provenance, "csv", options.csv);
  add_input(provenance, "names", options.names);
  finish(options.common, table_of_texts(texts, options), provenance);
}

}  // namespace

void add_knowledge_text(CLI::App& parent) {
  auto options = std::make_shared<TextCommand>();
  CLI::App* command = add_command(
      parent, "text", "Vectors of texts about classes, by a text encoder (CLIP's, a sentence encoder)",
      "protocom knowledge text --encoder clip-folder --csv descriptions.csv --out texts.npz\n"
      "  protocom knowledge text --encoder clip-folder --names names.txt --template 'a photo of a {}, a type "
      "of bird.' --out texts.npz");
  add_input_option(*command, "--encoder", options->encoder,
                   "Folder of Hugging Face with config.json, model.safetensors and the tokenizer's files")
      ->required();
  CLI::Option* csv = add_input_option(*command, "--csv", options->csv,
                                      "CSV with the columns class,description; a class may have several rows, and "
                                      "several columns description...");
  add_input_option(*command, "--names", options->names, "Text file: names of classes, one per line, for --template")
      ->excludes(csv);
  command
      ->add_option("--template", options->templates,
                   "Text about a class, whose name replaces {}; repeated: the mean of all")
      ->excludes(csv)
      ->allow_extra_args(false)
      ->take_all();
  add_split_options(*command, options->common);
  add_output_options(*command, options->common);
  command->callback([command, options] { run_text(*command, *options); });
}

}  // namespace protocom::cli
