"""Runs a command beside a local Google Play: the tests of a client in another language.

    TILL=.build/release/till python Tests/Google/with_play.py COMMAND …

The command finds the address of the Play in PLAY_URL, the key of its sandbox in PLAY_SANDBOX_KEY, and the file of a service account in
PLAY_SERVICE_ACCOUNT.
"""

import json
import os
import pathlib
import subprocess
import sys

from play import Play

play = Play()
account = pathlib.Path(play.folder.name, "service-account.json")
account.write_text(json.dumps(play.account()))
try:
    status = subprocess.run(sys.argv[1:], check=False, env=dict(
        os.environ, PLAY_URL=play.url, PLAY_SANDBOX_KEY=play.key, PLAY_SERVICE_ACCOUNT=str(account))).returncode
finally:
    ended = play.stop()
sys.exit(status or ended)
