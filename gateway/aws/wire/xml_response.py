"""Reads the XML of STS into texts by path; rejects document types, so that there are no custom entities."""

from collections.abc import Mapping
from xml.parsers import expat

_DEEPEST = 10


class NotReadable(Exception):
    """The text is not plain XML as AWS sends it."""


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
            # INVARIANT: if a path occurs twice, neither text is accepted.
            if place in self.texts:
                raise NotReadable("an element occurs twice")
            self.texts[place] = text
        self._path.pop()

    def doctype(self, *_: object) -> None:
        # INVARIANT: without a document type there are no entities but the five of XML.
        raise NotReadable("a document type is not expected")


def texts(body: bytes) -> Mapping[str, str]:
    """Returns the texts of a response by their path below the root: `AssumeRoleResult/Credentials/AccessKeyId`."""
    reader = _XmlReader()
    # AWS writes UTF-8, whatever the response declares
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
