#!/bin/sh
# Stops the node when the package goes, and not when a newer one takes its place: deb says remove, rpm 0.
set -e
if [ -n "$DPKG_ROOT" ] || [ ! -d /run/systemd/system ]; then exit 0; fi
case "$1" in
remove | 0) systemctl disable --now weft.service || true ;; # systemd says why; a package has to go where systemd is broken, too
esac
