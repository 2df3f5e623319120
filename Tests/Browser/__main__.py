"""Runs the tests of this folder, or those named, and prints their number on the last line."""

import pathlib
import sys
import time
import unittest

FOLDER = str(pathlib.Path(__file__).parent)
# The figures come first, before other tests change the shop, and what ends it comes last.
MODULES = [
    "test_figures", "test_pages", "test_keyboard", "test_access", "test_roles", "test_actions", "test_text", "test_live",
    "test_end",
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


def main(names):
    sys.path.insert(0, FOLDER)
    loader = unittest.defaultTestLoader
    present = [name for name in MODULES if (pathlib.Path(FOLDER) / f"{name.split('.')[0]}.py").exists()]
    suite = loader.loadTestsFromNames(names or present)
    result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)
    print(f"{result.passed} passed, {result.failed} failed", flush=True)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
