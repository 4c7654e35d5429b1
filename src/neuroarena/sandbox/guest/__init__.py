"""The side of a sandbox that is not trusted: its modules are all of neuroarena that is seen inside.

They import the standard library, NumPy and each other; nothing else of neuroarena can be had there.
"""
