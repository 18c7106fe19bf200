#include "protocom/backbone.h"

#include <mutex>

#include "api/detail/boundary.h"
#include "api/detail/images.h"
#include "base/error.h"
#include "encoders/extract.h"

namespace protocom::v0 {

struct Backbone::Impl {
  std::mutex mutex;  // for forward passes
  ExtractOptions options;
  std::unique_ptr<Encoder> backbone;
};

Backbone::Backbone(const std::string& path, const BackboneOptions& options)
    : impl_(guarded([&] {
        if (options.batch < 1) fail_usage("a batch has at least one image, found {}", options.batch);
        auto impl = std::make_unique<Impl>();
        EncoderFileOptions asked;
        if (!options.preprocessing.empty()) asked.preprocessing = parse_preprocessing(options.preprocessing);
        impl->options.device = options.device;
        impl->options.batch = options.batch;
        impl->backbone = open_encoder(path, asked);
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
    return matrix_of(extract_given_images(*impl_->backbone, given(images), impl_->options, impl_->mutex, reported));
  });
}

}  // namespace protocom::v0
