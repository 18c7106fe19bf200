// A stranger's program: class means of four features, through the installed headers and libraries only.
#include <ATen/ATen.h>
#include <protocom/core/artefact.h>
#include <protocom/core/files.h>
#include <protocom/data/image.h>
#include <protocom/fewshot/moments.h>

#include <cstdio>

int main() {
  const at::Tensor features = at::tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}).view({4, 2});
  const at::Tensor labels = at::tensor({0, 0, 1, 1}, at::kLong);
  const at::Tensor mean = protocom::class_moments(features, labels, 2).mean();
  if (!mean.allclose(at::tensor({2.0, 3.0, 6.0, 7.0}, at::kDouble).view({2, 2}))) return 1;

  // Pulls in the private dependencies: the codecs and the hash.
  protocom::Image image{1, 1, {255, 0, 0}};
  if (protocom::decode_image(protocom::encode_png(image)).rgb != image.rgb) return 2;
  if (protocom::hash_bytes("protocom").size() != 32) return 3;
  std::printf("protocom %s works in another project\n", protocom::program_version());
  return 0;
}
