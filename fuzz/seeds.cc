#include "fuzz/seeds.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <webp/encode.h>

#include <map>
#include <protozero/pbf_writer.hpp>

#include "datasets/feature_maps.h"
#include "datasets/feature_set.h"
#include "datasets/packed_images.h"
#include "datasets/xmp_keywords.h"
#include "fuzz/readers.h"
#include "images/image.h"
#include "io/files.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "knowledge/knowledge.h"
#include "networks/backbone.h"
#include "tensors/tensors.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/raw_photos.h"
#include "tests/support/tflite_writer.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uintmax_t kLargestMember = 10'000;  // a fuzzer makes no progress in weights

Image ramp(int64_t height, int64_t width) {
  Image image{height, width, {}};
  for (int64_t i = 0; i < height * width * 3; ++i) image.rgb.push_back(static_cast<uint8_t>(i * 5));
  return image;
}

std::string bmp_of(const Image& image) {
  std::string bytes = "BM";
  const auto put = [&](int64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(i < 8 ? value >> 8 * i & 255 : 0);
  };
  put(54 + image.height * image.width * 4, 4);
  put(0, 4);
  put(54, 4);
  put(40, 4);
  put(image.width, 4);
  put(image.height, 4);
  put(1, 2);
  put(32, 2);
  put(0, 24);
  for (int64_t i = 0; i < image.height * image.width; ++i) put(i * 7, 4);
  return bytes;
}

std::string webp_of(const Image& image, bool lossless) {
  uint8_t* data = nullptr;
  const int width = static_cast<int>(image.width), height = static_cast<int>(image.height);
  const size_t size = lossless ? WebPEncodeLosslessRGB(image.rgb.data(), width, height, width * 3, &data)
                               : WebPEncodeRGB(image.rgb.data(), width, height, width * 3, 80.0F, &data);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  WebPFree(data);
  return bytes;
}

/// Copies pictures in formats that protocom reads but does not write.
void copy_pictures(const fs::path& folder) {
  const std::map<std::string, std::string> readers = {{".gif", "gif"},       {".tif", "tiff"},    {".heic", "heif"},
                                                      {".avif", "heif"},     {".jxl", "jpeg-xl"}, {".jp2", "jpeg-2000"},
                                                      {".j2k", "jpeg-2000"}, {".webp", "webp"}};
  for (const auto& entry : fs::directory_iterator(PROTOCOM_PICTURES)) {
    const auto reader = readers.find(entry.path().extension().string());
    if (reader == readers.end()) continue;
    write_file(folder / reader->second / entry.path().filename(), read_file(entry.path()));
  }
}

/// Copies files written by SciPy, compressed and not.
void copy_mat_files(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(fs::path(PROTOCOM_PICTURES).parent_path() / "mat"))
    write_file(folder / "mat" / entry.path().filename(), read_file(entry.path()));
}

void write_images(const fs::path& folder) {
  const Image image = ramp(24, 20);
  write_file(folder / "jpeg/plain", encode_jpeg(image, 80));
  write_file(folder / "png/plain", encode_png(image));
  write_file(folder / "bmp/plain", bmp_of(image));
  testing::RawPhotoSpec raw;
  raw.previews = {encode_jpeg(image, 80)};
  raw.thumbnail = ramp(8, 8);
  raw.time = "2024:05:17 06:30:01";
  write_file(folder / "tiff/raw", testing::make_dng(raw));
  write_file(folder / "webp/lossy", webp_of(image, false));
  write_file(folder / "webp/lossless", webp_of(image, true));
  copy_pictures(folder);
  PackedImages images;
  images.pixels = Array::zeros({3, 4, 4, 3}, NumberType::kUInt8);
  images.labels = {0, 0, 1};
  images.class_names = {"cat", "dog"};
  images.class_split = {Split::kBase, Split::kNovel};
  images.image_ids = {"cat/1.jpg", "cat/2.jpg", "dog/1.jpg"};
  images.content_hash = hash_content(images);
  write_pack(folder / "pack/plain", images, seed_provenance());
}

