// A user's program, built with only the installed headers and library: consumer FOLDER, with encoder.npz and photos.
#include <protocom/error.h>
#include <protocom/method.h>
#include <protocom/recognizer.h>
#include <protocom/version.h>

#include <cstdio>
#include <string>
#include <vector>

/// README.md and docs/library.md show these lines.
std::string name_of(const char* photo) {
  protocom::Recognizer animals = protocom::Recognizer::open("animals.pcm");
  protocom::Answer answer = animals.classify(photo);
  return answer.none_of_these.value_or(false) ? "none of these" : answer.ranking.front().name;
}

/// docs/methods.md shows this function.
std::vector<int64_t> classify(const std::vector<float>& support, const std::vector<int>& labels,
                              const std::vector<float>& queries, int64_t dim) {
  const protocom::Classifier classifier("mean:gamma=20", {support, dim}, labels);
  const protocom::Matrix probability = classifier.probabilities({queries, dim});  // [q, n], rows sum to 1
  return classifier.predict({queries, dim});                                      // the largest of each row
}

/// Makes the recognizer that name_of() opens, with an untrained encoder, which is enough to tell colours apart.
void make_recognizer(const std::string& folder) {
  protocom::RecognizerParts parts;
  parts.backbone = folder + "/encoder.npz";
  protocom::Recognizer animals = protocom::Recognizer::create("animals.pcm", parts);
  animals.enrol("cardinal", {folder + "/red.png"});
  animals.enrol("bluebird", {folder + "/blue.png"});
}

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const std::string folder = argv[1];
  if (classify({1, 0, 3, 1, 0, 2, 1, 3}, {0, 0, 1, 1}, {2, 1, 0.5F, 2, 4, 0}, 2) != std::vector<int64_t>{0, 1, 0})
    return 2;
  try {
    name_of("holiday.jpg");
    return 3;
  } catch (const protocom::Error& error) {
    if (std::string(error.what()) != "animals.pcm: no such file") return 4;
  }
  make_recognizer(folder);
  if (name_of((folder + "/asked.png").c_str()) != "cardinal") return 5;
  std::printf("protocom %s works in another project\n", protocom::version());
  return 0;
}
