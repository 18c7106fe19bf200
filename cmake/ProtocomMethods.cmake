# protocom_add_methods(TARGET FOLDER LIST): every FOLDER/NAME.cc defines `MethodDefinition protocom::methods::NAME()`. Compiles them into
# TARGET with a function LIST of them, written out: objects that register themselves would be dropped from a static library.
function(protocom_add_methods target folder function)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(declarations "")
  set(calls "")
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    string(APPEND declarations "MethodDefinition ${name}();\n")
    string(APPEND calls "${name}(), ")
  endforeach()
  set(list ${PROJECT_BINARY_DIR}/generated/${target}_${function}.cc)
  file(GENERATE OUTPUT ${list} CONTENT
"// Written by cmake/ProtocomMethods.cmake.
#include \"fewshot/method_list.h\"

namespace protocom::methods {

${declarations}
std::vector<MethodDefinition> ${function}() { return {${calls}}; }

}  // namespace protocom::methods
")
  if(CMAKE_UNITY_BUILD)
    protocom_method_groups(sources ${target}_${function} DEFINITIONS ${sources})
  endif()
  target_sources(${target} PRIVATE ${sources} ${list})
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# protocom_method_groups(RESULT PREFIX [DEFINITIONS] source...): writes sources that compile eight methods each as one, and puts them into
# RESULT. Whoever adds a method chooses its names without knowing those of the others: there each has a namespace of its own,
# protocom::NAME_method, in place of protocom::methods. With DEFINITIONS each source has a definition (protocom_add_methods), which stays
# where it is called.
function(protocom_method_groups result prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "DEFINITIONS" "" "")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  set(groups "")
  list(LENGTH sources count)
  math(EXPR last "${count} - 1")
  foreach(first RANGE 0 ${last} 8)
    list(SUBLIST sources ${first} 8 own)
    # Headers come first, with their own names.
    set(headers "")
    set(parts "")
    set(calls "")
    foreach(source IN LISTS own)
      get_filename_component(name ${source} NAME_WE)
      file(STRINGS ${source} includes REGEX "^#include")
      list(APPEND headers ${includes})
      string(APPEND parts "#define methods ${name}_method\n#include \"${source}\"\n#undef methods\n")
      if(arg_DEFINITIONS)
        string(APPEND calls "MethodDefinition ${name}() { return ${name}_method::${name}(); }\n")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES headers)
    list(JOIN headers "\n" headers)
    set(group ${PROJECT_BINARY_DIR}/generated/${prefix}_from_${first}.cc)
    file(GENERATE OUTPUT ${group} CONTENT
"// Written by cmake/ProtocomMethods.cmake.
${headers}

${parts}
namespace protocom::methods {

${calls}
}  // namespace protocom::methods
")
    list(APPEND groups ${group})
  endforeach()
  set(${result} ${groups} PARENT_SCOPE)
endfunction()
