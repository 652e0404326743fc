#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - three sites and a backend that tell of live matches, and flyball that keeps them fresh.
#
#     examples/matches/run.sh
#
# Needs ports 8080, 8110 to 8113 of 127.0.0.1. Ctrl-C ends all of it.
set -eu
cd "$(dirname "$0")/../.."
[ -n "${FLYBALL-}" ] || { [ ! -x build/flyball ] || FLYBALL=$PWD/build/flyball; }
. examples/mock.sh

matches='live=20 pace=6 unmapped=7'
start_mock --listen 127.0.0.1:8110 --site backend --matches "$matches" >"$scratch/urls"
start_mock --listen 127.0.0.1:8111 --site score --matches "$matches" \
    --limit 'rate=5/s burst=5' --fail 5% >>"$scratch/urls"
start_mock --listen 127.0.0.1:8112 --site arena --matches "$matches" \
    --limit window=30/10s --latency 80ms >>"$scratch/urls"
start_mock --listen 127.0.0.1:8113 --site ticker --matches "$matches" \
    --limit window=60/1m --jitter 300ms >>"$scratch/urls"

cat <<END
A backend, three sites with limits of their own, 20 live matches, a minute of which takes 10 s.
Try in another window:
    $flyball watch status
    $flyball items --state live
    $flyball item \$($flyball items --json | jq -r '.items[0].id')
    curl -N http://127.0.0.1:8080/events

END
"$flyball" watch -c examples/matches/flyball.yaml "$@"