void write_arrays(const fs::path& folder) {
  NpzWriter writer(folder / "npz/plain");
  writer.add("floats", array_of(at::arange(6, at::kFloat).view({2, 3})));
  writer.add("numbers", array_of(at::arange(4)));
  writer.add("texts", {"cat", "na\xc3\xafve", ""});
  writer.add_bytes("header.json", "{}");
  writer.close();
  const NpzReader reader(folder / "npz/plain");
  write_file(folder / "npy/floats", reader.bytes("floats"));
  write_file(folder / "npy/texts", reader.bytes("texts"));
  write_safetensors(folder / "safetensors/plain", {{"a", array_of(at::ones({2, 2}))}, {"b", array_of(at::arange(3))}},
                    {{"format", "pt"}});
}

void write_texts(const fs::path& folder) {
  write_file(folder / "csv/table", "class,attribute,weight\nzebra,stripes,1\n\"a, b\",\"say \"\"x\"\"\",0.5\n");
  write_file(folder / "csv/matrix", "class,stripes,tail\nzebra,1,0.5\nfish,,1\n");
  write_file(
      folder / "form/images",
      "--edge\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\nContent-Type: "
      "image/png\r\n\r\nx\r\n--edge\r\nContent-Disposition: form-data; name=attributes\r\n\r\na,b\r\n--edge--\r\n");
  write_file(folder / "form/type", "multipart/form-data; charset=\"utf-8\"; boundary=edge");
  write_file(folder / "request/features", R"({"features": [[1, -0.5], [2e3, 4]]})");
  write_file(folder / "request/class", R"({"name": "sea lion", "attributes": ["tail", "fin"]})");
  const std::string host = " HTTP/1.1\r\nHost: localhost\r\n";
  write_file(folder / "connection/two", "GET /healthz" + host +
                                            "\r\nGET /v1/\x01"
                                            "classes" +
                                            host + "\x01\r\n\x02");
  write_file(folder / "connection/chunks", "POST /v1/classes/a/examples" + host +
                                               "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                                               "8;a=b\r\n{\"attrib\r\n\x01"
                                               "f\r\nutes\":[\"tail\"]}\r\n0\r\nA: b\r\n\r\n");
  write_file(folder / "connection/expect", "POST /v1/classify" + host +
                                               "Content-Type: image/png\r\nExpect: 100-continue\r\nContent-Length: 3"
                                               "\r\n\r\n\x01xy\x01z");
  write_file(folder / "target/class", "/v1/classes/sea%2Flion%20%C3%A9/examples");
  write_file(folder / "csv/split", "class,split\nzebra,base\nfish,novel\n");
  write_file(folder / "word-vectors/plain", "2 3\ncat 0.1 -2e-3 3\ndog 1 2 3\na b 1 2 3\n");
  write_file(folder / "toml/plain",
             "out = \"run\"\nseed = 3\n[variables]\ndata = \"x\"\n[pack]\nimages = \"${data}/y\"\nimage-size = 84\n"
             "[[evaluate]]\nname = \"one\"\nk-shot = [1, 5]\nquiet = true\nscale = 1.5\n");
  write_file(folder / "wordnet/plain",
             std::string("  1 licence\n00000012 03 n 01 dog 0 001 @ 00000046 n 0000 | a gloss  \n"
                         "00000046 03 n 01 cat 0 000 | b  \n") +
                 '\0' + "  1 licence\ncat n 1 0 1 0 00000046  \ndog n 1 1 @ 1 0 00000012  \n");
}

void write_boxes(const fs::path& folder) {
  write_file(folder / "boxes/megadetector",
             R"({"detection_categories": {"1": "animal"}, "images": [{"file": "photos/a.jpg", "detections": [)"
             R"({"category": "1", "conf": 0.9, "bbox": [0.1, 0.2, 0.3, 0.4]}]}]})");
  write_file(
      folder / "boxes/coco",
      R"({"images": [{"id": 7, "file_name": "a.jpg", "width": 640, "height": 480}], "categories": )"
      R"([{"id": 1, "name": "dog"}], "annotations": [{"image_id": 7, "category_id": 1, "bbox": [1, 2, 30, 40]}]})");
  write_file(folder / "voc/plain",
             "<annotation><filename>a.jpg</filename><size><width>50</width><height>40</height></size><object>"
             "<name>bird</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>20</ymax></bndbox></object>"
             "</annotation>\n");
  const std::string labels("\0000 0.5 0.5 0.2 0.4\n1 0.1 0.1 0.5 0.2 0.3 0.9\n", 45);
  write_file(folder / "yolo/list", "names: ['cat', \"dog, or so\"]" + labels);
  write_file(folder / "yolo/map", "path: x\nnames:\n  0: cat  # first\n  1: dog\n" + labels);
  write_file(folder / "csv/boxes", "image,xmin,ymin,xmax,ymax,class,confidence\na.jpg,1,2,30,40,cat,0.9\n");
}

void write_lists(const fs::path& folder) {
  write_file(folder / "csv/images", "file_name,label,visit\na.jpg,cat,1\nb/a.jpg,dog,2\n");
  write_file(folder / "csv/flags", "image,cat,dog\na.jpg,1,0\nb.jpg,0,1\n");
  write_file(folder / "image-list/label-studio",
             R"([{"data": {"image": "a.jpg"}, "annotations": [{"completed_by": 1, "was_cancelled": false, "result": )"
             R"([{"type": "choices", "from_name": "species", "value": {"choices": ["cat"]}}]}]}])");
  write_file(folder / "image-list/label-studio-min", R"([{"image": "a.jpg", "species": "cat", "annotator": 1}])");
  write_file(folder / "image-list/coco",
             R"({"images": [{"id": 7, "file_name": "a.jpg"}], "categories": [{"id": 1, "name": "dog"}], )"
             R"("annotations": [{"image_id": 7, "category_id": 1}]})");
}

void write_settings(const fs::path& folder) {
  const std::string modules =
      R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}, )"
      R"({"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}, )"
      R"({"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";
  write_file(folder / "sentence-modules/plain",
             modules + '\0' + R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true})");
  write_file(
      folder / "image-settings/plain",
      R"({"image_processor_type": "CLIPImageProcessor", "do_resize": true, "size": {"shortest_edge": 224}, )"
      R"("resample": 3, "do_center_crop": true, "crop_size": {"height": 224, "width": 224}, "do_rescale": true, )"
      R"("rescale_factor": 0.00392156862745098, "do_normalize": true, "image_mean": [0.5, 0.5, 0.5], )"
      R"("image_std": [0.5, 0.5, 0.5], "do_convert_rgb": true})");
}

