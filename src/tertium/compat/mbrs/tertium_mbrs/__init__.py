"""The plug-in folder of ``mbrs``.

``mbrs`` imports a plug-in by the name of its folder, and puts the folder above it first in the
import path: so this one has a name of its own, and no neighbours.
"""

import tertium.compat.mbrs  # noqa: F401  # registers the metrics
