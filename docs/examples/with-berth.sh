#!/bin/sh
# with-berth.sh COMMAND [ARGUMENTS]: starts a server, runs the command, and stops the server.
set -eu
folder=$(mktemp -d)
touch "$folder/log"
berth serve --data-dir "$folder/data" --secure-port 0 >>"$folder/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server || true; rm -rf "$folder"' EXIT
until grep -q 'serves https://' "$folder/log"; do
  kill -0 $server 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 0.05
done
export KUBECONFIG="$folder/data/admin.kubeconfig"
"$@"
