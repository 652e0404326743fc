# SPDX-License-Identifier: MIT
#
# mock.sh - for the examples: an API on this machine that ends with the script that reads this file.
#
#     url=$(start_mock OPTION...)
#
# The command is $FLYBALL, else the one that is installed, else that of the tree this file is in.

flyball=${FLYBALL:-$(command -v flyball || echo "$(dirname "$0")/../build/flyball")}
scratch=$(mktemp -d)
trap clean_up EXIT
trap 'exit 130' INT TERM

clean_up() {
    for pid in "$scratch"/*.pid; do
        [ ! -e "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || :
    done
    wait || :
    rm -rf "$scratch"
}

start_mock() {
    said=$(mktemp "$scratch/mock-XXXXXX")
    "$flyball" mock "$@" >"$said" &
    echo $! >"$said.pid"
    until grep -q '^listening on ' "$said"; do
        kill -0 "$(cat "$said.pid")" || return 1
        sleep 0.05
    done
    sed -n 's/^listening on \([^ ]*\).*/\1/p' "$said"
}
