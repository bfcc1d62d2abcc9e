#!/usr/bin/env bash
# What:      HAProxy 2.6.12 (Debian 12) in front of a server, curl 7.88.1 as the client; both with what they have by default.
# Behaviour: the server reads a POST and goes away without an answer. Over HTTP/1.1 the client gets 502, and the server was asked once.
#            Over HTTP/2 HAProxy answers REFUSED_STREAM, which says that nothing was done, and the client sends the POST again, by itself,
#            several times. HAProxy does so for each request over HTTP/2, whether or not it repeats anything itself.
# Guess:     502 for both: what a proxy does when a server goes away does not depend on the version of HTTP between client and proxy.
# Who:       those who let HTTP/2 in front of an API whose POSTs must not happen twice, with any client that repeats what was refused: browsers, curl, Go.
# Written down before the run: "http/1.1: 502, asked once; http/2: 502, asked once".
set -euo pipefail
export PATH="$PATH:/usr/sbin"
for tool in haproxy curl python3; do
	command -v "$tool" >/dev/null || { echo "there is no $tool: apt-get install $tool" >&2; exit 1; }
done
dir=$(mktemp -d)
trap 'kill $pids 2>/dev/null || true; rm -rf "$dir"' EXIT
pids=
cat >"$dir/server.py" <<'PY'
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
free = socket.socket()
free.bind(("127.0.0.1", 0))
print(s.getsockname()[1], free.getsockname()[1], flush=True)
free.close()
while True:
    c, _ = s.accept()
    got = b""
    while b"\r\n\r\n{}" not in got:
        more = c.recv(4096)
        if not more:
            break
        got += more
    if got:
        open(sys.argv[1], "a").write("x")
    c.close()
PY
python3 "$dir/server.py" "$dir/asked" >"$dir/ports" &
pids=$!
until [[ -s $dir/ports ]]; do sleep 0.1; done
read -r server front <"$dir/ports"
cat >"$dir/haproxy.cfg" <<CFG
defaults
    mode http
    timeout client 10s
    timeout connect 1s
    timeout server 10s
frontend in
    bind 127.0.0.1:$front
    default_backend out
backend out
    server one 127.0.0.1:$server
CFG
haproxy -db -f "$dir/haproxy.cfg" >/dev/null 2>&1 &
pids="$pids $!"
until curl -s -o /dev/null --http1.1 -X OPTIONS -d '{}' "http://127.0.0.1:$front/"; do sleep 0.1; done
got=
for how in --http1.1 --http2-prior-knowledge; do
	: >"$dir/asked"
	status=$(curl -s -o /dev/null -w '%{http_code}' "$how" -d '{}' "http://127.0.0.1:$front/" || true)
	times=once
	[[ $(wc -c <"$dir/asked") -eq 1 ]] || times=again
	got+="$how: $status, the server is asked $times"$'\n'
done
echo -n "$got"
want='--http1.1: 502, the server is asked once
--http2-prior-knowledge: 000, the server is asked again
'
[[ $got == "$want" ]] || { echo "this has changed; it was"; echo -n "$want"; exit 1; }
