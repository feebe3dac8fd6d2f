"""``python -m tertium``, which is how ``accelerate launch`` and ``torchrun`` start a module."""

from tertium.cli import main

if __name__ == "__main__":
    main()
