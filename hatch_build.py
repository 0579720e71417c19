"""Puts the models into the wheel, so that nothing has to be fetched after ``pip install``.

A plain ``force-include`` would do so for editable installs too, and copy all weights into every
developer's site-packages. From a checkout, localrag reads them where they lie.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODELS = "models/multilingual-e5-small"
IN_WHEEL = "localrag/_models/multilingual-e5-small"


class ModelsBuildHook(BuildHookInterface[Any]):
    """Adds the bundled models to every wheel that is not editable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to include; called by hatchling before it builds."""
        if version == "editable":
            return
        if not (Path(self.root) / MODELS).is_dir():
            raise FileNotFoundError(f"{MODELS} is missing; build from a complete checkout.")
        build_data["force_include"][MODELS] = IN_WHEEL
