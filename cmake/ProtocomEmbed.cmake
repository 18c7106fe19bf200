# protocom_strip_script(VARIABLE FILE): takes comments, indentation and empty lines out of a script. Lines are joined only behind what cannot end a
# statement without a semicolon. A comment behind code has two spaces before it, which no text of the page may have before two slashes; one within
# code is of types, /** @type ... */. Spaces around operators go too: texts of the page have none of these operators between spaces.
# A template literal over several lines would lose its own spaces: it is refused.
function(protocom_strip_script variable file)
  set(text "\n${${variable}}")
  string(REGEX MATCH "\n[^`\n]*`[^`\n]*(`[^`\n]*`[^`\n]*)*\n" torn "${text}\n")
  if(torn)
    message(FATAL_ERROR "${file}: a template literal over several lines, whose spaces would be lost: join strings in its place:${torn}")
  endif()
  string(REGEX REPLACE "\n *//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "  +//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n */\\*\\*([^*]|\\*+[^*/])*\\*+/" "\n" text "${text}")
  string(REGEX REPLACE "/\\*\\* @([^*]|\\*+[^*/])*\\*+/ ?" "" text "${text}")
  string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  string(REGEX REPLACE " (=>|===|!==|&&|[|][|]|[?][?]|[+]?=) " "\\1" text "${text}")
  string(REGEX REPLACE "([\n;{})])(if|for|while|switch) \\(" "\\1\\2(" text "${text}")
  string(REPLACE ") {" "){" text "${text}")
  string(REGEX REPLACE "([;{,(])\n" "\\1" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# protocom_embed(TARGET FUNCTION [STRIPPED] file...): compiles text files into TARGET, so that no installed program has to look for them. The generated
# source defines `std::string_view protocom::FUNCTION(std::string_view stem)`, which is empty for a name that is not there. STRIPPED: scripts without
# what only their readers need.
function(protocom_embed target function)
  cmake_parse_arguments(PARSE_ARGV 2 embed "STRIPPED" "" "")
  set(entries "")
  foreach(file IN LISTS embed_UNPARSED_ARGUMENTS)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} text)
    if(embed_STRIPPED AND file MATCHES "\\.js$")
      protocom_strip_script(text ${file})
    elseif(file MATCHES "/page/[^/]*\\.(html|css)$")  # no text of the page begins a line with spaces
      string(REGEX REPLACE "\n +" "\n" text "${text}")
    endif()
    string(APPEND entries "  if (stem == \"${stem}\") return R\"embedded(${text})embedded\";\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_${function}.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "#include <string_view>
namespace protocom {
std::string_view @function@(std::string_view stem);
std::string_view @function@(std::string_view stem) {
@entries@  return {};
}
}  // namespace protocom
")
  target_sources(${target} PRIVATE ${source})
endfunction()
