"""What an interactive zsh makes of a line and Tab, with Baton's completion loaded as a user loads it.

    complete("/path/to/baton", "baton drain practice-2")      # the line as it stands then
"""
import os
import pty
import select
import shutil
import signal
import tempfile
import time

PATIENCE = 120  # seconds, of a loaded machine
SOURCED = "autoload -U compinit && compinit -u -D\nsource <(baton completion zsh)\n"
SOURCED_FIRST = "source <(baton completion zsh)\n"  # nothing has loaded the completion system before
IN_FPATH = 'baton completion zsh > "$ZDOTDIR/_baton"\nfpath=("$ZDOTDIR" $fpath)\nautoload -U compinit && compinit -u -D\n'
SHOW = 'PS1="READY> "\nshow() { print -rn -- "$BUFFER" > "$ZDOTDIR/line.new" && mv "$ZDOTDIR/line.new" "$ZDOTDIR/line" }\nzle -N show\nbindkey "^T" show\n'


def installed():
    return shutil.which("zsh") is not None


def complete(program, line, loaded=SOURCED, environment=None):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(program), os.path.join(folder, "baton"))
        with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as file:
            file.write(loaded + SHOW)
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update({"ZDOTDIR": folder, "TERM": "dumb", "PATH": folder + ":" + os.environ["PATH"], **(environment or {})})
            os.execvp("zsh", ["zsh", "-d", "-i"])
        try:
            return _type(terminal, line, os.path.join(folder, "line"))
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)


def _type(terminal, line, answer):
    seen = b""
    typed = False
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            seen += os.read(terminal, 65536)
        if not typed and b"READY> " in seen:
            os.write(terminal, line.encode() + b"\t\x14")
            typed = True
        if os.path.exists(answer):
            with open(answer, encoding="utf-8") as file:
                return file.read().rstrip()
    raise AssertionError(f"zsh did not complete {line!r} in {PATIENCE} s; it said {seen.decode(errors='replace')}")
