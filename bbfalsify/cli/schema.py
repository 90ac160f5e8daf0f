"""bbfalsify schema: what a file may contain, for editors."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.output import print_json


class What(StrEnum):
    CAMPAIGN = "campaign"
    SPECIFICATION = "specification"
    PROFILE = "profile"


def schema(what: Annotated[What, typer.Argument(help="The kind of file.")] = What.CAMPAIGN) -> int:
    """Print the JSON Schema of a kind of file. With it, editors complete keys and mark mistakes.

    \b
    Example:  bbfalsify schema campaign > campaign.schema.json
              # yaml-language-server: $schema=campaign.schema.json      (first line of a campaign)
    """
    from bbfalsify.campaigns.json_schema import schema_of
    from bbfalsify.modelling.profiles.profile_schema import profile_schema
    from bbfalsify.registry import ENGINES

    print_json(profile_schema() if what is What.PROFILE else schema_of(what.value, ENGINES), indent=2)
    return Exit.NOTHING_FOUND
