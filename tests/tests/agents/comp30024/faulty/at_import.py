"""Needs what isn't there."""

import a_library_that_nobody_has
