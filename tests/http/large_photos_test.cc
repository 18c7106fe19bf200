// Photos of 50 and 200 megapixels, as phones take them. Servers refuse "typical photos from a smartphone" by their
// limits (owncloud/core issue 41192), or take a gigabyte for 64 megapixels (saleor/saleor pull request 19678).
#include "http/server_support.h"
#include "support/grey_jpeg.h"
#include "support/most_memory.h"

namespace protocom::testing {
namespace {

const Headers kPhoto = {{"Content-Type", "image/jpeg"}};

class LargePhotos : public Served {
 protected:
  Reply post(const std::string& target, const std::string& photo) const { return ask("POST", target, photo, kPhoto); }
};

TEST_F(LargePhotos, Of50And200MegapixelsAreEnrolledAndClassifiedWithTheDefaultLimits) {
  serve();
  enrol("dark", 10);
  enrol("light", 240);
  for (const auto& [width, height] : {std::pair{8160, 6144}, {16320, 12240}}) {
    SCOPED_TRACE(width);
    const std::string dark = grey_jpeg(width, height, 12), light = grey_jpeg(width, height, 238);
    const int64_t memory = most_memory_of([&] {
      EXPECT_EQ(post("/v1/classes/dark/examples", dark).status, 200);
      EXPECT_EQ(post("/v1/classes/light/examples", light).status, 200);
      for (const auto& [name, photo] : {std::pair{"dark", &dark}, {"light", &light}}) {
        const Reply reply = post("/v1/classify", *photo);
        ASSERT_EQ(reply.status, 200) << reply.body;
        EXPECT_EQ(reply.json().at("answers").at(0).at("ranking").at(0).at("class"), name);
      }
    });
    // A 64th of the pixels, three bytes each, for each decoding thread: 200 megapixels would be 600 MB.
    EXPECT_LT(memory, int64_t{64} << 20);
  }
  EXPECT_EQ(ask("GET", "/v1/classes/light").json().at("examples").size(), 3);
}

}  // namespace
}  // namespace protocom::testing
