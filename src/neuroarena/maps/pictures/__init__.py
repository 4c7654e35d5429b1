"""Pictures of maps: each function takes plain arrays and returns a matplotlib figure."""
