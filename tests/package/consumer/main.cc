// A stranger's program, through the installed headers and libraries only: own features in, classified queries out.
#include <ATen/ATen.h>
#include <protocom/core/artefact.h>
#include <protocom/core/error.h>
#include <protocom/data/image.h>
#include <protocom/fewshot/methods.h>
#include <protocom/serve/recognizer.h>

#include <cstdio>
#include <string>

/// The README shows these lines.
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
  std::printf("protocom %s works in another project\n", protocom::program_version());
  return 0;
}
