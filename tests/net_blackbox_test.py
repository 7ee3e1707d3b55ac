"""HttpServer from outside: curl, openssl, h2load and wrk, slow readers, shutdown. Run by ctest with the path of
net_test_server, and "sanitized" when it was built with sanitizers (then its memory says nothing)."""
import gzip
import os
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

import net_support as net

PROGRAM = sys.argv.pop(1)
SANITIZED = len(sys.argv) > 1 and sys.argv[1] == "sanitized"
if SANITIZED:
    sys.argv.pop(1)
MIB = 1 << 20
PROTOCOLS = ("--http1.1", "--http2")
TLS_REFUSED_BY_CLIENT = 60
# curl: in the handshake, or (TLS 1.3) when it first reads; the alert "certificate expired" is 60 too.
TLS_REFUSED_BY_SERVER = (35, 56, 60)


def run(*arguments, data=b"", timeout=60):
    done = subprocess.run(arguments, input=data, capture_output=True, timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


class ServerTest(unittest.TestCase):
    """A server for all tests of a class; `arguments` are its own."""
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = net.Server(PROGRAM, *cls.arguments)
        cls.addClassCleanup(cls.server.close)

    def start(self, *arguments):
        server = net.Server(PROGRAM, *arguments)
        self.addCleanup(server.close)
        return server

    def connect(self, server, *arguments, **options):
        connection = server.connect(*arguments, **options)
        self.addCleanup(connection.close)
        return connection

    def curl(self, path, *arguments, server=None, ca="ca.pem", data=b""):
        """(exit code, status, body)"""
        server = server or self.server
        code, out, _ = run("curl", "-sS", "--noproxy", "*", "--max-time", "30", "--cacert", server.path(ca), "-w",
                           "\n%{http_code} %{http_version}", *arguments, server.url(path), data=data)
        body, _, tail = out.rpartition(b"\n")
        status, version = tail.decode().split()
        if code == 0 and not server.plain:
            expected = "2" if "--http2" in arguments else "1.1"
            self.assertEqual(version, expected, "the protocol that ALPN chose")
        return code, int(status), body

    def certificate(self, name, server=None):
        server = server or self.server
        return ("--cert", server.path(name + ".pem"), "--key", server.path(name + ".key"))


class CurlTest(ServerTest):
    def test_whole_answers(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                self.assertEqual(self.curl("/hello", protocol), (0, 200, b"hello\n"))
                self.assertEqual(self.curl("/bytes?n=3000000", protocol), (0, 200, b"x" * 3000000))
                self.assertEqual(self.curl("/none", protocol), (0, 404, b"not found\n"))
                self.assertEqual(self.curl("/nothing", protocol), (0, 500, b"no answer\n"))

    def test_bodies_come_back(self):
        for protocol in PROTOCOLS:
            for size in (0, 1, 16384, 1500000):
                for more in ((), ("-H", "transfer-encoding: chunked"), ("-H", "expect:")):
                    with self.subTest(protocol=protocol, size=size, more=more):
                        body = os.urandom(size)
                        got = self.curl("/echo", protocol, *more, "-X", "POST", "--data-binary", "@-", data=body)
                        self.assertEqual(got, (0, 200, body))

    def test_streams(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                code, status, body = self.curl("/stream?chunks=500&bytes=10000", protocol)
                self.assertEqual((code, status, len(body)), (0, 200, 5000000))
                code, status, body = self.curl("/watch?count=5&every_ms=10", protocol)
                self.assertEqual((code, status, body), (0, 200, b"".join(b"line %d\n" % i for i in range(5))))

    def test_large_answers_are_gzipped_for_those_who_accept_it(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                _, _, plain = self.curl("/text?n=1000000", protocol)
                _, _, zipped = self.curl("/text?n=1000000", protocol, "-H", "accept-encoding: gzip")
                self.assertLess(len(zipped), len(plain) / 4)
                self.assertEqual(gzip.decompress(zipped), plain)
                self.assertEqual(self.curl("/text?n=1000000", protocol, "--compressed"), (0, 200, plain))
                _, _, small = self.curl("/text?n=1000", protocol, "-H", "accept-encoding: gzip")
                self.assertTrue(small.startswith(b"line 0"))

    def test_head_has_no_body(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                code, status, head = self.curl("/hello", protocol, "--head")
                self.assertEqual((code, status), (0, 200))
                self.assertIn(b"content-length: 6", head.lower())

    def test_too_large_a_body_is_told(self):
        body = b"x" * (4 * MIB)
        for protocol in PROTOCOLS:
            for more in ((), ("-H", "transfer-encoding: chunked", "-H", "expect:")):
                with self.subTest(protocol=protocol, more=more):
                    _, status, _ = self.curl("/echo", protocol, *more, "--data-binary", "@-", data=body)
                    self.assertEqual(status, 413)

    def test_many_requests_use_one_connection(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                server = self.server
                code, out, err = run("curl", "-sS", "--noproxy", "*", "--cacert", server.path("ca.pem"), protocol, "-w",
                                     "%{num_connects} ", *[server.url(f"/bytes?n={i}") for i in range(20)])
                self.assertEqual(code, 0, err)
                self.assertEqual(sum(int(n) for n in re.findall(rb"(\d) ", out)), 1)

    def test_who_calls(self):
        for protocol, name in (("--http1.1", b"http1"), ("--http2", b"http2")):
            with self.subTest(protocol):
                self.assertEqual(self.curl("/whoami", protocol), (0, 200, name + b" no certificate  \n"))
                self.assertEqual(self.curl("/whoami", protocol, *self.certificate("client")),
                                 (0, 200, name + b" certificate alice team,admins\n"))

    def test_certificates_that_are_not_good_are_refused_and_never_ignored(self):
        for protocol in PROTOCOLS:
            for name in ("stranger", "expired"):
                for version in ("1.2", "1.3"):
                    with self.subTest(protocol=protocol, name=name, version=version):
                        code, status, body = self.curl("/whoami", protocol, "--tls-max", version,
                                                       *self.certificate(name))
                        self.assertIn(code, TLS_REFUSED_BY_SERVER)
                        self.assertEqual((status, body), (0, b""))

    def test_clients_can_tell_the_server(self):
        self.assertEqual(self.curl("/hello", ca="stranger.pem")[:2], (TLS_REFUSED_BY_CLIENT, 0))
        expired = self.start("expired")
        self.assertEqual(self.curl("/hello", server=expired)[:2], (TLS_REFUSED_BY_CLIENT, 0))

    def test_a_server_may_require_certificates(self):
        server = self.start("certificates=required")
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                code, status, _ = self.curl("/whoami", protocol, server=server)
                self.assertIn(code, TLS_REFUSED_BY_SERVER)
                self.assertEqual(status, 0)
                good = self.curl("/whoami", protocol, *self.certificate("client", server), server=server)
                self.assertEqual(good[:2], (0, 200))

    def test_plain_text_speaks_both_protocols(self):
        server = self.start("plain")
        self.assertEqual(self.curl("/hello", "--http1.1", server=server), (0, 200, b"hello\n"))
        self.assertEqual(self.curl("/hello", "--http1.0", server=server), (0, 200, b"hello\n"))
        self.assertEqual(self.curl("/hello", "--http2-prior-knowledge", server=server), (0, 200, b"hello\n"))
        code, status, body = self.curl("/stream?chunks=50&bytes=10000", "--http1.0", server=server)
        self.assertEqual((code, status, len(body)), (0, 200, 500000))


class OpensslTest(ServerTest):
    def s_client(self, *arguments, data=b""):
        _, out, err = run("openssl", "s_client", "-connect", f"127.0.0.1:{self.server.port}", "-CAfile",
                          self.server.path("ca.pem"), *arguments, data=data)
        return out.decode(errors="replace") + err

    def test_only_tls_1_2_and_later(self):
        for version in ("-tls1", "-tls1_1"):
            with self.subTest(version):
                out = self.s_client(version, "-cipher", "ALL@SECLEVEL=0")
                self.assertIn("Cipher is (NONE)", out)
                self.assertRegex(out, "alert protocol version")
        for version, name in (("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")):
            with self.subTest(version):
                out = self.s_client(version)
                self.assertIn("Verify return code: 0 (ok)", out)
                self.assertIn(f"New, {name}, Cipher is", out)

    def test_ciphers_without_forward_secrecy_are_refused(self):
        for cipher in ("AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "AES256-SHA", "NULL"):
            with self.subTest(cipher):
                self.assertIn("Cipher is (NONE)", self.s_client("-tls1_2", "-cipher", cipher + ":@SECLEVEL=0"))
        self.assertIn("Cipher is ECDHE-ECDSA-AES128-GCM-SHA256",
                      self.s_client("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"))

    def test_alpn(self):
        for offered, chosen in (("h2,http/1.1", "ALPN protocol: h2"), ("http/1.1,h2", "ALPN protocol: h2"),
                                ("http/1.1", "ALPN protocol: http/1.1"), ("spdy/1", "No ALPN negotiated")):
            with self.subTest(offered):
                self.assertIn(chosen, self.s_client("-alpn", offered))
        self.assertIn("No ALPN negotiated", self.s_client())

    def test_client_certificates_are_asked_for_by_the_name_of_their_ca(self):
        for version in ("-tls1_2", "-tls1_3"):
            with self.subTest(version):
                out = self.s_client(version, "-cert", self.server.path("client.pem"), "-key",
                                    self.server.path("client.key"))
                self.assertIn("Verify return code: 0 (ok)", out)
                self.assertRegex(out, r"Acceptable client certificate CA names\nCN = net test CA")

    def test_no_compression_and_no_renegotiation(self):
        out = self.s_client("-tls1_2")
        self.assertIn("Compression: NONE", out)
        out = self.s_client("-tls1_2", data=b"R\n")
        self.assertRegex(out, "no renegotiation")

    def test_a_request_typed_by_hand(self):
        for version in ("-tls1_2", "-tls1_3"):
            with self.subTest(version):
                out = self.s_client(version, "-quiet", data=b"GET /hello HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
                self.assertRegex(out, r"HTTP/1\.1 200 OK\r\n")
                self.assertRegex(out, r"\r\n\r\nhello\n")


class LoadTest(ServerTest):
    def h2load(self, path, *arguments):
        code, out, err = run("h2load", *arguments, self.server.url(path))
        self.assertEqual(code, 0, err)
        match = re.search(r"requests: (\d+) total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored, "
                          r"(\d+) timeout", out.decode())
        self.assertTrue(match, out)
        return tuple(int(n) for n in match.groups())

    def test_h2load(self):
        body = os.path.join(self.server.directory, "body")
        with open(body, "wb") as file:
            file.write(os.urandom(20000))
        for protocol in ((), ("--h1",)):
            for count, path, more in ((3000, "/hello", ("-c8", "-m10")), (3000, "/bytes?n=1024", ("-c1", "-m1")),
                                      (300, "/bytes?n=300000", ("-c8", "-m4")), (300, "/echo", ("-c8", "-m8", "-d", body)),
                                      (200, "/stream?chunks=20&bytes=5000", ("-c4", "-m8"))):
                with self.subTest(protocol=protocol, path=path):
                    got = self.h2load(path, f"-n{count}", *protocol, *more)
                    self.assertEqual(got, (count, count, 0, 0, 0))

    def test_wrk(self):
        for path, connections in (("/hello", 1), ("/bytes?n=16384", 64), ("/stream?chunks=10&bytes=3000", 8)):
            with self.subTest(path):
                code, out, err = run("wrk", "-t1", f"-c{connections}", "-d1s", self.server.url(path))
                self.assertEqual(code, 0, err)
                self.assertNotIn(b"Socket errors", out)
                self.assertNotIn(b"Non-2xx", out)
                self.assertGreater(int(re.search(rb"(\d+) requests in", out)[1]), 10)


class SlowReaderTest(ServerTest):
    """An answer of 128 MiB to a client that stops reading: the server holds a buffer of it, others are served."""
    bytes_total = 128 * MIB
    memory_max = 12 * MIB

    def pause(self):
        """While the client reads nothing, others are answered."""
        for _ in range(3):
            began = time.monotonic()
            for protocol in PROTOCOLS:
                self.assertEqual(self.curl("/hello", protocol), (0, 200, b"hello\n"))
            self.assertLess(time.monotonic() - began, 10)
            time.sleep(0.3)

    def check_memory(self, before):
        if not SANITIZED:
            self.assertLess(self.server.peak() - before, self.memory_max)

    def test_http1(self):
        before = self.server.start_peak()
        connection = self.connect(self.server)
        connection.sendall(b"GET /stream?chunks=2048&bytes=65536 HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
        got = len(connection.recv(100))
        self.pause()
        self.check_memory(before)
        rest = net.read_all(connection)
        self.assertTrue(rest.endswith(b"x\r\n0\r\n\r\n"))
        self.assertGreater(got + len(rest), self.bytes_total)
        self.check_memory(before)

    def test_http2(self):
        before = self.server.start_peak()
        connection = self.connect(self.server, alpn=("h2",))
        connection.sendall(net.PREFACE + net.settings((4, 1 << 20)) + net.window_update(0, 1 << 30) +
                           net.get(1, "/stream?chunks=2048&bytes=65536"))
        frames = net.Frames(connection)
        self.assertEqual(frames.until(net.HEADERS, 1)[3][:1], b"\x88", "status 200")
        self.pause()
        self.check_memory(before)
        got = 0
        ended = False
        while not ended:
            kind, flags, stream, payload = frames.next()
            if kind != net.DATA or stream != 1:
                continue
            got += len(payload)
            ended = flags & net.END_STREAM != 0
            if payload:
                connection.sendall(net.window_update(1, len(payload)))
        self.assertEqual(got, self.bytes_total)
        self.check_memory(before)

    def test_curl_at_a_limited_rate_gets_all(self):
        before = self.server.start_peak()
        for protocol in PROTOCOLS:
            code, status, body = self.curl("/stream?chunks=100&bytes=65536", protocol, "--limit-rate", "4M")
            self.assertEqual((code, status, len(body)), (0, 200, 6553600))
        self.check_memory(before)


class ShutdownTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        pass  # each test ends its own server

    def background_curl(self, server, path, *arguments):
        process = subprocess.Popen(
            ["curl", "-sSN", "--noproxy", "*", "--max-time", "30", "--cacert", server.path("ca.pem"), *arguments,
             server.url(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        return process

    def test_watches_get_a_clean_end(self):
        server = self.start()
        watches = [self.background_curl(server, "/watch?every_ms=20", protocol) for protocol in PROTOCOLS]
        for watch in watches:
            self.assertEqual(watch.stdout.readline(), b"line 0\n")
        self.assertEqual(server.stop(), (0, "stopped\n"))
        for watch in watches:
            out, err = watch.communicate(timeout=10)
            self.assertTrue(out.endswith(b"bye\n"), out[-100:])
            self.assertEqual((watch.returncode, err), (0, b""), "curl tells a cut body from an ended one")

    def wait_for_slow(self, server, count):
        """Until the server is in that many slow requests: it tells."""
        deadline = time.monotonic() + 20
        while True:
            with server.connect() as connection:
                connection.sendall(b"GET /slow_requests HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
                running = net.read_all(connection).rpartition(b"\r\n\r\n")[2]
            if int(running) == count:
                return
            self.assertLess(time.monotonic(), deadline, f"{running} of {count} slow requests have begun")

    def test_running_requests_are_answered_and_new_connections_refused(self):
        server = self.start()
        idle = self.connect(server)
        running = [self.background_curl(server, "/slow?ms=4000", protocol, "-w", "%{http_code}")
                   for protocol in PROTOCOLS]
        self.wait_for_slow(server, len(running))
        server.terminate()
        deadline = time.monotonic() + 1.5
        refused = False
        while not refused and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            except OSError as error:  # one that was in the backlog is reset
                refused = isinstance(error, ConnectionRefusedError)
        self.assertTrue(refused)
        self.assertIsNone(server.process.poll(), "it still answers")
        self.assertEqual(net.read_all(idle), b"", "an idle connection is ended at once")
        for request in running:
            out, err = request.communicate(timeout=10)
            self.assertEqual((request.returncode, out, err), (0, b"slow\n200", b""))
        self.assertEqual(server.wait(), (0, "stopped\n"))

    def test_what_does_not_end_is_cut_at_the_deadline(self):
        server = self.start("shutdown_ms=500")
        stuck = [self.background_curl(server, "/slow?ms=60000", protocol) for protocol in PROTOCOLS]
        self.wait_for_slow(server, len(stuck))
        began = time.monotonic()
        self.assertEqual(server.stop(), (0, "stopped\n"))
        self.assertLess(time.monotonic() - began, 5)
        for request in stuck:
            request.communicate(timeout=10)
            self.assertNotEqual(request.returncode, 0)

    def test_shutdown_under_load_loses_no_answer(self):
        server = self.start()
        stop = threading.Event()
        wrong = []

        def call():
            connection = server.connect()
            with connection:
                while not stop.is_set():
                    try:
                        connection.sendall(b"GET /bytes?n=20000 HTTP/1.1\r\nhost: h\r\n\r\n")
                    except OSError:
                        return  # closed between two requests
                    answer = b""
                    while b"\r\n\r\n" not in answer or len(answer.partition(b"\r\n\r\n")[2]) < 20000:
                        try:
                            piece = connection.recv(1 << 16)
                        except OSError:
                            piece = b""
                        if not piece:
                            if answer:
                                wrong.append(answer[:200])  # cut in the middle
                            return
                        answer += piece

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        code, out = server.stop()
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual((code, out, wrong), (0, "stopped\n", []))


if __name__ == "__main__":
    unittest.main(verbosity=1)
