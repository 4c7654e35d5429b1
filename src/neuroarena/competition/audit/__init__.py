"""The audit: committed training is replayed in the sandbox, and its score compared with what was claimed."""
