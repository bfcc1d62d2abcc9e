#!/bin/sh
# The data in /var/lib/weft stays, and so does the user who owns it.
set -e
if [ -n "$DPKG_ROOT" ] || [ ! -d /run/systemd/system ]; then exit 0; fi
systemctl daemon-reload || true # systemd says why; the files are gone
