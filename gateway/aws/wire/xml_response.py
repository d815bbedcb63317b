"""The XML that STS answers with, read as texts by their place; no document type, no entities of its own."""

from collections.abc import Mapping
from xml.parsers import expat

_DEEPEST = 10


class NotReadable(Exception):
    """The text is not XML of the plain form that AWS sends."""


class _XmlReader:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._path: list[str] = []
        self._parts: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._path.append(name)
        self._parts.clear()
        if len(self._path) > _DEEPEST:
            raise NotReadable("elements are nested too deeply")

    def data(self, text: str) -> None:
        self._parts.append(text)

    def end(self, name: str) -> None:
        text = "".join(self._parts).strip()
        self._parts.clear()
        if text:
            place = "/".join(self._path[1:])
            # INVARIANT: of two texts in one place neither is believed.
            if place in self.texts:
                raise NotReadable("an element occurs twice")
            self.texts[place] = text
        self._path.pop()

    def doctype(self, *_: object) -> None:
        # INVARIANT: without a document type there are no entities but the five of XML.
        raise NotReadable("a document type is not expected")


def texts(body: bytes) -> Mapping[str, str]:
    """The texts of an answer by their path below its root: `AssumeRoleResult/Credentials/AccessKeyId`."""
    reader = _XmlReader()
    # whatever the answer declares, AWS writes UTF-8
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = reader.doctype
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise NotReadable(str(error)) from error
    return reader.texts
