# The page of `berth ui`: bundles web/ with esbuild, compresses the files, and makes a library that
# contains them (see cmd/berth/ui/web_assets.h). It needs no Node.
foreach(tool esbuild brotli gzip)
  string(TOUPPER ${tool} name)
  find_program(BERTH_${name} ${tool})
  if(NOT BERTH_${name})
    message(FATAL_ERROR "${tool} is missing, which makes the page of berth ui. `./dev setup` installs "
                        "it: it is Debian's package ${tool}.")
  endif()
endforeach()

file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*.ts
     ${CMAKE_SOURCE_DIR}/web/*.html ${CMAKE_SOURCE_DIR}/web/*.css ${CMAKE_SOURCE_DIR}/web/*.svg)
set(web_out ${PROJECT_BINARY_DIR}/web)
add_custom_command(
  OUTPUT ${web_out}/web_assets.cc
  COMMAND ${CMAKE_COMMAND} -D WEB=${CMAKE_SOURCE_DIR}/web -D OUT=${web_out}
          -D ESBUILD=${BERTH_ESBUILD} -D BROTLI=${BERTH_BROTLI} -D GZIP=${BERTH_GZIP}
          -P ${CMAKE_SOURCE_DIR}/cmake/pack_web.cmake
  DEPENDS ${web_sources} ${CMAKE_SOURCE_DIR}/cmake/pack_web.cmake
  COMMENT "Bundling the page of berth ui"
  VERBATIM)
add_library(berth_web STATIC ${web_out}/web_assets.cc)
target_include_directories(berth_web PUBLIC ${CMAKE_SOURCE_DIR}/cmd)
target_link_libraries(berth_web PUBLIC berth_ui)
