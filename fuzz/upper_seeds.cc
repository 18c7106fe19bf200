#include <ATen/ATen.h>

#include "eval/tune.h"
#include "fewshot/paper/completion_model.h"
#include "fuzz/readers.h"
#include "fuzz/seeds.h"
#include "heads/protocomnet.h"
#include "io/files.h"
#include "io/npz.h"
#include "report/section.h"
#include "store/recognizer_file.h"
#include "tensors/tensors.h"
#include "trainers/detail/checkpoint.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void write_analysis(const fs::path& folder) {
  const json header = make_header("results", 1, seed_provenance()).to_json();
  Section section{"noise", "Title", "Finding.", "How.", {{"caption", {"a", "b"}, {{"1", "2"}}}}, {}};
  section.figures = {
      BarChart{"noise-a", "Bars", "", {{"x", "note", 0.5, 0.1, "m-mean"}}, 0, 1, 1, "%", {{0.2, "c"}}},
      LineChart{"noise-b", "Lines", "", "x", "y", {{"s", "m-mean", {1, 2}, {3, 4}, {0.1, 0.2}}}, 0, 0, 1, {}, ""},
      ScatterChart{"noise-c", "Points", "", "x", "y", {{"g", {0.1}, {0.2}}}},
      HeatMap{"noise-d", "Matrix", "", "r", "c", {"a", "b"}, {{90, 10}, {20, 80}}},
      PictureChart{"noise-e", "Pictures", "", {{"row", {{"/9j/4AA=", "c", "t"}}}}}};
  write_file(folder / "analysis/plain", analysis_json({section, "protocom analyse", "h", header}, {{"x", 1}}).dump());
}

void write_state(const fs::path& folder) {
  Checkpoint state;
  state.header = make_header("backbone", 1, seed_provenance());
  state.artefact = {{"weight", at::ones({2, 2})}};
  state.training = {{"momentum", at::ones({2})}};
  state.bytes = {{"optimizer", "some bytes"}};
  state.made_by = {{"epochs", 2}, {"seed", 1}};
  state.position = {{"epoch", 1}, {"step", 0}};
  const fs::path whole = folder / "artefacts/checkpoint.npz";
  write_checkpoint(whole, state);
  write_as_members(whole, folder / "checkpoint/plain");
  fs::remove_all(whole.parent_path());
}

void write_model(const fs::path& folder, const fs::path& work) {
  ProtoComNetOptions sizes;
  sizes.feature_dim = sizes.embedding_dim = sizes.code_dim = sizes.attention_hidden = sizes.decoder_hidden = 2;
  const Array pair = Array::of<float>({1, 1}, {1, 2});
  write_completion_model(work / "completion-model.npz",
                         {sizes, weights_of(ProtoComNet(sizes)), {"tail"}, pair, pair, pair, {"cat"}},
                         seed_provenance(), json::object());
  write_as_members(work / "completion-model.npz", folder / "completion-model/plain");
}

/// Writes a fitted method of minimal dimensions: its text, and its tensors.
void write_fitted(const fs::path& path, const fs::path& seed, const char* method,
                  const std::vector<std::pair<std::string, at::Tensor>>& state) {
  ArtefactHeader header = make_header("fitted-method", 1, seed_provenance());
  header.details = {{"method", method}, {"feature_dim", 2}, {"trained_on", {"cat", "dog"}}};
  NpzWriter writer(path);
  for (const auto& [name, tensor] : state) writer.add("state." + name, array_of(tensor));
  writer.add("attributes", std::vector<std::string>{"tail"});
  add_header(writer, header);
  writer.close();
  write_file(seed, pack_members(path));
}

void write_methods(const fs::path& folder, const fs::path& work) {
  const auto ones = [](at::IntArrayRef shape) { return at::ones(shape, at::kDouble); };
  write_fitted(work / "net.npz", folder / "fitted/restore-net", "restore-net",
               {{"hidden.weight", at::ones({1, 2})},
                {"hidden.bias", at::ones({1})},
                {"output.weight", at::ones({2, 1})},
                {"output.bias", at::ones({2})}});
  write_fitted(work / "plda.npz", folder / "fitted/plda", "plda",
               {{"leading", ones({})},
                {"steps", ones({})},
                {"attribute_weight", ones({})},
                {"word_weight", ones({})},
                {"ridge", ones({})},
                {"trust", ones({})},
                {"spread", ones({})},
                {"concentration", ones({})},
                {"explained", ones({})},
                {"inductive_scale", ones({3})},
                {"transductive_scale", ones({3})},
                {"known_slope", ones({3})},
                {"known_offset", ones({3})},
                {"known_alike", ones({3})},
                {"center", ones({2})},
                {"projection", ones({2, 1})},
                {"offset", ones({1})},
                {"between", ones({1})},
                {"residual", ones({1})},
                {"dual", ones({2, 1})},
                {"attribute_rows", ones({2, 1})},
                {"attribute_idf", ones({1})},
                {"embedding_rows", ones({2, 2})},
                {"embedding_center", ones({2})}});
  write_file(
      folder / "keys/plain",
      json{{"keys", {{{"name", "phone"}, {"role", "write"}, {"sha256", std::string(64, 'a')}, {"per_minute", 600}}}}}
          .dump());
  const json header = make_header(kTunedKind, kTunedVersion, seed_provenance()).to_json();
  write_file(folder / "tuned/plain",
             json{{"header", header}, {"chosen", {"mean", "tim:temperature=10"}}, {"tried", {}}}.dump());
}

