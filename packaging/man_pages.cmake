# Manual pages from what the program says of itself: NAME.1 with all commands, and NAME-COMMAND.1 of each, but for serve: that is in
# protocom-serve.1, which is the only page of that program.
#   cmake -D PROGRAM=<file> -D NAME=protocom -D VERSION=0.1.0 -D OUT=<folder> -P man_pages.cmake
cmake_minimum_required(VERSION 3.25)

# help_of(RESULT WORD...): what `PROGRAM WORD... --help` prints.
function(help_of result)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# write_page(TITLE TEXT SEE...): the first line is what it does; the others stand as they are.
function(write_page title text)
  string(REGEX MATCH "^[^\n]*" about "${text}")
  string(LENGTH "${about}" length)
  string(SUBSTRING "${text}" ${length} -1 text)
  foreach(variable about text)
    string(REPLACE "\\" "\\e" ${variable} "${${variable}}")
    string(REPLACE "-" "\\-" ${variable} "${${variable}}")
    string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" ${variable} "${${variable}}")
  endforeach()
  string(REPLACE "-" "\\-" dashed ${title})
  string(TOUPPER ${title} upper)
  set(see "")
  if(ARGN)
    list(TRANSFORM ARGN REPLACE "(.+)" ".BR \\1 (1)" OUTPUT_VARIABLE see)
    list(JOIN see ",\n" see)
    string(REPLACE "-" "\\-" see ".SH SEE ALSO\n${see}\n")
  endif()
  file(WRITE ${OUT}/${title}.1 ".TH ${upper} 1 \"\" \"protocom ${VERSION}\" \"User Commands\"
.SH NAME
${dashed} \\- ${about}
.SH DESCRIPTION
.nf
${text}.fi
${see}")
endfunction()

file(REMOVE_RECURSE ${OUT})
help_of(text)
string(REGEX MATCHALL "\n  [a-z][a-z-]*  " commands "${text}")
string(REGEX REPLACE "[ \n]+" "" commands "${commands}")
set(pages "")
if(NAME STREQUAL protocom-serve)
  help_of(page serve)
  write_page(${NAME} "${text}\nprotocom-serve RECOGNIZER, as protocom-serve serve RECOGNIZER:\n\n${page}" protocom)
  return()
endif()
list(REMOVE_ITEM commands serve)
foreach(command IN LISTS commands)
  help_of(page ${command})
  write_page(${NAME}-${command} "${page}" ${NAME})
  list(APPEND pages ${NAME}-${command})
endforeach()
write_page(${NAME} "${text}" ${pages} protocom-serve)
