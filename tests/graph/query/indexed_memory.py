"""The table in memory for very many reads: its partitions are looked up, and changed rows are put back at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gateway.testing.memory import Memory, Row

Key = tuple[str, str]


@dataclass
class IndexedMemory(Memory):
    whole: dict[Key, Row] = field(init=False)
    changed: dict[Key, Row] = field(default_factory=dict)
    gone: set[Key] = field(default_factory=set)  # removed, and still shown by the indexes
    partitions: defaultdict[tuple[str, str], dict[Key, Row]] = field(init=False)

    def __post_init__(self) -> None:
        self.whole = dict(self.rows)
        self.partitions = defaultdict(dict)
        for name in (self.spec.pk, *(index.pk for index in self.spec.indexes)):
            for key, row in self.whole.items():
                if name in row:
                    self.partitions[name, row[name]["S"]][key] = row

    def change(self, rows: Mapping[Key, Row]) -> None:
        self.changed.update(rows)
        self.rows.update(rows)

    def remove(self, keys: Iterable[Key]) -> None:
        self.gone.update(keys)
        for key in self.gone:
            self.rows.pop(key, None)

    def restore(self) -> None:
        self.rows.update({key: self.whole[key] for key in self.gone})
        self.gone.clear()
        self.rows.update({key: self.whole[key] for key in self.changed})
        self.changed.clear()

    def _partition(self, pk: str, partition: Row) -> list[Row]:
        whole = self.partitions.get((pk, partition["S"]), {})
        missing = {*self.changed, *self.gone} if pk == self.spec.pk else self.changed.keys()
        kept = [row for key, row in whole.items() if key not in missing]
        return kept + [row for row in self.changed.values() if row.get(pk) == partition]
