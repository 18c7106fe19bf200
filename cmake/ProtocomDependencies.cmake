# Every library protocom builds on, all of them Debian packages (scripts/packages.txt); nothing is downloaded.
# The installed package reads this file too, so it defines nothing but targets and two variables.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Torch REQUIRED)

# Our own level is C++17: clang 14 refuses Debian's Torch headers as C++20. A newer Torch says in an #error line of its
# headers which level it needs, and raises ours.
set(PROTOCOM_CXX_LEVEL 17)
foreach(directory IN LISTS TORCH_INCLUDE_DIRS)
  foreach(header ATen/ATen.h torch/all.h)
    if(EXISTS ${directory}/${header})
      file(STRINGS ${directory}/${header} demand REGEX "^ *#error C\\+\\+[0-9]+ or later")
      if(demand MATCHES "C\\+\\+([0-9]+)" AND CMAKE_MATCH_1 GREATER PROTOCOM_CXX_LEVEL)
        set(PROTOCOM_CXX_LEVEL ${CMAKE_MATCH_1})
      endif()
    endif()
  endforeach()
endforeach()

# The target `torch` hands its ABI flag on to all that link it, but the distribution's C++ libraries have the new ABI only.
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "LibTorch ${Torch_VERSION} in ${TORCH_INSTALL_PREFIX} was built with the old C++ ABI (${TORCH_CXX_FLAGS}); "
    "fmt, spdlog and GoogleTest of this system have the new one and would not link. Take a LibTorch with the new ABI: "
    "PyTorch's wheels have it from 2.6 on, Debian's libtorch-dev always.")
endif()

find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(GIF REQUIRED)
find_package(Boost REQUIRED)
find_package(OpenSSL REQUIRED)
# Debian's CMake files of libzip also ask for its command-line tools, which nobody needs; pkg-config does not.
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET GLOBAL libzip)
pkg_check_modules(matio REQUIRED IMPORTED_TARGET GLOBAL matio)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
# CMake's files of prometheus-cpp also ask for curl, which only pushing metrics needs.
pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET GLOBAL prometheus-cpp-core)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET GLOBAL sqlite3)
pkg_check_modules(jpeg REQUIRED IMPORTED_TARGET GLOBAL libjpeg)
pkg_check_modules(webp REQUIRED IMPORTED_TARGET GLOBAL libwebp libwebpdemux)
pkg_check_modules(heif REQUIRED IMPORTED_TARGET GLOBAL libheif)
pkg_check_modules(dav1d REQUIRED IMPORTED_TARGET GLOBAL dav1d)
pkg_check_modules(de265 REQUIRED IMPORTED_TARGET GLOBAL libde265)
pkg_check_modules(jxl REQUIRED IMPORTED_TARGET GLOBAL libjxl)
pkg_check_modules(openjp2 REQUIRED IMPORTED_TARGET GLOBAL libopenjp2)
pkg_check_modules(tiff REQUIRED IMPORTED_TARGET GLOBAL libtiff-4)
pkg_check_modules(exif REQUIRED IMPORTED_TARGET GLOBAL libexif)
pkg_check_modules(lcms REQUIRED IMPORTED_TARGET GLOBAL lcms2)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET GLOBAL libutf8proc)
pkg_check_modules(stb REQUIRED IMPORTED_TARGET GLOBAL stb)
pkg_check_modules(cairo REQUIRED IMPORTED_TARGET GLOBAL cairo)
