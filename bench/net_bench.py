"""HttpServer against nginx, both with one worker, over loopback TLS with the same certificate and the same bytes: rounds
of ours and nginx's alternate, the best of each counts, because noise only ever adds time. Then what an idle connection
and an open stream cost. Ends with a table of ratios; exit code 1 when a goal is missed, 2 when something broke.

  build/bench/net_bench [SECONDS per round [ROUNDS]]
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
import net_support as net  # noqa: E402

PROGRAM = sys.argv[1]
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
GOAL = 1 / 1.5  # of nginx's requests per CPU second
SIZES = (1024, 16384)
HTTP2_REQUESTS_PER_SECOND = {1024: 20_000, 16384: 8_000}  # about what a core does
IDLE_CONNECTIONS = 1000
STREAMS = 10_000
STREAMS_PER_CONNECTION = 250

NGINX_CONFIGURATION = """
daemon off;
worker_processes 1;
{user}
pid {directory}/nginx.pid;
error_log {directory}/error.log crit;
events {{ worker_connections 20000; }}
http {{
  access_log off;
  default_type text/plain;
  sendfile on;
  tcp_nodelay on;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {certificates}/server.pem;
    ssl_certificate_key {certificates}/server.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    root {directory}/files;
  }}
}}
"""


class Nginx:
    """One worker that serves files of SIZES, with the certificate of our server."""

    def __init__(self, ours):
        self.directory = tempfile.mkdtemp(prefix="baton_nginx_")
        self.ours = ours
        files = os.path.join(self.directory, "files")
        os.mkdir(files)
        for size in SIZES:
            with open(os.path.join(files, str(size)), "w", encoding="utf-8") as file:
                file.write("x" * size)
        with socket.socket() as probe:  # a port that is free now
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        configuration = os.path.join(self.directory, "nginx.conf")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(NGINX_CONFIGURATION.format(directory=self.directory, certificates=ours.directory, port=self.port,
                                                  user="user root;" if os.geteuid() == 0 else ""))
        self.process = subprocess.Popen(["nginx", "-c", configuration, "-e", os.path.join(self.directory, "error.log")])
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.05)
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(children, encoding="utf-8") as file:
            self.worker = net.Process(int(file.read().split()[0]))

    def close(self):
        self.process.terminate()
        self.process.communicate()
        shutil.rmtree(self.directory, ignore_errors=True)


class Target:
    """One of the two servers: how to ask it for so many bytes, and its process."""

    def __init__(self, port, path, process):
        self.port, self.path, self.process = port, path, process

    def url(self, size):
        return f"https://127.0.0.1:{self.port}{self.path.format(size)}"


def run(*arguments):
    """A load generator's output. One that does not end in time says so, instead of waiting for ever."""
    return subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=SECONDS + 30).stdout


def load(target, protocol, connections, size):
    """(requests per second, requests per CPU second of the server)"""
    url = target.url(size)
    before, began = target.process.cpu_seconds(), time.monotonic()
    if protocol == "HTTP/1.1":
        out = run("wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", url)
        assert "Socket errors" not in out and "Non-2xx" not in out, out
        requests = int(re.search(r"(\d+) requests in", out)[1])
    else:
        # Ten at a time per connection. Counted, not timed: h2load -D waits for ever for connections that were not made
        # yet when its time was over, whoever the server is.
        requests = SECONDS * HTTP2_REQUESTS_PER_SECOND[size]
        out = run("h2load", f"-c{connections}", "-m10", f"-n{requests}", url)
        assert f" {requests} succeeded, 0 failed, 0 errored" in out, out
    took = time.monotonic() - began
    return requests / took, requests / (target.process.cpu_seconds() - before)


def idle_bytes(target, server, size):
    """Memory per connection that was used once and is idle."""
    request = f"GET {target.path.format(size)} HTTP/1.1\r\nhost: h\r\n\r\n".encode()

    def one():
        connection = server.connect(port=target.port)
        connection.sendall(request)
        got = b""
        while b"\r\n\r\n" not in got or len(got.partition(b"\r\n\r\n")[2]) < size:
            got += connection.recv(1 << 16)
        return connection

    kept = [one() for _ in range(50)]  # what the first ones need is not counted
    before = target.process.memory()
    kept += [one() for _ in range(IDLE_CONNECTIONS)]
    used = (target.process.memory() - before) / IDLE_CONNECTIONS
    for connection in kept:
        connection.close()
    return used


