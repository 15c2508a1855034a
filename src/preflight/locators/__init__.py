"""Locators: something outside, such as a language model, that may point at the user's words and nothing else.

Grounding needs none. A locator is asked where a value stands that grounding did not find; code then reads the
words there, as it does for every place that anybody names (R-3, R-41). What it cannot do is bring a value.
"""

from __future__ import annotations

from preflight.locators.hooks import LocatingHooks
from preflight.locators.openai import OpenAILocator
from preflight.locators.protocol import Locator, Pointing, Spoken, Wanted

__all__ = ["LocatingHooks", "Locator", "OpenAILocator", "Pointing", "Spoken", "Wanted"]
