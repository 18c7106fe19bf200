#include "base/error.h"

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace protocom {
namespace {

constexpr size_t kLongestMessage = 1000;
constexpr size_t kEndOfMessage = 200;
constexpr std::string_view kLeftOut = "…";

bool continues_letter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Returns at most `longest` bytes from the front, without a partial letter at the end.
std::string_view take_front(std::string_view text, size_t longest) {
  if (text.size() <= longest) return text;
  size_t end = longest;
  for (int i = 0; i < 3 && end > 0 && continues_letter(text[end]); ++i) --end;
  return text.substr(0, end);
}

std::string_view take_back(std::string_view text, size_t longest) {
  if (text.size() <= longest) return text;
  size_t begin = text.size() - longest;
  for (int i = 0; i < 3 && begin < text.size() && continues_letter(text[begin]); ++i) ++begin;
  return text.substr(begin);
}

std::string message_of(std::string_view text) {
  std::string line = one_line(text);
  if (line.size() <= kLongestMessage) return line;
  const size_t front = kLongestMessage - kEndOfMessage - kLeftOut.size();
  return fmt::format("{}{}{}", take_front(line, front), kLeftOut, take_back(line, kEndOfMessage));
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

/// Removes the prefix of "[json.exception.type_error.302] type must be ...".
std::string reason_of_json(std::string_view text) {
  const size_t mark = text.find("] ");
  return first_line(text.front() == '[' && mark != std::string_view::npos ? text.substr(mark + 2) : text);
}

/// Removes LibTorch's internal assertion prefixes ("... INTERNAL ASSERT FAILED at "x.cpp":82, please report a bug to
/// PyTorch. expected ...", "[enforce fail at x.cc:82] . expected ..."), which are meaningful only to its authors.
std::string reason_in(const std::string& line) {
  const size_t mark = line.find("] . ");
  if (line.rfind("[enforce fail at ", 0) == 0 && mark != std::string::npos) return line.substr(mark + 4);
  constexpr std::string_view kMark = "INTERNAL ASSERT FAILED";
  constexpr std::string_view kEnd = "please report a bug to PyTorch.";
  if (line.find(kMark) == std::string::npos) return line;
  const size_t end = line.find(kEnd);
  const std::string_view rest =
      end == std::string::npos ? std::string_view() : std::string_view(line).substr(end + kEnd.size());
  const size_t begin = rest.find_first_not_of(' ');
  return begin == std::string_view::npos ? "it is damaged, or not a file of LibTorch" : std::string(rest.substr(begin));
}

/// Returns the reason in a message, also of LibTorch's exceptions, whose type is known only to modules that link it.
std::string reason_of_text(std::string_view text) {
  if (text.find("can't allocate memory") != std::string::npos) return reason_of(std::bad_alloc());
  return reason_in(first_line(text));
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (size_t i = 0; i < text.size();) {
    const Letter letter = letter_at(text, i);
    const bool white = text[i] >= '\t' && text[i] <= '\r';
    if (!white || line.empty() || line.back() != ' ') {
      if (letter.size == 1 && letter.code >= 0x80)
        line += fmt::format("\\x{:02x}", static_cast<unsigned>(letter.code));
      else if (letter.steers)
        line += white ? ' ' : '?';
      else
        line += text.substr(i, letter.size);
    }
    i += letter.size;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

Error::Error(std::string_view message) : std::runtime_error(message_of(message)) {}
Error::Error(const Error& other) = default;
Error& Error::operator=(const Error& other) = default;
Error::~Error() = default;

UsageError::UsageError(std::string_view message) : Error(message) {}
UsageError::UsageError(const UsageError& other) = default;
UsageError& UsageError::operator=(const UsageError& other) = default;
UsageError::~UsageError() = default;

std::string excerpt(std::string_view text, size_t longest) {
  if (text.size() <= longest) return std::string(text);
  return fmt::format("{}{}", take_front(text, longest > 1 ? longest - 1 : 0), kLeftOut);
}

std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  if (dynamic_cast<const std::length_error*>(&error) != nullptr) return "a size in it exceeds any memory";
  if (const auto* json = dynamic_cast<const nlohmann::json::exception*>(&error)) return reason_of_json(json->what());
  if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return fmt::format("{}: {}", files->path1().string(), files->code().message());
  return reason_of_text(error.what());
}

void throw_error(fmt::string_view format, fmt::format_args args) { throw Error(fmt::vformat(format, args)); }

void throw_usage_error(fmt::string_view format, fmt::format_args args) { throw UsageError(fmt::vformat(format, args)); }

}  // namespace protocom
