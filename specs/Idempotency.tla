---------------------------- MODULE Idempotency ----------------------------
(* Callers repeat one change under one idempotency key until they have an   *)
(* answer. Requests may be delivered late and twice, answers may be lost,    *)
(* processes may die; the record is written in the change's transaction.     *)
EXTENDS Naturals, FiniteSets

CONSTANTS Callers, Most, Guarded

VARIABLES record,    \* who made the change, as the record tells; "none" before
          made,      \* how often the change was made
          wire,      \* writes that are under way; one may be delivered again
          at,        \* what each caller does next
          answer,    \* what each caller was told
          tries      \* how often each caller has sent its write

vars == <<record, made, wire, at, answer, tries>>

Init == /\ record = "none" /\ made = 0 /\ wire = {}
        /\ at = [c \in Callers |-> "look"]
        /\ answer = [c \in Callers |-> "none"]
        /\ tries = [c \in Callers |-> 0]

\* A strongly consistent read of the record: found, it is the answer.
Look(c) == /\ at[c] = "look"
           /\ IF record # "none"
              THEN /\ at' = [at EXCEPT ![c] = "done"]
                   /\ answer' = [answer EXCEPT ![c] = record]
              ELSE /\ at' = [at EXCEPT ![c] = "write"]
                   /\ UNCHANGED answer
           /\ UNCHANGED <<record, made, wire, tries>>

Send(c) == /\ at[c] = "write" /\ tries[c] < Most
           /\ wire' = wire \cup {c}
           /\ at' = [at EXCEPT ![c] = "wait"]
           /\ tries' = [tries EXCEPT ![c] = @ + 1]
           /\ UNCHANGED <<record, made, answer>>

Applies == record = "none" \/ ~Guarded

\* The table takes a write; `again` leaves it on the wire, `heard` tells the caller.
Deliver(c, again, heard) ==
    /\ c \in wire
    /\ wire' = IF again THEN wire ELSE wire \ {c}
    /\ record' = IF Applies THEN c ELSE record
    /\ made' = IF Applies THEN made + 1 ELSE made
    /\ IF heard /\ at[c] = "wait"
       THEN IF Applies
            THEN /\ at' = [at EXCEPT ![c] = "done"]
                 /\ answer' = [answer EXCEPT ![c] = c]
            ELSE /\ at' = [at EXCEPT ![c] = "look"]   \* a conflict: it looks again
                 /\ UNCHANGED answer
       ELSE UNCHANGED <<at, answer>>
    /\ UNCHANGED tries

\* A timeout, or the process dies and another takes the repeat: it looks again.
GiveUp(c) == /\ at[c] = "wait"
             /\ at' = [at EXCEPT ![c] = "look"]
             /\ UNCHANGED <<record, made, wire, answer, tries>>

Next == \E c \in Callers :
          \/ Look(c) \/ Send(c) \/ GiveUp(c)
          \/ made <= Most /\ \E again, heard \in BOOLEAN : Deliver(c, again, heard)

Spec == Init /\ [][Next]_vars

MadeAtMostOnce == made <= 1
AcknowledgedIsMade == \A c \in Callers : at[c] = "done" => made >= 1
AnswersAgree == \A c \in Callers : at[c] = "done" => answer[c] = record
=============================================================================
