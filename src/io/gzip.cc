#include "io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace protocom {

std::string gzipped(std::string_view bytes) {
  constexpr int kAsGzip = 16, kUsualMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kAsGzip, kUsualMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    fail("{} bytes cannot be compressed", bytes.size());
  std::string out;
  std::string block(size_t{1} << 20, '\0');
  int done = Z_OK;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
  while (done == Z_OK) {
    const size_t left =
        bytes.size() - static_cast<size_t>(reinterpret_cast<const char*>(stream.next_in) - bytes.data());
    stream.avail_in = static_cast<uInt>(std::min<size_t>(left, std::numeric_limits<uInt>::max()));
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    done = deflate(&stream, stream.avail_in == left ? Z_FINISH : Z_NO_FLUSH);
    out.append(block, 0, block.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (done != Z_STREAM_END) fail("{} bytes cannot be compressed", bytes.size());
  return out;
}

}  // namespace protocom
