from xml.etree import ElementTree as ET

from gateway.ops.capacity.plot import Curve
from gateway.ops.capacity.svg import svg

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn() -> ET.Element:
    curves = (Curve("rising & <steep>", "o", (0.0, 50.0, 100.0)), Curve("level", "=", (25.0, 25.0, 25.0)))
    return ET.fromstring(svg(curves, 0.5, "Costs & <more>"))  # noqa: S314  our own text


def test_the_file_is_xml_with_a_title() -> None:
    root = drawn()
    assert root.tag == f"{NAMESPACE}svg"
    assert root.findtext(f"{NAMESPACE}title") == "Costs & <more>"
    assert "rising & <steep>" in [element.text for element in root.iter(f"{NAMESPACE}text")]


def test_every_curve_is_a_line_inside_the_picture() -> None:
    rising, level = [element.attrib["points"].split() for element in drawn().iter(f"{NAMESPACE}polyline")]
    heights = [float(point.split(",")[1]) for point in rising]
    assert heights == sorted(heights, reverse=True)
    assert len({point.split(",")[1] for point in level}) == 1
    points = [tuple(map(float, point.split(","))) for point in (*rising, *level)]
    assert all(0 <= x <= 720 and 0 <= y <= 420 for x, y in points)


def test_today_stands_where_the_share_is() -> None:
    dashed = [element for element in drawn().iter(f"{NAMESPACE}line") if "stroke-dasharray" in element.attrib]
    assert [float(element.attrib["x1"]) for element in dashed] == [80 + 0.5 * 620]
