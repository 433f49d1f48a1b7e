"""What crosses the process wall: standard library plus the framework, nothing else.

This package is also loaded under the name ``pacenote_child`` by an interpreter that does not have Pacenote
installed (``--python PATH``), so its modules import each other relatively and import nothing of Pacenote's.
It must run on every Python that a supported framework runs on (3.9 and newer).
"""
