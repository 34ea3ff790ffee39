"""Run as a process of its own: use the embedded servers of the state directory in argv, say so, wait."""

import signal
import sys
from pathlib import Path

from animastor_site.embedded import servers
from animastor_site.embedded.layout import layout_for

if __name__ == "__main__":
    held = servers.use(layout_for(Path(sys.argv[1])), durable=False)
    sys.stdout.write("holding\n")
    sys.stdout.flush()
    signal.pause()
