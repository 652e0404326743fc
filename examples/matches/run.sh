#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - three sites and a backend that tell of live matches, and flyball that keeps them fresh.
#
#     examples/matches/run.sh
#
# Needs ports 8080, 8081 and 8110 to 8113 of 127.0.0.1; PORT=9110 run.sh: 9110 to 9113 instead.
# Options go to `flyball watch`. Ctrl-C ends all of it.
set -eu
cd "$(dirname "$0")/../.."
[ -n "${FLYBALL-}" ] || { [ ! -x build/flyball ] || FLYBALL=$PWD/build/flyball; }
. examples/mock.sh

port=${PORT:-8110}
matches='live=20 pace=6 unmapped=7'
site() {
    name=$1
    shift
    start_mock --listen "127.0.0.1:$port" --site "$name" --matches "$matches" "$@" \
        >>"$scratch/urls"
    sed -i "s|@$name@|127.0.0.1:$port|" "$scratch/flyball.yaml"
    port=$((port + 1))
}
sed 's|127.0.0.1:8110|@backend@|; s|127.0.0.1:8111|@score@|; s|127.0.0.1:8112|@arena@|
     s|127.0.0.1:8113|@ticker@|' examples/matches/flyball.yaml >"$scratch/flyball.yaml"
site backend
site score --limit 'rate=5/s burst=5' --fail 5%
site arena --limit window=30/10s --latency 80ms
site ticker --limit window=60/1m --jitter 300ms

cat <<END
A backend, three sites with limits of their own, 20 live matches, a minute of which takes 10 s.
Try in another window:
    $flyball watch status
    $flyball items --state live
    $flyball item ID                            of one that the line before named
    curl -N http://127.0.0.1:8080/events

END
"$flyball" watch -c "$scratch/flyball.yaml" "$@" &
echo $! >"$scratch/watch.pid"
wait $!
