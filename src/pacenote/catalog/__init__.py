"""What is known of the world outside this machine: dated data files and their lookups."""
