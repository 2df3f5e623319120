#!/usr/bin/env python3
"""Runs each command of the documents, in the order of its page, and compares what it says with what the page shows.

    Scripts/test-documents.py TILL [PAGE…]

Each page has a fresh directory with HOME there, a shell of its own, and TILL in PATH as `till`. Root runs it as the user `nobody`,
in namespaces of its own, so that pages have their ports for themselves and leave no process. Without the right to make namespaces,
one page runs after the other. An error response of `curl` fails its line.

A page's shell is its indented blocks and those fenced as `sh`, `bash` or `console`; every other block is fenced as what it is. In a
`console` block, lines behind a command are what it prints. A fenced block with a name (```json Garden.storekit) is a file that the
reader writes. A server in the foreground goes on in the background once it listens. It ends when a later one needs its port.

What a page shows is compared line by line. Times and transactions (16 digits) may have other values, the same transaction
always the same one. `…` stands for anything in a line; a line `…` for any lines. JSON is compared by its values, and `"…": "…"`
stands for other members.

These comments before a block are invisible to readers:

    <!-- not run: REASON -->                    leaves the block out
    <!-- not run, `BEGINNING`: REASON -->       leaves the commands out that begin so
    <!-- status 1, `BEGINNING`: REASON -->      expects another exit status than 0
    <!-- output -->                             the block is what the last command of the page prints
    <!-- run: COMMAND -->                       runs a command: what the page assumes, or a check of what it states
    <!-- replace TEXT: COMMAND -->              puts what COMMAND prints in the place of TEXT from here on
    <!-- afresh -->                             begins anew, in another directory, without servers
    <!-- root -->                               continues as root in a copy of the machine's files (overlayfs), which is thrown away,
                                                with the stand-ins of Scripts/stand-ins

A comment may have several lines. Hidden commands have REPOSITORY, and VECTORS, the folder that TILL_VECTORS names.
"""

import fcntl
import itertools
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
# A command may compute for a while, and a server of a year of sales needs some seconds.
SECONDS = 180
SERVER = re.compile(r"(?:\w+=\S+ )*till (serve|store|play|demo)( serve)?(?P<options>(?: --?[^&]*)?) *&?$")
READY = re.compile(r"^(Listening on |Stop      Ctrl-C)", re.M)
NO_SERVER = re.compile(r"--(help|help-all|print-configuration|print-settings|version)\b")
# The folder of Apple's certificates; empty without them.
VECTORS = os.environ.get("TILL_VECTORS", "")
FOLDERS = {"repository": str(REPOSITORY)} | ({"vectors": VECTORS} if VECTORS else {})
# A command that changes nothing. It is given again until it says what it should: what a store tells may be on its way.
ASKS = re.compile(r"till (why|owned|story|balances)\b")
MARK = re.compile(r"(not run|status (?P<status>\d+)|output|run|replace (?P<text>\S+)|afresh|root)(?:, `(?P<beginning>[^`]+)`)?(?:: (?P<rest>.*))?$", re.S)


