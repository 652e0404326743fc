# SPDX-License-Identifier: MIT
#
# fetch-picture.sh - what docs/fetch.svg shows: a batch, a wait that is explained, Ctrl-C, why it
# waited, and the same command again. $FLYBALL is the command. For tools/terminal.

here=$(mktemp -d)
flyball=$(realpath "$FLYBALL")
cd "$here"
: >mock
export HOME="$here" XDG_STATE_HOME="$here/state" XDG_RUNTIME_DIR="$here"
export FLYBALL_LEDGER="$here/ledger" LC_ALL=C.UTF-8
"$flyball" mock --listen 127.0.0.1:0 --limit 'rate=5/s burst=20 penalty=10s' \
    --dialect retry-after >mock &
mock=$!
trap 'kill $mock; wait $mock || :; rm -rf "$here"' EXIT
until grep -q '^listening on ' mock; do sleep 0.05; done
url=$(sed -n 's/^listening on \([^ ]*\).*/\1/p' mock)
seq -f "$url/items/%g" 1 150 >urls.txt

echo '$ flyball fetch urls.txt --jsonl out.jsonl'
"$flyball" fetch urls.txt --jsonl out.jsonl &
batch=$!
until "$flyball" status --json 2>&1 | grep -q '"state":"holding"'; do sleep 0.1; done
sleep 1
kill -INT $batch
wait $batch || :
echo '$ flyball why last'
"$flyball" why last
echo '$ flyball fetch urls.txt --jsonl out.jsonl'
"$flyball" fetch urls.txt --jsonl out.jsonl
