#!/bin/sh
# SPDX-License-Identifier: MIT
#
# crawl.sh - two hundred pages of an API whose limit nobody told, a file for each.
#
#     examples/crawl.sh [FOLDER [URL]]
#
# Scripts like this one used to guess a delay, add another after each refusal, and hang for hours
# in a request without a deadline. Here the limit is found, a refusal holds everything, each
# deadline closes its connection, and what was fetched is not fetched again: stop it with Ctrl-C or
# kill -9 and start it once more with the same folder and URL.
set -eu
. "$(dirname "$0")/mock.sh"

folder=${1:-pages}
url=${2:-$(start_mock --limit 'rate=40/s burst=20' --dialect retry-after --latency 20ms)}

"$flyball" fetch "$url/list?page={1..200}" --output "$folder" \
    --connect-timeout 10s --read-timeout 30s --total-timeout 1m --max-wait 10m

echo "$(find "$folder" -type f ! -name flyball.jsonl | wc -l) pages in $folder"
