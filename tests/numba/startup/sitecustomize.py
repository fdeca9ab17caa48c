"""What jitcache_startup.pth does where the wheel is installed, for a checkout."""

import _jitcache_startup  # noqa: F401
