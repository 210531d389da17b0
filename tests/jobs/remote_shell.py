# SPDX-License-Identifier: Apache-2.0
"""A remote shell that leads to hosts which are this machine by other names."""

import os
import stat
import tempfile

# What an ssh does, but on this very machine: it joins its words and has a shell run them. Some hosts are out of order; on
# others nothing is within reach of who kills the shell, as on another machine.
SHELL = """#!/bin/sh
host=$1; shift
case $host in
  unknown*) echo "$host: no such host is known" >&2; exit 255;;
  refused*) echo "$host: permission denied" >&2; exit 255;;
  silent*) exec sleep 600;;
  old*) echo "weft agent 0.0.1, protocol 0"; exec sleep 600;;
  missing*) exec sh -c "exec /no/such/folder/weft agent";;
  apart*) exec 3<&0; setsid sh -c "$*" <&3 & wait $!; exit;;
  chatty*) echo "welcome to $host"; echo "be good" >&2;;
esac
exec sh -c "$*"
"""


def program(text):
    """A file that can be executed."""
    handle, path = tempfile.mkstemp(prefix="weft-rsh-")
    os.write(handle, text.encode())
    os.close(handle)
    os.chmod(path, stat.S_IRWXU)
    return path