void write_sidecars(const fs::path& folder) {
  write_file(folder / "xmp/own", with_keywords("", {{"birds"}, {"birds|tit"}}, "own.xmp"));
  write_file(folder / "xmp/other",
             "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>\n<x:xmpmeta xmlns:x='adobe:ns:meta/'>\n <rdf:RDF "
             "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' "
             "xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:subject><rdf:Seq><rdf:li>a</rdf:li></rdf:Seq>"
             "</dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end='w'?>\n");
  // Makes a main directory that leads to one with a time and a fraction (EXIF 2.32, tags 0x8769, 0x9003, 0x9291).
  const auto exif = [](const char* mark, size_t length) {
    std::string bytes(mark, length);
    bytes += std::string("II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x1a\0\0\0\0\0\0\0", 26);
    bytes += std::string(
        "\x02\0\x03\x90\x02\0\x14\0\0\0\x38\0\0\0\x91\x92\x02\0\x03\0\0\0"
        "37\0\0\0\0\0\0",
        30);
    return bytes + std::string("2024:05:17 06:30:01\0", 20);
  };
  write_file(folder / "exif/jpeg", "\xff\xd8\xff\xe1" + exif("Exif\0\0", 6));
  write_file(folder / "exif/png", exif("eXIf", 4));
}

