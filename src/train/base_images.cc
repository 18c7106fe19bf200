#include "train/base_images.h"

#include "protocom/core/error.h"

namespace protocom {

BaseImages base_images(const PackedImages& images) {
  BaseImages base;
  std::vector<int64_t> label_of(images.class_names.size(), -1);
  for (size_t c = 0; c < label_of.size(); ++c) {
    if (images.class_split[c] == Split::kBase) label_of[c] = base.classes++;
  }
  std::vector<int64_t> count(static_cast<size_t>(base.classes), 0);
  const at::Tensor labels = images.labels.contiguous();
  for (int64_t row = 0; row < images.size(); ++row) {
    const int64_t label = label_of[static_cast<size_t>(labels.data_ptr<int64_t>()[row])];
    if (label < 0) continue;
    base.rows.push_back(row);
    base.labels.push_back(label);
    ++count[static_cast<size_t>(label)];
  }
  if (base.classes < 2)
    fail("pre-training needs at least 2 base classes, found {}: does the split name them?", base.classes);
  for (size_t c = 0; c < label_of.size(); ++c) {
    if (label_of[c] >= 0 && count[static_cast<size_t>(label_of[c])] == 0)
      fail("base class '{}' has no images", images.class_names[c]);
  }
  return base;
}

}  // namespace protocom
