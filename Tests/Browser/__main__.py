"""Runs the tests of this folder, or those named, and prints their number on the last line."""

import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = str(pathlib.Path(__file__).parent)
# Each group has a process and a shop of its own, and takes about as long as the other. The figures come first, before other
# tests change the shop, and what ends it comes last.
GROUPS = [
    ["test_demonstration", "test_figures", "test_pages"],
    ["test_keyboard", "test_access", "test_roles", "test_actions", "test_walks", "test_text", "test_live", "test_end"],
]


class Result(unittest.TextTestResult):
    """Counts the parts of a test, too."""

    passed = failed = 0
    parts = None

    def startTest(self, test):
        super().startTest(test)
        self.parts, self.started = 0, time.monotonic()

    def addSubTest(self, test, subtest, outcome):
        super().addSubTest(test, subtest, outcome)
        self.parts += 1
        if outcome is None:
            self.passed += 1
        else:
            self.failed += 1

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += self.parts == 0

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.failed += 1

    def addError(self, test, error):
        super().addError(test, error)
        self.failed += 1

    def stopTest(self, test):
        self.stream.writeln(f"  ({time.monotonic() - self.started:.1f} s)")
        super().stopTest(test)


def run_tests(names):
    """Runs the tests of the names in this process."""
    sys.path.insert(0, FOLDER)
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)
    print(f"{result.passed} passed, {result.failed} failed", flush=True)
    return 0 if result.wasSuccessful() else 1


def run_groups():
    """Runs the groups at the same time, and prints one after the other."""
    outputs = [tempfile.TemporaryFile("w+") for _ in GROUPS]
    processes = [
        subprocess.Popen([sys.executable, FOLDER, *group], stdout=output, stderr=subprocess.STDOUT)
        for group, output in zip(GROUPS, outputs)
    ]
    texts = []
    for process, output in zip(processes, outputs):
        process.wait()
        output.seek(0)
        texts.append(output.read())
        print(texts[-1], flush=True)
    counts = [re.findall(r"^(\d+) passed, (\d+) failed$", text, re.MULTILINE)[-1:] for text in texts]
    passed, failed = (sum(int(count[0][index]) for count in counts if count) for index in (0, 1))
    print(f"{passed} passed, {failed} failed", flush=True)
    return 0 if all(process.returncode == 0 for process in processes) else 1


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1:]) if sys.argv[1:] else run_groups())
