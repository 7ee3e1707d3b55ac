#!/usr/bin/env python3
"""What kubectl makes of YAML: writes yaml_read.json, yaml_stream.json and yaml_print.json beside this file.

  tests/golden/yaml_golden.py          needs kubectl (1.32) on PATH and no cluster; takes two minutes

yaml_read.json    [{"yaml", and "value" or "error"}]: `yaml` follows HEADER in one object, `value` is its field "v".
yaml_stream.json  [{"yaml", and "values" or "error"}]: a whole stream; the field "v" of each object.
yaml_print.json   [{"value", and "yaml" or "error"}]: `value` as the field "v" of an object given in JSON, and what
                  `-o yaml` prints from the line "v:" on.
Integers that kubectl holds as float64 (above int64) are written as floats.
"""
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: a}\n"
OBJECT = {"apiVersion": "x/v1", "kind": "Foo", "metadata": {"name": "a"}}


def kubectl(text, output):
    """(exit code, stdout, stderr) of kubectl reading `text` (str or bytes)."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.yaml")
        with open(path, "wb") as file:
            file.write(data)
        done = subprocess.run(["kubectl", "label", "--local", "-f", path, "a=b", "-o", output], capture_output=True,
                              env={**os.environ, "KUBECONFIG": "/dev/null"}, timeout=60)
        error = done.stderr.decode("utf-8", "replace").strip().replace(path, "in.yaml")
        return done.returncode, done.stdout.decode("utf-8"), error


def as_held(value):
    """kubectl's numbers: above int64 they are float64."""
    if isinstance(value, int) and not isinstance(value, bool) and not -2**63 <= value < 2**63:
        return float(value)
    if isinstance(value, list):
        return [as_held(v) for v in value]
    if isinstance(value, dict):
        return {k: as_held(v) for k, v in value.items()}
    return value


def objects(text):
    """The JSON values that follow each other in `text`."""
    decoder = json.JSONDecoder()
    found = []
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        found.append(value)
        text = text.lstrip()[end:]
    return found


def read_row(yaml):
    code, out, error = kubectl(HEADER + yaml, "json")
    if code != 0:
        return {"yaml": yaml, "error": error.split("error converting YAML to JSON: ")[-1]}
    return {"yaml": yaml, "value": as_held(json.loads(out).get("v"))}


def stream_row(yaml):
    code, out, error = kubectl(yaml, "json")
    if code != 0:
        return {"yaml": yaml, "error": error.split("error converting YAML to JSON: ")[-1]}
    return {"yaml": yaml, "values": [as_held(o.get("v")) for o in objects(out)]}


def print_row(value):
    code, out, error = kubectl(json.dumps({**OBJECT, "v": value}, ensure_ascii=False), "yaml")
    if code != 0:
        return {"value": value, "error": error}
    return {"value": value, "yaml": "v:" + out.split("\nv:", 1)[1]}


# ---- inputs ----

WORDS = """y Y yes Yes YES yES yEs n N no No NO nO true True TRUE tRUE false False FALSE fALSE on On ON oN off Off OFF oFF
null Null NULL nULL ~ nil none None T F t f ye fals ~~ = << < <<< .inf .Inf .INF .iNF +.inf +.Inf +.INF -.inf -.Inf -.INF
.nan .NaN .NAN .Nan +.nan inf Infinity nan NaN""".split()
NUMBERS = """0 1 -1 +1 00 01 007 -007 +007 08 09 018 0644 0o644 0O644 0o 0o8 -0o7 0x 0x1F 0X1f -0xff +0xff 0xg 0x_1F 0b 0b11 0B11 -0b11
+0b11 0b2 0b-1 0b+1 0b-2 0b--1 -0b-1 -0b+1 0B-1 0b_1 1_000 1__0 1_ _1 -_1 +_1 -1_0 12_ 1_2_3 0_7 0x1_F 1_0.5 1.5_0 1e1_0
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615
18446744073709551616 +18446744073709551615 100000000000000000000 0xFFFFFFFFFFFFFFFF 0x1FFFFFFFFFFFFFFFF
0777777777777777777777 0o1777777777777777777777 0777777777777777777777777 -0x8000000000000000 -0x8000000000000001
0b1111111111111111111111111111111111111111111111111111111111111111 0.0 -0 -0.0 +0 1.0 1. 1.e3 .5 .5e1 .5E1 .5_0 ._5 .5_ .5__0 .5e1_0
.5e_1 .5_e1 .5e1_ . .. ... .e5 .5e .5e+ .5e400 .5e-400 +.5 -.5 -.5e3 + - -- ++1 1e3 1E3 1e+3 1e-3 1e 1e+ e3 1e400 -1e400 1E400 1e-400
12e03 1e20 1e21 1e18 9.3e18 1.8446744073709552e19 -9.3e18 123456789.5 0.1 0.000001 1e-7 1.7976931348623157e308
1.7976931348623159e308 4.9e-324 5e-325 1234567.0 16777217.0 3.14159265358979 1.0000000000000001e+23 0.30000000000000004
1,000 1.2.3 1.2e3.4 0x1p3 0x1.8p1 1f 1d 0f 1u 1L 1k 1Ki 100m 1h 0xFFg 12a 1-2""".split()
TIMES = """12:30 12:30:45 190:20:30 190:20:30.15 1:60 1:59 -1:30 +1:30 1:2:3.5 1_0:30 1:3: 2001-01-01 2001-1-1 2001-13-01 2001-02-29
2000-02-29 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43.10Z 2001-12-15T2:59:43.1Z 2001-12-14T21:59:43.10+25:00
2001-12-14T21:59:43 2001-12-14T24:00:00Z 99-01-01 20010-01-01""".split() + [
    "2001-12-14 21:59:43.10 -5", "2001-12-15 2:59:43.10", "2001-12-15  2:59:43", "2001-12-15 02:59:43,5"]
