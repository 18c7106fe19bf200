# Fails when two headers below src define types of one name in one namespace: they would share their destructor's symbol, and the linker takes
# one of the two for both.
#   cmake -D ROOT=<repository> -P check_types.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/src/*.h)
set(count 0)
foreach(header IN LISTS headers)
  file(READ ${ROOT}/${header} text)
  string(REPLACE ";" "@" text "\n${text}") # CMake's lists end at semicolons
  if(NOT text MATCHES "\nnamespace ([a-z0-9_:]+) {")
    continue()
  endif()
  set(namespace ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "\n(struct|class) [A-Za-z0-9]+[^@{}\n]*{" definitions "${text}")
  foreach(definition IN LISTS definitions)
    string(REGEX REPLACE "^\n(struct|class) ([A-Za-z0-9]+).*$" "${namespace}::\\2" type "${definition}")
    if(DEFINED "first_${type}" AND NOT first_${type} STREQUAL header) # a template and its specialisations share one
      message(FATAL_ERROR "${header}: ${type} is defined in ${first_${type}}, too: rename one of the two")
    endif()
    set("first_${type}" ${header})
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "no type was found below ${ROOT}/src")
endif()
message(STATUS "${count} types, each defined in one header")
