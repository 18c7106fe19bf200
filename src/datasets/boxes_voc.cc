#include <expat.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "datasets/detail/box_reader.h"
#include "io/files.h"

namespace protocom::box_reader {
namespace fs = std::filesystem;
namespace {

constexpr size_t kDeepest = 50;
constexpr size_t kDeepestRead = 4;   // annotation/object/bndbox/xmin
constexpr size_t kLongestRead = 16;  // the name of an element: "confidence"

struct VocObject {
  std::string name;
  double corners[4] = {NAN, NAN, NAN, NAN};  // xmin, ymin, xmax, ymax
  double score = 1;
};

/// The relevant content of an annotation, as it is parsed.
struct VocFile {
  std::vector<std::string> path;  // names of the open elements, from the root
  std::string text, image, wrong;
  double width = 0, height = 0;
  std::vector<VocObject> objects;
  XML_Parser parser = nullptr;

  void stop(const char* reason) {
    wrong = reason;
    XML_StopParser(parser, XML_FALSE);
  }
};

/// Returns the path below the root; empty if nothing is read.
std::string path_of(const VocFile& file) {
  std::string path;
  if (file.path.size() > kDeepestRead) return path;
  for (size_t i = 1; i < file.path.size(); ++i) path += (i > 1 ? "/" : "") + file.path[i];
  return path;
}

void on_start(void* data, const XML_Char* name, const XML_Char** /*attributes*/) {
  auto& file = *static_cast<VocFile*>(data);
  // Paths are assembled for every element: a name of megabytes would be copied each time.
  file.path.emplace_back(::strnlen(name, kLongestRead + 1) > kLongestRead ? "?" : name);
  file.text.clear();
  if (file.path.size() > kDeepest) return file.stop("elements within elements, deeper than any annotation");
  if (path_of(file) == "object") file.objects.emplace_back();
}

void on_text(void* data, const XML_Char* text, int length) {
  static_cast<VocFile*>(data)->text.append(text, static_cast<size_t>(length));
}

void take_member(const std::string& path, const std::string& text, VocObject& object) {
  static constexpr std::string_view kCorners[] = {"xmin", "ymin", "xmax", "ymax"};
  for (size_t i = 0; i < std::size(kCorners); ++i) {
    if (path == "object/bndbox/" + std::string(kCorners[i])) object.corners[i] = number_in(text);
  }
  if (path == "object/name") object.name = trimmed(text);
  if (path == "object/score" || path == "object/confidence") object.score = number_in(text);
}

void on_end(void* data, const XML_Char* /*name*/) {
  auto& file = *static_cast<VocFile*>(data);
  const std::string path = path_of(file);
  if (path == "filename") file.image = trimmed(file.text);
  if (path == "size/width") file.width = number_in(file.text);
  if (path == "size/height") file.height = number_in(file.text);
  if (!file.objects.empty()) take_member(path, file.text, file.objects.back());
  file.path.pop_back();
  file.text.clear();
}

/// Refuses entities, which may refer to other files and expand to texts of any length.
void on_entity(void* data, const XML_Char*, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
               const XML_Char*, const XML_Char*) {
  static_cast<VocFile*>(data)->stop("it declares entities, which are not supported");
}

/// Refuses declared attributes: a DTD would add them to every element.
void on_declared_attribute(void* data, const XML_Char*, const XML_Char*, const XML_Char*, const XML_Char*, int) {
  static_cast<VocFile*>(data)->stop("it declares attributes, which are not supported");
}

VocFile parse(const std::string& bytes, const fs::path& path) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr), &XML_ParserFree);
  if (!parser) fail("{}: out of memory", path.string());
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) fail("{}: more than 2 GiB", path.string());
  VocFile file;
  file.parser = parser.get();
  XML_SetUserData(parser.get(), &file);
  XML_SetElementHandler(parser.get(), &on_start, &on_end);
  XML_SetCharacterDataHandler(parser.get(), &on_text);
  XML_SetEntityDeclHandler(parser.get(), &on_entity);
  XML_SetAttlistDeclHandler(parser.get(), &on_declared_attribute);
  if (XML_Parse(parser.get(), bytes.data(), static_cast<int>(bytes.size()), 1) != XML_STATUS_OK)
    fail("{}:{}: {}", path.string(), XML_GetCurrentLineNumber(parser.get()),
         file.wrong.empty() ? XML_ErrorString(XML_GetErrorCode(parser.get())) : file.wrong);
  return file;
}

}  // namespace

void take_voc(const fs::path& path, Boxes& boxes) {
  VocFile file = parse(read_file(path), path);
  if (file.image.empty()) file.image = path.stem().string();
  for (size_t i = 0; i < file.objects.size(); ++i) {
    VocObject& object = file.objects[i];
    const auto& corners = object.corners;
    const ImageBox box{corners[0], corners[1], corners[2] - corners[0], corners[3] - corners[1]};
    const std::string where = fmt::format("{}: object {}", path.string(), i + 1);
    const std::string wrong = outside(box, file.width, file.height);
    if (!wrong.empty())
      boxes.refuse(where, wrong);
    else
      boxes.take({file.image, box, std::move(object.name), object.score}, where);
  }
}

}  // namespace protocom::box_reader
