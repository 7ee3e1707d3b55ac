"""Attacks on HttpServer over loopback, each bounded in count and time: what the attacker gets, what it costs the server
(memory, CPU), and that others are served meanwhile. Run by ctest with the path of net_test_server, and "sanitized"
when it was built with sanitizers (then its memory and CPU say nothing)."""
import select
import socket
import struct
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
ENHANCE_YOUR_CALM = 11


class AttackTest(unittest.TestCase):
    def start(self, *arguments):
        server = net.Server(PROGRAM, *arguments)
        self.addCleanup(self.finish, server)
        return server

    def finish(self, server):
        """Whatever was done to it, it serves, and ends in good order."""
        try:
            self.assert_serves(server)
            self.assertEqual(server.stop(), (0, "stopped\n"))
        finally:
            server.close()

    def connect(self, server, **options):
        connection = server.connect(**options)
        self.addCleanup(connection.close)
        return connection

    def http2(self, server, *entries, receive_buffer=None):
        connection = self.connect(server, alpn=("h2",), receive_buffer=receive_buffer)
        net.send_quietly(connection, net.PREFACE + net.settings(*entries))
        return connection

    def assert_serves(self, server, within=10):
        began = time.monotonic()
        with server.connect() as connection:
            connection.sendall(b"GET /hello HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
            self.assertTrue(net.read_all(connection).endswith(b"\r\n\r\nhello\n"))
        self.assertLess(time.monotonic() - began, within)

    def cost(self, server):
        """Measures from now on; the result is called with the bounds."""
        memory = server.start_peak()
        cpu = server.cpu_seconds()

        def check(memory_max, cpu_max):
            if SANITIZED:
                return
            self.assertLess((server.peak() - memory) / MIB, memory_max, "MiB of memory")
            self.assertLess(server.cpu_seconds() - cpu, cpu_max, "CPU seconds")
        return check

    def read_until_closed(self, connections, within):
        """What each connection got until the server closed it."""
        deadline = time.monotonic() + within
        got = {connection: b"" for connection in connections}
        waiting = set(connections)
        while waiting:
            left = deadline - time.monotonic()
            self.assertGreater(left, 0, f"{len(waiting)} connections are still open")
            for connection in select.select(list(waiting), [], [], left)[0]:
                try:
                    piece = connection.recv(1 << 16)
                except ConnectionError:
                    piece = b""
                got[connection] += piece
                if not piece:
                    waiting.remove(connection)
        return list(got.values())


class SlowTest(AttackTest):
    """Clients that take their time, 300 at once."""
    count = 300

    def dribble(self, server, first, then, seconds):
        """All send `first`, then `then` byte by byte. What each got, when all are closed."""
        connections = [self.connect(server) for _ in range(self.count)]
        for connection in connections:
            net.send_quietly(connection, first)
        stop = time.monotonic() + seconds
        at = 0
        while time.monotonic() < stop:
            for connection in connections:
                net.send_quietly(connection, then[at % len(then):][:1])
            at += 1
            self.assert_serves(server)
            time.sleep(0.1)
        return self.read_until_closed(connections, 15)

    def test_heads_byte_by_byte(self):
        server = self.start("plain", "request_header_ms=1000")
        check = self.cost(server)
        for got in self.dribble(server, b"GET / HTTP/1.1\r\nhost: h\r\n", b"x: y\r\n", 1.5):
            self.assertTrue(got.startswith(b"HTTP/1.1 408 ") or got == b"", got)
        check(memory_max=8, cpu_max=1.5)

    def test_bodies_byte_by_byte(self):
        server = self.start("plain", "request_body_ms=1000")
        check = self.cost(server)
        for got in self.dribble(server, b"POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: 3000000\r\n\r\n", b"x", 1.5):
            self.assertTrue(got.startswith(b"HTTP/1.1 408 ") or got == b"", got)
        check(memory_max=8, cpu_max=1.5)

    def test_handshakes_that_do_not_go_on(self):
        server = self.start("handshake_ms=1000")
        check = self.cost(server)
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # the beginning of a ClientHello
        connections = []
        for i in range(self.count):
            connection = socket.create_connection(("127.0.0.1", server.port))
            self.addCleanup(connection.close)
            connection.sendall(hello[:i % (len(hello) + 1)])  # from nothing at all to all of it
            connections.append(connection)
        self.assert_serves(server)
        self.read_until_closed(connections, 10)
        check(memory_max=20, cpu_max=1.5)

    def test_connections_that_say_nothing(self):
        server = self.start("plain", "request_header_ms=500")
        check = self.cost(server)
        connections = [self.connect(server) for _ in range(self.count)]
        self.assert_serves(server)
        self.assertEqual(self.read_until_closed(connections, 10), [b""] * self.count)
        check(memory_max=8, cpu_max=1)

    def test_connections_that_stay_idle_after_a_request(self):
        server = self.start("plain", "idle_ms=500")
        connections = [self.connect(server) for _ in range(self.count)]
        for connection in connections:
            connection.sendall(b"GET /hello HTTP/1.1\r\nhost: h\r\n\r\n")
        for got in self.read_until_closed(connections, 10):
            self.assertTrue(got.endswith(b"hello\n"))


class HalfOpenTest(AttackTest):
    def test_clients_that_do_not_read_are_cut_off(self):
        server = self.start("write_stall_ms=1000")
        check = self.cost(server)
        connections = [self.connect(server, receive_buffer=4096) for _ in range(20)]
        for connection in connections:
            connection.sendall(b"GET /stream?chunks=10000&bytes=65536 HTTP/1.1\r\nhost: h\r\n\r\n")
        deadline = time.monotonic() + 15
        while self.open_connections(server) > 0:
            self.assertLess(time.monotonic(), deadline, "they are not cut off")
            self.assert_serves(server)
            time.sleep(0.2)
        check(memory_max=20, cpu_max=3)

    def open_connections(self, server):
        """Of the server's side, established: what /proc/net/tcp shows for its port."""
        local = f"0100007F:{server.port:04X}"
        with open("/proc/net/tcp", encoding="utf-8") as file:
            rows = [line.split() for line in file]
        return sum(1 for row in rows if row[1] == local and row[3] == "01")

    def test_clients_that_vanish_under_a_running_handler(self):
        server = self.start()
        for alpn in ("http/1.1", "h2"):
            for _ in range(50):
                connection = server.connect(alpn=(alpn,))
                if alpn == "h2":
                    connection.sendall(net.PREFACE + net.settings() + net.get(1, "/watch?every_ms=10"))
                else:
                    connection.sendall(b"GET /watch?every_ms=10 HTTP/1.1\r\nhost: h\r\n\r\n")
                connection.recv(10)
                # A reset instead of a clean end.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
        deadline = time.monotonic() + 10
        while self.open_connections(server) > 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        began = server.cpu_seconds()
        time.sleep(0.5)
        if not SANITIZED:
            self.assertLess(server.cpu_seconds() - began, 0.05, "handlers of clients that are gone still run")

    def test_a_peer_that_answers_no_ping_is_gone(self):
        server = self.start("http2_ping_ms=500")
        connection = self.http2(server)
        connection.sendall(net.get(1, "/slow?ms=60000"))
        frames = net.Frames(connection)
        self.assertIsNotNone(frames.until(net.PING), "it is asked")
        began = time.monotonic()
        self.assertIsNone(frames.until(net.DATA), "and cut off")
        self.assertLess(time.monotonic() - began, 5)


class LimitsTest(AttackTest):
    """Without TLS where one thread writes while another reads: Python's TLS sockets are not made for that."""
    def test_too_many_connections(self):
        server = self.start("plain", "connections_max=20")
        held = [self.connect(server) for _ in range(19)]
        self.assert_serves(server)
        held.append(self.connect(server))
        held[-1].sendall(b"GET /hello HTTP/1.1\r\nhost: h\r\n\r\n")
        self.assertTrue(held[-1].recv(1000).startswith(b"HTTP/1.1 200 "))
        check = self.cost(server)
        for _ in range(500):
            with server.connect() as refused:
                self.assertEqual(net.read_all(refused), b"")
        check(memory_max=4, cpu_max=1)
        held.pop().close()
        deadline = time.monotonic() + 5
        while True:  # the server sees the end of that one soon
            with server.connect() as connection:
                net.send_quietly(connection, b"GET /hello HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
                if net.read_all(connection).endswith(b"hello\n"):
                    break
            self.assertLess(time.monotonic(), deadline)

    def test_header_bombs(self):
        server = self.start("plain")
        check = self.cost(server)
        start = b"GET / HTTP/1.1\r\nhost: h\r\n"
        bombs = {
            "one endless field": (start + b"x: ", b"y" * MIB, 431),
            "endless fields": (start, b"x: y\r\n" * (MIB // 6), 431),
            "an endless name": (start, b"y" * MIB, 431),
            "an endless target": (b"GET /", b"y" * MIB, 414),
            "endless blank lines": (b"", b"\r\n" * (MIB // 2), 400),
            "an endless method": (b"", b"Y" * MIB, None),
            "endless trailers": (b"POST /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
                                 b"x: y\r\n" * (MIB // 6), 431),
            "endless chunk extensions": (b"POST /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5;",
                                         b"y" * MIB, None),
        }
        for what, (first, piece, status) in bombs.items():
            with self.subTest(what):
                connection = self.connect(server)
                thread = threading.Thread(target=self.pour, args=(connection, first, piece, 12))
                thread.start()
                got = net.read_all(connection)
                thread.join()
                self.assertRegex(got, rb"^HTTP/1\.1 4\d\d ")
                if status is not None:
                    self.assertTrue(got.startswith(b"HTTP/1.1 %d " % status), got)
                self.assertIn(b"connection: close\r\n", got)
        check(memory_max=8, cpu_max=3)

    def pour(self, connection, first, piece, times):
        try:
            connection.sendall(first)
            for _ in range(times):
                connection.sendall(piece)
        except OSError:
            pass  # closed, as it should be

    def test_bodies_beyond_the_limit_are_not_kept(self):
        server = self.start("plain")
        check = self.cost(server)
        for first in (b"content-length: 1000000000\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n40000000\r\n"):
            with self.subTest(first):
                connection = self.connect(server)
                thread = threading.Thread(
                    target=self.pour,
                    args=(connection, b"POST /echo HTTP/1.1\r\nhost: h\r\n" + first, b"x" * MIB, 100))
                thread.start()
                self.assertTrue(net.read_all(connection).startswith(b"HTTP/1.1 413 "))
                thread.join()
        check(memory_max=16, cpu_max=3)


    def test_pipelined_requests_whose_answers_are_not_read(self):
        server = self.start("plain", "write_stall_ms=1000")
        check = self.cost(server)
        connection = self.connect(server, receive_buffer=4096, timeout=5)
        requests = b"GET /bytes?n=100000 HTTP/1.1\r\nhost: h\r\n\r\n" * 10_000
        sent = 0
        with self.assertRaises(OSError, msg="it is cut off"):
            while sent < 200 * MIB:
                connection.sendall(requests)
                sent += len(requests)
        self.assertLess(sent, 16 * MIB, "the server goes on reading")
        check(memory_max=4, cpu_max=1)


class Http2Test(AttackTest):
    def test_rapid_reset(self):
        server = self.start("plain")
        check = self.cost(server)
        connection = self.http2(server)
        thread = threading.Thread(target=net.send_quietly, args=(connection, b"".join(
            net.get(i, "/slow?ms=60000") + net.reset(i, 8) for i in range(1, 100_000, 2))))
        thread.start()
        self.assert_serves(server)
        self.assertEqual(net.Frames(connection).goaway_code(), ENHANCE_YOUR_CALM)
        thread.join()
        check(memory_max=16, cpu_max=2)

    def test_refused_streams_that_are_not_heard_of(self):
        """A client that knows no limit of streams, and reads no refusal."""
        server = self.start("plain", "write_stall_ms=1000")
        check = self.cost(server)
        connection = self.http2(server, receive_buffer=4096)
        connection.settimeout(5)
        with self.assertRaises(OSError, msg="it is cut off"):
            for first in range(1, 4_000_000, 20_000):
                connection.sendall(b"".join(net.get(i, "/slow?ms=60000") for i in range(first, first + 20_000, 2)))
        check(memory_max=8, cpu_max=1)

    def flood(self, server, data, times):
        """Sends that much and reads nothing; true when the server cut it off."""
        connection = self.http2(server, receive_buffer=4096)
        connection.settimeout(5)
        try:
            for _ in range(times):
                connection.sendall(data)
        except (ConnectionError, OSError):
            return True
        return False

    def test_floods_that_want_answers(self):
        floods = {
            "PING": net.frame(net.PING, 0, 0, b"12345678") * 10_000,
            "SETTINGS": net.settings() * 10_000,
            "SETTINGS with entries": net.settings((1, 0), (1, 4096), (4, 1000)) * 10_000,
        }
        for what, flood in floods.items():
            with self.subTest(what):
                server = self.start()
                check = self.cost(server)
                self.assertTrue(self.flood(server, flood, 100))
                self.assert_serves(server)
                check(memory_max=16, cpu_max=3)

    def test_floods_that_want_none_cost_their_bytes(self):
        floods = {
            "WINDOW_UPDATE": net.window_update(0, 1) * 10_000,
            "unknown frames": net.frame(0xfa, 0, 0, b"unknown") * 10_000,
            "PRIORITY": net.frame(2, 0, 1, b"\0\0\0\0\1") * 10_000,
            "empty DATA on a closed stream": net.frame(net.DATA, 0, 1) * 10_000,
        }
        for what, flood in floods.items():
            with self.subTest(what):
                server = self.start()
                check = self.cost(server)
                self.flood(server, flood, 20)
                self.assert_serves(server)
                check(memory_max=16, cpu_max=3)

    def test_endless_header_blocks(self):
        continued = {
            "fields": net.hpack([("x", "y" * 10_000)]),
            "nothing": b"",
            "a field that does not end": b"y" * 10_000,
        }
        for what, block in continued.items():
            with self.subTest(what):
                server = self.start("plain")
                check = self.cost(server)
                connection = self.http2(server)
                first = net.request_block("GET", "/")
                if what == "a field that does not end":
                    first += b"\0\1x\x7f\xff\xff\xff\x03"
                flood = net.frame(net.HEADERS, net.END_STREAM, 1, first)
                flood += net.frame(net.CONTINUATION, 0, 1, block) * (100_000 if what == "nothing" else 1000)
                thread = threading.Thread(target=net.send_quietly, args=(connection, flood))
                thread.start()
                frames = net.Frames(connection)
                self.assertIsNone(frames.until(net.HEADERS), "no answer, the connection ends")
                thread.join()
                check(memory_max=16, cpu_max=2)

    def test_hpack_bombs(self):
        server = self.start()
        check = self.cost(server)
        connection = self.http2(server)
        # A field of 4,000 bytes into the dynamic table, and then 12,000 references of a byte each: 48 MB.
        bomb = net.request_block("GET", "/") + b"\x40\1x\x7f\xa1\x1e" + b"y" * 4000 + b"\xbe" * 12_000
        net.send_quietly(connection, net.frame(net.HEADERS, net.END_HEADERS | net.END_STREAM, 1, bomb))
        self.assertIsNone(net.Frames(connection).until(net.HEADERS), "no answer, the connection ends")
        # A table size beyond what was agreed.
        connection = self.http2(server)
        net.send_quietly(connection, net.frame(net.HEADERS, net.END_HEADERS | net.END_STREAM, 1, b"\x3f\xe1\xff\x03"))
        self.assertEqual(net.Frames(connection).goaway_code(), 9, "COMPRESSION_ERROR")
        check(memory_max=8, cpu_max=1)

    def test_streams_with_a_closed_window(self):
        """250 streams, each wanting 64 MiB, and a window of nothing: the server makes little of it, and gives up."""
        server = self.start("write_stall_ms=1500")
        check = self.cost(server)
        connection = self.http2(server, (4, 0))
        connection.sendall(b"".join(net.get(i, "/stream?chunks=4096&bytes=16384") for i in range(1, 500, 2)))
        frames = net.Frames(connection)
        self.assert_serves(server)
        resets = set()
        while len(resets) < 250:
            got = frames.until(net.RST_STREAM)
            self.assertIsNotNone(got, "only the streams end")
            resets.add(got[2])
        check(memory_max=32, cpu_max=2)
        connection.sendall(net.get(501, "/nothing-here"))
        self.assertIsNotNone(frames.until(net.HEADERS, 501))

    def test_window_of_one_byte(self):
        server = self.start()
        check = self.cost(server)
        connection = self.http2(server, (4, 1))
        connection.sendall(net.get(1, "/bytes?n=100000"))
        frames = net.Frames(connection)
        for _ in range(2000):
            kind, _, _, payload = frames.until(net.DATA, 1)
            self.assertEqual(len(payload), 1)
            connection.sendall(net.window_update(1, 1))
        check(memory_max=4, cpu_max=1.5)

    def test_too_many_streams(self):
        server = self.start("streams_max=10")
        connection = self.http2(server)
        connection.sendall(b"".join(net.get(i, "/slow?ms=60000") for i in range(1, 41, 2)))
        frames = net.Frames(connection)
        for i in range(21, 41, 2):
            _, _, stream, payload = frames.until(net.RST_STREAM)
            self.assertEqual((stream, int.from_bytes(payload, "big")), (i, 7), "REFUSED_STREAM: may be tried again")

    def test_many_half_sent_bodies(self):
        """250 uploads of 3 MiB, none of them ended: 750 MiB, of which the server takes little."""
        server = self.start()
        check = self.cost(server)
        connection = self.http2(server)
        head = b"".join(net.frame(net.HEADERS, net.END_HEADERS, i, net.request_block("POST", "/echo"))
                        for i in range(1, 500, 2))
        connection.sendall(head)
        connection.settimeout(1)
        windows = {0: 65535}
        frames = net.Frames(connection)
        initial = 65535
        sent = 0
        streams = {i: 0 for i in range(1, 500, 2)}
        began = time.monotonic()
        piece = b"x" * 16_000
        while time.monotonic() - began < 10:
            progress = False
            for i in streams:
                room = min(windows[0], windows.get(i, initial))
                if room < len(piece) or streams[i] + len(piece) >= 3_000_000:
                    continue
                connection.sendall(net.frame(net.DATA, 0, i, piece))
                windows[0] -= len(piece)
                windows[i] = windows.get(i, initial) - len(piece)
                streams[i] += len(piece)
                sent += len(piece)
                progress = True
            try:
                while not progress or select.select([connection], [], [], 0)[0] or connection.pending():
                    got = frames.next()
                    self.assertIsNotNone(got)
                    if got[0] == net.SETTINGS and not got[1] & net.ACK:
                        for at in range(0, len(got[3]), 6):
                            key, value = struct.unpack(">HI", got[3][at:at + 6])
                            if key == 4:
                                for i in list(windows):
                                    windows[i] += value - initial if i != 0 else 0
                                initial = value
                        connection.sendall(net.frame(net.SETTINGS, net.ACK, 0))
                    if got[0] == net.WINDOW_UPDATE:
                        windows[got[2]] = windows.get(got[2], initial) + int.from_bytes(got[3], "big")
                        progress = True
            except TimeoutError:
                break  # the server wants no more
        self.assertGreater(sent, 8 * MIB)
        self.assertLess(sent, 100 * MIB)
        self.assert_serves(server)
        check(memory_max=128, cpu_max=3)


if __name__ == "__main__":
    unittest.main(verbosity=1)