void write_recognizer(const fs::path& folder) { write_small_recognizer(folder / "recognizer/plain"); }

/// Writes the journal of an interrupted change (sqlite.org/fileformat.html, "The Rollback Journal"), whose only page is
/// the database's first one, and one that names another file.
void write_journals(const fs::path& folder) {
  const std::string database = read_file(folder / "recognizer/plain");
  const auto number = [](uint32_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 255U);
    return bytes;
  };
  const uint32_t page = uint32_t{static_cast<uint8_t>(database[16])} << 8U | static_cast<uint8_t>(database[17]);
  const std::string magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const auto head = [&](uint32_t records) {
    std::string bytes = magic + number(records) + number(1) + database.substr(28, 4) + number(512) + number(page);
    bytes.resize(512, '\0');
    return bytes;
  };
  uint32_t checksum = 1;
  for (int64_t at = int64_t{page} - 200; at > 0; at -= 200)
    checksum += static_cast<uint8_t>(database[static_cast<size_t>(at)]);
  write_file(folder / "journal/plain", head(1) + number(1) + database.substr(0, page) + number(checksum));
  const std::string name = "other";
  uint32_t sum = 0;
  for (const char letter : name) sum += static_cast<uint8_t>(letter);
  write_file(folder / "journal/super", head(0) + number(0x40000000U / page + 1) + name +
                                           number(static_cast<uint32_t>(name.size())) + number(sum) + magic);
}

void write_inference(const fs::path& folder) {
  write_file(folder / "inference/features",
             R"({"id": "7", "parameters": {"top": 2}, "inputs": [{"name": "features", "datatype": "FP32", "shape": )"
             R"([2, 4], "data": [0.1, 0.2, 0.3, 0.4, 1, 2, 3, 4]}], "outputs": [{"name": "label"}]})");
  write_file(folder / "inference/image",
             R"({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1], "data": ["aGFsbG8="]}]})");
}

std::string bmp_of_pixel() {
  return std::string("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x20\0", 30) +
         std::string(24, '\0') + "\x10\x20\x30\x40";
}

/// Writes images of one pixel with boxes, and features.
void write_uploads(const fs::path& folder) {
  const std::string pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGMQUDAAAACkAGE0Zn1yAAAAAElFTkSuQmCC";
  const json some = json::array({json::array({json::array({0.1, 0.2, 0.3, 0.4})}), nullptr});
  write_file(folder / "upload/json", "application/json\n" + json{{"images", {pixel, pixel}}, {"boxes", some}}.dump());
  write_file(folder / "upload/features", "application/json\n" + json{{"features", {{0.5, 1}, {1, 0}}}}.dump());
  const std::string part = "--edge\r\nContent-Disposition: form-data; name=\"";
  write_file(folder / "upload/form", "multipart/form-data; boundary=edge\n" + part +
                                         "image\"; filename=\"a.bmp\"\r\n\r\n" + bmp_of_pixel() + "\r\n" + part +
                                         "boxes\"\r\n\r\n[[[0, 0, 0.5, 0.5], [0.2, 0.2, 1, 1]]]\r\n--edge--\r\n");
}

}  // namespace

void write_small_recognizer(const fs::path& path) {
  RecognizerSettings settings;
  settings.preprocessing.image_size = 84;
  settings.feature_dim = settings.embedding_dim = 2;
  settings.attributes = {"tail"};
  const fs::path backbone = path.string() + ".backbone";
  write_file(backbone, "a backbone");
  RecognizerFile::create(path, settings, {{"backbone", backbone}}, seed_provenance());
  fs::remove(backbone);
  RecognizerFile file(path);
  ClassEnrolment cat{"cat", ClassDescription{"a cat", array_of(at::ones({1})), array_of(at::ones({2})), "attributes"}};
  cat.examples = {array_of(at::ones({2, 2})), {"h1", "h2"}, {"1.jpg", "2.jpg"}, {"one", "two"}};
  file.enrol({cat});
  file.set_calibration({{"factor", 1}});
  file.rename_class("cat", "kitten");
}

void write_upper_seeds(const fs::path& folder) {
  write_analysis(folder);
  write_state(folder);
  const fs::path work = folder / "artefacts";
  write_model(folder, work);
  write_methods(folder, work);
  write_recognizer(folder);
  write_journals(folder);
  write_inference(folder);
  write_uploads(folder);
  fs::remove_all(work);
}

void write_seeds(const fs::path& folder) {
  write_lower_seeds(folder);
  write_upper_seeds(folder);
}

}  // namespace protocom::fuzz