/// Writes a JPEG with keywords in IPTC (IIM 4.2, dataset 2:25, in Photoshop's resource 0x0404) and in XMP.
void write_keywords(const fs::path& folder) {
  const std::string iptc(
      "\x1c\x02\x19\0\x04"
      "bird"
      "\x1c\x02\x19\0\x03"
      "tit",
      17);
  const std::string resource = std::string(
                                   "Photoshop 3.0\0"
                                   "8BIM\x04\x04\0\0\0\0\0",
                                   25) +
                               static_cast<char>(iptc.size()) + iptc;
  const auto segment = [](char marker, const std::string& content) {
    const size_t length = content.size() + 2;
    return std::string("\xff") + marker + static_cast<char>(length >> 8U) + static_cast<char>(length & 255U) + content;
  };
  const std::string xmp = with_keywords("", {{"tit"}, {"Animals|birds|tit"}}, "photo.jpg");
  const std::string rest = encode_jpeg(ramp(4, 4), 50).substr(2);
  write_file(folder / "keywords/iptc", "\xff\xd8" + segment('\xed', resource) + rest);
  write_file(folder / "keywords/xmp",
             "\xff\xd8" + segment('\xe1', std::string("http://ns.adobe.com/xap/1.0/\0", 29) + xmp) + rest);
  write_file(folder / "keywords/sidecar", xmp);
}

json some_result() {
  return {{"method", "mean"},
          {"mode", "inductive"},
          {"n_way", 5},
          {"k_shot", 1},
          {"n_query", 15},
          {"episodes", 2},
          {"accuracy", 50.5},
          {"ci95", 1.5},
          {"cosine", 0.5},
          {"cosine_ci95", 0.1},
          {"per_episode", {50.0, 51.0}}};
}

void write_documents(const fs::path& folder) {
  const json header = make_header("results", 1, seed_provenance()).to_json();
  write_file(folder / "results/plain", json{{"header", header},
                                            {"dataset", {{"features", "f.npz"}, {"classes", 20}, {"split", "novel"}}},
                                            {"command", "protocom evaluate"},
                                            {"checks", {{"disjoint", {{"what", "disjoint"}}}}},
                                            {"results", {some_result()}}}
                                           .dump(1));
  write_file(folder / "episodes/plain",
             R"({"n_way":2,"k_shot":1,"n_query":2,"split":"novel","seed":0,"episodes":[{"classes":["cat","dog"],)"
             R"("support":[["a"],["d"]],"query":[["b","c"],["e","f"]]}]})");
}

void write_artefacts(const fs::path& folder, const fs::path& work) {
  FeatureSet features;
  features.features = array_of(at::ones({3, 2}));
  features.labels = {0, 0, 1};
  features.class_names = {"cat", "dog"};
  features.class_split = {Split::kBase, Split::kNovel};
  features.image_ids = {"a", "b", "c"};
  write_features(work / "features.npz", features, seed_provenance());
  Knowledge knowledge;
  knowledge.classes = {"cat", "dog"};
  knowledge.attributes = {"tail"};
  knowledge.titles = {{"cat", "a cat"}};
  knowledge.association = array_of(at::ones({2, 1}));
  knowledge.class_embedding = array_of(at::ones({2, 3}));
  knowledge.attribute_embedding = array_of(at::ones({1, 3}));
  write_knowledge(work / "knowledge.npz", knowledge, seed_provenance(), {{"source", "table"}});
  NetworkOptions options;
  options.architecture = "conv4";
  write_backbone(work / "backbone.npz", *make_backbone(options), options, seed_provenance());
  for (const char* name : {"features", "knowledge", "backbone"})
    write_as_members(work / fmt::format("{}.npz", name), folder / name / "plain");
  write_as_members(work / "features.npz", folder / "header/plain");
  write_feature_maps(folder / "maps/plain",
                     {array_of(at::ones({2, 3, 2, 2}, at::kHalf)), {"a", "b"}, "0123456789abcdef"}, seed_provenance());
}