TAGGED = """!!str|!!str 1|!!str true|!!str 2001-01-01|!!str "a"|!!int 1|!!int "12"|!!int 0x1f|!!int 1.0|!!int foo|!!int|!!int ""|!!float 1
!!float 1.5|!!float "1"|!!float 18446744073709551615|!!float foo|!!float .inf|!!float 1e400|!!bool yes|!!bool 1|!!bool "no"|!!null
!!null ""|!!null ~|!!null foo|!!timestamp 2001-01-01|!!timestamp foo|!!timestamp 1|!!binary aGVsbG8=|!!binary "aGVs\\nbG8="
!!binary aGVsbG8|!!binary "a"|!!binary "aGVs bG8="|!!binary "/w=="|!!binary ""|!!binary "=="|!!binary "aa=a"|!!binary "aGVsbG8=="
!!binary "YQ=="|!!binary "YR=="|!!merge <<|!!merge a|!!set {a, b}|!!map [a]|!!seq {a: 1}|!!str {a: 1}|!!str [a]|!!omap [{a: 1}]|!foo 12|!foo "12"
!foo [1]|! 12|! "12"|! a|! true|!!python/object x|!<tag:yaml.org,2002:int> 5|!<tag:x,2000:y> 5|!e!x 5|!!int &a 1|&a !!int 1""".replace("\n",
    "|").split("|")
STYLES = ['"a"', "'a'", "''", '""', "'it''s'", '"a\\tb"', '"\\u00e9"', '"\\U0001F600"', '"\\ud83d\\ude00"', '"\\x41"',
    '"\\e\\_\\N\\L\\P"', '"\\0"',
          '"\\/"', '"\\q"', "'a\\nb'", "'a\n\n  b'", '"a\n  b"', '"a\\\n  b"', "a\n  b", "a\n\n  b", "a b  c", "a # c",
          "a#c", "a: b", "a:b", ":a", "-a",
          "- a", "?a", "? a", "%a", "@a", "`a", "*a", "&a", "&a b", "!a", "|", ">", "|-", ">-", "[a", "{a", "a]", "a}",
          "[]", "{}", "[a, b]",
          "[a, b,]", "[,]", "[a b]", "[a: b]", "[a: b, c]", "{a}", "{a: }", "{a: b, c: d}", "{a b}", "{a, a}",
          '{"a":1}', '{"a":"b"}', "{a: {b: [c]}}",
          '"a" "b"', "'a' 'b'", "a 'b'", "\ta", "a\t", "a\tb", "\u00e9", "\U0001F600", "\u2028", "a\u2028b", "\u00a0",
          "\ufeff", "http://x:80/y?z#w",
          "a,b", "x=1", "$(VAR)", "{{ .x }}", "'{{ .x }}'", "10.0.0.1", "1.2.3", "v1.0", "0.5Gi", "1e3m"]
