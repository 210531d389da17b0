# SPDX-License-Identifier: Apache-2.0
"""Pages in headless Chromium."""

import re
import shutil
import subprocess
import tempfile


def missing():
    """Why there can be none here; empty when there can."""
    return "" if shutil.which("chromium") else "there is no chromium; Debian's package chromium has it"


def run(page, fragment, *options):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
                               f"--user-data-dir={profile}", "--virtual-time-budget=5000", *options,
                               f"file://{page}" + (f"#{fragment}" if fragment else "")],
                              capture_output=True, text=True, timeout=240, check=True)


def open_page(page, fragment=""):
    """What the page has become once its scripts have run, and what it has written to the console."""
    done = run(page, fragment, "--dump-dom")
    return done.stdout, re.findall(r".*:CONSOLE.*", done.stderr)


def take_picture(page, to, fragment="", size="1250,900"):
    run(page, fragment, f"--screenshot={to}", f"--window-size={size}")
