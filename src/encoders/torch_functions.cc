#include "encoders/torch_functions.h"

namespace protocom {

PluginFunction<std::unique_ptr<Encoder>(const std::filesystem::path&, const EncoderFileOptions&)> torch_open_encoder(
    "an encoder");

PluginFunction<std::filesystem::path(const std::filesystem::path&, const EncoderFileOptions&,
                                     const std::filesystem::path&)>
    torch_as_one_file("an encoder");

PluginFunction<std::filesystem::path(const std::filesystem::path&, const EncoderFileOptions&,
                                     const std::filesystem::path&)>
    torch_as_onnx("writing an encoder as ONNX");

PluginFunction<std::unique_ptr<text::Tower>(const std::string&, const nlohmann::json&,
                                            const std::map<std::string, Array>&, const text::SentenceModules&)>
    torch_open_text_tower("a text encoder");

PluginFunction<bool(const std::string&)> torch_on_processor("the choice of a device");

}  // namespace protocom
