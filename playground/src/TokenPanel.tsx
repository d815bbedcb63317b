// The token itself: to be seen, read and copied.
import { useRef, useState } from "react";
import { claimsOf, type Identity, signOut } from "./identity";

export function TokenPanel({ who, canSignOut }: { who: Identity; canSignOut: boolean }) {
  const [copied, setCopied] = useState(false);
  const text = useRef<HTMLTextAreaElement>(null);
  const claims = claimsOf(who.token);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(who.token);
    } catch {
      // no clipboard without https, unless the host is this machine
      text.current?.select();
      document.execCommand("copy");
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  }

  return (
    <div className="token">
      <button type="button" popoverTarget="token-panel" title="Show the token and its claims">
        Token <code>{`${who.token.slice(0, 6)}…${who.token.slice(-6)}`}</code>
      </button>
      <button type="button" onClick={copy} aria-label="Copy token" title="Copy the token">
        {copied ? "Copied" : "Copy"}
      </button>
      {canSignOut && (
        <button type="button" onClick={() => signOut()}>
          Sign out
        </button>
      )}
      <div id="token-panel" popover="auto" aria-label="Token">
        <h2>Token of this page</h2>
        <p>
          Sent as <code>Authorization: Bearer …</code> with every operation. It is kept in memory only.
        </p>
        <textarea ref={text} readOnly value={who.token} aria-label="The token" rows={7} spellCheck={false} />
        <h3>What it says</h3>
        <table>
          <tbody>
            {Object.entries(claims).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{readable(name, value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function readable(name: string, value: unknown): string {
  if (["exp", "iat", "nbf"].includes(name) && typeof value === "number") return new Date(value * 1_000).toLocaleString();
  return typeof value === "string" ? value : JSON.stringify(value);
}