# Commands that give a page a network, processes and mounts of its own. A container may lack the rights for them.
NAMESPACES = ["unshare", "--net", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child"]


class Step:
    """A thing to do at a line of a page: run a command, write a file, compare an output."""

    def __init__(self, kind, line, text="", expected=None, language="", status=0, reason=""):
        self.kind, self.line, self.text, self.expected = kind, line, text, expected
        self.language, self.status, self.reason = language, status, reason


def blocks(lines):
    """Yields (line, kind, info, lines) of each block of code and each comment, in their order."""
    place = 0
    while place < len(lines):
        line = lines[place]
        start = place
        fence = re.match(r"( *)```(.*)", line)
        if fence:
            place += 1
            while place < len(lines) and lines[place].strip() != "```":
                place += 1
            indent = len(fence[1])
            yield start + 2, "fence", fence[2].strip(), [text[indent:] for text in lines[start + 1:place]]
        elif line.startswith("<!--"):
            while "-->" not in lines[place]:
                place += 1
            text = "\n".join(lines[start:place + 1])
            yield start + 1, "comment", "", [text[len("<!--"):text.index("-->")].strip()]
        elif line.startswith("    ") and line.strip():
            while place < len(lines) and (lines[place].startswith("    ") or not lines[place].strip()):
                place += 1
            while not lines[place - 1].strip():
                place -= 1
            yield start + 1, "indented", "", [text.lstrip() for text in lines[start:place]]
            continue
        place += 1


def commands(page, lines, first, is_console):
    """Yields (line, command, output) of a block of shell; output is None if the block shows none."""
    place = 0
    while place < len(lines):
        start, text = place, lines[place]
        place += 1
        if is_console:
            if not text.startswith("$ "):
                raise ValueError(f"{page}:{first + start}: a console block begins with a command")
            text = text[2:]
        while text.endswith("\\"):
            text += "\n" + lines[place]
            place += 1
        output = None
        if is_console:
            output = []
            while place < len(lines) and not lines[place].startswith("$ "):
                output.append(lines[place])
                place += 1
        if text.strip():
            yield first + start, text, output


def steps(page):
    """The steps of a page."""
    result, marks = [], []
    for line, kind, info, lines in blocks(page.read_text().split("\n")):
        if kind == "comment":
            mark = MARK.match(lines[0])
            if not mark:
                raise ValueError(f"{page}:{line}: the comment is no mark of Scripts/test-documents.py")
            word = mark[1].split(" ")[0]
            if word in ("not", "status"):
                if not mark["rest"]:
                    raise ValueError(f"{page}:{line}: the mark has no reason")
                marks.append([mark, line, False])
            elif word == "output":
                marks.append([mark, line, False])
            else:
                result.append(Step(word, line, (mark["rest"] or "").strip(), expected=mark["text"]))
            continue
        words = info.split(" ")
        if any(mark[1] == "output" for mark, _, _ in marks):
            result.append(Step("output", line, expected=lines, language=words[0]))
        elif kind == "fence" and len(words) == 2:
            result.append(Step("file", line, words[1], expected="\n".join(lines) + "\n"))
        elif kind == "indented" or words[0] in ("sh", "bash", "console"):
            for number, command, output in commands(page, lines, line, words[0] == "console"):
                step = Step("command", number, command, expected=output)
                for use in marks:
                    mark = use[0]
                    if mark["beginning"] and not command.startswith(mark["beginning"]):
                        continue
                    use[2] = True
                    if mark["status"]:
                        step.status = int(mark["status"])
                    else:
                        step.kind, step.reason = "left", " ".join(mark["rest"].split())
                result.append(step)
            for mark, number, used in marks:
                if not used:
                    raise ValueError(f"{page}:{number}: no command of the block begins with the text of the mark")
        elif marks:
            raise ValueError(f"{page}:{line}: the mark is before a block that is no shell")
        marks = []
    return result


def stable(text):
    """The text with one name for each transaction, in the order of their appearance, and one time."""
    numbers = {}
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)
    return re.sub(r"\b\d{16}\b", lambda match: f"TRANSACTION {numbers.setdefault(match[0], len(numbers) + 1)}", text)


def matches(expected, said):
    """True if the lines are those that the page shows."""
    pattern = []
    for line in stable("\n".join(expected).strip("\n")).split("\n"):
        pattern.append("(?:.*\n)*?" if line == "…" else ".*".join(re.escape(part.rstrip()) for part in line.split("…")) + r"[ \t]*\n")
    return re.fullmatch("".join(pattern), stable(said.strip("\n")) + "\n") is not None


def same(expected, value):
    """True if the value is the JSON that the page shows."""
    if isinstance(expected, str) and "…" in expected:
        return expected == "…" or isinstance(value, str) and matches([expected], value)
    if isinstance(expected, dict) and isinstance(value, dict):
        names = set(expected) - {"…"}
        return (names == set(value) or "…" in expected and names <= set(value)) and all(same(expected[name], value[name]) for name in names)
    if isinstance(expected, list) and isinstance(value, list):
        return len(expected) == len(value) and all(map(same, expected, value))
    return stable(json.dumps(expected)) == stable(json.dumps(value))


