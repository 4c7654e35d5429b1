"""The scoring program of a Codabench bundle; it is copied into the bundle together with the room `scoring`."""
