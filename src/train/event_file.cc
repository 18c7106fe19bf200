#include "train/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>

#include "protocom/core/error.h"
#include "protocom/core/files.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

// Field numbers of TensorFlow's event.proto and summary.proto.
enum class EventField : protozero::pbf_tag_type {
  kWallTime = 1,
  kStep = 2,
  kFileVersion = 3,
  kSummary = 5,
  kSession = 7
};
enum class SummaryField : protozero::pbf_tag_type { kValue = 1 };
enum class ValueField : protozero::pbf_tag_type { kTag = 1, kSimpleValue = 2 };
enum class SessionField : protozero::pbf_tag_type { kStatus = 1 };
constexpr int32_t kSessionStart = 1;
constexpr const char* kFileVersion = "brain.Event:2";

constexpr size_t kLengthBytes = 8, kCrcBytes = 4;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78U : 0U);
    table[i] = value;
  }
  return table;
}

/// A file that holds checksums of data with checksums in it would have weak ones; hence the mask.
uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

template <typename Integer>
std::string little_endian(Integer value) {
  std::string bytes(sizeof(Integer), '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xFF);
    value = static_cast<Integer>(value >> 8);
  }
  return bytes;
}

template <typename Integer>
Integer from_little_endian(std::string_view bytes) {
  Integer value = 0;
  for (size_t i = sizeof(Integer); i-- > 0;)
    value = static_cast<Integer>((value << 8) | static_cast<unsigned char>(bytes[i]));
  return value;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string file_name() {
  const auto microseconds = static_cast<int64_t>(now() * 1e6);
  return fmt::format("events.out.tfevents.{}.{:06}.{}.{}", microseconds / 1000000, microseconds % 1000000, host_name(),
                     ::getpid());
}

std::string version_event() {
  std::string data;
  protozero::pbf_builder<EventField> event(data);
  event.add_double(EventField::kWallTime, now());
  event.add_string(EventField::kFileVersion, kFileVersion);
  return data;
}

std::string session_event(int64_t first_step) {
  std::string data;
  protozero::pbf_builder<EventField> event(data);
  event.add_double(EventField::kWallTime, now());
  event.add_int64(EventField::kStep, first_step);
  protozero::pbf_builder<SessionField> session(event, EventField::kSession);
  session.add_enum(SessionField::kStatus, kSessionStart);
  return data;
}

std::string scalar_event(int64_t step, const std::vector<Scalar>& scalars) {
  std::string data;
  protozero::pbf_builder<EventField> event(data);
  event.add_double(EventField::kWallTime, now());
  event.add_int64(EventField::kStep, step);
  protozero::pbf_builder<SummaryField> summary(event, EventField::kSummary);
  for (const Scalar& scalar : scalars) {
    protozero::pbf_builder<ValueField> value(summary, SummaryField::kValue);
    value.add_string(ValueField::kTag, scalar.tag);
    value.add_float(ValueField::kSimpleValue, static_cast<float>(scalar.value));
  }
  return data;
}

/// One record of an event file.
struct Record {
  size_t end = 0;  ///< where the next one begins
  int64_t step = 0;
  bool holds_values = false;
};

/// The record at `begin`; false when it is cut short or damaged.
bool read_record(std::string_view file, size_t begin, Record& record) {
  const std::string_view rest = file.substr(begin);
  if (rest.size() < kLengthBytes + kCrcBytes) return false;
  const std::string_view length = rest.substr(0, kLengthBytes);
  if (from_little_endian<uint32_t>(rest.substr(kLengthBytes)) != masked_crc(length)) return false;
  const auto size = from_little_endian<uint64_t>(length);
  const size_t head = kLengthBytes + kCrcBytes;
  if (rest.size() - head < kCrcBytes || size > rest.size() - head - kCrcBytes) return false;
  const std::string_view data = rest.substr(head, size);
  if (from_little_endian<uint32_t>(rest.substr(head + size)) != masked_crc(data)) return false;
  record = {begin + head + size + kCrcBytes, 0, false};
  try {
    protozero::pbf_message<EventField> event(data.data(), data.size());
    while (event.next()) {
      if (event.tag() == EventField::kSummary) record.holds_values = true;
      if (event.tag() == EventField::kStep) {
        record.step = event.get_int64();
      } else {
        event.skip();
      }
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

void cut_event_file(const fs::path& path, int64_t last_step) {
  size_t keep = 0;
  bool holds_values = false;
  const std::string file = read_file(path);
  Record record;
  while (read_record(file, keep, record) && record.step <= last_step) {
    keep = record.end;
    holds_values = holds_values || record.holds_values;
  }
  std::error_code error;
  if (!holds_values) {
    fs::remove(path, error);
  } else if (keep < file.size()) {
    fs::resize_file(path, keep, error);
  }
  if (error) fail("cannot change {}: {}", path.string(), error.message());
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

EventFile::EventFile(const fs::path& folder, int64_t first_step) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("cannot make the folder {}: {}", folder.string(), error.message());
  path_ = folder / file_name();
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot create {}: {}", path_.string(), std::strerror(errno));
  write(version_event());
  write(session_event(first_step));
}

EventFile::~EventFile() { ::close(descriptor_); }

void EventFile::add(int64_t step, const std::vector<Scalar>& scalars) {
  if (scalars.empty()) return;
  write(scalar_event(step, scalars));
}

void EventFile::write(std::string_view event) const {
  const std::string length = little_endian<uint64_t>(event.size());
  std::string record = length + little_endian<uint32_t>(masked_crc(length));
  record.append(event).append(little_endian<uint32_t>(masked_crc(event)));
  // In one call: a reader, or the next start after a crash, sees it whole or cut short, never mixed.
  if (::write(descriptor_, record.data(), record.size()) != static_cast<ssize_t>(record.size()))
    fail("cannot write {}: {}", path_.string(), std::strerror(errno));
}

void cut_event_files(const fs::path& folder, int64_t last_step) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().find("tfevents") != std::string::npos) files.push_back(entry.path());
  }
  for (const fs::path& file : files) cut_event_file(file, last_step);
}

}  // namespace protocom
