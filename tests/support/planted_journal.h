#pragma once
#include <cstdint>
#include <string>

namespace protocom::testing {

inline constexpr const char* kJournalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

inline void append_big_endian(std::string& bytes, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
}

/// Returns the first sector of a rollback journal.
inline std::string journal_of(uint32_t records, uint32_t pages, uint32_t sector, uint32_t page_size, uint32_t sum = 1) {
  std::string journal(kJournalMagic, 8);
  for (const uint32_t number : {records, sum, pages, sector, page_size}) append_big_endian(journal, number);
  journal.resize(512);
  return journal;
}

/// Returns a rollback journal of no pages that names another file as its super-journal, according to SQLite's file
/// format.
inline std::string journal_naming(const std::string& victim, uint32_t pages) {
  constexpr uint32_t kPageSize = 4096, kLockByte = 0x40000000;
  std::string journal = journal_of(0, pages, 512, kPageSize);
  append_big_endian(journal, kLockByte / kPageSize + 1);
  uint32_t sum = 0;
  for (const char letter : victim) sum += static_cast<unsigned char>(letter);
  journal += victim;
  append_big_endian(journal, static_cast<uint32_t>(victim.size()));
  append_big_endian(journal, sum);
  return journal.append(kJournalMagic, 8);
}

}  // namespace protocom::testing
