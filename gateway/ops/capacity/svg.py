"""The cost curves as an SVG file, written by hand: no drawing library is needed."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from gateway.ops.capacity.plot import Curve

_WIDTH, _HEIGHT = 720, 420
_LEFT, _TOP, _RIGHT, _BOTTOM = 80, 50, 20, 70
_COLOURS: Final = ("#b45309", "#15803d", "#1d4ed8")
_STEPS: Final = 4


def svg(drawn: Sequence[Curve], share: float, title: str) -> str:
    """`share` is where a vertical line stands."""
    top = max(cost for curve in drawn for cost in curve.costs) or 1
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(_LEFT, 28, title, weight="bold"),
        *_axes(top),
        *_line_at(share),
        *(element for number, curve in enumerate(drawn) for element in _curve(number, curve, top)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(cost: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - cost / top * (_HEIGHT - _TOP - _BOTTOM)


def _text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>'


def _axes(top: float) -> Iterator[str]:
    for step in range(_STEPS + 1):
        part = step / _STEPS
        y, x = _y(part * top, top), _x(part)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#d4d4d4"/>'
        yield _text(_LEFT - 8, y + 4, f"{part * top:,.0f}", "end")
        yield _text(x, _HEIGHT - _BOTTOM + 18, f"{part:.0%}", "middle")
    yield _text(_x(0.5), _HEIGHT - _BOTTOM + 38, "average load as a part of the busy hour", "middle")


def _line_at(share: float) -> Iterator[str]:
    x = _x(share)
    ends = f'x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_HEIGHT - _BOTTOM}"'
    yield f'<line {ends} stroke="#737373" stroke-dasharray="4"/>'
    yield _text(x + 4, _TOP + 12, "today")


def _curve(number: int, curve: Curve, top: float) -> Iterator[str]:
    colour, last = _COLOURS[number % len(_COLOURS)], len(curve.costs) - 1
    points = " ".join(f"{_x(step / last):.1f},{_y(cost, top):.1f}" for step, cost in enumerate(curve.costs))
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
    x, y = _LEFT + number * 215, _HEIGHT - 12
    yield f'<rect x="{x}" y="{y - 9}" width="14" height="4" fill="{colour}"/>'
    yield _text(x + 20, y, curve.name)
