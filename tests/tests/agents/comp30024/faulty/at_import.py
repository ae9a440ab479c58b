"""Needs what isn't there."""

import a_missing_library
