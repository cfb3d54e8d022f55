#!/bin/sh
# Run a program on an X screen of its own: on_screen.sh 1280x800 PROGRAM WORDS...
# What the screen shows lies in the file $TRACEVIS3D_SCREEN: Blender's own screenshots come out black here.
set -eu
size=$1
shift
place=$(mktemp -d)
Xvfb -displayfd 1 -fbdir "$place" -screen 0 "${size}x24" -nolisten unix -listen tcp -ac >"$place/display" 2>"$place/log" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$place"' EXIT
tries=0
while [ ! -s "$place/display" ]; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ]; then
        cat "$place/log" >&2
        exit 1
    fi
    sleep 0.1
done
DISPLAY=127.0.0.1:$(cat "$place/display")
TRACEVIS3D_SCREEN=$place/Xvfb_screen0
export DISPLAY TRACEVIS3D_SCREEN
status=0
"$@" || status=$?
exit $status
