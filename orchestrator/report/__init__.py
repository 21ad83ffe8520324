"""A campaign as one self-contained page: nothing loaded from elsewhere, readable on paper."""

from orchestrator.report.page import render

__all__ = ["render"]
