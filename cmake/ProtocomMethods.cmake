# protocom_add_methods(TARGET FOLDER): every FOLDER/NAME.cc defines `MethodDefinition protocom::methods::NAME()`. Compiles them into
# TARGET with a list of them, written out: objects that register themselves would be dropped from a static library.
function(protocom_add_methods target folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(declarations "")
  set(calls "")
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    string(APPEND declarations "MethodDefinition ${name}();\n")
    string(APPEND calls "${name}(), ")
  endforeach()
  set(list ${PROJECT_BINARY_DIR}/generated/method_list.cc)
  file(GENERATE OUTPUT ${list} CONTENT
"// Written by cmake/ProtocomMethods.cmake.
#include \"fewshot/method_list.h\"

namespace protocom::methods {

${declarations}
std::vector<MethodDefinition> list() { return {${calls}}; }

}  // namespace protocom::methods
")
  target_sources(${target} PRIVATE ${sources} ${list})
  # Whoever adds a method chooses its names without knowing those of the others.
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
