// From your own features to answers: two classes, two labelled images of each, three queries.
#include <protocom/method.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  constexpr int kDim = 3;
  const std::vector<float> support = {5, 1, 0, 4, 0, 1, 0, 5, 1, 1, 4, 0};  // [4, 3], row after row
  const std::vector<std::string> labels = {"wren", "wren", "owl", "owl"};
  const std::vector<float> queries = {4, 1, 1, 0, 6, 0, 5, 0, 0};  // [3, 3]

  const protocom::Classifier classifier("plda", {support, kDim}, labels);
  const std::vector<int64_t> winners = classifier.predict({queries, kDim});
  const protocom::Matrix probabilities = classifier.probabilities({queries, kDim});
  for (size_t i = 0; i < winners.size(); ++i) {
    const std::string& name = classifier.class_names()[static_cast<size_t>(winners[i])];
    std::printf("query %zu: %s (%.2f)\n", i, name.c_str(), probabilities(static_cast<int64_t>(i), winners[i]));
  }
}