BLOCKS = ["|\n  a\n  b\n", "|-\n  a\n  b\n", "|+\n  a\n  b\n\n", "|\n  a\n\n", "|+\n\n", "|\n", "|-\n\n\n",
    "|2\n    a\n", "|1-\n  a\n", "|0\n  a\n", "|-2\n   a\n",
          "|\n    a\n  b\n", "|\n  a\n    b\n  c\n", "|\n\n\n  a\n", "|\n   \n  a\n", "|  # c\n  a\n", "|\n  a # c\n",
          "|\n  \ta\n", "|\n  a\t\n", "|\n  a\n # c\n",
          ">\n  a\n  b\n", ">-\n  a\n  b\n", ">+\n  a\n\n", ">\n  a\n\n  b\n", ">\n  a\n    b\n  c\n",
          ">\n  a\n\n\n  b\n", ">2\n    a\n   b\n", "|\n a\n", "|\na\n",
          "|\n  a\r\n  b\r\n", "|\n  a\n  b", "|x\n  a\n", "|++\n  a\n"]
KEYS = """y n yes no on off true false True 1 -1 007 0x10 1_000 1.5 1.0 1e3 1e6 1e300 -1e300 .inf -.inf .nan 16777217.0 0.1 1e-5 1e-4 3.14159265358979
9223372036854775807 9223372036854775808 18446744073709551616 2001-01-01 12:30 ~ null Null << = "" "1" '1' "y" "<<" !!str\u00201 !!int\u00201 !!str\u0020<< !!null\u0020~
!!binary\u0020YQ== !!binary\u0020"/w==" [a] {a:b} {} [] *x |a a,b a/b a.b a-b -a --- ?a é "a\\nb" .5""".split()
KEYS = [k.replace("\u0020", " ") for k in KEYS]
BODIES = [
    # duplicates; of keys that become equal only as strings (1 and "1") kubectl takes a random one, so they are not here
    "v: {a: 1, a: 2}\n", "v:\n  a: 1\n  b: 1\n  a: 2\n", "v: {1: a, 0x1: b}\n", "v: {y: a, true: b}\n",
    # anchors and aliases
    "w: &a 1\nv: *a\n", "w: &a [1, 2]\nv: [*a, *a]\n", "w: &a {x: 1}\nv: *a\n", "v: *a\n", "v: &a [*a]\n",
    "v: &a {b: *a}\n", "v: [&a 1, &a 2, *a]\n",
    "v: [&a [&a 1, *a], *a]\n", "v: {&a x: 1, b: *a}\n", "v: {&a 1: x, *a : y}\n", "v: {&a x: 1, *a : 2}\n",
    "v: {&a b: 1, c: {*a : 2}}\n", "v: {&a 1e6: 1, c: {*a : *a}}\n",
    "w: &a {x: 1}\nv: {*a : 1}\n", "w: &a [1]\nv: {*a : 1}\n", "w: &a ~\nv: {*a : 1}\n", "v: [&a , *a]\n",
    "v: &a\n  b: 1\nw: *a\n", "v: [&a a, b, *a]\n", "v: {&a .inf: 1, b: *a}\n",
    "v: {&a .inf: 1, b: {*a : 2}}\n", "v: [&a-b_1 1, *a-b_1]\n", "v: &a *b\n", "v: [&x 1, *x, *y]\n",
    # merges
    "v: {a: 1, <<: {a: 2}}\n", "v: {<<: {a: 2}, a: 1}\n", "v: {<<: {a: 2, b: 2}, a: 1}\n",
    "v: {<<: [{a: 1}, {a: 2, b: 2}]}\n", "v: {<<: [{a: 1}, {a: 2, b: 2}], b: 3}\n",
    "v: {<<: [[{a: 1}]]}\n", "v: {<<: 1}\n", "v: {<<: }\n", "v: {<<: []}\n", "v: {<<: {}}\n", "v: {<<: ~}\n",
    "v: {\"<<\": {a: 1}}\n", "v: {!!merge <<: {a: 1}}\n", "v: {!!str <<: {a: 1}}\n",
    "v: {<<: {a: 1}, <<: {a: 2, b: 2}}\n", "v: {<<: {<<: {a: 1}, b: 2}, c: 3}\n",
    "w: &a {x: 1, y: 2}\nv: {<<: *a, x: 3}\n", "w: &a {x: 1}\nz: &b {x: 2, q: 3}\nv: {<<: [*a, *b], r: 4}\n",
    "w: &a [{x: 1}]\nv: {<<: *a}\n", "w: &a 1\nv: {<<: *a}\n", "w: &a {x: 1}\nv: {<<: [*a, 1]}\n",
    "v: {<<: {a: 1}, a: 2, a: 3}\n", "v: &a {<<: *a}\n", "w: &k <<\nv: {*k : {a: 1}}\n",
    "v: {a: 1, <<: {b: 2}, b: 3, <<: {b: 4}}\n", "v: [<<, a]\n", "v: {? << : {a: 1}}\n", "v: {'<<': 1, <<: {a: 2}}\n",
    "v: {<<: {'<<': 1}}\n",
    # structure
    "v:\n- a\n- b\n", "v:\n  - a\n  - b\n", "v:\n  a:\n  - b\n  - - c\n    - d\n", "v:\n  - a: 1\n    b: 2\n  - c\n",
    "v:\n  -\n  - a\n  -\n", "v:\n  ? a\n  : b\n", "v:\n  ? a\n", "v:\n  ? |\n    k\n  : x\n",
    "v:\n  ? [a]\n  : b\n", "v:\n  a:\n  b:\n", "v:\n", "v: # c\n  a\n", "v:\n  # c\n  a: 1 # d\n  # e\n",
    "v:\n\ta: 1\n", "v:\n  a: 1\n b: 2\n", "v:\n  a: 1\n   b: 2\n", "v: a\n  b: c\n", "v: a: b\n",
    "v: - a\n", "v: [a,\n b]\n", "v: [a\n", "v: {a: 1\n", "v: \"a\n", "v: 'a\n", "v: a\nv: b\n", "v: a\nb\n", " v: a\n",
    "v : a\n", "v:a\n", "\"v\": a\n", "'v': a\n", "? v\n: a\n", "v: !!map\n  a: 1\n",
    "v: &x\n  a: 1\n", "v: {a: [1, {b: 2}], c: d}\n", "v: [[[[1]]]]\n", "v: {a: 1,\n  b: 2\n}\n",
    "v: {a: 1,\nb: 2\n}\n", "v: [\n1,\n2\n]\n", "v: [a, # c\n  b]\n", "v: [a #c\n  ]\n", "v: [a,#c\n  b]\n",
    "v: {a:1}\n", "v: {a: 1,b: 2}\n", "v: {\"a\":1,'b':2}\n",
    "v: [?x, :y, -z]\n", "v: [a:b, c]\n", "v: {x: a:b}\n", "v: [http://x]\n", "v: {u: http://x/y}\n", "v: \"a\\\n",
    "v: 'a''\n", "v: a\r\nw: b\r\n", "v: |\r\n  a\r\n  b\r\n", "v: a\rw: b\r", "v: a\n...\n", "v: a\n... # c\n",
    "v: a\n...\nw: b\n",
    "v: a\n---\n", "v: 1 2\n", "v: \"\u00e9\"\n", "v: \"\x01\"\n", "v: \x7f\n", "v: \u0085\n", "v: \ufffe\n",
    "v: a\x00b\n", "#c\nv: a\n", "v: a #\n", "v: a\n#", "v: #\n", "v: '#'\n", "%YAML 1.1\n", "v: \"\\\n  a\"\n",
]
STREAMS = ["{O}", "---\n{O}", "{O}---\n", "{O}---\n{P}", "{O}\n---\n\n{P}", "---\n---\n{O}", "{O}---\n---\n{P}",
    "{O}---\n# c\n---\n{P}", "{O}---\n~\n---\n{P}", "{O}---\nnull\n---\n{P}", "# c\n{O}",
           "# c\n---\n{O}", "--- # c\n{O}", "---   \n{O}", "--- {}\n", "{O}...\n", "{O}...\n---\n{P}", "{O}--- \n{P}",
           "{O}---\n{P}---\n{O}", "%YAML 1.1\n---\n{O}", "%YAML 1.2\n---\n{O}", "%TAG ! tag:x,2000:\n---\n{O}",
           "%FOO bar\n---\n{O}",
           "{J}", "{J}\n", "  {J}  ", "{J}{J}", "{J}\n{J}\n", "{J}\n---\n{J}\n", "---\n{J}\n", "{J}\n---\n{P}",
           "\ufeff{O}", "{O}---\n\ufeff{P}", "{O}---\r\n{P}", "{S}", "{O} ---\n{P}", "{O}----\n{P}"]
