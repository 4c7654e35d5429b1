"""What runs inside the sandbox: imported there from this folder alone, beside the general guest modules."""
