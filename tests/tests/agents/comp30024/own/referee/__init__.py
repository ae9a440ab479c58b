"""A package of the course's name, with the agent's own classes. The rest of it needs what isn't installed."""

import a_library_of_servers
