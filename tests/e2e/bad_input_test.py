"""Bad input: what is wrong is answered with the Status that kube-apiserver gives, and nothing is lost or held up by it."""
import socket
import ssl
import threading
import time

from harness import DEADLINE, E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

MAPS = "/api/v1/namespaces/{ns}/configmaps"
UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
HANDLED = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '


class BodyTest(E2E):
    def tearDown(self):
        self.assertEqual(self.api("GET", MAPS)["items"], [], "a refused request has left something")

    def refused(self, code, reason, words, method, path, body=None, **headers):
        reply = self.cluster.request(method, self.path(path), body, headers)
        self.assertEqual(reply.status, code, reply.body[:500])
        status = reply.json
        self.assertEqual((status["kind"], status["apiVersion"], status["status"], status["code"], status["reason"]),
                         ("Status", "v1", "Failure", code, reason))
        self.assertIn(words, status["message"])
        return status

    def test_bodies_that_are_not_objects(self):
        for body in (b"", b'{"metadata":', b'{"metadata":{"name":"a"}} x', b"[]", b'"text"', b"{'a': 1}", b"\x00\x01", b"nul"):
            with self.subTest(body=body):
                self.refused(400, "BadRequest", UNRECOGNIZED, "POST", MAPS, body)

    def test_wrong_types(self):
        for body, words in (
                (b'{"metadata":{"name":5}}', HANDLED + "number into Go struct field ObjectMeta.metadata.name of type string"),
                (b'{"metadata":{"name":"a"},"data":[]}', HANDLED + "array into Go struct field ConfigMap.data of type map[string]string"),
                (b'{"metadata":{"name":"a"},"data":{"k":1}}', HANDLED + "number into Go struct field ConfigMap.data of type string"),
                (b'{"metadata":"a"}', HANDLED + "string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
                (b'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}', 'Secret in version "v1" cannot be handled as a ConfigMap'),
                (b'{"apiVersion":"v9","kind":"ConfigMap","metadata":{"name":"a"}}', 'ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind')):
            with self.subTest(body=body):
                self.refused(400, "BadRequest", words, "POST", MAPS, body)

    def test_sizes(self):
        self.refused(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", "POST", MAPS,
                     b'{"metadata":{"name":"a"},"data":{"k":"' + b"x" * (4 << 20) + b'"}}')
        status = self.refused(422, "Invalid", "Too long: may not be more than 1048576 bytes", "POST", MAPS,
                              {"metadata": {"name": "a"}, "data": {"k": "x" * (1 << 20), "l": "x"}})
        self.assertEqual(status["details"]["causes"][0]["reason"], "FieldValueTooLong")

    def test_deep_nesting(self):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            depth = 200000
            body = b'{"metadata":{"name":"a"},"x":' + opening * depth + b"1" + closing * depth + b"}"
            self.refused(400, "BadRequest", UNRECOGNIZED, "POST", MAPS, body)

    def test_yaml_that_grows(self):
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
        reply = self.cluster.request("PATCH", self.path(MAPS + "/a?fieldManager=m"), "\n".join(lines).encode(),
                                     {"Content-Type": "application/apply-patch+yaml"})
        self.assertEqual(reply.status, 400, reply.body[:300])

    def test_media_types(self):
        self.refused(415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json",
                     "POST", MAPS, b"<x/>", **{"Content-Type": "text/xml"})
        self.refused(415, "UnsupportedMediaType", "415: Unsupported Media Type", "PATCH", MAPS + "/a", b"{}", **{"Content-Type": "application/json"})
        self.refused(406, "NotAcceptable", "application/json, application/yaml", "GET", MAPS, Accept="text/xml")

    def test_patches_that_are_not_patches(self):
        self.api("POST", MAPS, {"metadata": {"name": "a"}}, expect=201)
        for kind, body, code in (("json-patch+json", b"{", 400), ("merge-patch+json", b"{", 400), ("strategic-merge-patch+json", b"{", 400),
                                 ("json-patch+json", b'{"op":"add"}', 400), ("merge-patch+json", b"[]", 400)):
            with self.subTest(kind=kind, body=body):
                reply = self.cluster.request("PATCH", self.path(MAPS + "/a"), body, {"Content-Type": f"application/{kind}"})
                self.assertEqual((reply.status, reply.json["code"]), (code, code), reply.body)
        self.api("DELETE", MAPS + "/a")

    def test_methods_paths_and_parameters(self):
        self.refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "PUT", MAPS, b"{}")
        self.refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "POST", MAPS + "/a", b"{}")
        self.refused(404, "NotFound", "the server could not find the requested resource", "GET", "/api/v1/namespaces/{ns}/nonsense")
        self.refused(404, "NotFound", 'configmaps "nonsense" not found', "GET", MAPS + "/nonsense")
        self.refused(400, "BadRequest", "Name parameter invalid: \"..\": may not be '..'", "GET", MAPS + "/%2e%2e")
        self.refused(400, "BadRequest", "found '==', expected: !, identifier, or 'end of string'", "GET", MAPS + "?labelSelector=%3D%3D")
        self.refused(400, "BadRequest", '"a.b" is not a known field selector: only "metadata.name", "metadata.namespace"', "GET",
                     MAPS + "?fieldSelector=a.b%3Dc")
        self.refused(400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax', "GET", MAPS + "?limit=x")
        self.refused(400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax', "GET", MAPS + "?watch=1&timeoutSeconds=x")
        self.assertEqual(self.cluster.request("GET", "/apis/no.such.group/v1/things").status, 404)

    def test_long_selectors_are_taken(self):
        names = ",".join(f"name-{number}" for number in range(1500))
        self.assertEqual(self.api("GET", MAPS + f"?labelSelector=app+in+({names})")["items"], [])


class WireTest(E2E):
    """What is wrong below HTTP's bodies, over connections of its own."""

    def open(self):
        plain = socket.create_connection((self.cluster.url.hostname, self.cluster.url.port), timeout=DEADLINE)
        self.addCleanup(plain.close)
        return plain

    def open_tls(self):
        secured = self.cluster.tls().wrap_socket(self.open(), server_hostname=self.cluster.url.hostname)
        self.addCleanup(secured.close)
        return secured

    def answer(self, data):
        """The first line of the answer to the bytes, or nothing when the connection is closed."""
        connection = self.open_tls()
        connection.sendall(data)
        try:
            return connection.makefile("rb").readline()
        except (ConnectionError, ssl.SSLError):
            return b""

    def alive(self):
        self.assertEqual(self.cluster.request("GET", "/readyz").body, b"ok")

    def test_malformed_http(self):
        for data in (b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET /api HTTP/9.9\r\n\r\n", b"GET /api HTTP/1.1\r\n\r\n", b"GET /api HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n",
                     b"POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", b"POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: nonsense\r\n\r\n",
                     b"POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"):
            with self.subTest(data=data):
                self.assertRegex(self.answer(data) or b"HTTP/1.1 400 closed", rb"^HTTP/1\.[01] (400|501|505)")
        self.alive()

    def test_bytes_that_are_not_tls(self):
        for data in (b"GET /api HTTP/1.1\r\nHost: a\r\n\r\n", b"\x00" * 64, bytes(range(256)) * 4):
            connection = self.open()
            connection.sendall(data)
            try:
                answer = connection.makefile("rb").readline()
            except ConnectionError:
                answer = b""
            self.assertNotIn(b" 200 ", answer)
        self.alive()

    def test_half_a_body_writes_nothing(self):
        connection = self.open_tls()
        body = b'{"metadata":{"name":"half"}}'
        connection.sendall(self.path(f"POST {MAPS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n").encode() +
                           b"Content-Length: %d\r\n\r\n" % (len(body) + 10) + body)
        connection.close()
        self.alive()
        self.assertEqual(self.api("GET", MAPS)["items"], [])

    def test_silent_and_slow_connections_hold_up_nobody(self):
        """Some hundred connections that send nothing, half a handshake, or a header byte by byte."""
        slow = []
        for number in range(120):
            if number % 3 == 0:
                slow.append(self.open())
            elif number % 3 == 1:
                slow.append(self.open())
                slow[-1].sendall(b"\x16\x03\x01\x02")
            else:
                slow.append(self.open_tls())
                slow[-1].sendall(b"GET /api HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        done = threading.Event()

        def drip():
            while not done.wait(0.2):
                for connection in slow[2::3]:
                    try:
                        connection.sendall(b"a")
                    except OSError:
                        pass
        thread = threading.Thread(target=drip)
        thread.start()
        try:
            begun = time.monotonic()
            for number in range(20):
                self.config_map(f"c{number}")
            self.assertEqual(len(self.api("GET", MAPS)["items"]), 20)
            self.assertLess(time.monotonic() - begun, DEADLINE)
        finally:
            done.set()
            thread.join()

    def test_a_client_that_reads_nothing_of_its_watch_holds_up_nobody(self):
        connection = self.open_tls()
        connection.sendall(self.path(f"GET {MAPS}?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n").encode())
        for number in range(30):
            self.config_map(f"c{number}", {"k": "x" * 100000})
        self.assertEqual(len(self.api("GET", MAPS)["items"]), 30)

    def test_pipelined_requests_are_answered_in_order(self):
        connection = self.open_tls()
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /nonsense HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        lines = [line for line in connection.makefile("rb").read().split(b"\r\n") if line.startswith(b"HTTP/1.1 ") or b"HTTP/1.1 " in line]
        self.assertEqual([line[line.index(b"HTTP/1.1 ") + 9:][:3] for line in lines], [b"200", b"404", b"200"])


if __name__ == "__main__":
    main()
