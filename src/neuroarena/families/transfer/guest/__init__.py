"""What runs inside the sandbox for encoders; imported there by its plain name."""
