// Creates a recognizer if there is none and enrols a class: enrol birds.pcm encoder.npz cardinal 1.jpg 2.jpg ...
#include <protocom/process.h>
#include <protocom/recognizer.h>

#include <cstdio>
#include <filesystem>
#include <vector>

int main(int argc, char** argv) {
  protocom::tune_process();
  if (argc < 5) return 2;
  try {
    protocom::RecognizerParts parts;
    parts.backbone = argv[2];
    auto recognizer = std::filesystem::exists(argv[1]) ? protocom::Recognizer::open(argv[1])
                                                       : protocom::Recognizer::create(argv[1], parts);
    const std::vector<protocom::Image> images(argv + 4, argv + argc);
    const protocom::Enrolment done = recognizer.enrol(argv[3], images);
    std::printf("%s: %lld new images\n", argv[3], static_cast<long long>(done.classes.front().added));
    for (const protocom::ClassInfo& one : recognizer.classes())
      std::printf("  %s has %lld\n", one.name.c_str(), static_cast<long long>(one.images));
    std::printf("undo would take back what was enrolled last; see recognizer.undo()\n");
  } catch (const protocom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
