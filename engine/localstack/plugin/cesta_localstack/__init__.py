"""What LocalStack's core lacks on a machine without Docker, as plugins it discovers by entry point.

``runtime``   one Lambda execution environment: a child process and the Runtime API it talks to
``executor``  LocalStack's executor interface on top of it
``plugins``   the entry points, and the few places where the engine itself is adapted
"""
