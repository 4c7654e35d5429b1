"""Routes by noun: each module has one router, which ``server/app.py`` names."""
