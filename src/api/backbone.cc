#include "protocom/backbone.h"

#include <ATen/ATen.h>

#include <mutex>

#include "api/detail/boundary.h"
#include "api/detail/images.h"
#include "base/error.h"
#include "encoders/extract.h"

namespace protocom::v0 {

struct Backbone::Impl {
  std::mutex mutex;  // of forward passes
  ExtractOptions options;
  std::unique_ptr<protocom::Backbone> backbone;

  /// float32 [n, d]
  at::Tensor extract(const std::vector<Image>& images, protocom::Progress& progress) {
    if (images.empty()) fail("there is no image to extract features of");
    const auto total = static_cast<int64_t>(images.size());
    progress.start("extract", total);
    std::vector<at::Tensor> parts;
    for (int64_t i = 0; i < total; i += options.batch) {
      const int64_t end = std::min(i + options.batch, total);
      std::vector<SquareImage> some =
          square_images({images.begin() + i, images.begin() + end}, backbone->preprocessing());
      const std::lock_guard lock(mutex);
      parts.push_back(extract_square_features(*backbone, take_images(some), options));
      progress.advance(end, "");
    }
    progress.finish();
    return at::cat(parts);
  }
};

Backbone::Backbone(const std::string& path, const BackboneOptions& options)
    : impl_(guarded([&] {
        if (options.batch < 1) fail_usage("a batch has at least one image, found {}", options.batch);
        auto impl = std::make_unique<Impl>();
        BackboneFileOptions asked;
        if (!options.preprocessing.empty()) asked.preprocessing = parse_preprocessing(options.preprocessing);
        impl->options.device = options.device;
        impl->options.batch = options.batch;
        impl->backbone = open_backbone(path, asked);
        freeze_for(*impl->backbone, impl->options);
        return impl;
      })) {}

Backbone::~Backbone() = default;
Backbone::Backbone(Backbone&& other) noexcept = default;
Backbone& Backbone::operator=(Backbone&& other) noexcept = default;

int64_t Backbone::dim() const { return impl_->backbone->dim(); }
int64_t Backbone::image_size() const { return impl_->backbone->image_size(); }
std::string Backbone::preprocessing() const {
  return guarded([&] { return describe(impl_->backbone->preprocessing()); });
}

Matrix Backbone::extract(const std::vector<Image>& images, const Progress& progress) const {
  return guarded([&] {
    CallerProgress reported(progress);
    return matrix_of(impl_->extract(images, reported));
  });
}

}  // namespace protocom::v0
