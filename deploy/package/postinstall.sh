#!/bin/sh
# The user, and a unit that runs with the new program if it ran with the old one. It is started by
# systemctl enable --now weft, once the configuration says how.
set -e
if [ -n "$DPKG_ROOT" ]; then exit 0; fi # another machine's root: it makes the user when it boots
if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers weft.conf
elif ! getent passwd weft >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/weft --no-create-home --shell /usr/sbin/nologin weft
fi
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl try-restart weft.service
fi
