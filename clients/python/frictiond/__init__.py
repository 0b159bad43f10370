"""Client of frictiond, the friction evaluation service."""
from frictiond._client import *  # noqa: F403
from frictiond._client import __version__ as __version__
