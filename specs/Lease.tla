------------------------------- MODULE Lease -------------------------------
(* Workers read one shard of a stream under a lease. Nobody's clock is       *)
(* trusted: a lease may be taken over at any moment, also from a worker that *)
(* is only slow. What a worker has done counts by its checkpoint alone.      *)
EXTENDS Naturals

CONSTANTS Workers, Records, Terms, Guarded

VARIABLES counter,     \* of the lease: grows with every owner
          checkpoint,  \* the last record that is done, in the lease's row
          term,        \* the counter under which each worker believes to own it
          at,          \* how far each worker has come
          delivered    \* records that somebody has handled

vars == <<counter, checkpoint, term, at, delivered>>

Init == /\ counter = 0 /\ checkpoint = 0 /\ delivered = {}
        /\ term = [w \in Workers |-> 0]
        /\ at = [w \in Workers |-> 0]

\* A conditional write on the counter that was read: one of two takers wins.
Take(w) == /\ counter < Terms
           /\ counter' = counter + 1
           /\ term' = [term EXCEPT ![w] = counter + 1]
           /\ at' = [at EXCEPT ![w] = checkpoint]
           /\ UNCHANGED <<checkpoint, delivered>>

Handle(w) == /\ term[w] > 0 /\ at[w] < Records
             /\ at' = [at EXCEPT ![w] = @ + 1]
             /\ delivered' = delivered \cup {at[w] + 1}
             /\ UNCHANGED <<counter, checkpoint, term>>

\* Refused where the lease has another owner: the worker then stops.
Write(w) == /\ term[w] > 0
            /\ IF term[w] = counter \/ ~Guarded
               THEN checkpoint' = at[w] /\ UNCHANGED term
               ELSE term' = [term EXCEPT ![w] = 0] /\ UNCHANGED checkpoint
            /\ UNCHANGED <<counter, at, delivered>>

Next == \E w \in Workers : Take(w) \/ Handle(w) \/ Write(w)

Spec == Init /\ [][Next]_vars

NothingSkipped == \A r \in 1..Records : r <= checkpoint => r \in delivered
OneOwner == \A v, w \in Workers : term[v] = term[w] /\ term[v] > 0 => v = w
NeverBack == [][checkpoint' >= checkpoint]_vars
=============================================================================
