// The ranking of each photo as JSON, by the C++ interface: answers birds.pcm holiday/1.jpg ...
#include <protocom/recognizer.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    auto recognizer = protocom::Recognizer::open(argv[1]);
    const protocom::Answers answers = recognizer.classify(std::vector<protocom::Image>(argv + 2, argv + argc));
    const char* before = "[[";
    for (const protocom::Answer& answer : answers) {
      for (const protocom::RankedClass& one : answer.ranking) {
        std::printf("%s[\"%s\", %.17g]", before, one.name.c_str(), one.probability);
        before = ", ";
      }
      before = "], [";
    }
    std::puts("]]");
  } catch (const protocom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
