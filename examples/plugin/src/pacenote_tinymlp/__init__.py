"""An example plug-in for Pacenote."""