STREAM_PARTS = {"{O}": HEADER + "v: 1\n", "{P}": HEADER + "v: 2\n", "{J}": json.dumps({**OBJECT, "v": 3}),
                "{S}": '{"apiVersion": "x/v1", "kind": "Foo", "metadata": {"name": "a"}, "v": ["\\ud83d\\ude00", "\\/", 1.0, 1e2, 1.5]}'}

STRINGS = (WORDS + NUMBERS + TIMES + [
    "", " ", "  ", "a", " a", "a ", " a ", "a b", "a  b", "a\tb", "\t", "\ta", "a\t", "\n", "\n\n", "\n\n\n", "a\n",
    "\na", "a\nb", "a\nb\n", "a\nb\n\n", "a\n\nb", "a\n\n\nb\n\n\n", " a\nb", " a\n b\n", "a\n b", "a\n  b\nc\n",
    "a \nb", "a\nb ", "a\n ", "a\n \n", "\n a", "\n a\n", "  \na", " \n", "\n ", "a\n\tb", "a\tb\nc", "a\r\nb", "a\rb",
    "\r", "a\r\n", "a\nb\r", "a\x00b", "\x01", "\x1b[0m", "\x7f", "\x80", "\u0085", "a\u0085b",
    "\u00a0", "a\u00a0b", "\u00e9", "\u4e2d\u6587", "\u200b", "\u2028", "a\u2028b", "a\u2029b\n", "a\nb\u2028c",
    "\ufeff", "\ufeffabc", "a\ufeffb", "\ufffd", "\ufffe", "\U0001F600", "a \U0001F600 b", "a\n\U0001F600\n", "\ud7ff",
    "\ue000",
    "a: b", "a:", ":", ": ", ":a", "a:b", "a :b", "a : b", "-", "- a", "-a", "--", "---", "--- a", "---a", "...",
    "...a", "....", "?", "? a", "?a", "a?", "a ? b", "#", "#a", "# a", "a#", "a #", "a # b", "a#b", ",", ",a", "a,b",
    "a, b", "[", "[a", "]", "]a", "a]",
    "{", "{a", "}", "}a", "a}", "{}", "[]", "{a}", "[a]", "&", "&a", "a&b", "*", "*a", "a*b", "!", "!a", "a!",
    "!!str a", "|", "|a", "a|b", ">", ">a", "a>b", "'", "'a'", "it's", "'a", "a'", "\"", "\"a\"", "a\"b", "say \"hi\"",
    "\"a", "%", "%a", "a%", "@", "@a", "a@b", "`", "`a`",
    "\\", "a\\b", "a\\nb", "\\n", "$(X)", "${X}", "{{ .x }}", "a {{ .x }}", "http://x:80/y?z#w", "x=1", "key=\"v\"",
    "<a>", "&amp;", "/bin/sh -c 'echo \"$X\"'", "a;b", "a||b", "1 2", "1: 2", "- 1", "~a", "/", "//", "*.x",
    "key: [a, b]", "null: 1", "true false",
    "a\n---\nb\n", "---\na\n", "# c\na: 1\n", "a: 1\nb:\n- c\n", "\n# c\n", "{\n  \"a\": 1\n}\n",
    "#!/bin/sh\nset -e\necho a\n", "|\n  a\n", "a\n'b'\n\"c\"\n", "- a\n- b\n", "a:\nb\n"])
