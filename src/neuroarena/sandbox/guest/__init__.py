"""The untrusted side of a sandbox: its modules are the only part of neuroarena visible inside.

They import the standard library, NumPy and each other; nothing else of neuroarena is available there.
"""
