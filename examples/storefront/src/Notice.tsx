// Something that has to be said: kindly, in place, and aloud for screen readers.
import type { ReactNode } from "react";
import type { CombinedError } from "urql";
import { problemOf } from "./problems";
import { session, signOut } from "./session";
import { useStored } from "./store";

type Kind = "good" | "warn" | "bad";

export function Notice({ kind, title, children }: { kind: Kind; title: string; children?: ReactNode }) {
  return (
    <div className={`notice ${kind}`} role={kind === "good" ? "status" : "alert"}>
      <div>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  );
}

interface FailureProps {
  error: CombinedError;
  /** Whether something was to be changed. */
  changing?: boolean;
  retry?: () => void;
}

/** A GraphQL error or no answer at all; what a payload says about itself is worded where it happens. */
export function Failure({ error, changing = false, retry }: FailureProps) {
  const problem = problemOf(error);
  const who = useStored(session);
  if (changing && problem.code === "FORBIDDEN") {
    return (
      <Notice kind="warn" title={`As ${who?.role} you can look, but not change.`}>
        <p>
          Nothing was changed. The roles editor and admin may do this.{" "}
          <button type="button" className="link" onClick={() => signOut("Choose the role editor to make changes.")}>
            Sign in with another role
          </button>
        </p>
      </Notice>
    );
  }
  return (
    <Notice kind="bad" title={problem.text}>
      <p>
        <code>{problem.code}</code>
        {problem.requestId && <span className="dim"> request {problem.requestId}</span>}{" "}
        {retry && (
          <button type="button" className="link" onClick={retry}>
            Try again
          </button>
        )}
      </p>
    </Notice>
  );
}
