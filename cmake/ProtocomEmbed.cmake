# protocom_embed(TARGET FUNCTION file...): compiles text files into TARGET, so that no installed program has to look for them. The generated
# source defines `std::string_view protocom::FUNCTION(std::string_view stem)`, which is empty for a name that is not there.
function(protocom_embed target function)
  set(entries "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} text)
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
