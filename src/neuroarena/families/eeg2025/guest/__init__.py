"""Code that runs inside the sandbox, where only this folder and the general guest modules can be imported."""
