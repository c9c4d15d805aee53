# Modules of the program: static libraries with an include directory of their own.

set(LB_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Wvla
    -Wimplicit-fallthrough)
# Messages are cut to their buffer on purpose; snprintf is how.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND LB_WARNINGS -Wno-format-truncation)
endif()
if(LB_WERROR)
  list(APPEND LB_WARNINGS -Werror)
endif()

add_library(lb_options INTERFACE)
target_compile_options(lb_options INTERFACE ${LB_WARNINGS})
target_compile_definitions(lb_options INTERFACE _GNU_SOURCE LB_VERSION="${PROJECT_VERSION}")
if(LB_FUZZ)
  # Coverage in the libraries, too: without it the fuzzer sees nothing of what it tests.
  target_compile_options(lb_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(LB_SANITIZE)
  target_compile_options(lb_options INTERFACE -fsanitize=${LB_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(lb_options INTERFACE -fsanitize=${LB_SANITIZE})
endif()

# lb_module(<name> DIR <dir> [ROOMS <folder>...] [USES <module>...] [LIBS <library>...] [SOURCES <extra>...])
# All .c files of DIR, and of its folders in ROOMS, make the library lb_<name>. Whoever uses it sees their
# headers.
function(lb_module name)
  cmake_parse_arguments(ARG "" "DIR" "ROOMS;USES;LIBS;SOURCES" ${ARGN})
  set(folders "${CMAKE_SOURCE_DIR}/${ARG_DIR}")
  foreach(room IN LISTS ARG_ROOMS)
    list(APPEND folders "${CMAKE_SOURCE_DIR}/${ARG_DIR}/${room}")
  endforeach()
  list(TRANSFORM folders APPEND "/*.c" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(APPEND sources ${ARG_SOURCES})
  if(NOT sources)
    add_library(lb_${name} INTERFACE)
    target_include_directories(lb_${name} INTERFACE ${folders})
    set(scope INTERFACE)
  else()
    add_library(lb_${name} STATIC ${sources})
    target_include_directories(lb_${name} PUBLIC ${folders})
    target_link_libraries(lb_${name} PRIVATE lb_options)
    set(scope PUBLIC)
  endif()
  foreach(use IN LISTS ARG_USES)
    target_link_libraries(lb_${name} ${scope} lb_${use})
  endforeach()
  target_link_libraries(lb_${name} ${scope} ${ARG_LIBS})
endfunction()

# lb_embed(<input> <output.c> <symbol>): the file's bytes as a C array, at build time. An array and
# not a string: ISO C limits the length of string literals.
function(lb_embed input output symbol)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -DINPUT=${input} -DOUTPUT=${output} -DSYMBOL=${symbol}
            -P "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS "${input}" "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    VERBATIM)
endfunction()
