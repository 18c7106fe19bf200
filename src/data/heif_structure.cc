#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "codec.h"
#include "heif_decoders.h"

namespace protocom::codec {
namespace {

/// The unsigned number of so many bytes at a place, the highest first; 0 beyond the end.
uint64_t number_at(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value = value << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0);
  return value;
}

/// The places of a box's name, wherever it is: what libheif takes for a box of that name is among them.
std::vector<size_t> places_of(std::string_view bytes, std::string_view name) {
  std::vector<size_t> places;
  for (size_t at = bytes.find(name, 4); at != std::string_view::npos; at = bytes.find(name, at + 1))
    places.push_back(at);
  return places;
}

/// Items that are made of others (ISO/IEC 23008-12, 6.6): their kind stands in their `infe` box.
std::set<uint64_t> made_items(std::string_view bytes) {
  std::set<uint64_t> made;
  for (const size_t at : places_of(bytes, "infe")) {
    const size_t id_size = number_at(bytes, at + 4, 1) == 2 ? 2 : 4;
    const std::string_view kind = bytes.substr(std::min(bytes.size(), at + 8 + id_size + 2), 4);
    if (kind == "grid" || kind == "iden" || kind == "iovl") made.insert(number_at(bytes, at + 8, id_size));
  }
  return made;
}

/// For each item those that are decoded for it.
using Needs = std::map<uint64_t, std::set<uint64_t>>;

/// A file may say `iref` at every fourth byte, and what follows each of them is read as that box: all of them together
/// have as many references as the file has bytes, and as many that matter as a picture of 256 x 256 tiles, each with
/// its transparency and its preview, has.
class Budget {
 public:
  explicit Budget(size_t bytes) : read_(bytes) {}
  void read() { take(read_); }
  void keep() { take(kept_); }

 private:
  static void take(size_t& left) {
    if (left-- == 0) fail("damaged HEIC or AVIF (more references than it can have)");
  }
  size_t read_;
  size_t kept_ = size_t{1} << 18;
};

/// Adds what an `iref` box says, whose name is at a place.
void add_references(std::string_view bytes, size_t at, const std::set<uint64_t>& made, Budget& budget, Needs& needs) {
  const uint64_t size = number_at(bytes, at - 4, 4);
  const size_t end = size < 2 ? bytes.size() : static_cast<size_t>(std::min<uint64_t>(bytes.size(), at - 4 + size));
  at += size == 1 ? 12 : 4;
  const size_t id_size = number_at(bytes, at, 1) == 0 ? 2 : 4;
  at += 4;
  while (at + 8 < end) {
    const std::string_view kind = bytes.substr(at + 4, 4);
    at += 8 + (number_at(bytes, at, 4) == 1 ? 8 : 0) + (kind == "uuid" ? 16 : 0);
    const uint64_t from = number_at(bytes, at, id_size);
    const uint64_t count = number_at(bytes, at + id_size, 2);
    at += id_size + 2;
    budget.read();
    for (uint64_t i = 0; i < count && at < end; ++i, at += id_size) {
      budget.read();
      const uint64_t to = number_at(bytes, at, id_size);
      if (kind == "dimg" || kind == "auxl") budget.keep();
      if (kind == "dimg" && made.count(to) > 0) fail("a kind of HEIC or AVIF that is not read (made of made pictures)");
      if (kind == "dimg") needs[from].insert(to);
      if (kind == "auxl") needs[to].insert(from);
    }
  }
}

/// Whether what an item needs leads back to it.
bool has_circle(const Needs& needs) {
  std::map<uint64_t, size_t> needed;  // by how many items
  for (const auto& [item, others] : needs) {
    for (const uint64_t other : others) ++needed[other];
  }
  std::vector<uint64_t> free;
  for (const auto& [item, others] : needs) {
    if (needed.count(item) == 0) free.push_back(item);
  }
  size_t left = needs.size();
  while (!free.empty()) {
    const auto found = needs.find(free.back());
    free.pop_back();
    if (found == needs.end()) continue;
    --left;
    for (const uint64_t other : found->second) {
      if (--needed[other] == 0) free.push_back(other);
    }
  }
  return left > 0;
}

}  // namespace

void check_heif_structure(std::string_view bytes) {
  const std::set<uint64_t> made = made_items(bytes);
  Budget budget(bytes.size());
  Needs needs;
  for (const size_t at : places_of(bytes, "iref")) add_references(bytes, at, made, budget, needs);
  if (has_circle(needs)) fail("damaged HEIC or AVIF (a picture is made of itself)");
}

}  // namespace protocom::codec
