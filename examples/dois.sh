#!/bin/sh
# SPDX-License-Identifier: MIT
#
# dois.sh - metadata for a list of DOIs, with a second resolver where the first one fails.
#
#     examples/dois.sh [RESULTS [FIRST [SECOND]]]
#
# What is done about a failure depends on what the request is for. Each line says that it is to
# resolve something, and where else that could be done: a refusal or an error of the first resolver
# then leads to the second, each under its own limit. One that both fail is told as such, and the
# batch goes on.
set -eu
. "$(dirname "$0")/mock.sh"

results=${1:-dois.jsonl}
first=${2:-$(start_mock --limit 'rate=20/s burst=10' --dialect retry-after --fail 10%)}
second=${3:-$(start_mock --limit window=50/1s --dialect ietf)}

for n in $(seq 1 60); do
    printf '{"id":"10.5555/%d","url":"%s/works/10.5555%%2F%d","operation":"resolve",' \
        "$n" "$first" "$n"
    printf '"alternatives":["%s/v2/10.5555%%2F%d"]}\n' "$second" "$n"
done >"$scratch/dois"

"$flyball" fetch "$scratch/dois" --jsonl "$results" --fresh \
    --recovery resolve/5xx=failover --recovery resolve/timeout/2=failover

echo "$(grep -c '"outcome":"ok"' "$results") of 60 resolved," \
    "$(grep -c '"alternative":1' "$results") of them by the second resolver"
