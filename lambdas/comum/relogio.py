"""Time: UTC, ISO-8601 with milliseconds and a ``Z`` (``2026-03-01T12:00:00.000Z``), which sorts as text."""

from datetime import UTC, datetime


def agora() -> datetime:
    """Current instant, timezone-aware UTC."""
    return datetime.now(UTC)


def para_iso(instante: datetime) -> str:
    """Write an aware instant as UTC ISO-8601 with milliseconds (truncated, never rounded into the future)."""
    if instante.tzinfo is None:
        raise ValueError("instant without a timezone")
    return instante.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def de_iso(texto: str) -> datetime:
    """Read what :func:`para_iso` writes (any ISO-8601 with an offset is accepted).

    Raises
    ------
    ValueError
        If the text is not an instant or has no offset.
    """
    instante = datetime.fromisoformat(texto)
    if instante.tzinfo is None:
        raise ValueError("instant without a timezone")
    return instante.astimezone(UTC)


def agora_iso() -> str:
    """Current instant as text."""
    return para_iso(agora())
