# What `cmake --install` copies, in two components: the program, and its documents. Documents keep
# their places to each other, so that links from README.md to docs/ work.
include(GNUInstallDirs)

install(TARGETS berth RUNTIME COMPONENT program)
# Manual pages and completions come from the program itself, and are made when it is installed.
# kubectl finds kubectl-berth on the PATH and runs it for `kubectl berth`.
set(made ${PROJECT_BINARY_DIR}/made_by_berth)
install(CODE "
  set(berth \"$<TARGET_FILE:berth>\")
  file(REMOVE_RECURSE \"${made}\")
  execute_process(COMMAND \${berth} man --all \"${made}/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(script bash:berth zsh:_berth fish:berth.fish)
    string(REGEX MATCH \"^(.*):(.*)$\" script \${script})
    file(MAKE_DIRECTORY \"${made}/\${CMAKE_MATCH_1}\")
    execute_process(COMMAND \${berth} completion \${CMAKE_MATCH_1} COMMAND_ERROR_IS_FATAL ANY
                    OUTPUT_FILE \"${made}/\${CMAKE_MATCH_1}/\${CMAKE_MATCH_2}\")
  endforeach()
  file(CREATE_LINK berth \"${made}/kubectl-berth\" SYMBOLIC)
" COMPONENT program)
install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(DIRECTORY ${made}/bash/ COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${made}/zsh/ COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY ${made}/fish/ COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${made}/kubectl-berth DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(PROGRAMS cmd/berth/completion/kubectl_complete-berth DESTINATION ${CMAKE_INSTALL_BINDIR}
        COMPONENT program)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE)

if(BERTH_TESTS)
  add_test(NAME install
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DVERSION=${PROJECT_VERSION}
            -P ${CMAKE_CURRENT_LIST_DIR}/install_test.cmake)
  set_tests_properties(install PROPERTIES LABELS fast TIMEOUT 60)
endif()
