#include "fuzz/readers.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/utf8.h"
#include "datasets/boxes.h"
#include "datasets/episodes.h"
#include "datasets/feature_maps.h"
#include "datasets/feature_set.h"
#include "datasets/image_list.h"
#include "datasets/packed_images.h"
#include "datasets/photo_keywords.h"
#include "datasets/split.h"
#include "datasets/table_column.h"
#include "datasets/xmp_keywords.h"
#include "encoders/encoder_as_onnx.h"
#include "encoders/huggingface_images.h"
#include "encoders/onnx_file.h"
#include "encoders/onnx_graph_writer.h"
#include "encoders/onnx_kept_graph.h"
#include "encoders/onnxruntime/graph_costs.h"
#include "encoders/sentence_modules.h"
#include "encoders/text/detail/tokenizer.h"
#include "images/capture_time.h"
#include "images/image.h"
#include "io/csv.h"
#include "io/files.h"
#include "io/mat_file.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "knowledge/knowledge.h"
#include "knowledge/tables.h"
#include "knowledge/word_vectors.h"
#include "knowledge/wordnet.h"
#include "networks/backbone.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;

void read_npz(const fs::path& path) {
  const NpzReader reader(path);
  for (const std::string& name : reader.names()) {
    attempt([&] { (void)reader.array(name); });
    attempt([&] { (void)reader.strings(name); });
  }
}

/// Reads it as each file of a tokenizer in turn, beside a valid version of the other.
void read_tokenizer(const fs::path& path) {
  const std::string content = read_file(path);
  const std::string tokens = R"({"a</w>": 0, "<|startoftext|>": 1, "<|endoftext|>": 2})";
  const auto encode = [](const std::unique_ptr<text::Tokenizer>& tokenizer) {
    (void)tokenizer->tokens("A small bird's 2 wings, \u00c9 \u4eac <|endoftext|> [SEP] <eos>", 77);
  };
  attempt([&] { encode(text::make_clip_tokenizer({{"tokenizer.json", content}})); });
  attempt([&] { encode(text::make_clip_tokenizer({{"vocab.json", content}, {"merges.txt", "a b</w>"}})); });
  attempt([&] { encode(text::make_clip_tokenizer({{"vocab.json", tokens}, {"merges.txt", content}})); });
  attempt([&] { encode(text::make_bert_tokenizer({{"tokenizer.json", content}})); });
  attempt([&] { encode(text::make_bert_tokenizer({{"vocab.txt", content}})); });
  attempt([&] { encode(text::make_siglip_tokenizer({{"spiece.model", content}})); });
  attempt([&] { encode(text::make_siglip2_tokenizer({{"tokenizer.json", content}})); });
}

void read_array(const fs::path& path) { read_npy(path); }

void read_tensors(const fs::path& path) {
  for (const auto& [name, tensor] : read_safetensors(path).tensors) (void)tensor.copy();
}

void read_header_of(const fs::path& path) { (void)read_any_header(path).to_json().dump(); }

/// Returns two novel classes of three images.
FeatureSet small_features() {
  FeatureSet set;
  set.features = Array::zeros({6, 2});
  set.labels = {0, 0, 0, 1, 1, 1};
  set.class_names = {"cat", "dog"};
  set.class_split = {Split::kNovel, Split::kNovel};
  set.image_ids = {"a", "b", "c", "d", "e", "f"};
  return set;
}

void read_episode_list(const fs::path& path) {
  static const FeatureSet features = small_features();
  (void)read_episodes(path, features).hash(features);
}

void read_table(const fs::path& path) {
  const CsvTable table = read_csv(path);
  attempt([&] { (void)table.column("class"); });
  attempt([&] { (void)read_attributes(path); });
  attempt([&] { (void)read_attribute_matrix(path); });
  attempt([&] { (void)read_split(path); });
  attempt([&] { (void)read_boxes({path, 0}); });
  attempt([&] { (void)read_image_list(path); });
  attempt([&] { (void)cells_of_photos(path, "visit", {"/photos/a.jpg", "/photos/b/a.jpg"}); });
}

/// Reads Label Studio's JSON and COCO's, as a list of images and classes.
void read_list(const fs::path& path) { (void)read_image_list(path); }

