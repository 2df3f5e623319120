#!/usr/bin/env python3
"""Runs the steps of action.yml as GitHub's runner does, and plays a subscription with what they have installed and started.

    test-action.py WHEEL
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
GARDEN = ROOT / "Tests" / "Support" / "Garden.storekit"
PRODUCT = "garden.premium.monthly"


class Runner:
    """A job on an empty machine: each step has the environment and the path that earlier steps have written."""

    def __init__(self, folder, inputs):
        self.folder = folder
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        known = self.action["inputs"]
        assert inputs.keys() <= known.keys(), f"action.yml has no inputs {inputs.keys() - known.keys()}"
        self.values = {f"inputs.{name}": inputs.get(name, known[name]["default"]) for name in known}
        self.values |= {"github.server_url": "https://example.com", "github.action_repository": "acme/till", "github.action_ref": "v1"}
        (folder / "workspace").mkdir()
        (folder / "temp").mkdir()
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "RUNNER_TEMP": str(folder / "temp"),
                            "GITHUB_ACTION_PATH": str(ROOT)}

    def value(self, text):
        """The text with its expressions. An output that no step has written is empty."""
        values = self.values | {name: self.values.get(name, "") for name in re.findall(r"steps\.[\w.-]+", text)}
        return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda match: values[match.group(1)], text)

    def run(self, script, **variables):
        files = {name: self.folder / name for name in ("GITHUB_PATH", "GITHUB_ENV", "GITHUB_OUTPUT")}
        for file in files.values():
            file.write_text("")
        environment = self.environment | variables | {name: str(file) for name, file in files.items()}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], env=environment,
                              cwd=self.folder / "workspace", stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="")
        if done.returncode:
            raise SystemExit(f"test-action: the step failed:\n{script}")
        lines = {name: file.read_text().splitlines() for name, file in files.items()}
        self.environment |= dict(line.split("=", 1) for line in lines["GITHUB_ENV"])
        self.environment["PATH"] = ":".join([*lines["GITHUB_PATH"], self.environment["PATH"]])
        return dict(line.split("=", 1) for line in lines["GITHUB_OUTPUT"]), done.stdout

    def play(self):
        for step in self.action["runs"]["steps"]:
            assert step["shell"] == "bash"
            variables = {name: self.value(text) for name, text in step["env"].items()}
            outputs, _ = self.run(step["run"], **variables)
            self.values |= {f"steps.{step['id']}.outputs.{name}": text for name, text in outputs.items()}
        return {name: self.value(output["value"]) for name, output in self.action["outputs"].items()}


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    wheel = str(pathlib.Path(sys.argv[1]).resolve())
    # Free ports, in place of those that are known.
    runner = Runner(folder, {"wheel": wheel, "catalog": "Garden", "command": "serve --store --play --port 0 --play-port 0"})
    program = folder / "temp" / "till" / "till_iap" / "bin" / "till"
    try:
        # A job has its catalog in the repository.
        catalog = Runner(pathlib.Path(tempfile.mkdtemp(dir=folder)), {"wheel": wheel, "command": ""})
        catalog.play()
        catalog.run(f"till init --storekit {GARDEN} --bundle-id com.example.garden {folder}/workspace/Garden")
        outputs = runner.play()
        assert outputs["url"].startswith("http://127.0.0.1:") and outputs["play-url"].startswith("http://127.0.0.1:"), outputs
        for store in ("appStore", "play"):
            _, bought = runner.run(f'till buy {PRODUCT} --user {store} --store {store} --server "$TILL_URL"')
            assert "granted" in bought
            runner.run(f'curl --silent --fail --header "Authorization: Bearer $TILL_API_KEY" "$TILL_URL/v1/users/{store}/items" '
                       f'| grep {PRODUCT}')
        runner.run(f'mkdir "{folder}/play" && "{ROOT}/Scripts/play-subscriptions.sh" "{folder}/play" till')
    finally:
        # The runner ends what a job leaves behind.
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "exe").resolve() == program.resolve():
                    os.kill(int(process.name), 15)
            except OSError:
                pass
print("The action works.")
