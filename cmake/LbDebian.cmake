# Files of a Debian package that the build does not make: compressed man pages, and the copyright
# and changelog files that its policy asks for.
set(LB_CONTACT "The lockbench authors <maintainers@lockbench.example>")
set(LB_DESCRIPTION "lockbench runs protocols that coordinate workers through a database
table on a real SQLite, PostgreSQL or MariaDB, with many workers at once.
It records every operation, decides from that record whether the protocol
kept its promises, shows the smallest counterexample if it did not, and
measures what it costs if it did.")

find_program(LB_GZIP gzip REQUIRED)

# lb_compress(RESULT FILE...): FILE.gz of each, in the build's folder; RESULT lists them.
function(lb_compress result)
  set(made)
  foreach(path ${ARGN})
    cmake_path(GET path FILENAME name)
    set(packed "${CMAKE_CURRENT_BINARY_DIR}/packed/${name}.gz")
    add_custom_command(OUTPUT "${packed}"
                       COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/packed"
                       COMMAND sh -c "'${LB_GZIP}' -9nc '${path}' > '${packed}'"
                       DEPENDS "${path}" VERBATIM)
    list(APPEND made "${packed}")
  endforeach()
  add_custom_target(${result} ALL DEPENDS ${made})
  set(${result} ${made} PARENT_SCOPE)
endfunction()

file(READ LICENSE lb_licence)
string(REGEX MATCH "Copyright[^\n]*" lb_copyright "${lb_licence}")
string(REGEX REPLACE "^Copyright \\(c\\) " "" lb_copyright "${lb_copyright}")
string(REGEX REPLACE "^.*(Permission is hereby.*)$" "\\1" lb_licence "${lb_licence}")
string(STRIP "${lb_licence}" lb_licence)
string(REPLACE "\n\n" "\n.\n" lb_licence "${lb_licence}")
string(REPLACE "\n" "\n " lb_licence "${lb_licence}")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lockbench

Files: *
Copyright: ${lb_copyright}
License: Expat

License: Expat
 ${lb_licence}
")
string(TIMESTAMP lb_now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/changelog"
"lockbench (${PROJECT_VERSION}) unstable; urgency=medium

  * What users notice is in CHANGELOG.md.

 -- ${LB_CONTACT}  ${lb_now}
")
lb_compress(lb_changelog_gz "${CMAKE_CURRENT_BINARY_DIR}/debian/changelog")
set(lb_debian_files "${CMAKE_CURRENT_BINARY_DIR}/debian/copyright" ${lb_changelog_gz})
