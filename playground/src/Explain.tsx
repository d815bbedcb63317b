// The Explain panel: what the last operation did in DynamoDB, and which policy statements allowed it.
import type { GraphiQLPlugin } from "@graphiql/react";
import type { CSSProperties } from "react";
import { type Call, type Explanation, type LastOperation, useLastOperation } from "./explanation";
import { amount, counted, milliseconds, units, withCode } from "./words";

export const EXPLAIN_PLUGIN: GraphiQLPlugin = { title: "Explain", icon: Icon, content: Explain };

// of calls of one kind that are shown at once
const ROWS = 6;

function Explain() {
  const last = useLastOperation();
  return (
    <section className="panel" aria-label="Explain">
      <h2>Explain</h2>
      {!last && <p className="empty">Run an operation: its DynamoDB calls and what allowed them are shown here.</p>}
      {last && <Heading last={last} />}
      {last && !last.explanation && <Unexplained last={last} />}
      {last?.explanation && <Plan explanation={last.explanation} cost={last.cost} />}
      {last?.requestId && (
        <p className="fine">
          Request <code>{last.requestId}</code>
        </p>
      )}
    </section>
  );
}

function Heading({ last }: { last: LastOperation }) {
  return (
    <p className="operation">
      <strong>{last.name}</strong>
      {last.explanation && (
        <span>
          <span className="badge own">{last.explanation.tenant}</span> <span className="badge">{last.explanation.role}</span>
        </span>
      )}
      {last.errors.map((code) => (
        <span key={code} className="code">
          {code}
        </span>
      ))}
    </p>
  );
}

function Unexplained({ last }: { last: LastOperation }) {
  const nothingRan = last.errors.length > 0;
  return (
    <p className="empty">
      {nothingRan
        ? "Nothing was read or written: the operation was refused before it ran."
        : "This gateway does not explain operations; the setting is GATEWAY_EXPLAIN."}
    </p>
  );
}

function Plan({ explanation, cost }: { explanation: Explanation; cost: LastOperation["cost"] }) {
  const { calls, refused } = explanation;
  return (
    <>
      <dl className="totals">
        <Total label="calls" value={String(calls.length)} />
        <Total label="items" value={String(explanation.items)} />
        <Total label="capacity" value={amount(explanation.capacity)} />
        <Total label="time" value={milliseconds(explanation.durationMs)} />
      </dl>
      {cost && <Cost cost={cost} />}
      {refused.length > 0 && (
        <>
          <h3>Refused by policy</h3>
          <ul className="refused">
            {refused.map(({ what, reason }) => (
              <li key={what + reason}>
                <strong>{what}</strong> <span>{withCode(reason)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>DynamoDB calls</h3>
      {calls.length === 0 && <p className="empty">None: nothing had to be read or written.</p>}
      <ol className="calls">
        {grouped(calls).map((group, index) => (
          <Group key={index} calls={group} whole={wholeTime(calls)} />
        ))}
      </ol>
      <p className="fine">
        Session tags{" "}
        {explanation.tags.map((tag) => (
          <code key={tag} title="The statements compare it with the keys of the request">
            {tag}
          </code>
        ))}
      </p>
      <p className="fine">
        Policies <code title={explanation.policies}>{explanation.policies.slice(0, 12)}</code>
      </p>
    </>
  );
}

function Total({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Cost({ cost }: { cost: Record<string, unknown> }) {
  return (
    <>
      <h3>Cost in capacity units</h3>
      <dl className="cost">
        {Object.entries(cost).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === "object" ? JSON.stringify(value) : String(value)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function wholeTime(calls: Call[]): number {
  return Math.max(0.001, ...calls.map((call) => call.startMs + call.durationMs));
}

/** Calls of one kind that follow each other, such as the shards of a listing, are told together. */
function grouped(calls: Call[]): Call[][] {
  const kind = ({ operation, index, source, stale, allowedBy }: Call) =>
    JSON.stringify([operation, index, source, stale, allowedBy]);
  const groups: Call[][] = [];
  for (const call of calls) {
    const group = groups.at(-1);
    if (group?.[0] && kind(group[0]) === kind(call)) group.push(call);
    else groups.push([call]);
  }
  return groups;
}

function origin({ source, stale }: Call): string {
  if (source === "dax") return "from DAX";
  return stale ? "from cache, being renewed" : "from cache";
}

function Group({ calls, whole }: { calls: Call[]; whole: number }) {
  const [first] = calls;
  if (!first) return null;
  return (
    <li>
      <p className="head">
        <span className={`badge ${isWrite(first) ? "write" : "read"}`}>{first.operation}</span>
        <span>{first.index ?? "table"}</span>
        {first.source !== "table" && <span className="badge cache">{origin(first)}</span>}
        {calls.length > 1 && <span className="times">× {calls.length}</span>}
        <span className="amount">{units(calls.reduce((sum, call) => sum + call.capacity, 0))}</span>
      </p>
      <Rows calls={calls.slice(0, ROWS)} whole={whole} />
      {calls.length > ROWS && (
        <details>
          <summary>and {calls.length - ROWS} more</summary>
          <Rows calls={calls.slice(ROWS)} whole={whole} />
        </details>
      )}
      <p className="allowed" title="The policy statements that allowed it, one of each layer">
        <span>allowed by</span>
        {first.allowedBy.map((statement) => (
          <Statement key={statement} text={statement} />
        ))}
      </p>
    </li>
  );
}

function Rows({ calls, whole }: { calls: Call[]; whole: number }) {
  return calls.map((call, index) => <OneCall key={index} call={call} whole={whole} />);
}

function OneCall({ call, whole }: { call: Call; whole: number }) {
  const bar = { "--from": call.startMs / whole, "--length": call.durationMs / whole } as CSSProperties;
  return (
    <>
      {call.touched.map((touched) => (
        <p className="touched" key={touched.partition + touched.sort}>
          <code>{touched.partition}</code> {touched.sort !== "…" && <code className="sort">{touched.sort}</code>}
          {touched.keys > 1 && <span> × {touched.keys}</span>}
        </p>
      ))}
      <p className="facts">
        <span className="bar" style={bar} aria-hidden="true" />
        <span>{counted(call.keys, "key")}</span>
        <span>{counted(call.items, "item")}</span>
        <span title={`${milliseconds(call.startMs)} after the first call`}>{milliseconds(call.durationMs)}</span>
      </p>
    </>
  );
}

function Statement({ text }: { text: string }) {
  const [layer, ...name] = text.split("/");
  return (
    <span className="statement">
      <span>{layer}</span> {name.join("/")}
    </span>
  );
}

function isWrite(call: Call): boolean {
  return /Put|Update|Delete|Write/.test(call.operation);
}

function Icon() {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round">
      <path d="M3 3v14h14" />
      <path d="M6 7h5M8 10.5h6M10.5 14H16" />
    </svg>
  );
}
