#!/bin/sh
# The user, and a unit that runs with the new program if it ran with the old one. It is started by
# systemctl enable --now weft, once the configuration says how.
set -e
if [ -n "$DPKG_ROOT" ]; then exit 0; fi # another machine's root: it makes the user when it boots
case "$1" in
abort-*) exit 0 ;; # deb: what was there stays, and runs
esac
if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers weft.conf
elif ! getent passwd weft >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/weft --no-create-home --shell /usr/sbin/nologin weft
fi
if [ ! -d /run/systemd/system ]; then exit 0; fi
systemctl daemon-reload || true # systemd says why; the package is in place
# An upgrade: deb says configure and the version before, rpm how many there are.
case "$1 $2" in
"configure "?* | [2-9]" "*) systemctl try-restart weft.service || true ;;
esac
