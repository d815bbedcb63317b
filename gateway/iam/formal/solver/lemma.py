"""The lemma that justifies splitting keys into parts, proved with a second solver.

Let a key be `TENANT#`, a part without `#`, and a rest that is empty or starts with `#`, and let a tag contain no `#`.
Then the key matches `TENANT#${tag}` or `TENANT#${tag}#*` if and only if the part equals the tag. z3 does not terminate
on this lemma; cvc5 decides it immediately.
"""

from typing import Final

from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.solver.solver import Answer

INSTALL: Final = "the second solver is not installed: pip install cvc5"
_WORK: Final = "1000000"
# every character but `#`, as two ranges: cvc5 does not terminate if it is written as a difference
_PLAIN: Final = r'(re.* (re.union (re.range "\u{0}" "\u{22}") (re.range "\u{24}" "\u{2ffff}")))'
LEMMA: Final = f"""
(set-logic QF_SLIA)
(declare-const tag String) (declare-const part String) (declare-const rest String) (declare-const key String)
(assert (str.in_re tag {_PLAIN}))
(assert (str.in_re part {_PLAIN}))
(assert (or (= rest "") (str.prefixof "#" rest)))
(assert (= key (str.++ "TENANT#" part rest)))
(define-fun matches () Bool
  (or (= key (str.++ "TENANT#" tag)) (str.prefixof (str.++ "TENANT#" tag "#") key)))
(assert (not (= matches (= part tag))))
(check-sat)
"""


def lemma(text: str = LEMMA) -> Answer:
    """Returns `impossible` if the lemma is proved, because there is no counterexample."""
    try:
        import cvc5  # noqa: PLC0415
    except ImportError as error:
        raise NotProvable(INSTALL) from error
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit-per", _WORK)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "lemma")
    output = ""
    while not (command := parser.nextCommand()).isNull():
        output += str(command.invoke(solver, parser.getSymbolManager()))
    return "impossible" if output.strip() == "unsat" else "possible" if output.strip() == "sat" else "undecided"
