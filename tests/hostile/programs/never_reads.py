"""Makes its stdin as small as it can and never reads the request, which doesn't fit."""

import fcntl
import sys

from lib_agent import forever, say

F_SETPIPE_SZ = 1031
sys.stdin.readline()
try:
    fcntl.fcntl(0, F_SETPIPE_SZ, 4096)
except OSError:
    pass
say({"type": "ready", "want": ["actions", "position"]})
forever()
