"""The training loop of each framework, as its users write it; a module here imports its framework."""
