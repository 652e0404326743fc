# SPDX-License-Identifier: MIT
#
# fetch-picture.sh - what docs/fetch.svg shows: a batch, a wait that is explained, Ctrl-C, and the
# same command again. $FLYBALL is the command. For tools/terminal.

here=$(mktemp -d)
flyball=$(realpath "$FLYBALL")
cd "$here"
export XDG_STATE_HOME="$here/state"
"$flyball" mock --listen 127.0.0.1:0 --limit fixed=60/15s --dialect retry-after >mock &
mock=$!
trap 'kill $mock; wait $mock || :; rm -rf "$here"' EXIT
until grep -q '^listening on ' mock; do sleep 0.05; done
url=$(sed -n 's/^listening on \([^ ]*\).*/\1/p' mock)
seq -f "$url/items/%g" 1 150 >urls.txt

echo '$ flyball fetch urls.txt --jsonl out.jsonl'
"$flyball" fetch urls.txt --jsonl out.jsonl &
batch=$!
until [ -e out.jsonl ] && [ "$(wc -l <out.jsonl)" -ge 70 ]; do sleep 0.1; done
kill -INT $batch
wait $batch || :
echo '$ flyball fetch urls.txt --jsonl out.jsonl'
"$flyball" fetch urls.txt --jsonl out.jsonl
