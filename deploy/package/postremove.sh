#!/bin/sh
# The data in /var/lib/weft stays, and so does the user who owns it.
set -e
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
