#include "dataset_options.h"

#include "datasets/boxed_dataset.h"
#include "datasets/photo_keywords.h"

namespace protocom::cli {

ImageDatasetOptions DatasetOptions::to_library() const {
  ImageDatasetOptions options;
  options.layout = layout;
  if (!split.empty()) options.split = split;
  options.standard_split = standard_split;
  options.strict = strict;
  options.lists = lists;
  return options;
}

void add_layout(CLI::App& command, DatasetOptions& options) {
  add_word(command, "--layout", options.layout, &parse_layout,
           "auto, folder, list (a CSV image,class), tiny-imagenet, cub, mini-imagenet or ilsvrc");
}

void add_box_options(CLI::App& command, BoxChoice& boxes) {
  CLI::Option* file =
      add_input_option(command, "--boxes", boxes.file,
                       "Boxes of the images, each treated as a separate photo: MegaDetector's or COCO's JSON, a "
                       "CSV image,x,y,width,height[,class], AddaxAI's CSV, Pascal VOC's XML or a folder of it, "
                       "or a folder of YOLO's labels");
  command.add_option("--min-confidence", boxes.min_confidence, "Minimum confidence of boxes that state one, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(file);
  command
      .add_option(
          "--box-margin", boxes.margin,
          "Margin on each side of a box, as a fraction of its longer side, 0 to 1; use the same one to enrol and "
          "to classify")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(file);
  add_list_option(command, "--box-kinds", boxes.kinds, "Kinds of boxes to use: animal,person; default: all")
      ->allow_extra_args(false)
      ->needs(file);
}

void add_list_choices(CLI::App& command, ListChoices& lists) {
  command.add_option("--question", lists.question,
                     "Question whose answers are the classes, if a list has several (Label Studio)");
  command.add_option(
      "--annotator", lists.annotator,
      "Whose answers count if annotators disagree (Label Studio): an annotator's number or address, or majority");
  command.add_option_function<std::string>(
      "--classes-from",
      [&lists](const std::string& text) {
        static_cast<void>(parse_keyword_choice(text));
        lists.classes_from = text;
      },
      "Use the photos' keywords (XMP in the photo or its sidecar, IPTC) as classes: keywords; keywords:2, their second "
      "level; 'keywords:Animals|Birds', the level below Animals|Birds");
}

void add_dataset_options(CLI::App& command, DatasetOptions& options, const std::string& images_help) {
  add_input_option(command, "images,--images", options.images, images_help)->required();
  add_layout(command, options);
  add_input_option(command, "--split", options.split,
                   "Split of the classes: a CSV class,split or a prefix P of P-base.txt, P-val.txt, P-novel.txt");
  command.add_option("--standard-split", options.standard_split, "cub, mini-imagenet or tiered-imagenet");
  add_list_choices(command, options.lists);
}

void add_strict(CLI::App& command, DatasetOptions& options) {
  command.add_flag("--strict", options.strict,
                   "For a folder: stop at an unreadable image, and at a class of the split without images, in place of "
                   "skipping it with a warning");
}

ImageDataset list_images(const DatasetOptions& source) {
  return source.boxes.file.empty() ? protocom::list_images(source.images, source.to_library())
                                   : list_boxed_images(source.images, source.to_library(), source.boxes);
}

PackedImages load_images(const DatasetOptions& source, const Preprocessing& sizes, Provenance& provenance) {
  PackedImages images =
      protocom::load_images({source.images, source.to_library(), sizes, source.strict, source.boxes}, progress());
  provenance.inputs["images"] = images.content_hash;
  return images;
}

void warn_of_sizes(const Encoder& encoder, const PackedImages& images) {
  const Preprocessing expected = encoder.preprocessing();
  if (images.squeeze != expected.squeeze)
    logger().warn("the backbone expects images {}, these are {}: give the folder of the photos in place of a pack",
                  expected.squeeze ? "squeezed into a square" : "cut to a square",
                  images.squeeze ? "squeezed into one" : "cut to one");
  if (images.image_size() == expected.image_size && images.shorter_side() == expected.shorter_side()) return;
  logger().warn(
      "the backbone expects images of {0}x{0} pixels cut out of a shorter side of {1}, these are {2}x{2} of {3}",
      expected.image_size, expected.shorter_side(), images.image_size(), images.shorter_side());
}

}  // namespace protocom::cli