LONG = ["word " * 30, ("word " * 30).strip(), "w" * 79 + " x", "w" * 74 + " x y", "w" * 75 + " x y", "w" * 76 + " x y",
    "w" * 77 + " x y", "w" * 78 + " x y", "w" * 79 + " x y", "w" * 80 + " x y", "w" * 81 + " x y z", "w" * 200,
    "w" * 90 + "  two spaces " + "x" * 90 + " y",
        "it's: " + "word " * 30 + "end", "tab\t" + "word " * 30 + "end",
        "tab\t" + "w" * 90 + "  two " + "x" * 90 + "   three y", "\u00e9" * 90 + " \u00e9 " * 20 + "x",
        ("\u4e2d" * 9 + " ") * 12 + "x", "line one " * 20 + "\nline two " * 20 + "\n", "\"quoted\" " * 20 + "x",
        "a" * 81 + " - b " + "c" * 81 + " ? d " + "e" * 81 + " {f}", "x" * 85 + " # no", "x" * 85 + " #",
        "x: " * 40 + "y", "\\ " * 60 + "x", "'" * 60 + " '" * 20 + "x", "\U0001F600 " * 30 + "x", "a\tb " * 30 + "x",
        " " * 100 + "x", "x" + " " * 100 + "y", "x " * 41, " " + "x " * 60 + "y"]
