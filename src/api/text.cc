#include "protocom/text.h"

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "recognizer/class_words.h"

namespace protocom::v0 {

TextEncoder::TextEncoder(const std::string& folder)
    : impl_(guarded([&] { return std::make_shared<const Impl>(Impl{open_text_encoder(folder)}); })) {}

EncodedTexts TextEncoder::encode(const std::vector<std::string>& texts) const {
  return with_warnings([&] { return EncodedTexts{matrix_of(encode_texts(impl_->encoder, texts)), {}}; });
}

int64_t TextEncoder::dim() const { return impl_->encoder.dim(); }
int64_t TextEncoder::longest() const { return impl_->encoder.longest(); }
bool TextEncoder::compares_with_images() const { return impl_->encoder.compares_with_images(); }

}  // namespace protocom::v0