void read_vectors(const fs::path& path) { (void)read_word_vectors(path, {"cat", "dog"}); }

/// data.noun, a zero byte, index.noun.
void read_wordnet(const fs::path& path) {
  const std::string both = read_file(path);
  const size_t end = std::min(both.find('\0'), both.size());
  const fs::path folder = path.string() + ".d";
  fs::create_directories(folder);
  std::ofstream(folder / "data.noun", std::ios::binary) << both.substr(0, end);
  std::ofstream(folder / "index.noun", std::ios::binary) << both.substr(std::min(end + 1, both.size()));
  const WordNet wordnet(folder);
  for (const char* name : {"dog", "dog.n.01", "cat", "n00000107", "a b"}) {
    attempt([&] {
      if (const auto wnid = wordnet.resolve(name)) {
        (void)title(wordnet.synset(*wnid));
        (void)wordnet.attributes(*wnid, {Meronym::kPart, Meronym::kSubstance, Meronym::kMember});
      }
    });
  }
}

void read_picture(const fs::path& path) {
  DecodeOptions options;
  options.max_pixels = 1 << 22;  // larger ones only take longer
  (void)read_image(path, options);
}

/// Reads a backbone; a TorchScript file is a program, which would be run and is therefore skipped.
void read_backbone_file(const fs::path& path) {
  const std::string bytes = read_file(path);
  if (bytes.find("constants.pkl") == std::string::npos) (void)read_backbone(path, {});
}

/// Reads a graph, binds it to operators and runs it on a small image.
void read_graph(const fs::path& path) {
  EncoderFileOptions said;
  said.preprocessing = Preprocessing{8};
  (void)open_backbone(path, said);
}

/// Reads a graph with tensors in files beside it.
void read_outside_tensors(const fs::path& path) {
  write_file(path.parent_path() / "weights.bin", std::string(1000, '\x3c'));
  attempt([&] { (void)onnx::kept_graph(path, onnx::Weights::kFloat32); });
  read_graph(path);
}