class Shell:
    """A shell in a fresh directory, which runs one command after the other."""

    def __init__(self, folder, environment, launch):
        self.folder, self.servers, self.outputs = folder, [], itertools.count()
        self.log = folder / ".outputs"
        self.log.mkdir(mode=0o777)
        self.log.chmod(0o777)
        reading, self.status = os.pipe()
        self.answers = reading
        self.process = subprocess.Popen(
            [*launch, "bash", "--noprofile", "--norc"], cwd=folder, env=environment, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[self.status], start_new_session=True)

    def _ask(self, script, seconds=SECONDS):
        """The line that the script writes to the descriptor of answers; None after a time-out or the end of the shell."""
        self.process.stdin.write(script.replace("ANSWERS", str(self.status)) + "\n")
        self.process.stdin.flush()
        end, text = time.monotonic() + seconds, b""
        while not text.endswith(b"\n"):
            if self.process.poll() is not None or time.monotonic() > end:
                return None
            if select.select([self.answers], [], [], 1)[0]:
                text += os.read(self.answers, 100)
        return text.decode().strip()

    def _written(self, text):
        number = next(self.outputs)
        script, output = self.log / f"{number}.sh", self.log / f"{number}.out"
        script.write_text(text + "\n")
        script.chmod(0o644)
        return script, output

    def run(self, text):
        """The exit status and the output of a command."""
        script, output = self._written(text)
        answer = self._ask(f". {script} {self.status}>&- >{output} 2>&1 </dev/null; echo $? >&ANSWERS")
        said = output.read_text(errors="replace") if output.exists() else ""
        return (None if answer is None else int(answer)), said

    def serve(self, text, ports):
        """None if the server listens; what it said if it ended or says nothing."""
        complaint = self.end(ports)
        if complaint:
            return complaint
        script, output = self._written("exec env " + text.rstrip().removesuffix("&"))
        answer = self._ask(f". {script} {self.status}>&- >{output} 2>&1 </dev/null & echo $! >&ANSWERS")
        process = int(answer or 0)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            said = output.read_text(errors="replace") if output.exists() else ""
            if READY.search(said):
                self.servers.append((process, ports, text))
                return None
            if not Path(f"/proc/{process}").exists() or "Z" in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1][:3]:
                break
            time.sleep(0.05)
        self._ask(f"kill {process}; wait {process}; echo >&ANSWERS")
        return said or "it says nothing"

    def end(self, ports=None):
        """Ends the servers that have one of the ports, or all of them; what went wrong, if anything."""
        complaint = None
        for server in list(self.servers):
            process, held, text = server
            if ports is not None and not ports & held:
                continue
            self.servers.remove(server)
            status = self._ask(f"kill {process}; wait {process}; echo $? >&ANSWERS", 30)
            if status not in ("0", "143"):
                complaint = f"`{text}` ended with status {status}"
        return complaint

    def close(self):
        self.end()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.status)
        os.close(self.answers)


def ports(command, options):
    """The ports that a server takes."""
    named = re.findall(r"--(?:play-)?port[ =](\d+)", options)
    taken = {{"serve": "8080", "store": "8081", "play": "8082", "demo": "8080"}[command]} if "--port" not in options else set()
    if "--play" in options.split() and "--play-port" not in options:
        taken.add("8082")
    return taken | set(named)


