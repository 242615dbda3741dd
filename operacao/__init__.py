"""What people run: each module is one command, called by the script of the same name in scripts/."""