/// Runs a part of a reader whose caller adds the file's name to messages.
template <typename Read>
void with_name(const fs::path& path, Read read) {
  try {
    read();
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

void count_costs(const fs::path& path) {
  with_name(path, [&] { onnxruntime::check_graph_costs(read_file(path)); });
}

/// modules.json, a zero byte, the config.json of the pooling in folder 1.
void read_modules(const fs::path& path) {
  const std::string both = read_file(path);
  const size_t end = std::min(both.find('\0'), both.size());
  const fs::path folder = path.string() + ".d";
  fs::create_directories(folder / "1_Pooling");
  write_file(folder / "modules.json", both.substr(0, end));
  write_file(folder / "1_Pooling/config.json", both.substr(std::min(end + 1, both.size())));
  with_name(path, [&] { (void)text::read_sentence_modules(folder); });
}

/// Reads it as preprocessor_config.json beside an ONNX file.
void read_image_settings(const fs::path& path) {
  const fs::path folder = path.string() + ".d";
  fs::create_directories(folder);
  write_file(folder / huggingface::kImages, read_file(path));
  with_name(path, [&] { (void)huggingface::preprocessing_beside(folder / "model.onnx"); });
}

/// Writes the part of a graph that goes into a larger one, and reads it again.
void keep_graph(const fs::path& path) {
  for (const onnx::Weights weights : {onnx::Weights::kFloat32, onnx::Weights::kFloat16}) {
    onnx::GraphWriter graph(onnx::kept_graph(path, weights));
    graph.input("image", onnx::ValueType::kFloat32, {1, 3, 8, 8});
    graph.node("Identity", {"image"}, {}, std::string(onnx::kKeptPrefix) + "images");
    graph.add_encoder();
    graph.name_output(std::string(onnx::kKeptPrefix) + "features", "features", onnx::ValueType::kFloat32, {1, 2});
    const fs::path made = path.string() + ".made";
    write_file(made, graph.model({{"classes", "cat"}}));
    (void)onnx::read_outline(made);
  }
}

/// Reads boxes of all confidences, and which of two photos they belong to.
void read_box_file(const fs::path& path) {
  const BoxFile boxes = read_boxes({path, 0});
  attempt([&] { (void)crop_photos({"/photos/a.jpg", "/photos/b/c.png"}, boxes, path); });
}

/// data.yaml, a zero byte, the label file of an image.
void read_yolo(const fs::path& path) {
  const std::string both = read_file(path);
  const size_t end = std::min(both.find('\0'), both.size());
  const fs::path folder = path.string() + ".d";
  fs::create_directories(folder / "labels");
  std::ofstream(folder / "data.yaml", std::ios::binary) << both.substr(0, end);
  std::ofstream(folder / "labels/a.txt", std::ios::binary) << both.substr(std::min(end + 1, both.size()));
  read_box_file(folder);
}

/// Writes keywords into a sidecar; writing them again must change nothing.
void read_sidecar(const fs::path& path) {
  const XmpKeywords words{{"birds", "tit & <robin>"}, {"birds|robin"}};
  const std::string with = with_keywords(read_file(path), words, path);
  if (with_keywords(with, words, path) != with) std::abort();
}

void read_time(const fs::path& path) {
  const std::optional<double> time = capture_time(read_file(path));
  if (time && !(std::abs(*time) < 1e12)) std::abort();
}

/// Tries every choice of a class among a photo's keywords. A class must be a name that may go into a recognizer and its
/// JSON.
void read_keywords(const fs::path& path) {
  const XmpKeywords words = keywords_of(path);
  for (const char* choice : {"keywords", "keywords:2", "keywords:Animals"}) {
    for (const std::string& name : classes_of(words, parse_keyword_choice(choice))) {
      if (name.empty() || name != clean_name(name) || !is_utf8(name)) std::abort();
    }
  }
}

/// Records a network of other operators as ONNX, and reads it again.
void record_graph(const fs::path& path) {
  EncoderFileOptions said;
  said.preprocessing = Preprocessing{8};
  const fs::path folder = path.string() + ".d";
  fs::create_directories(folder);
  (void)onnx::read_outline(encoder_as_onnx(path, said, folder));
}

void read_maps(const fs::path& path) { (void)read_feature_maps(path).maps.copy(); }

void read_knowledge_file(const fs::path& path) { (void)read_knowledge(path); }

void read_feature_file(const fs::path& path) { (void)read_features(path).rows_by_class(); }

/// Reads everything that callers read of one, whatever its variables are called.
void read_mat(const fs::path& path) {
  const MatFile file(path);
  for (const char* name : {"features", "labels", "train_loc", "x"}) attempt([&] { (void)file.matrix(name).copy(); });
  attempt([&] { (void)file.texts("allclasses_names"); });
}

void read_images(const fs::path& path) { (void)read_pack(path); }

/// Writes the members of an npz from text made by pack_members; a truncated member ends it.
void write_members(const fs::path& path, std::string_view text) {
  NpzWriter writer(path);
  std::vector<std::string> seen;
  while (!text.empty()) {
    const auto name_length = std::min<size_t>(static_cast<uint8_t>(text[0]), text.size() - 1);
    std::string name(text.substr(1, name_length));
    text.remove_prefix(1 + name_length);
    size_t length = 0;
    for (size_t i = 0; i < std::min<size_t>(4, text.size()); ++i)
      length |= size_t{static_cast<uint8_t>(text[i])} << 8 * i;
    text.remove_prefix(std::min<size_t>(4, text.size()));
    const std::string_view content = text.substr(0, length);
    text.remove_prefix(content.size());
    if (name.empty() || name.find('\0') != std::string::npos || std::count(seen.begin(), seen.end(), name) > 0)
      continue;
    seen.push_back(name);
    writer.add_bytes(name, std::string(content));
  }
  if (!seen.empty()) return writer.close();
  write_file(path, std::string("PK\x05\x06") + std::string(18, '\0'));  // libzip makes no file without members
}

/// Returns a folder, on a file system in memory if there is one. Never destroyed, as it is removed when the program
/// ends; not after a fault, so that the input that caused it stays there.
const fs::path& folder() {
  static const fs::path* const path = [] {
    const fs::path base = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    auto* const own = new fs::path(base / fmt::format("protocom-fuzz-{}", ::getpid()));
    fs::create_directories(*own);
    std::atexit([] { fs::remove_all(folder()); });
    return own;
  }();
  return *path;
}

/// Prefix of a library's own text; an input that contains it may be quoted.
constexpr std::string_view kForeign = "[json.exception";

void check_message(const std::string& message, const fs::path& path, std::string_view input) {
  const bool foreign = message.find(kForeign) != std::string::npos && input.find(kForeign) == std::string_view::npos;
  const bool good = message.size() <= 1000 && message.find('\n') == std::string::npos &&
                    message.find(path.filename().string()) != std::string::npos && !foreign;
  if (good) return;
  std::fputs(("not a message for people: " + message + "\n").c_str(), stderr);
  std::abort();
}

}  // namespace

const std::vector<Reader>& lower_readers() {
  static const std::vector<Reader> all = {{"npz", ".npz", false, &read_npz},
                                          {"npy", ".npy", false, &read_array},
                                          {"safetensors", ".safetensors", false, &read_tensors},
                                          {"header", ".npz", true, &read_header_of},
                                          {"episodes", ".json", false, &read_episode_list},
                                          {"csv", ".csv", false, &read_table},
                                          {"word-vectors", ".txt", false, &read_vectors},
                                          {"wordnet", ".noun", false, &read_wordnet},
                                          {"jpeg", ".jpg", false, &read_picture},
                                          {"png", ".png", false, &read_picture},
                                          {"webp", ".webp", false, &read_picture},
                                          {"bmp", ".bmp", false, &read_picture},
                                          {"gif", ".gif", false, &read_picture},
                                          {"tiff", ".tif", false, &read_picture},
                                          {"heif", ".heic", false, &read_picture},
                                          {"jpeg-xl", ".jxl", false, &read_picture},
                                          {"jpeg-2000", ".jp2", false, &read_picture},
                                          {"pack", ".pack", false, &read_images},
                                          {"backbone", ".npz", true, &read_backbone_file},
                                          {"onnx", ".onnx", false, &read_graph},
                                          {"tflite", ".tflite", false, &read_graph},
                                          {"tokenizer", ".json", false, &read_tokenizer},
                                          {"knowledge", ".npz", true, &read_knowledge_file},
                                          {"features", ".npz", true, &read_feature_file},
                                          {"maps", ".safetensors", false, &read_maps},
                                          {"mat", ".mat", false, &read_mat},
                                          {"kept-graph", ".onnx", false, &keep_graph},
                                          {"boxes", ".json", false, &read_box_file},
                                          {"voc", ".xml", false, &read_box_file},
                                          {"yolo", ".yolo", false, &read_yolo},
                                          {"xmp", ".xmp", false, &read_sidecar},
                                          {"exif", ".jpg", false, &read_time},
                                          {"keywords", ".jpg", false, &read_keywords},
                                          {"recorded-graph", ".tflite", false, &record_graph},
                                          {"image-list", ".json", false, &read_list},
                                          {"outside-tensors", ".onnx", false, &read_outside_tensors},
                                          {"graph-costs", ".onnx", false, &count_costs},
                                          {"sentence-modules", ".json", false, &read_modules},
                                          {"image-settings", ".json", false, &read_image_settings}};
  return all;
}

bool read_input(const Reader& reader, std::string_view input) {
  const fs::path path = folder() / ("input" + reader.extension);
  try {
    if (reader.members) {
      write_members(path, input);
    } else {
      std::ofstream(path, std::ios::binary) << input;
    }
    reader.read(path);
    fs::remove(path);  // another reader may take it for part of its own input, such as a photo's sidecar
    return true;
  } catch (const Error& error) {
    check_message(error.what(), path, input);
    fs::remove(path);
    return false;
  }
}

std::string pack_members(const fs::path& npz) {
  const NpzReader reader(npz);
  std::string text;
  for (const std::string& name : reader.names()) {
    const std::string content = reader.bytes(name);
    const std::string member = content.substr(0, 6) == "\x93NUMPY" ? name + ".npy" : name;
    text += static_cast<char>(member.size());
    text += member;
    for (size_t i = 0; i < 4; ++i) text += static_cast<char>(content.size() >> 8 * i & 255);
    text += content;
  }
  return text;
}

}  // namespace protocom::fuzz
