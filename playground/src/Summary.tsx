// One line under the answer: what it took.
import { useLastOperation } from "./explanation";
import { counted, milliseconds, units } from "./words";

export function Summary() {
  const last = useLastOperation();
  if (!last) return <p className="summary">Ctrl-Enter runs the operation.</p>;
  const explanation = last.explanation;
  return (
    <p className="summary">
      {last.errors.map((code) => (
        <span key={code} className="code">
          {code}
        </span>
      ))}
      {explanation ? (
        <>
          <span>{counted(explanation.calls.length, "DynamoDB call")}</span>
          <span>{units(explanation.capacity)}</span>
          <span>{milliseconds(explanation.durationMs)}</span>
        </>
      ) : (
        <span>HTTP {last.status}</span>
      )}
    </p>
  );
}
