// Opens a recognizer and names photos: classify birds.pcm holiday/1.jpg ...
#include <protocom/process.h>
#include <protocom/recognizer.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  protocom::tune_process();
  if (argc < 3) return 2;
  try {
    auto recognizer = protocom::Recognizer::open(argv[1]);
    const protocom::Answers answers = recognizer.classify(std::vector<protocom::Image>(argv + 2, argv + argc));
    for (size_t i = 0; i < answers.size(); ++i) {
      const std::string name = answers[i].name();
      std::printf("%s: %s\n", argv[2 + i], name.empty() ? "none of these" : name.c_str());
    }
    for (const std::string& warning : answers.warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  } catch (const protocom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
