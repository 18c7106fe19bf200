# Compiler settings shared by everything we build; never exported to those who link us.
add_library(protocom_settings INTERFACE)
target_compile_features(protocom_settings INTERFACE cxx_std_17)
target_compile_options(protocom_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic)
if(PROTOCOM_SANITIZE)
  target_compile_options(protocom_settings INTERFACE -fsanitize=${PROTOCOM_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(protocom_settings INTERFACE -fsanitize=${PROTOCOM_SANITIZE})
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# <torch/torch.h> costs over 10 s a file; precompiled once and shared it costs about 3 s.
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/pch.cc CONTENT "")
add_library(protocom_pch OBJECT ${CMAKE_CURRENT_BINARY_DIR}/pch.cc)
target_link_libraries(protocom_pch PRIVATE protocom_settings torch)
target_precompile_headers(protocom_pch PRIVATE <torch/torch.h> <torch/script.h>)

# protocom_add_module(NAME [PUBLIC target...] [PRIVATE target...]): library protocom::NAME from src/NAME and include/protocom/NAME.
function(protocom_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  set(target protocom_${name})
  add_library(${target} STATIC ${sources})
  add_library(protocom::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                       PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_link_libraries(${target} PUBLIC torch Threads::Threads ${arg_PUBLIC}
                                  PRIVATE $<BUILD_INTERFACE:protocom_settings> ${arg_PRIVATE})
  target_precompile_headers(${target} REUSE_FROM protocom_pch)
  set_property(GLOBAL APPEND PROPERTY protocom_modules ${target})
endfunction()
