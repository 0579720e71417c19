"""Lets `python -m localrag` be the command, where the script is not on the path."""

from localrag.cli.main import main

if __name__ == "__main__":
    main()
