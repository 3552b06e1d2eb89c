# Installs a build into a folder of its own, and runs what is then there. Builds nothing.
#
# Usage: cmake -DBUILD=<folder> -DVERSION=<version> -P install_test.cmake
set(root ${BUILD}/install_test)
set(ENV{DESTDIR} ${root})
file(REMOVE_RECURSE ${root})

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix /usr
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${root}/usr/bin/berth version OUTPUT_VARIABLE said
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT said STREQUAL "berth ${VERSION}\n")
  message(FATAL_ERROR "the installed program says: ${said}")
endif()
execute_process(COMMAND ${root}/usr/bin/kubectl-berth plan --help OUTPUT_VARIABLE said
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "Usage: kubectl berth plan")
  message(FATAL_ERROR "the installed plugin says: ${said}")
endif()
foreach(name bin/kubectl_complete-berth share/man/man1/berth.1 share/man/man1/berth-plan.1
        share/bash-completion/completions/berth share/zsh/site-functions/_berth
        share/fish/vendor_completions.d/berth.fish)
  if(NOT EXISTS ${root}/usr/${name})
    message(FATAL_ERROR "${name} is not installed")
  endif()
  file(SIZE ${root}/usr/${name} bytes)
  if(bytes LESS 200)
    message(FATAL_ERROR "${name} has only ${bytes} bytes")
  endif()
endforeach()
foreach(name LICENSE README.md CHANGELOG.md docs/serve.md docs/examples/web.yaml)
  if(NOT EXISTS ${root}/usr/share/doc/berth/${name})
    message(FATAL_ERROR "${name} is not installed")
  endif()
endforeach()

file(GLOB_RECURSE files RELATIVE ${root} ${root}/*)
list(FILTER files EXCLUDE REGEX "^usr/(bin/(kubectl[-_])?(complete-)?berth$|share/doc/berth/|\
share/man/man1/berth(-[a-z-]+)?[.]1$|share/(bash-completion/completions|zsh/site-functions|\
fish/vendor_completions.d)/_?berth([.]fish)?$)")
if(files)
  message(FATAL_ERROR "installed, and not expected: ${files}")
endif()
file(REMOVE_RECURSE ${root})
