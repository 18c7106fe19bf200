#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// A value of a curve: "loss/train", "accuracy/validation", "learning_rate".
struct Scalar {
  std::string tag;
  double value = 0;
};

/// Writes a TensorBoard event file: framed records (length, masked CRC-32C, protocol buffer `Event`, masked CRC-32C).
/// TensorBoard shows the folder it lies in as a run.
class EventFile {
 public:
  /// Creates `folder`/events.out.tfevents.<seconds>.<...>. `first_step` is where it begins: TensorBoard then forgets
  /// what it has seen of this step and later ones. Throws Error.
  EventFile(const std::filesystem::path& folder, int64_t first_step);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Adds the values at `step`. Throws Error.
  void add(int64_t step, const std::vector<Scalar>& scalars);

 private:
  void write(std::string_view event) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Cuts all event files of a folder behind `last_step`, or where they are damaged, and removes those that hold nothing
/// then. A folder that is not there is left alone. Throws Error.
void cut_event_files(const std::filesystem::path& folder, int64_t last_step);

/// CRC-32C (Castagnoli) of bytes; of "123456789" it is 0xE3069283.
uint32_t crc32c(std::string_view bytes);

}  // namespace protocom