class Page:
    """The run of a page."""

    def __init__(self, path, work, is_isolated):
        self.path, self.work, self.is_isolated, self.directories = path, work, is_isolated, itertools.count()
        self.replaced, self.failures, self.left, self.count, self.checks = {}, [], [], 0, 0
        self.shell, self.said, self.is_root = None, "", False

    def _open(self):
        if self.shell:
            self.shell.close()
        if self.is_root:
            self._become_root()
        folder = self.work / f"{self.path.stem}-{next(self.directories)}"
        folder.mkdir()
        # An error response fails the line.
        (folder / ".curlrc").write_text("fail\nsilent\nshow-error\n")
        (folder / "tmp").mkdir()
        environment = {
            "HOME": str(folder), "TMPDIR": str(folder / "tmp"), "LANG": "C.UTF-8", "REPOSITORY": str(self.work / "repository"),
            "PATH": f"{self.work / 'bin'}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "VECTORS": str(self.work / "vectors"),
        }
        launch = []
        if os.getuid() == 0 and not self.is_root:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, 65534, 65534)
            launch = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
        self.shell = Shell(folder, environment, launch)

    def _fail(self, step, text, said):
        self.failures.append({"line": step.line, "command": text, "said": said})

    def _command(self, step, text):
        server = SERVER.match(text.split(" #")[0].replace("\\\n", " ").strip())
        if server and not NO_SERVER.search(text):
            self.said = ""
            complaint = self.shell.serve(text.split(" #")[0], ports(server[1], server["options"]))
            if complaint:
                self._fail(step, text, complaint)
            return
        status, self.said = self.shell.run(text)
        end = time.monotonic() + SECONDS
        while ASKS.match(text) and status not in (None, step.status) and time.monotonic() < end:
            time.sleep(0.5)
            status, self.said = self.shell.run(text)
        if status is None:
            self._fail(step, text, f"the shell ended, or {SECONDS} s were not enough. {self.said}")
            self._open()
        elif status != step.status:
            self._fail(step, text, f"status {status}. {self.said}")
        elif step.expected is not None and not matches(step.expected, self.said):
            self._fail(step, text, "the page shows another output. It says:\n" + self.said)

    def _output(self, step):
        shown = "\n".join(step.expected)
        try:
            fits = same(json.loads(shown), json.loads(self.said)) if step.language == "json" else matches(step.expected, self.said)
        except json.JSONDecodeError:
            fits = False
        if not fits:
            self._fail(step, "what the page shows", "the last command says:\n" + self.said)

    def run(self):
        self._open()
        for step in steps(self.path):
            text = step.text
            if step.kind == "command" and self.replaced:
                text = re.sub("|".join(map(re.escape, self.replaced)), lambda match: self.replaced[match[0]], text)
            if step.kind == "left":
                self.left.append({"line": step.line, "command": step.text, "reason": step.reason})
            elif step.kind == "command":
                self.count += 1
                self._command(step, text)
            elif step.kind == "run":
                self.checks += 1
                if "$VECTORS" in text and not VECTORS:
                    self._leave(step, "needs TILL_VECTORS, a folder with Apple's certificates in `certs`")
                    break
                for line in text.split("\n"):
                    self._command(Step("run", step.line), line)
            elif step.kind == "replace":
                status, said = self.shell.run(text)
                if status != 0 or not said.strip():
                    self._fail(step, text, f"status {status}. {said}")
                self.replaced[step.expected] = said.strip()
            elif step.kind == "file":
                file = self.shell.folder / text
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(step.expected)
                file.chmod(0o644)
            elif step.kind == "output":
                self.checks += 1
                self._output(step)
            elif step.kind in ("afresh", "root"):
                if step.kind == "root" and not self.is_isolated:
                    self._leave(step, "needs root, and the right to make namespaces")
                    break
                complaint = self.shell.end()
                if complaint:
                    self._fail(step, "the end of the servers", complaint)
                self.is_root = step.kind == "root"
                self._open()
        self.shell.close()

    def _leave(self, step, reason):
        self.left.append({"line": step.line, "command": "the rest of the page", "reason": reason})

    def _become_root(self):
        """Keeps every change of the machine's files in memory, for this page alone."""
        over = self.work / "over"
        if over.exists():
            return
        over.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "none", over], check=True)
        for name in ["etc", "opt", "var", "usr"]:
            for part in ["upper", "work"]:
                (over / name / part).mkdir(parents=True)
            layers = f"lowerdir=/{name},upperdir={over / name / 'upper'},workdir={over / name / 'work'}"
            subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, f"/{name}"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        for file in (REPOSITORY / "Scripts" / "stand-ins").iterdir():
            shutil.copy(file, "/usr/bin")


