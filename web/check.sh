#!/bin/sh
# Checks the page: its types, and the tests of the parts that need no browser. It needs tsc, esbuild
# and node of Debian (node-typescript, esbuild), and writes nothing into the sources.
set -eu
web=$(cd "$(dirname "$0")" && pwd)
tsc -p "$web"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
NODE_PATH=/usr/share/nodejs esbuild "$web/test/main.ts" --bundle --platform=node --target=es2020 \
  --log-level=warning --outfile="$out"
node "$out"
