# Fails when the plug-in defines a function or an object of the core again: it takes them from libprotocom.so, so that each stands once in a
# process.
#   cmake -D NM=<nm> -D LIBRARY=<libprotocom.so> -D PLUGIN=<libprotocom-torch.so> -P check_twice.cmake
cmake_minimum_required(VERSION 3.25)

# defined_in(RESULT FILE): the file's own symbols but weak ones, which templates and inline functions leave in every file.
function(defined_in result file)
  execute_process(COMMAND ${NM} --defined-only ${file} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " [TDBR] _Z[^\n]*protocom[^\n]*" symbols "${symbols}")
  list(TRANSFORM symbols REPLACE "^ [TDBR] ([^@]*).*$" "\\1")
  list(LENGTH symbols count)
  if(count LESS 100)
    message(FATAL_ERROR "${file} has ${count} symbols of protocom: is it stripped?")
  endif()
  set(${result} "${symbols}" PARENT_SCOPE)
endfunction()

defined_in(core ${LIBRARY})
defined_in(plugin ${PLUGIN})
list(LENGTH plugin before)
list(REMOVE_ITEM plugin ${core})
list(LENGTH plugin after)
math(EXPR twice "${before} - ${after}")
if(twice GREATER 0)
  defined_in(own ${PLUGIN})
  list(REMOVE_ITEM own ${plugin})
  list(SUBLIST own 0 10 some)
  message(FATAL_ERROR "${PLUGIN} defines ${twice} symbols of ${LIBRARY} again: ${some}")
endif()
message(STATUS "${before} symbols of ${PLUGIN}, none of them the core's")