/// Writes a network with the operators whose sizes come from the file.
void write_networks(const fs::path& folder) {
  testing::OnnxWriter convolving;
  convolving.input("images", {1, 3, 8, 8});
  convolving.raw("weight", at::ones({2, 3, 3, 3}));
  convolving.node("Conv", {"images", "weight"}, {"maps"}, {{{"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}}});
  convolving.node("MaxPool", {"maps"}, {"pooled"}, {{{"kernel_shape", {2, 2}}}});
  convolving.node("GlobalAveragePool", {"pooled"}, {"mean"});
  convolving.node("Flatten", {"mean"}, {"features"});
  convolving.output("features", {1, 2});
  for (const char* reader : {"onnx", "kept-graph", "graph-costs"})
    write_file(folder / reader / "convolving", convolving.bytes());
  testing::OnnxWriter moving(13);
  moving.input("images", {-1, 3, 8, 8});
  moving.integers("rows", {1, 3, 64});
  moving.integers("begin", {0});
  moving.integers("end", {2});
  moving.integers("axis", {1});
  moving.typed("token", at::ones({1, 1, 64}));
  moving.node("Reshape", {"images", "rows"}, {"tokens"});
  moving.node("Concat", {"token", "tokens"}, {"all"}, {{}, {{"axis", 1}}});
  moving.node("Slice", {"all", "begin", "end", "axis"}, {"some"});
  moving.node("Transpose", {"some"}, {"turned"}, {{{"perm", {0, 2, 1}}}});
  moving.node("MatMul", {"some", "turned"}, {"products"});
  moving.node("Softmax", {"products"}, {"shares"}, {{}, {{"axis", -1}}});
  moving.node("ReduceMean", {"shares"}, {"features"}, {{{"axes", {1}}}, {{"keepdims", 0}}});
  moving.output("features", {-1, 2});
  for (const char* reader : {"onnx", "kept-graph", "graph-costs"})
    write_file(folder / reader / "moving", moving.bytes());
  testing::OnnxWriter outside;
  outside.input("images", {1, 3, 8, 8});
  outside.outside("weight", at::ones({2, 3, 3, 3}), {{"location", "weights.bin"}, {"offset", "16"}, {"length", "216"}});
  outside.node("Conv", {"images", "weight"}, {"maps"});
  outside.node("GlobalAveragePool", {"maps"}, {"mean"});
  outside.node("Flatten", {"mean"}, {"features"});
  outside.output("features", {1, 2});
  write_file(folder / "outside-tensors/convolving", outside.bytes());
  write_file(folder / "tflite/small", testing::SmallTflite().bytes());
  write_file(folder / "recorded-graph/small", testing::SmallTflite().bytes());
}

/// Writes a sentencepiece model with a map that turns "A" into "a".
void write_sentence_pieces(const fs::path& path) {
  std::string bytes, map(sizeof(uint32_t), '\0');
  std::vector<uint32_t> units(256);
  units[0] = 1U << 10U;                                    // units of first letters begin at 1
  units['A' ^ 1U] = 2U << 10U | 1U << 8U | uint32_t{'A'};  // its value follows at 2
  units['A' ^ 1U ^ 2U] = 1U << 31U;                        // the text at 0
  map[1] = 4;                                              // 1,024 bytes
  map.append(reinterpret_cast<const char*>(units.data()), units.size() * sizeof(uint32_t));
  map.append("a", 2);
  protozero::pbf_writer model(bytes);
  const std::vector<std::pair<const char*, int32_t>> pieces = {
      {"<unk>", 2}, {"</s>", 3}, {"\u2581", 1}, {"a", 1}, {"\u2581bird", 1}};
  for (const auto& [text, kind] : pieces) {
    protozero::pbf_writer piece(model, 1);
    piece.add_string(1, text);
    piece.add_float(2, -static_cast<float>(std::string_view(text).size()));
    piece.add_enum(3, kind);
  }
  protozero::pbf_writer(model, 2).add_enum(3, 1);
  protozero::pbf_writer(model, 3).add_bytes(2, map);
  write_file(path, bytes);
}

/// Writes Gemma's: byte pairs with a token for each byte.
void write_gemma_tokenizer(const fs::path& path) {
  json vocabulary = {{"<pad>", 0}, {"<eos>", 1}, {"a", 2}, {"\u2581a", 3}, {"\u2581", 4}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[fmt::format("<0x{:02X}>", byte)] = 5 + byte;
  const json added = {{{"id", 1}, {"content", "<eos>"}, {"normalized", false}}};
  const json form = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  const json model = {{"type", "BPE"},
                      {"byte_fallback", true},
                      {"vocab", vocabulary},
                      {"merges", json::array({json::array({"\u2581", "a"})})}};
  const json whole = {{"added_tokens", added}, {"normalizer", form}, {"model", model}};
  write_file(path, whole.dump());
}

void write_tokenizers(const fs::path& folder) {
  const json special = {{{"id", 3}, {"content", "<|startoftext|>"}, {"normalized", true}},
                        {{"id", 4}, {"content", "<|endoftext|>"}, {"normalized", false}}};
  const json pairs = {{"type", "BPE"},
                      {"unk_token", "<|endoftext|>"},
                      {"end_of_word_suffix", "</w>"},
                      {"vocab", {{"a", 0}, {"b</w>", 1}, {"ab</w>", 2}}},
                      {"merges", {"a b</w>"}}};
  write_file(folder / "tokenizer/pairs", json{{"added_tokens", special}, {"model", pairs}}.dump());
  const json pieces = {{"type", "WordPiece"},
                       {"unk_token", "[UNK]"},
                       {"max_input_chars_per_word", 100},
                       {"vocab", {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"bird", 3}, {"##s", 4}}}};
  const json form = {{"type", "BertNormalizer"}, {"lowercase", true}, {"strip_accents", nullptr}};
  write_file(folder / "tokenizer/pieces", json{{"normalizer", form}, {"model", pieces}}.dump());
  write_file(folder / "tokenizer/lines", "[UNK]\n[CLS]\n[SEP]\nbird\n##s\n");
  write_file(folder / "tokenizer/merges", "#version: 0.2\na </w>\n");
  write_sentence_pieces(folder / "tokenizer/spiece");
  write_gemma_tokenizer(folder / "tokenizer/bytes");
}

}  // namespace

Provenance seed_provenance() { return {"seed", {{"option", 1}}, 1, {{"images", "0123456789abcdef"}}}; }

void write_as_members(const fs::path& npz, const fs::path& seed) {
  const NpzReader reader(npz);
  const fs::path small = npz.string() + ".small";
  NpzWriter writer(small);
  for (const std::string& name : reader.names()) {
    const std::string content = reader.bytes(name);
    if (content.size() > kLargestMember) continue;
    writer.add_bytes(content.substr(0, 6) == "\x93NUMPY" ? name + ".npy" : name, content);
  }
  writer.close();
  write_file(seed, pack_members(small));
}

void write_lower_seeds(const fs::path& folder) {
  write_images(folder);
  copy_mat_files(folder);
  write_arrays(folder);
  write_texts(folder);
  write_boxes(folder);
  write_lists(folder);
  write_settings(folder);
  write_sidecars(folder);
  write_keywords(folder);
  write_documents(folder);
  const fs::path work = folder / "artefacts";
  write_artefacts(folder, work);
  write_networks(folder);
  write_tokenizers(folder);
  fs::remove_all(work);
}

}  // namespace protocom::fuzz
