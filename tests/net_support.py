"""What the black-box tests and the benchmark of `net` share: the test server as a process, and HTTP/2 frames by hand."""
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4


class Process:
    """What /proc tells about a process."""

    def __init__(self, pid):
        self.pid = pid

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status(self, name):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        return 0

    def memory(self):
        return self._status("VmRSS")

    def start_peak(self):
        """The peak counts from now on. Returns the memory in use."""
        with open(f"/proc/{self.pid}/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")
        return self.memory()

    def peak(self):
        return self._status("VmHWM")


class Server(Process):
    """net_test_server with these arguments, until stop() or close()."""

    def __init__(self, program, *arguments):
        self.directory = tempfile.mkdtemp(prefix="baton_net_")
        self.plain = "plain" in arguments
        self.process = subprocess.Popen([program, self.directory, *arguments], stdout=subprocess.PIPE, text=True)
        super().__init__(self.process.pid)
        first = self.process.stdout.readline().split()
        if len(first) != 2:
            self.close()
            raise RuntimeError("net_test_server did not start")
        self.port = int(first[1])

    def path(self, name):
        return os.path.join(self.directory, name)

    def url(self, path):
        return f"{'http' if self.plain else 'https'}://127.0.0.1:{self.port}{path}"

    def connect(self, alpn=("http/1.1",), timeout=20, receive_buffer=None, port=None):
        """A blocking connection, with TLS when the server has it. `port`: of another that shows this one's certificate."""
        raw = socket.socket()
        if receive_buffer is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.settimeout(timeout)
        raw.connect(("127.0.0.1", port or self.port))
        if self.plain:
            return raw
        context = ssl.create_default_context(cafile=self.path("ca.pem"))
        context.set_alpn_protocols(list(alpn))
        return context.wrap_socket(raw, server_hostname="localhost")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self):
        """SIGTERM, and the exit code and last words."""
        self.terminate()
        return self.wait()

    def wait(self):
        out, _ = self.process.communicate(timeout=30)
        return self.process.returncode, out

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        shutil.rmtree(self.directory, ignore_errors=True)


def read_all(connection, limit=1 << 30):
    """All that comes until the end; a reset is an end too."""
    pieces = []
    total = 0
    while total < limit:
        try:
            piece = connection.recv(1 << 16)
        except (ConnectionError, ssl.SSLError):
            break
        if not piece:
            break
        pieces.append(piece)
        total += len(piece)
    return b"".join(pieces)


def send_quietly(connection, data):
    """Sends as much as the server takes before it closes."""
    try:
        connection.sendall(data)
    except (ConnectionError, ssl.SSLError, TimeoutError):
        pass


# ---- HTTP/2 frames ----

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def hpack(fields):
    """Literals that are not indexed."""
    def text(value):
        value = value.encode()
        if len(value) < 127:
            return bytes([len(value)]) + value
        rest = len(value) - 127
        out = b"\x7f"
        while rest >= 128:
            out += bytes([rest % 128 + 128])
            rest //= 128
        return out + bytes([rest]) + value
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def request_block(method, path, more=()):
    return hpack([(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path), *more])


def get(stream, path):
    return frame(HEADERS, END_STREAM | END_HEADERS, stream, request_block("GET", path))


def settings(*entries):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", key, value) for key, value in entries))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def reset(stream, code):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


class Frames:
    """Frames out of a connection: (kind, flags, stream, payload), None at its end."""

    def __init__(self, connection):
        self.connection = connection
        self.buffer = b""

    def _fill(self, size):
        while len(self.buffer) < size:
            try:
                piece = self.connection.recv(1 << 16)
            except (ConnectionError, ssl.SSLError):
                piece = b""
            if not piece:
                return False
            self.buffer += piece
        return True

    def next(self):
        if not self._fill(9):
            return None
        length = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big")
        if not self._fill(9 + length):
            return None
        payload = self.buffer[9:9 + length]
        self.buffer = self.buffer[9 + length:]
        return kind, flags, stream, payload

    def until(self, kind, stream=None):
        """The next frame of that kind, or None."""
        while (got := self.next()) is not None:
            if got[0] == kind and (stream is None or got[2] == stream):
                return got
        return None

    def goaway_code(self):
        """The code of the connection's last GOAWAY; None: it ended without one."""
        code = None
        while (got := self.until(GOAWAY)) is not None:
            code = int.from_bytes(got[3][4:8], "big")
        return code
