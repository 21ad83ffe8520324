"""What all tables share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Double, MetaData, SmallInteger, Text
from sqlalchemy.dialects.postgresql import BYTEA, JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase

small = SmallInteger
"""A column type for numbers that stay below 32,768."""

big = BigInteger
"""A column type for numbers of things that a whole study has very many of."""


class Base(DeclarativeBase):
    """All tables; every constraint is named, so that an adapter can say which rule was broken."""

    metadata = MetaData(naming_convention={"pk": "%(table_name)s_pkey"})
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        str: Text,
        datetime: TIMESTAMP(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        list[str]: ARRAY(Text),
        list[float]: ARRAY(Double),
        float: Double,
        bytes: BYTEA,
    }
