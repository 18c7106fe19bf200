#include "recognizer/class_words.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/log.h"

namespace protocom {
namespace {

void check_vectors_of_texts(const Knowledge& knowledge, const std::string& name, int64_t numbers) {
  const auto embedding = knowledge.details.find("embedding");
  if (embedding != knowledge.details.end() && embedding->value("kind", "") != "class-vectors")
    fail(
        "class '{}' cannot be described in words: the recognizer's knowledge has no vectors of texts (protocom "
        "knowledge text)",
        name);
  if (begin_of_words(knowledge, numbers) < 0)
    fail(
        "class '{}': the text encoder's vectors have {} dimensions, those of the recognizer's knowledge {}: give the "
        "encoder that made them",
        name, numbers,
        knowledge.embedding_sources.empty() ? std::to_string(knowledge.embedding_dim())
                                            : fmt::format("{}", fmt::join(knowledge.embedding_sources, ", ")));
}

}  // namespace

int64_t begin_of_words(const Knowledge& knowledge, int64_t numbers) {
  if (knowledge.embedding_sources.empty()) return numbers == knowledge.embedding_dim() ? 0 : -1;
  int64_t begin = 0, found = -1;
  for (const int64_t size : knowledge.embedding_sources) {
    if (size == numbers && found >= 0) return -1;
    if (size == numbers) found = begin;
    begin += size;
  }
  return found;
}

namespace {

std::string sentence_of_cut(const TextEncoder& encoder, const TextVectors& made, size_t texts) {
  if (made.cut == 0) return "";
  return fmt::format("{} of {} texts are longer than the encoder's {} tokens and were cut", made.cut, texts,
                     encoder.longest());
}

}  // namespace

Array encode_texts(const TextEncoder& encoder, const std::vector<std::string>& texts) {
  const TextVectors made = encoder.encode(texts);
  if (made.cut > 0) logger().warn("{}", sentence_of_cut(encoder, made, texts.size()));
  return made.vectors;
}

Array encode_classes(const TextEncoder& encoder, const ClassTexts& texts) {
  return class_directions(texts, encode_texts(encoder, texts.texts));
}

std::string set_text_vector(const TextEncoder& encoder, ClassToDescribe& request) {
  if (request.descriptions.empty())
    fail_usage("class '{}': expected at least one description, found none", request.name);
  const ClassTexts texts = texts_of_class(request.name, request.descriptions);
  const TextVectors made = encoder.encode(texts.texts);
  request.text_vector = class_directions(texts, made.vectors).row(0);
  return sentence_of_cut(encoder, made, texts.texts.size());
}

void describe_in_words(const TextEncoder& encoder, ClassToDescribe& request) {
  if (const std::string warning = set_text_vector(encoder, request); !warning.empty()) logger().warn("{}", warning);
}

void check_takes_words(const Knowledge* knowledge, const std::string& name, int64_t numbers) {
  if (knowledge == nullptr)
    fail_usage(
        "the recognizer has no knowledge to compare words with: make it with its text encoder (recognizer create "
        "--text-encoder)");
  check_vectors_of_texts(*knowledge, name, numbers);
}

Knowledge knowledge_of_names(const TextEncoder& encoder, const std::vector<std::string>& names) {
  if (!encoder.compares_with_images())
    fail_usage(
        "the text encoder's vectors cannot be compared with images, unlike CLIP's and SigLIP's: use them as knowledge "
        "(protocom knowledge text, then protocom fit)");
  const auto classes = static_cast<int64_t>(names.size());
  Knowledge made;
  made.classes = names;
  made.association = Array::zeros({classes, 0});
  made.attribute_embedding = Array::zeros({0, encoder.dim()});
  made.class_embedding = names.empty() ? Array::zeros({0, encoder.dim()})
                                       : encode_classes(encoder, texts_of_names(names, {kTextTemplate}));
  made.details = {{"source", {{"kind", "names"}, {"templates", {kTextTemplate}}}},
                  {"embedding", {{"kind", "class-vectors"}, {"dim", encoder.dim()}}}};
  return made;
}

}  // namespace protocom
