// A stranger's program, through the installed headers and libraries only: own features in, classified queries out.
#include <ATen/ATen.h>
#include <protocom/core/artefact.h>
#include <protocom/core/error.h>
#include <protocom/core/files.h>
#include <protocom/data/image.h>
#include <protocom/fewshot/fitted_method.h>
#include <protocom/fewshot/methods.h>
#include <protocom/nn/backbone.h>
#include <protocom/serve/create_recognizer.h>
#include <protocom/serve/recognizer.h>

#include <cstdio>
#include <string>

/// README.md and docs/library.md show these lines.
std::string name_of(const char* photo) {
  protocom::Recognizer animals = protocom::Recognizer::open("animals.pcm");
  protocom::Answer answer = animals.classify(photo);
  return answer.none_of_these.value_or(false) ? "none of these" : answer.ranking.front().name;
}

/// docs/methods.md shows this function.
at::Tensor classify(const at::Tensor& support, const at::Tensor& query) {
  protocom::EpisodeBatch episode;
  episode.support = support.unsqueeze(0);  // [1, n, k, d]: one episode of n classes, k images each
  episode.query = query.unsqueeze(0);      // [1, q, d]
  const auto method = protocom::make_method("mean:gamma=20");
  const auto scorer = method->prepare({});
  const at::Tensor probability = scorer->score(episode).logits.softmax(-1).squeeze(0);  // [q, n]
  return probability.argmax(1);
}

/// A photo of one colour.
std::string photo(const std::string& path, uint8_t red, uint8_t blue) {
  protocom::Image image{16, 16, std::vector<uint8_t>(16 * 16 * 3)};
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    image.rgb[i] = red;
    image.rgb[i + 2] = blue;
  }
  protocom::write_file(path, protocom::encode_jpeg(image, 95));
  return path;
}

/// The recognizer that name_of() opens, of an encoder that has learned nothing: colours are enough.
void make_recognizer() {
  at::manual_seed(1);
  protocom::BackboneOptions encoder;
  encoder.architecture = "conv4";
  encoder.image_size = 16;
  const auto backbone = protocom::make_backbone(encoder);
  protocom::write_backbone("backbone.npz", *backbone, encoder, {});
  const std::shared_ptr<protocom::Method> head = protocom::make_method("meta-baseline");
  head->load({{{"log_scale", at::ones({})}}});
  protocom::write_fitted_method("head.npz", {head, backbone->dim(), {}}, {}, {});
  protocom::NewRecognizer parts;
  parts.backbone = "backbone.npz";
  parts.fitted = "head.npz";
  protocom::create_recognizer("animals.pcm", parts, {});
  protocom::Recognizer animals = protocom::Recognizer::open("animals.pcm");
  protocom::EnrolRequest cardinal, bluebird;
  cardinal.description.name = "cardinal";
  cardinal.images = {photo("enrolled/red.jpg", 220, 10)};
  bluebird.description.name = "bluebird";
  bluebird.images = {photo("enrolled/blue.jpg", 10, 220)};
  animals.enrol({cardinal, bluebird});
}

int main() {
  const at::Tensor support = at::tensor({1.0F, 0.0F, 3.0F, 1.0F, 0.0F, 2.0F, 1.0F, 3.0F}).view({2, 2, 2});
  const at::Tensor query = at::tensor({2.0F, 1.0F, 0.5F, 2.0F, 4.0F, 0.0F}).view({3, 2});
  if (!classify(support, query).equal(at::tensor({0, 1, 0}, at::kLong))) return 1;

  // Pulls in the private dependencies of another module: the codecs.
  protocom::Image image{1, 1, {255, 0, 0}};
  if (protocom::decode_image(protocom::encode_png(image)).rgb != image.rgb) return 2;

  try {
    name_of("holiday/1.jpg");
    return 3;
  } catch (const protocom::Error& error) {
    if (std::string(error.what()) != "animals.pcm: no such file") return 4;
  }
  make_recognizer();
  if (name_of(photo("holiday/1.jpg", 200, 30).c_str()) != "cardinal") return 5;
  if (name_of(photo("holiday/2.jpg", 30, 200).c_str()) != "bluebird") return 6;
  std::printf("protocom %s works in another project\n", protocom::program_version());
  return 0;
}
