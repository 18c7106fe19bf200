// Makes what the tests of the C header and of the package need: make_world FOLDER.
#include <filesystem>

#include "api/world.h"

int main(int argc, char** argv) {
  using namespace protocom::testing;
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  encoder(folder + "/encoder.npz");
  features(folder + "/features.npz");
  photo(folder + "/red.png", 220, 10, 1);
  photo(folder + "/blue.png", 10, 220, 2);
  photo(folder + "/asked.png", 205, 20, 3);
  return 0;
}