KEY_STRINGS = ["", " ", "a", "a b", "a:", "a: b", "y", "no", "1", "1.5", "~", "null", "<<", "=", "-", "- a", "?", "? a",
    ":", "#", "# a", "a#b", "{a}", "[a]", "*a", "&a", "!a", "|", ">", "'", "it's", "\"", "%", "@", "`", "a\nb", "a\n",
    "\n", "a\tb", "a\rb", "\u00e9", "\U0001F600", "\u2028", "a\u0085b",
               "\ufeff", "2001-01-01", "12:30", "x" * 127, "x" * 128, "x" * 129, "x y " * 40, "\u00e9" * 64,
               "\u00e9" * 65, "---", "...", "a/b.c_d-e", "~1"]
SHAPES = [None, True, False, 0, 1, -1, 9223372036854775807, -9223372036854775808, 1.5, -0.5, 0.1, 1e-7, 1e-5, 1e-4,
    0.0001234, 100000.5, 999999.5, 1000000.5, 1234567.25, 123456789.5, 1e15, 1e20, 1e21, 1.5e300, -1e100, 4.9e-324, 3.0,
    2.5e18, 9.3e18,
          [], {}, [[]], [{}], [[], []], {"a": []}, {"a": {}}, {"a": None}, [None], [[1]], [[1, 2], [3]], [[[1]]],
          [{"a": 1}], [{"a": 1, "b": 2}, {"c": 3}], {"a": [1, 2]}, {"a": {"b": {"c": 1}}}, {"a": [{"b": [{"c": []}]}]},
          [[{"a": [1]}]], [{"a": {"b": 1}}],
          [{"a": [{"b": 1}, {"c": 2}]}, []], {"a": "x\ny\n", "b": ["x\ny", "\n", " x\ny\n\n"]}, [["x\ny"],
          [["x\ny\n"]]], {"a": {"b": " x\ny"}}, [{"a": "x\ny", "b": 1}], {"a": ["word " * 20, {"b": "word " * 20,
          "c": "it's: " + "word " * 20}]},
          # No letter behind a digit here: of x1y, x9 and x10 each comes before the next and the last before the first, and
          # kubectl's order is another one each time.
          {k: 1 for k in ["a10", "a2", "a1", "a", "A", "B", "b", "_", "-", ".", "a_b", "a-b", "a.b", "aB", "ab", "1",
          "2", "10", "01", "001", "0", "", "a01", "a001", "Z", "z", "a b", "/", "~", "{"]},
          {k: 1 for k in ["x9", "x10", "x09", "x010", "x0", "x00", "x1.5", "x1.10", "x1.9", "1.10.0", "1.9.0",
          "1.9.10"]},
          {k: 1 for k in ["\u00e9", "e", "f", "\u00e0", "z", "\u4e2d", "\u0416"]}, {k: 1 for k in ["apiVersion", "kind",
          "metadata", "spec", "status", "data", "API", "app.kubernetes.io/name", "app", "app-1", "app1"]},
          {"x" * 129: {"a": 1}}, {"x" * 129: [1, [2]]}, {"x" * 129: "word " * 30}, {"x y" * 50: None},
          {"a\nb": {"c\nd": [1]}}, {"a\nb": "c\nd\n"}, [{"a\nb": {"c": 1}, "d": 2}], {"x" * 129: {}},
          {"word " * 30: "word " * 30}]


def main():
    reads = ([f"v: {s}\n" for s in WORDS + NUMBERS + TIMES + TAGGED + STYLES + BLOCKS] + [f"v: [{s}]\n" for s in ["y",
    "0644", "1.0", "a b", "12:30", "2001-01-01", "*a", "a:b"]] +
             [f"v: {{{k}: x}}\n" for k in KEYS] + [f"v:\n  {k}: x\n" for k in KEYS] + BODIES)
    streams = []
    for stream in STREAMS:
        for name, part in STREAM_PARTS.items():
            stream = stream.replace(name, part)
        streams.append(stream)
    prints = STRINGS + LONG + SHAPES + [{k: 1} for k in KEY_STRINGS] + [{k: {"a": 1}} for k in ["x" * 129, "a\nb"]]
    jobs = [("yaml_read.json", read_row, reads), ("yaml_stream.json", stream_row, streams), ("yaml_print.json",
    print_row, prints)]
    for name, row, inputs in jobs:
        seen = set()
        unique = [i for i in inputs if not (repr(i) in seen or seen.add(repr(i)))]
        with ThreadPoolExecutor(2) as pool:
            rows = list(pool.map(row, unique))
        with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
        print(f"{name}: {len(rows)} rows, {sum('error' in r for r in rows)} errors")


main()
