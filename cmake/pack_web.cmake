# Makes the files of the page and a C++ file that contains them. Run by cmake/web.cmake:
#   cmake -D WEB=web -D OUT=folder -D ESBUILD=... -D BROTLI=... -D GZIP=... -P pack_web.cmake
cmake_minimum_required(VERSION 3.25)

# Runs a program, and stops with what it says if it fails.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    list(GET ARGN 0 program)
    message(FATAL_ERROR "${program} failed:\n${out}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${OUT})
set(ENV{NODE_PATH} /usr/share/nodejs)  # Where Debian's packages are.
run(${ESBUILD} ${WEB}/src/main.ts --bundle --minify --format=iife --target=es2021 --charset=utf8
    --legal-comments=eof --log-level=warning --outfile=${OUT}/app.js)
run(${ESBUILD} ${WEB}/style.css --bundle --minify --target=chrome100,firefox100,safari15
    --log-level=warning --outfile=${OUT}/app.css)
file(COPY ${WEB}/index.html ${WEB}/icon.svg DESTINATION ${OUT})

set(declared "")
set(rows "")
set(number 0)
# add(<file> <path> <type>)
function(add file path type)
  file(SHA256 ${OUT}/${file} hash)
  string(SUBSTRING ${hash} 0 32 hash)
  run(${BROTLI} --force --quality=11 --output=${OUT}/${file}.br ${OUT}/${file})
  run(${GZIP} --best --no-name --force --keep ${OUT}/${file})
  foreach(form "" .gz .br)
    # The assembler copies the bytes, which takes no time. As numbers they would take seconds.
    string(APPEND declared "BERTH_BYTES(kFile${number}, \"${OUT}/${file}${form}\")\n")
    set(form_${number} "View(kFile${number}, kFile${number}End)")
    list(APPEND forms ${form_${number}})
    math(EXPR number "${number} + 1")
  endforeach()
  list(JOIN forms ", " forms)
  string(APPEND rows "    {\"${path}\", \"${type}\", \"${hash}\", ${forms}},\n")
  set(declared "${declared}" PARENT_SCOPE)
  set(rows "${rows}" PARENT_SCOPE)
  set(number ${number} PARENT_SCOPE)
endfunction()

add(index.html "/" "text/html; charset=utf-8")
add(app.js "/app.js" "text/javascript; charset=utf-8")
add(app.css "/app.css" "text/css; charset=utf-8")
add(icon.svg "/icon.svg" "image/svg+xml")

file(WRITE ${OUT}/web_assets.cc.new "// Made by cmake/pack_web.cmake.
#include \"berth/ui/web_assets.h\"

#include <array>

#define BERTH_BYTES(name, file)                                          \\
  __asm__(\".section .rodata\\n\"                                          \\
          \".balign 16\\n\" #name \":\\n.incbin \\\"\" file \"\\\"\\n\" #name     \\
          \"End:\\n.byte 0\\n.previous\\n\");                               \\
  extern \"C\" const char name[];                                          \\
  extern \"C\" const char name##End[];

${declared}
namespace berth::cli {
namespace {

std::string_view View(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::span<const ui::Asset> WebAssets() {
  static const std::array kAssets = std::to_array<ui::Asset>({
${rows}  });
  return kAssets;
}

}  // namespace berth::cli
")
file(RENAME ${OUT}/web_assets.cc.new ${OUT}/web_assets.cc)
