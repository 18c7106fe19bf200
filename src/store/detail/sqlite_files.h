#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace protocom {

/// Returns the name of SQLite's file layer as used for recognizers. SQLite trusts files beside a database under derived
/// names (sqlite.org/fileformat.html, "The Rollback Journal"): it plays a journal back into the database, then deletes
/// the file that the journal names as its super-journal, whichever file that is. Only databases attached to one another
/// have super-journals; protocom attaches none. So this layer opens no super-journal, no journal that names one or that
/// states another size than the database had, and no write-ahead log of a database whose header states that it has
/// none. It logs a warning if an interrupted change is rolled back.
const char* guarded_file_layer();

/// Whether the header of a database has the flag of a write-ahead log.
bool uses_write_ahead_log(const std::filesystem::path& database);

/// Describes in one sentence a file beside a database that this layer would refuse, and what to do; nothing if there is
/// none.
std::optional<std::string> planted_companion(const std::filesystem::path& database);

}  // namespace protocom