def loopback():
    """Brings the loopback interface of this network namespace up (netdevice(7))."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING


def run(path, work, is_isolated):
    """What the run of a page found, as JSON's values."""
    page = Page(path, work, is_isolated)
    page.run()
    return {"count": page.count, "checks": page.checks, "failures": page.failures, "left": page.left}


def inside(work, path):
    """Runs a page in the namespaces of this process."""
    os.environ.clear()
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    loopback()
    # The repository is where no other user may read.
    for name, folder in FOLDERS.items():
        (work / name).mkdir()
        subprocess.run(["mount", "--bind", "-o", "ro", folder, work / name], check=True)
    print(json.dumps(run(Path(path), work, True)))


def tested(path, work, is_isolated):
    """The result of a page."""
    if not is_isolated:
        return run(path, work, False)
    done = subprocess.run([*NAMESPACES, sys.executable, __file__, "--inside", work, path], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return {"count": 0, "checks": 0, "left": [], "failures": [{"line": 1, "command": "the page", "said": "the run failed"}]}
    return json.loads(done.stdout)


def main(arguments):
    if not arguments:
        sys.exit("test-documents: name the program. Run `Scripts/test-documents.py TILL`.")
    started = time.monotonic()
    program, named = Path(arguments[0]).resolve(), [Path(name).resolve() for name in arguments[1:]]
    os.chdir(REPOSITORY)
    patterns = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "Keys/*.md", "Packages/*/README.md", "Documentation/*.md",
                "Sources/*/Documentation.docc/*.md"]
    # The README first, which takes longest.
    pages = named or sorted(itertools.chain(*map(Path().glob, patterns)), key=lambda page: (page.name != "README.md", page))
    # A page without commands has nothing to run.
    try:
        pages = [page.resolve() for page in pages if any(step.kind != "file" for step in steps(page))]
    except (OSError, ValueError) as error:
        sys.exit(f"test-documents: {error}")
    work = Path(tempfile.mkdtemp(prefix="till-documents-"))
    work.chmod(0o755)
    try:
        (work / "bin").mkdir()
        shutil.copy(program, work / "bin" / "till")
        is_isolated = os.getuid() == 0 and subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL).returncode == 0
        with ThreadPoolExecutor(os.cpu_count() if is_isolated else 1) as pool:
            folders = [work / page.parent.name / page.stem for page in pages]
            for folder in folders:
                folder.mkdir(parents=True)
                (folder / "bin").symlink_to(work / "bin")
                if not is_isolated:
                    for name, source in FOLDERS.items():
                        (folder / name).symlink_to(source)
            results = list(pool.map(tested, pages, folders, itertools.repeat(is_isolated)))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    names = [str(page.relative_to(REPOSITORY)) if page.is_relative_to(REPOSITORY) else str(page) for page in pages]
    left = {}
    for name, result in zip(names, results):
        print(f"{name}: {result['count']} commands, {result['checks']} checks, {len(result['left'])} not run")
        for entry in result["left"]:
            left.setdefault(entry["reason"], []).append(f"{name}:{entry['line']}: {entry['command']}")
    print(f"\nNot run: {sum(map(len, left.values()))}")
    for reason, lines in sorted(left.items()):
        print(f"  {reason}")
        for line in lines:
            print("    " + line.split("\n")[0][:140])
    failures = [(name, failure) for name, result in zip(names, results) for failure in result["failures"]]
    for name, failure in failures:
        print(f"\n{name}:{failure['line']}: {failure['command']}")
        print("  " + failure["said"].rstrip()[:2000].replace("\n", "\n  "))
    count = sum(result["count"] + result["checks"] for result in results)
    print(f"\n{count - len(failures)} passed, {len(failures)} failed, in {time.monotonic() - started:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(Path(sys.argv[2]), sys.argv[3])
    else:
        main(sys.argv[1:])