def open_streams(server):
    """10,000 watches on HTTP/2: (bytes per stream, seconds to open them, seconds for one request beside them, seconds
    until all have ended cleanly at shutdown)"""
    before = server.memory()
    began = time.monotonic()
    connections = []
    for _ in range(STREAMS // STREAMS_PER_CONNECTION):
        connection = server.connect(alpn=("h2",))
        connection.sendall(net.PREFACE + net.settings() + b"".join(
            net.get(1 + 2 * i, "/watch?every_ms=3600000") for i in range(STREAMS_PER_CONNECTION)))
        connections.append((connection, net.Frames(connection)))
    for _, frames in connections:
        for _ in range(STREAMS_PER_CONNECTION):
            frames.until(net.DATA)
    opened = time.monotonic() - began
    memory = (server.memory() - before) / STREAMS
    began = time.monotonic()
    with server.connect(alpn=("http/1.1",)) as beside:
        beside.sendall(b"GET /hello HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
        assert net.read_all(beside).endswith(b"hello\n")
    answered = time.monotonic() - began
    began = time.monotonic()
    server.terminate()
    for _, frames in connections:
        ended = 0
        while (got := frames.until(net.DATA)) is not None:
            ended += got[1] & net.END_STREAM
        assert ended == STREAMS_PER_CONNECTION, f"{ended} streams ended cleanly"
    code, _ = server.wait()
    assert code == 0
    return memory, opened, answered, time.monotonic() - began


def compare(ours, nginx):
    """Rows of the table; false when a goal was missed."""
    reached = True
    print(f"{'what':<34}{'ours/s':>10}{'nginx/s':>10}{'ratio':>8}{'ours/CPU s':>13}{'nginx/CPU s':>13}{'ratio':>8}  goal")
    for protocol in ("HTTP/1.1", "HTTP/2"):
        for size in SIZES:
            for connections in (1, 64):
                best = {ours: (0, 0), nginx: (0, 0)}
                for _ in range(ROUNDS):
                    for target in (ours, nginx):
                        best[target] = tuple(map(max, best[target], load(target, protocol, connections, size)))
                (rate, per_cpu), (nginx_rate, nginx_per_cpu) = best[ours], best[nginx]
                ratio = per_cpu / nginx_per_cpu
                reached = reached and ratio >= GOAL
                what = f"{protocol}, {size // 1024} KiB, {connections} connection{'s' if connections > 1 else ''}"
                print(f"{what:<34}{rate:>10.0f}{nginx_rate:>10.0f}{rate / nginx_rate:>7.2f}x{per_cpu:>13.0f}"
                      f"{nginx_per_cpu:>13.0f}{ratio:>7.2f}x  {GOAL:.2f}x {'reached' if ratio >= GOAL else 'MISSED'}",
                      flush=True)
    return reached


def with_servers(measure):
    """`measure` of both, newly started: memory that load left behind would hide what connections cost. nginx is None
    where there is none."""
    server = net.Server(PROGRAM)
    nginx = None
    try:
        theirs = None
        if shutil.which("nginx"):
            nginx = Nginx(server)
            theirs = Target(nginx.port, "/{}", nginx.worker)
        return measure(Target(server.port, "/bytes?n={}", server), theirs)
    finally:
        if nginx is not None:
            nginx.close()
        server.close()


def measure_load(ours, nginx):
    if nginx is not None:
        return compare(ours, nginx)
    print("net_bench: no nginx here to compare with (apt-get install nginx-light)")
    return True


def measure_idle(ours, nginx):
    other = "" if nginx is None else f", nginx {idle_bytes(nginx, ours.process, 1024) / 1024:.1f} KiB"
    print(f"memory per idle TLS connection: ours {idle_bytes(ours, ours.process, 1024) / 1024:.1f} KiB{other}", flush=True)


def main():
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin"  # where Debian keeps nginx
    reached = with_servers(measure_load)
    with_servers(measure_idle)
    server = net.Server(PROGRAM)
    try:
        memory, opened, answered, ended = open_streams(server)
        print(f"{STREAMS} open streams on {STREAMS // STREAMS_PER_CONNECTION} connections: {memory / 1024:.1f} KiB each, "
              f"opened in {opened:.2f} s, a request beside them takes {answered * 1000:.1f} ms, shutdown ends them "
              f"cleanly in {ended:.2f} s")
    finally:
        server.close()
    return 0 if reached else 1


if __name__ == "__main__":
    try:
        code = main()
    except Exception:  # 1 is for a goal that was missed
        traceback.print_exc()
        code = 2
    sys.exit(code)
